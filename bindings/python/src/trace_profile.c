#include "trace_profile.h"

#include "trace_c_calls.h"
#include "trace_thread.h"

#include <frameobject.h>

/* Of one thread: its profile object, which a program gets from sys.getprofile. */
typedef struct hearing {
    PyObject_HEAD
    trace_session *session;
    trace_thread *thread; /* NULL until it first begins a call */
    bool ends_only;
    Py_tracefunc previous;
    PyObject *previous_object;
} hearing;

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
    const hearing *heard = (hearing *)thread->c_profileobj;
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

static int hear(PyObject *self, PyFrameObject *frame, int what, PyObject *argument)
{
    /* Another thread may take it away while this one asks the rules. */
    Py_INCREF(self);
    hearing *heard = (hearing *)self;
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
    Py_DECREF(self);
    return answer;
}

/* ---- the object ------------------------------------------------------------------------------- */

static void hearing_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((hearing *)self)->previous_object);
    type->tp_free(self);
    Py_DECREF(type);
}

static int event_of(PyObject *name)
{
    static const char *const names[] = {"call", "exception", "line",        "return",
                                        "c_call", "c_exception", "c_return"};
    for (int what = PyTrace_CALL; what <= PyTrace_C_RETURN; what++) {
        if (PyUnicode_CompareWithASCIIString(name, names[what]) == 0) {
            return what;
        }
    }
    return -1;
}

/* A program has taken it from sys.getprofile and given it back to sys.setprofile: takes the place again
 * that it had, or makes way for what was there before when its session is over. */
static PyObject *hearing_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    hearing *heard = (hearing *)self;
    PyObject *frame, *name, *argument;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O!UO", &PyFrame_Type, &frame, &name, &argument)) {
        return NULL;
    }
    const recorder_state *state = PyType_GetModuleState(Py_TYPE(self));
    PyThreadState *thread = PyThreadState_Get();
    bool goes_on = trace_active(state) == heard->session;
    Py_tracefunc function = goes_on ? hear : heard->previous;
    PyObject *object = goes_on ? self : heard->previous_object;
    Py_INCREF(self);
    int failed = _PyEval_SetProfile(thread, function, function != NULL ? object : NULL);
    int what = event_of(name);
    if (failed == 0 && what >= 0 && function != NULL) {
        failed = function(object, (PyFrameObject *)frame, what, argument);
    }
    Py_DECREF(self);
    return failed < 0 ? NULL : Py_NewRef(Py_None);
}

static PyType_Slot hearing_slots[] = {
    {Py_tp_dealloc, hearing_dealloc},
    {Py_tp_call, hearing_call},
    {0, NULL},
};

static PyType_Spec hearing_spec = {
    .name = "scope_profiler._recorder.TraceCallback",
    .basicsize = sizeof(hearing),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = hearing_slots,
};

int trace_profile_init(PyObject *module, recorder_state *state)
{
    state->trace_callback_type =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &hearing_spec, NULL);
    return state->trace_callback_type == NULL ? -1 : 0;
}

/* ---- all threads ---------------------------------------------------------------------------- */

bool trace_profile_hears(const PyThreadState *thread)
{
    return thread->c_profilefunc == hear;
}

static void start_hearing(trace_session *session, PyThreadState *thread)
{
    PyTypeObject *type = session->state->trace_callback_type;
    hearing *heard = (hearing *)type->tp_alloc(type, 0);
    if (heard == NULL) {
        PyErr_WriteUnraisable(NULL);
        return;
    }
    heard->session = session;
    heard->previous = thread->c_profilefunc;
    heard->previous_object = Py_XNewRef(thread->c_profileobj);
    if (_PyEval_SetProfile(thread, hear, (PyObject *)heard) < 0) {
        PyErr_WriteUnraisable(NULL);
    }
    Py_DECREF(heard);
}

static void hear_on(trace_session *session, PyThreadState *thread)
{
    if (!trace_profile_hears(thread)) {
        start_hearing(session, thread);
        return;
    }
    hearing *heard = (hearing *)thread->c_profileobj;
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
        hearing *heard = (hearing *)thread->c_profileobj;
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
