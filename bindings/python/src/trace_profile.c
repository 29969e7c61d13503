#include "trace_profile.h"

#include "trace_c_calls.h"
#include "trace_thread.h"

#include <frameobject.h>
#include <stdlib.h>

/* Of one thread, behind the capsule that is its profile object. */
typedef struct hearing {
    trace_session *session;
    trace_thread *thread; /* NULL until it first begins a call */
    bool ends_only;
    Py_tracefunc previous;
    PyObject *previous_object;
} hearing;

static const char capsule_name[] = "scope_profiler tracer";

static void free_hearing(PyObject *capsule)
{
    hearing *heard = PyCapsule_GetPointer(capsule, capsule_name);
    Py_XDECREF(heard->previous_object);
    free(heard);
}

/* ---- events --------------------------------------------------------------------------------- */

static bool is_resumption(PyFrameObject *frame, const trace_code *known)
{
#if PY_VERSION_HEX >= 0x030b0000
    return trace_code_resumes(known) && PyFrame_GetLasti(frame) > known->body;
#else
    return trace_code_resumes(known) && frame->f_lasti >= 0;
#endif
}

static trace_code known_of(trace_session *session, PyFrameObject *frame)
{
    PyCodeObject *code = PyFrame_GetCode(frame);
    const trace_code *found = trace_codes_find(session->codes, code);
    trace_code known = found != NULL ? *found : trace_resolve(session, code, NULL);
    Py_DECREF(code);
    return known;
}

static void call_begins(hearing *heard, PyFrameObject *frame)
{
    trace_code known = known_of(heard->session, frame);
    trace_thread *thread = known.word == TRACE_NOT ? NULL : trace_thread_get();
    if (thread != NULL) {
        heard->thread = thread;
        trace_thread_begin(thread, heard->session, frame, trace_code_region(&known),
                           is_resumption(frame, &known));
    }
}

static void c_call_begins(hearing *heard, PyFrameObject *frame, PyObject *function)
{
    if (known_of(heard->session, frame).word != TRACE_NOT) {
        trace_c_begin(heard->session, function);
        heard->thread = trace_thread_current;
    }
}

/* A call was made: of a Python function in a frame, or by it of a C function. */
static void begins(hearing *heard, PyFrameObject *frame, int what, PyObject *argument)
{
    const trace_session *session = heard->session;
    if (what == PyTrace_C_CALL && session->limits.c_calls) {
        c_call_begins(heard, frame, argument);
    } else if (what == PyTrace_CALL && (session->deep_calls > 0 || session->is_displaced)) {
        call_begins(heard, frame);
    }
}

static void stop_hearing(PyThreadState *thread)
{
    hearing *heard = PyCapsule_GetPointer(thread->c_profileobj, capsule_name);
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (_PyEval_SetProfile(thread, heard->previous, heard->previous_object) < 0) {
        PyErr_WriteUnraisable(NULL);
    }
    PyErr_Restore(type, value, traceback);
}

/* True: a call may have ended. */
static bool ends(PyFrameObject *frame, int what, PyObject *argument)
{
    if (what == PyTrace_RETURN) {
        trace_thread_end_until(trace_thread_current, frame);
    } else if (what == PyTrace_C_RETURN || what == PyTrace_C_EXCEPTION) {
        trace_c_end(argument);
    } else {
        return false;
    }
    return true;
}

static int hear(PyObject *capsule, PyFrameObject *frame, int what, PyObject *argument)
{
    /* Another thread may take the capsule away while this one asks the rules. */
    Py_INCREF(capsule);
    hearing *heard = PyCapsule_GetPointer(capsule, capsule_name);
    if (what == PyTrace_CALL || what == PyTrace_C_CALL) {
        if (!heard->ends_only) {
            begins(heard, frame, what, argument);
        }
    } else if (ends(frame, what, argument) && heard->ends_only &&
               (heard->thread == NULL || trace_thread_depth(heard->thread) == 0)) {
        stop_hearing(PyThreadState_Get());
    }
    int answer = 0;
    if (heard->previous != NULL) {
        answer = heard->previous(heard->previous_object, frame, what, argument);
    }
    Py_DECREF(capsule);
    return answer;
}

/* ---- all threads ---------------------------------------------------------------------------- */

bool trace_profile_hears(const PyThreadState *thread)
{
    return thread->c_profilefunc == hear;
}

static void start_hearing(trace_session *session, PyThreadState *thread)
{
    hearing *heard = calloc(1, sizeof *heard);
    PyObject *capsule = heard != NULL ? PyCapsule_New(heard, capsule_name, free_hearing) : NULL;
    if (capsule == NULL) {
        free(heard);
        PyErr_WriteUnraisable(NULL);
        return;
    }
    heard->session = session;
    heard->previous = thread->c_profilefunc;
    heard->previous_object = Py_XNewRef(thread->c_profileobj);
    if (_PyEval_SetProfile(thread, hear, capsule) < 0) {
        PyErr_WriteUnraisable(NULL);
    }
    Py_DECREF(capsule);
}

static void hear_on(trace_session *session, PyThreadState *thread)
{
    if (!trace_profile_hears(thread)) {
        start_hearing(session, thread);
        return;
    }
    hearing *heard = PyCapsule_GetPointer(thread->c_profileobj, capsule_name);
    heard->session = session;
    heard->ends_only = false;
}

void trace_profile_hear(trace_session *session, PyThreadState *thread)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    hear_on(session, thread);
    PyErr_Restore(type, value, traceback);
}

void trace_profile_install(trace_session *session)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyThreadState *thread = PyInterpreterState_ThreadHead(session->interpreter);
    for (; thread != NULL; thread = PyThreadState_Next(thread)) {
        hear_on(session, thread);
    }
    PyErr_Restore(type, value, traceback);
}

void trace_profile_remove(trace_session *session)
{
    PyThreadState *thread = PyInterpreterState_ThreadHead(session->interpreter);
    for (; thread != NULL; thread = PyThreadState_Next(thread)) {
        if (!trace_profile_hears(thread)) {
            continue;
        }
        hearing *heard = PyCapsule_GetPointer(thread->c_profileobj, capsule_name);
        if (heard->thread != NULL && trace_thread_depth(heard->thread) > 0) {
            heard->ends_only = true;
        } else {
            stop_hearing(thread);
        }
    }
}

/* ---- threads to come ------------------------------------------------------------------------ */

/* Sets the profile function that the thread would have had. */
static void set_other(PyThreadState *thread, PyObject *hook)
{
    PyObject *setprofile = PySys_GetObject("setprofile");
    if (hook == Py_None || setprofile == NULL) {
        _PyEval_SetProfile(thread, NULL, NULL);
        return;
    }
    PyObject *answer = PyObject_CallOneArg(setprofile, hook);
    if (answer == NULL) {
        PyErr_WriteUnraisable(hook);
    }
    Py_XDECREF(answer);
}

/* Called as a profile function of Python on the first event of a new thread: makes way for the C
 * function, which then hears of this event. */
static PyObject *thread_begins(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    trace_session *session = trace_active(PyModule_GetState(module));
    PyThreadState *thread = PyThreadState_Get();
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    bool follows = session != NULL && session->before_threads != NULL;
    set_other(thread, follows ? session->before_threads : Py_None);
    if (follows) {
        start_hearing(session, thread);
        if (trace_profile_hears(thread) && count > 1 && PyFrame_Check(arguments[0]) &&
            PyUnicode_CompareWithASCIIString(arguments[1], "call") == 0) {
            hear(thread->c_profileobj, (PyFrameObject *)arguments[0], PyTrace_CALL, Py_None);
        }
    }
    PyErr_Restore(type, value, traceback);
    Py_RETURN_NONE;
}

static PyMethodDef thread_begins_method = {
    "_trace_thread_begins", (PyCFunction)(void (*)(void))thread_begins, METH_FASTCALL, NULL};

static PyObject *exchange(PyObject *threading, PyObject *hook)
{
    PyObject *before = PyObject_GetAttrString(threading, "_profile_hook");
    if (before != NULL) {
        Py_XDECREF(PyObject_CallMethod(threading, "setprofile", "O", hook));
    }
    return before;
}

void trace_profile_follow_threads(trace_session *session)
{
    PyObject *threading = PyImport_ImportModule("threading");
    PyObject *hook = PyCFunction_New(&thread_begins_method, session->state->module);
    if (threading != NULL && hook != NULL) {
        session->before_threads = exchange(threading, hook);
    }
    if (PyErr_Occurred()) {
        PyErr_WriteUnraisable(NULL);
    }
    Py_XDECREF(hook);
    Py_XDECREF(threading);
}

void trace_profile_leave_threads(trace_session *session)
{
    if (session->before_threads == NULL) {
        return;
    }
    PyObject *threading = PyImport_ImportModule("threading");
    PyObject *ours = threading != NULL ? exchange(threading, session->before_threads) : NULL;
    /* Somebody set another one meanwhile, which stays. */
    if (ours != NULL && !(PyCFunction_Check(ours) && PyCFunction_GET_FUNCTION(ours) ==
                                                         thread_begins_method.ml_meth)) {
        Py_XDECREF(exchange(threading, ours));
    }
    Py_XDECREF(ours);
    Py_XDECREF(threading);
    Py_CLEAR(session->before_threads);
    PyErr_Clear();
}
