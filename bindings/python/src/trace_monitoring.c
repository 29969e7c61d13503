/* The mechanism of CPython 3.12 and later: sys.monitoring with callbacks that are called without
 * building argument tuples. Code that is not traced is switched off where it stands and then runs at
 * full speed.
 *
 * When a session ends while other threads are inside traced calls, the ends of those calls are still
 * listened to, and nothing else; with the last one the tool is given back. */
#include "trace_c_calls.h"
#include "trace_thread.h"

#include <stddef.h>

enum {
    ON_START,
    ON_RESUME,
    ON_THROW,
    ON_RETURN,
    ON_YIELD,
    ON_UNWIND,
    ON_C_CALL, /* of any callable; brings along the two below */
    ON_C_RETURN,
    ON_C_RAISE,
    NUM_EVENTS
};

static const char *const event_names[NUM_EVENTS] = {
    "PY_START",  "PY_RESUME", "PY_THROW", "PY_RETURN", "PY_YIELD",
    "PY_UNWIND", "CALL",      "C_RETURN", "C_RAISE"};

typedef struct callback callback;

/* Of an interpreter. */
typedef struct monitor {
    trace_session *session; /* the active one; NULL: none is, only ends are listened to */
    PyObject *sys_monitoring;
    PyObject *disable;
    int tool; /* -1: none held */
    bool hears_c_calls; /* the active session wants them, or calls of an earlier one may be open */
    int events[NUM_EVENTS];
    callback *callbacks[NUM_EVENTS];
    recorder_state *state;
} monitor;

struct callback {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    monitor *monitor;
    trace_session *session; /* the monitor's */
};

/* ---- events --------------------------------------------------------------------------------- */

/* The common case has a function to itself, with as few instructions as can be: the call of a known
 * function, without limits. Everything else goes to `begin` and `end`. */

static inline PyObject *switch_off(const callback *callback)
{
    return Py_NewRef(callback->monitor->disable);
}

/* True: this code need not be heard of any more. */
static __attribute__((noinline)) bool begin(const callback *callback, PyCodeObject *code,
                                            bool is_resumption)
{
    trace_session *session = callback->session;
    if (session == NULL) {
        return true;
    }
    const trace_code *known = trace_codes_find(session->codes, code);
    int32_t region = known != NULL ? known->word : trace_resolve(session, code, NULL).word;
    if (region == TRACE_NOT) {
        return true;
    }
    trace_thread *thread = trace_thread_get();
    if (thread != NULL) {
        trace_thread_begin(thread, session, code, region, is_resumption);
    }
    return false;
}

/* `is_resumption`: a constant. */
static inline __attribute__((always_inline)) PyObject *
begin_known(const callback *callback, PyCodeObject *code, bool is_resumption)
{
    trace_session *session = callback->session;
    const trace_code *known = trace_codes_first(session->codes, code);
    trace_thread *thread = trace_thread_current;
    if (__builtin_expect(known->key == code && known->word != TRACE_NOT &&
                             thread->top < thread->limit, 1)) {
        trace_thread_push(thread, session, code, known->word, is_resumption);
        if (is_resumption) {
            sp_binding_resume(session->recorder, known->word);
        } else {
            sp_binding_begin(session->recorder, known->word);
        }
        Py_RETURN_NONE;
    }
    if (begin(callback, code, is_resumption)) {
        return switch_off(callback);
    }
    Py_RETURN_NONE;
}

static PyObject *on_start(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    (void)nargsf;
    (void)kwnames;
    return begin_known((callback *)self, (PyCodeObject *)args[0], false);
}

static PyObject *on_resume(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    (void)nargsf;
    (void)kwnames;
    return begin_known((callback *)self, (PyCodeObject *)args[0], true);
}

static PyObject *on_start_limited(PyObject *self, PyObject *const *args, size_t nargsf,
                                  PyObject *kwnames)
{
    (void)nargsf;
    (void)kwnames;
    if (begin((callback *)self, (PyCodeObject *)args[0], false)) {
        return switch_off((callback *)self);
    }
    Py_RETURN_NONE;
}

static PyObject *on_resume_limited(PyObject *self, PyObject *const *args, size_t nargsf,
                                   PyObject *kwnames)
{
    (void)nargsf;
    (void)kwnames;
    if (begin((callback *)self, (PyCodeObject *)args[0], true)) {
        return switch_off((callback *)self);
    }
    Py_RETURN_NONE;
}

/* The interpreter refuses to switch this event off. */
static PyObject *on_throw(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    (void)nargsf;
    (void)kwnames;
    begin((callback *)self, (PyCodeObject *)args[0], true);
    Py_RETURN_NONE;
}

/* What is to be heard of of Python calls: beginnings, ends. */
static void set_events(const monitor *monitor, bool begins, bool ends)
{
    int mask = monitor->hears_c_calls ? monitor->events[ON_C_CALL] : 0;
    for (int i = ON_START; begins && i < ON_RETURN; i++) {
        mask |= monitor->events[i];
    }
    for (int i = ON_RETURN; ends && i < ON_C_CALL; i++) {
        mask |= monitor->events[i];
    }
    PyObject *answer = PyObject_CallMethod(monitor->sys_monitoring, "set_events", "ii",
                                           monitor->tool, mask);
    if (answer == NULL) {
        PyErr_WriteUnraisable(monitor->sys_monitoring);
    }
    Py_XDECREF(answer);
}

static void give_back(monitor *monitor)
{
    monitor->hears_c_calls = false;
    set_events(monitor, false, false);
    PyObject *answer =
        PyObject_CallMethod(monitor->sys_monitoring, "free_tool_id", "i", monitor->tool);
    if (answer == NULL) {
        PyErr_WriteUnraisable(monitor->sys_monitoring);
    }
    Py_XDECREF(answer);
    monitor->tool = -1;
}

/* After an end while nothing is traced any more: the last one gives the tool back. */
static void one_fewer(monitor *monitor)
{
    if (monitor->tool >= 0 && !trace_has_running(monitor->state)) {
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        give_back(monitor);
        PyErr_Restore(type, value, traceback);
    }
}

/* True: this code need not be heard of any more. */
static __attribute__((noinline)) bool end(const callback *callback, const PyCodeObject *code)
{
    bool is_useless = false;
    if (!trace_thread_end_until(trace_thread_current, code)) {
        const trace_session *session = callback->session;
        if (session == NULL) {
            is_useless = !trace_threads_have(code);
        } else {
            const trace_code *known = trace_codes_find(session->codes, code);
            is_useless = known != NULL && known->word == TRACE_NOT;
        }
    }
    if (callback->session == NULL) {
        one_fewer(callback->monitor);
    }
    return is_useless;
}

static PyObject *on_return(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    (void)nargsf;
    (void)kwnames;
    trace_thread *thread = trace_thread_current;
    if (__builtin_expect(trace_thread_is_innermost(thread, args[0]), 1)) {
        const trace_open *call = --thread->top;
        if (__builtin_expect(call->is_resumption, 0)) {
            sp_binding_end_resumed(call->session->recorder, call->region);
        } else {
            sp_binding_end(call->session->recorder, call->region);
        }
        Py_RETURN_NONE;
    }
    if (end((callback *)self, (PyCodeObject *)args[0])) {
        return switch_off((callback *)self);
    }
    Py_RETURN_NONE;
}

/* With limits, or when only ends are listened to. */
static PyObject *on_return_limited(PyObject *self, PyObject *const *args, size_t nargsf,
                                   PyObject *kwnames)
{
    (void)nargsf;
    (void)kwnames;
    if (end((callback *)self, (PyCodeObject *)args[0])) {
        return switch_off((callback *)self);
    }
    Py_RETURN_NONE;
}

static PyObject *on_unwind(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    (void)nargsf;
    (void)kwnames;
    end((callback *)self, (PyCodeObject *)args[0]);
    Py_RETURN_NONE;
}

/* True: calls by this code need not be heard of any more. */
static bool begin_c(const callback *callback, PyCodeObject *caller, PyObject *callable)
{
    trace_session *session = callback->session;
    if (session == NULL || !session->limits.c_calls) {
        return false; /* the end of a call in the same place may still be due, on another thread */
    }
    const trace_code *known = trace_codes_find(session->codes, caller);
    if (known == NULL && !trace_c_is_function(callable)) {
        return false; /* time enough to ask for its name when it is needed */
    }
    int32_t word = known != NULL ? known->word : trace_resolve(session, caller, NULL).word;
    if (word == TRACE_NOT) {
        return true;
    }
    trace_c_begin(session, callable);
    return false;
}

static PyObject *on_c_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    (void)nargsf;
    (void)kwnames;
    if (begin_c((callback *)self, (PyCodeObject *)args[0], args[2])) {
        return switch_off((callback *)self);
    }
    Py_RETURN_NONE;
}

static PyObject *on_c_end(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    (void)nargsf;
    (void)kwnames;
    const callback *callback = (struct callback *)self;
    trace_c_end(args[2]);
    if (callback->session == NULL) {
        one_fewer(callback->monitor);
    }
    Py_RETURN_NONE;
}

static const vectorcallfunc fast_handlers[NUM_EVENTS] = {
    on_start, on_resume, on_throw, on_return, on_return, on_unwind, on_c_call, on_c_end, on_c_end};
static const vectorcallfunc limited_handlers[NUM_EVENTS] = {
    on_start_limited, on_resume_limited, on_throw,  on_return_limited, on_return_limited,
    on_unwind,        on_c_call,         on_c_end,  on_c_end};

/* ---- the callback type ---------------------------------------------------------------------- */

static void callback_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMemberDef callback_members[] = {
    {"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(callback, vectorcall), Py_READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot callback_slots[] = {
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_dealloc, callback_dealloc},
    {Py_tp_members, callback_members},
    {0, NULL},
};

static PyType_Spec callback_spec = {
    .name = "scope_profiler._recorder.TraceCallback",
    .basicsize = sizeof(callback),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = callback_slots,
};

/* ---- the tool ------------------------------------------------------------------------------- */

enum { FIRST_TOOL = 4, LAST_TOOL = 2 };

static int fail_taken(const monitor *monitor)
{
    PyObject *tools = PyList_New(0);
    for (int tool = 0; tools != NULL && tool < 6; tool++) {
        PyObject *name = PyObject_CallMethod(monitor->sys_monitoring, "get_tool", "i", tool);
        PyObject *text = name == NULL || name == Py_None
                             ? NULL
                             : PyUnicode_FromFormat("%d: %S", tool, name);
        Py_XDECREF(name);
        if (text != NULL && PyList_Append(tools, text) < 0) {
            Py_CLEAR(tools);
        }
        Py_XDECREF(text);
    }
    PyErr_Clear();
    PyErr_Format(PyExc_RuntimeError,
                 "Python calls cannot be traced: the tool ids %d to %d of sys.monitoring are in use "
                 "(%S); switch one of these tools off",
                 LAST_TOOL, FIRST_TOOL, tools);
    Py_XDECREF(tools);
    return -1;
}

/* The id that debuggers, coverage tools and optimisers are given stays theirs; that of profilers is
 * the last resort. */
static int take_tool(monitor *monitor)
{
    for (int tool = FIRST_TOOL; tool >= LAST_TOOL; tool--) {
        PyObject *answer = PyObject_CallMethod(monitor->sys_monitoring, "use_tool_id", "is", tool,
                                               "scope_profiler");
        if (answer != NULL) {
            Py_DECREF(answer);
            monitor->tool = tool;
            return 0;
        }
        if (!PyErr_ExceptionMatches(PyExc_ValueError)) {
            return -1;
        }
        PyErr_Clear();
    }
    return fail_taken(monitor);
}

/* Whom the events go to: a session (NULL: none is active), with or without limits. */
static void listen_for(monitor *monitor, trace_session *session)
{
    bool is_limited = session == NULL || session->limits.max_depth > 0 ||
                      session->limits.min_duration_ns > 0;
    monitor->session = session;
    for (int i = 0; i < NUM_EVENTS; i++) {
        callback *callback = monitor->callbacks[i];
        callback->session = session;
        callback->vectorcall = is_limited ? limited_handlers[i] : fast_handlers[i];
    }
}

static int register_callbacks(const monitor *monitor)
{
    for (int i = 0; i < NUM_EVENTS; i++) {
        PyObject *answer = PyObject_CallMethod(monitor->sys_monitoring, "register_callback", "iiO",
                                               monitor->tool, monitor->events[i],
                                               monitor->callbacks[i]);
        if (answer == NULL) {
            return -1;
        }
        Py_DECREF(answer);
    }
    return 0;
}

static int make_callbacks(monitor *monitor)
{
    PyTypeObject *type = monitor->state->trace_callback_type;
    for (int i = 0; i < NUM_EVENTS; i++) {
        callback *made = (callback *)type->tp_alloc(type, 0);
        if (made == NULL) {
            return -1;
        }
        made->monitor = monitor;
        made->vectorcall = limited_handlers[i];
        monitor->callbacks[i] = made;
    }
    return 0;
}

static int find_events(monitor *monitor)
{
    monitor->disable = PyObject_GetAttrString(monitor->sys_monitoring, "DISABLE");
    PyObject *events = PyObject_GetAttrString(monitor->sys_monitoring, "events");
    for (int i = 0; events != NULL && i < NUM_EVENTS; i++) {
        PyObject *number = PyObject_GetAttrString(events, event_names[i]);
        if (number == NULL) {
            Py_CLEAR(events);
            break;
        }
        monitor->events[i] = (int)PyLong_AsLong(number);
        Py_DECREF(number);
    }
    int failed = events == NULL || monitor->disable == NULL ? -1 : 0;
    Py_XDECREF(events);
    return failed;
}

static void free_monitor(monitor *monitor)
{
    for (int i = 0; i < NUM_EVENTS; i++) {
        Py_XDECREF(monitor->callbacks[i]);
    }
    Py_XDECREF(monitor->disable);
    Py_XDECREF(monitor->sys_monitoring);
    PyMem_RawFree(monitor);
}

static monitor *make_monitor(recorder_state *state)
{
    PyObject *sys_monitoring = PySys_GetObject("monitoring");
    monitor *made = PyMem_RawCalloc(1, sizeof *made);
    if (made == NULL || sys_monitoring == NULL) {
        PyMem_RawFree(made);
        PyErr_SetString(PyExc_RuntimeError, "this interpreter has no sys.monitoring");
        return NULL;
    }
    made->state = state;
    made->tool = -1;
    made->sys_monitoring = Py_NewRef(sys_monitoring);
    if (find_events(made) < 0 || make_callbacks(made) < 0) {
        free_monitor(made);
        return NULL;
    }
    return made;
}

/* What an earlier session, or earlier rules, switched off may be wanted now. */
static void restart_events(trace_session *session)
{
    if (session->has_new_codes) {
        const monitor *monitor = session->state->trace_mechanism;
        session->has_new_codes = false;
        PyObject *answer = PyObject_CallMethod(monitor->sys_monitoring, "restart_events", NULL);
        if (answer == NULL) {
            PyErr_WriteUnraisable(monitor->sys_monitoring);
        }
        Py_XDECREF(answer);
    }
}

static int install(trace_session *session)
{
    recorder_state *state = session->state;
    if (state->trace_mechanism == NULL && (state->trace_mechanism = make_monitor(state)) == NULL) {
        return -1;
    }
    monitor *monitor = state->trace_mechanism;
    if (monitor->tool < 0) {
        if (take_tool(monitor) < 0) {
            return -1;
        }
        if (register_callbacks(monitor) < 0) {
            PyObject *error = PyErr_GetRaisedException();
            give_back(monitor);
            PyErr_SetRaisedException(error);
            return -1;
        }
    }
    restart_events(session);
    listen_for(monitor, session);
    monitor->hears_c_calls = session->limits.c_calls ||
                             (monitor->hears_c_calls && trace_has_running(state));
    set_events(monitor, true, true);
    return 0;
}

static void uninstall(trace_session *session)
{
    monitor *monitor = session->state->trace_mechanism;
    listen_for(monitor, NULL);
    trace_thread_close(session);
    if (trace_has_running(session->state)) {
        set_events(monitor, false, true);
    } else {
        give_back(monitor);
    }
}

/* Other tools have ids of their own: nothing takes our place. */
static void check(trace_session *session)
{
    restart_events(session);
}

static void forget(trace_session *session)
{
    monitor *monitor = session->state->trace_mechanism;
    listen_for(monitor, NULL);
    trace_threads_forget();
    give_back(monitor);
}

static int init(PyObject *module, recorder_state *state)
{
    state->trace_callback_type =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &callback_spec, NULL);
    return state->trace_callback_type == NULL ? -1 : 0;
}

static void release(recorder_state *state)
{
    monitor *monitor = state->trace_mechanism;
    if (monitor != NULL && monitor->tool < 0) {
        state->trace_mechanism = NULL;
        free_monitor(monitor);
    }
}

const trace_mechanism trace_mechanism_built = {
    .name = "monitoring",
    .init = init,
    .install = install,
    .remove = uninstall,
    .check = check,
    .forget = forget,
    .release = release,
};
