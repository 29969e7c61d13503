/* trace.h - automatic tracing: calls of Python functions become regions without being marked.
 *
 * A session says who traces: a profiler, the rules that choose and name functions, the limits. One is
 * active at a time in an interpreter. It is started by a program that is run under the tracer, or by
 * the outermost call of a function decorated with recursive=True; inner ones only count as users.
 * How the interpreter tells of calls is up to a mechanism (trace_mechanism.h), chosen at build time.
 *
 * Everything is under the GIL, of all threads of the interpreter. What a session holds outlives it
 * while a call that it began can still end.
 */
#ifndef SCOPE_PYTHON_TRACE_H
#define SCOPE_PYTHON_TRACE_H

#include "profiler.h"
#include "trace_codes.h"

typedef struct trace_limits {
    Py_ssize_t max_depth;    /* calls nested deeper are not recorded; 0: no limit */
    int64_t min_duration_ns; /* shorter calls are folded into their parent; 0: none are */
    bool c_calls;            /* calls of C functions are recorded too */
} trace_limits;

typedef struct trace_session {
    sp_profiler *recorder; /* read at every traced call, as are the limits and the codes */
    trace_codes *codes;
    trace_limits limits;
    recorder_state *state;
    PyInterpreterState *interpreter;
    profiler_object *profiler; /* strong; NULL once nothing of the session is left */
    PyObject *rules;           /* strong: callable(code, module name) -> region name or None, with
                                  a method c_function(function, class) -> region name or None */
    Py_ssize_t users;          /* who started it and did not stop it yet */
    Py_ssize_t running;        /* calls that a mechanism is inside of */
    bool has_new_codes;        /* since its mechanism last looked */
    struct trace_session *next; /* of the state's list */

    /* The hook's own. */
    _PyFrameEvalFunction evaluate_next; /* what it calls through */
    bool is_special;       /* every call takes the long way */
    bool is_displaced;     /* another hook has taken its place */
    Py_ssize_t deep_calls; /* that have put the evaluator back for a while */
    PyObject *before_threads; /* threading's profile hook, while ours is in its place */
    struct trace_session *next_hooked;
} trace_session;

int trace_init(PyObject *module, recorder_state *state);
void trace_release(recorder_state *state);
/* NULL: nobody traces. */
trace_session *trace_active(const recorder_state *state);
/* Whether calls that were traced, by any session, have still to end. */
bool trace_has_running(const recorder_state *state);

/* Adds a user; starts a session when there is none. `rules` and `limits`: NULL for the default ones.
 * 1: added; 0: another profiler traces, or nothing can be traced: nothing happened; -1: exception. */
int trace_start(profiler_object *profiler, PyObject *rules, const trace_limits *limits);
/* Takes a user away; the last one ends the session. */
void trace_stop(profiler_object *profiler);

/* For a function decorated with recursive=True: true when it has to be followed by trace_leave. */
bool trace_enter(profiler_object *profiler);
void trace_leave(profiler_object *profiler);

/* The profiler has another configuration: regions are to be made again. */
void trace_reconfigured(profiler_object *profiler);
/* The profiler has no configuration any more. */
void trace_deconfigured(profiler_object *profiler);
/* A decorated function records itself: it is not to be traced besides. */
void trace_forget_function(profiler_object *profiler, PyObject *function);

#endif
