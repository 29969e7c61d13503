#include "trace.h"

#include "decorated.h"
#include "trace_mechanism.h"
#include "trace_thread.h"

#include <stdlib.h>

/* Of an interpreter. */
struct trace_state {
    trace_codes *codes;
    trace_session *active;   /* NULL: nobody traces */
    trace_session *sessions; /* the active one and those of which calls are still open */
    PyObject *default_rules; /* NULL until first needed */
    bool is_closed; /* nobody starts now: one is being started, or cannot be */
    bool knows_forks;
    /* What the codes hold good for. */
    const profiler_object *codes_profiler;
    PyObject *codes_rules;
    uint64_t codes_generation;
    trace_limits default_limits;
};

/* ---- sessions ------------------------------------------------------------------------------- */

/* Lets go of ended sessions of which nothing can come any more. */
static void reap(struct trace_state *trace)
{
    trace_threads_reap();
    trace_session **link = &trace->sessions;
    while (*link != NULL) {
        trace_session *session = *link;
        if (session == trace->active || session->running > 0 || trace_threads_run(session)) {
            link = &session->next;
            continue;
        }
        *link = session->next;
        PyObject *profiler = (PyObject *)session->profiler;
        PyObject *rules = session->rules;
        PyMem_RawFree(session);
        Py_DECREF(profiler);
        Py_DECREF(rules);
        link = &trace->sessions; /* dropping references can run anything */
    }
}

trace_session *trace_active(const recorder_state *state)
{
    return state->trace->active;
}

bool trace_has_running(const recorder_state *state)
{
    const trace_session *session = state->trace->sessions;
    while (session != NULL && session->running == 0 && !trace_threads_run(session)) {
        session = session->next;
    }
    return session != NULL;
}

static PyObject *default_rules(struct trace_state *trace)
{
    if (trace->default_rules == NULL) {
        PyObject *module = PyImport_ImportModule("scope_profiler._trace");
        if (module != NULL) {
            trace->default_rules = PyObject_CallMethod(module, "default_rules", NULL);
            Py_DECREF(module);
        }
    }
    return trace->default_rules;
}

static PyObject *after_fork(PyObject *module, PyObject *ignored);

static PyMethodDef after_fork_method = {"_trace_after_fork", after_fork, METH_NOARGS, NULL};

static int know_forks(recorder_state *state)
{
    if (state->trace->knows_forks) {
        return 0;
    }
    int failed = -1;
    PyObject *os = PyImport_ImportModule("os");
    PyObject *method = os != NULL ? PyObject_GetAttrString(os, "register_at_fork") : NULL;
    PyObject *child = method != NULL ? PyCFunction_New(&after_fork_method, state->module) : NULL;
    PyObject *names = child != NULL ? Py_BuildValue("{sO}", "after_in_child", child) : NULL;
    PyObject *nothing = names != NULL ? PyTuple_New(0) : NULL;
    PyObject *answer = nothing != NULL ? PyObject_Call(method, nothing, names) : NULL;
    if (answer != NULL) {
        state->trace->knows_forks = true;
        failed = 0;
    }
    Py_XDECREF(answer);
    Py_XDECREF(nothing);
    Py_XDECREF(names);
    Py_XDECREF(child);
    Py_XDECREF(method);
    Py_XDECREF(os);
    return failed;
}

static void renew_codes(struct trace_state *trace)
{
    trace_codes_clear(trace->codes);
    trace->active->has_new_codes = true;
    trace->codes_generation = sp_binding_generation();
}

/* The table of the last session goes on to be good for the same rules in the same configuration. */
static void prepare_codes(struct trace_state *trace)
{
    const trace_session *session = trace->active;
    if (trace->codes_profiler == session->profiler && trace->codes_rules == session->rules &&
        trace->codes_generation == sp_binding_generation()) {
        return;
    }
    renew_codes(trace);
    trace->codes_profiler = session->profiler;
    Py_XSETREF(trace->codes_rules, Py_NewRef(session->rules));
}

static int begin_session(profiler_object *profiler, PyObject *rules, const trace_limits *limits)
{
    recorder_state *state = profiler->state;
    struct trace_state *trace = state->trace;
    reap(trace);
    trace_session *session = PyMem_RawCalloc(1, sizeof *session);
    if (session == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    session->recorder = profiler->recorder;
    session->codes = trace->codes;
    session->limits = *limits;
    session->state = state;
    session->interpreter = PyInterpreterState_Get();
    session->profiler = (profiler_object *)Py_NewRef((PyObject *)profiler);
    session->rules = Py_NewRef(rules);
    session->users = 1;
    session->next = trace->sessions;
    trace->sessions = trace->active = session;
    prepare_codes(trace);
    if (trace_mechanism_built.install(session) < 0) {
        trace->active = NULL;
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        reap(trace);
        PyErr_Restore(type, value, traceback);
        return -1;
    }
    return 0;
}

int trace_start(profiler_object *profiler, PyObject *rules, const trace_limits *limits)
{
    struct trace_state *trace = profiler->state->trace;
    if (!profiler->is_enabled || trace->is_closed) {
        return 0;
    }
    if (trace->active != NULL) {
        if (trace->active->profiler != profiler) {
            return 0;
        }
        trace->active->users++;
        return 1;
    }
    trace->is_closed = true;
    int failed = know_forks(profiler->state);
    if (failed == 0 && rules == NULL) {
        rules = default_rules(trace);
        failed = rules == NULL ? -1 : 0;
    }
    if (failed == 0) {
        failed = begin_session(profiler, rules, limits != NULL ? limits : &trace->default_limits);
    }
    trace->is_closed = false;
    return failed < 0 ? -1 : 1;
}

static void end_session(struct trace_state *trace)
{
    trace_session *session = trace->active;
    trace_mechanism_built.remove(session);
    trace->active = NULL;
    reap(trace);
}

void trace_stop(profiler_object *profiler)
{
    struct trace_state *trace = profiler->state->trace;
    if (trace->active != NULL && trace->active->profiler == profiler &&
        --trace->active->users == 0) {
        end_session(trace);
    }
}

bool trace_enter(profiler_object *profiler)
{
    int started = trace_start(profiler, NULL, NULL);
    if (started < 0) {
        /* The program goes on without the calls inside; said once. */
        PyErr_WriteUnraisable((PyObject *)profiler);
        profiler->state->trace->is_closed = true;
    }
    return started > 0;
}

void trace_leave(profiler_object *profiler)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    trace_stop(profiler);
    PyErr_Restore(type, value, traceback);
}

void trace_reconfigured(profiler_object *profiler)
{
    struct trace_state *trace = profiler->state->trace;
    free(profiler->folded_calls);
    profiler->folded_calls = NULL;
    profiler->num_folded = 0;
    if (trace->active != NULL && trace->active->profiler == profiler) {
        renew_codes(trace);
        trace_mechanism_built.check(trace->active);
    }
}

void trace_deconfigured(profiler_object *profiler)
{
    struct trace_state *trace = profiler->state->trace;
    if (trace->active != NULL && trace->active->profiler == profiler) {
        end_session(trace);
    }
}

/* ---- code objects --------------------------------------------------------------------------- */

/* The code that runs when a decorated object is called; NULL: it is no Python function. */
static PyCodeObject *code_of(PyObject *function)
{
    while (PyMethod_Check(function)) {
        function = PyMethod_GET_FUNCTION(function);
    }
    return PyFunction_Check(function) ? (PyCodeObject *)PyFunction_GET_CODE(function) : NULL;
}

void trace_forget_function(profiler_object *profiler, PyObject *function)
{
    struct trace_state *trace = profiler->state->trace;
    PyCodeObject *code = code_of(function);
    if (code != NULL && trace->codes_profiler == profiler) {
        trace_codes_set(trace->codes, code, TRACE_NOT);
    }
}

static bool is_decorated(const profiler_object *profiler, const PyCodeObject *code)
{
    for (const decorated_object *d = profiler->decorated; d != NULL; d = d->next) {
        if (code_of(d->target) == code) {
            return true;
        }
    }
    return false;
}

/* TRACE_NOT also on trouble, with an exception set. */
static int32_t region_of_name(const trace_session *session, PyObject *name, const region_site *site)
{
    PyObject *region = profiler_region(session->profiler, name, NULL, site);
    int32_t id = TRACE_NOT;
    if (region != NULL && region_is_enabled((region_object *)region)) {
        id = ((region_object *)region)->id;
    }
    Py_XDECREF(region);
    return id;
}

/* The same. */
static int32_t find_region(const trace_session *session, PyCodeObject *code, PyObject *globals)
{
    PyObject *module = NULL;
    if (globals != NULL) {
        module = PyDict_GetItemString(globals, "__name__");
    }
    PyObject *name = PyObject_CallFunctionObjArgs(session->rules, code,
                                                  module != NULL ? module : Py_None, NULL);
    if (name == NULL || name == Py_None) {
        Py_XDECREF(name);
        return TRACE_NOT;
    }
    region_site site = {NULL, NULL, 0};
    int32_t region = TRACE_NOT;
    if (profiler_locate(session->profiler, code, &site) == 0) {
        region = region_of_name(session, name, &site);
    }
    region_site_clear(&site);
    Py_DECREF(name);
    return region;
}

/* The rules are Python code, which neither we nor another tracer should see run. */
static void hide(PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030b0000
    PyThreadState_EnterTracing(thread);
#else
    thread->tracing++;
    thread->cframe->use_tracing = 0;
#endif
}

static void show(PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030b0000
    PyThreadState_LeaveTracing(thread);
#else
    thread->tracing--;
    thread->cframe->use_tracing = thread->c_tracefunc != NULL || thread->c_profilefunc != NULL;
#endif
}

trace_code trace_resolve(trace_session *session, PyCodeObject *code, PyObject *globals)
{
    PyThreadState *thread = PyThreadState_Get();
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    hide(thread);
    if (globals == NULL) {
        globals = PyEval_GetGlobals();
    }
    int32_t region = TRACE_NOT;
    if (session->profiler->is_enabled && !is_decorated(session->profiler, code)) {
        region = find_region(session, code, globals);
    }
    if (PyErr_Occurred()) {
        PyErr_WriteUnraisable((PyObject *)code);
    }
    trace_code found = {code, TRACE_NOT, 0};
    if (trace_codes_set(session->codes, code, region) == 0) {
        found = *trace_codes_find(session->codes, code);
    }
    show(thread);
    PyErr_Restore(type, value, traceback);
    return found;
}

static int32_t find_c_region(const trace_session *session, PyObject *function, PyObject *owner)
{
    static const region_site nowhere = {NULL, NULL, 0};
    PyObject *name = PyObject_CallMethod(session->rules, "c_function", "OO", function,
                                         owner != NULL ? owner : Py_None);
    int32_t region = TRACE_NOT;
    if (name != NULL && name != Py_None) {
        region = region_of_name(session, name, &nowhere);
    }
    Py_XDECREF(name);
    return region;
}

int32_t trace_resolve_c(trace_session *session, const void *key, PyObject *function, PyObject *owner)
{
    PyThreadState *thread = PyThreadState_Get();
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    hide(thread);
    int32_t region = TRACE_NOT;
    if (session->profiler->is_enabled) {
        region = find_c_region(session, function, owner);
    }
    if (PyErr_Occurred()) {
        PyErr_WriteUnraisable(function);
    }
    trace_codes_set_c(session->codes, key, owner != NULL ? owner : function, region);
    show(thread);
    PyErr_Restore(type, value, traceback);
    return region;
}

void trace_count_folded(trace_session *session, int32_t region)
{
    profiler_object *profiler = session->profiler;
    if ((size_t)region >= profiler->num_folded) {
        size_t wanted = (size_t)region * 2 + 64;
        uint64_t *counts = realloc(profiler->folded_calls, wanted * sizeof *counts);
        if (counts == NULL) {
            return;
        }
        for (size_t i = profiler->num_folded; i < wanted; i++) {
            counts[i] = 0;
        }
        profiler->folded_calls = counts;
        profiler->num_folded = wanted;
    }
    profiler->folded_calls[region]++;
}

/* ---- functions of the module ---------------------------------------------------------------- */

static profiler_object *checked(PyObject *module, PyObject *object)
{
    recorder_state *state = PyModule_GetState(module);
    if (!PyObject_TypeCheck(object, state->profiler_type)) {
        PyErr_Format(PyExc_TypeError, "a Profiler is needed, got %.200s", Py_TYPE(object)->tp_name);
        return NULL;
    }
    return (profiler_object *)object;
}

static PyObject *module_trace_start(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"profiler", "rules", "max_depth", "min_duration_ns", "c_calls", NULL};
    PyObject *object = NULL;
    PyObject *rules = NULL;
    long long least = 0;
    int c_calls = 0;
    trace_limits limits = {0, 0, false};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|nLp:trace_start", names, &object, &rules,
                                     &limits.max_depth, &least, &c_calls)) {
        return NULL;
    }
    limits.min_duration_ns = least;
    limits.c_calls = c_calls != 0;
    profiler_object *profiler = checked(module, object);
    int started = profiler == NULL ? -1 : trace_start(profiler, rules, &limits);
    return started < 0 ? NULL : PyBool_FromLong(started);
}

static PyObject *module_trace_defaults(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"max_depth", "min_duration_ns", "c_calls", NULL};
    long long least = 0;
    int c_calls = 0;
    trace_limits limits = {0, 0, false};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|nLp:trace_defaults", names,
                                     &limits.max_depth, &least, &c_calls)) {
        return NULL;
    }
    limits.min_duration_ns = least;
    limits.c_calls = c_calls != 0;
    ((recorder_state *)PyModule_GetState(module))->trace->default_limits = limits;
    Py_RETURN_NONE;
}

static PyObject *module_trace_stop(PyObject *module, PyObject *object)
{
    profiler_object *profiler = checked(module, object);
    if (profiler == NULL) {
        return NULL;
    }
    trace_stop(profiler);
    Py_RETURN_NONE;
}

static PyObject *module_trace_check(PyObject *module, PyObject *object)
{
    profiler_object *profiler = checked(module, object);
    if (profiler == NULL) {
        return NULL;
    }
    trace_session *active = profiler->state->trace->active;
    if (active != NULL && active->profiler == profiler) {
        trace_mechanism_built.check(active);
    }
    Py_RETURN_NONE;
}

static PyObject *module_folded_calls(PyObject *module, PyObject *object)
{
    const profiler_object *profiler = checked(module, object);
    PyObject *counts = profiler == NULL ? NULL : PyDict_New();
    for (size_t i = 0; counts != NULL && i < profiler->num_folded; i++) {
        if (profiler->folded_calls[i] == 0) {
            continue;
        }
        const char *name = sp_binding_region_name((int32_t)i);
        PyObject *count = PyLong_FromUnsignedLongLong(profiler->folded_calls[i]);
        if (count == NULL || PyDict_SetItemString(counts, name, count) < 0) {
            Py_CLEAR(counts);
        }
        Py_XDECREF(count);
    }
    return counts;
}

static PyObject *after_fork(PyObject *module, PyObject *ignored)
{
    (void)ignored;
    struct trace_state *trace = ((recorder_state *)PyModule_GetState(module))->trace;
    if (trace->active != NULL) {
        trace_mechanism_built.forget(trace->active);
        trace->active = NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef trace_methods[] = {
    {"trace_start", (PyCFunction)(void (*)(void))module_trace_start, METH_VARARGS | METH_KEYWORDS,
     "trace_start(profiler, rules, max_depth=0, min_duration_ns=0, c_calls=False)\n--\n\n"
     "Records Python calls from now on; False when another profiler does already."},
    {"trace_defaults", (PyCFunction)(void (*)(void))module_trace_defaults,
     METH_VARARGS | METH_KEYWORDS,
     "trace_defaults(max_depth=0, min_duration_ns=0, c_calls=False)\n--\n\n"
     "Limits of decorated functions that trace, from the next time one starts to."},
    {"trace_stop", module_trace_stop, METH_O,
     "trace_stop(profiler, /)\n--\n\nTakes one trace_start back."},
    {"trace_check", module_trace_check, METH_O,
     "trace_check(profiler, /)\n--\n\nNotices whether something has displaced the tracer."},
    {"folded_calls", module_folded_calls, METH_O,
     "folded_calls(profiler, /)\n--\n\nCalls that were too short to be recorded, by region."},
    {NULL, NULL, 0, NULL},
};

int trace_init(PyObject *module, recorder_state *state)
{
    state->trace = PyMem_RawCalloc(1, sizeof *state->trace);
    if (state->trace == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    state->module = module;
    state->trace->codes = trace_codes_new();
    if (state->trace->codes == NULL || trace_mechanism_built.init(module, state) < 0 ||
        PyModule_AddStringConstant(module, "trace_mechanism", trace_mechanism_built.name) < 0) {
        return -1;
    }
    return PyModule_AddFunctions(module, trace_methods);
}

void trace_release(recorder_state *state)
{
    struct trace_state *trace = state->trace;
    if (trace == NULL) {
        return;
    }
    if (trace->active != NULL) {
        end_session(trace);
    }
    trace_mechanism_built.release(state);
    Py_CLEAR(trace->default_rules);
    Py_CLEAR(trace->codes_rules);
    if (trace->sessions != NULL) {
        return; /* calls of other threads still use them: left as they are at the very end */
    }
    state->trace = NULL;
    trace_codes_free(trace->codes);
    PyMem_RawFree(trace);
}
