/* trace_mechanism.h - how the interpreter tells of calls: the table that each mechanism fills, and
 * what it calls back. One mechanism is built in:
 *
 *     trace_hook.c        the frame evaluation hook, CPython 3.10 and 3.11
 *     trace_monitoring.c  sys.monitoring, CPython 3.12 and later
 */
#ifndef SCOPE_PYTHON_TRACE_MECHANISM_H
#define SCOPE_PYTHON_TRACE_MECHANISM_H

#include "trace.h"

typedef struct trace_mechanism {
    const char *name;
    /* -1 with an exception set. */
    int (*install)(trace_session *session);
    /* Closes what the calling thread has open; calls of other threads may still end later. */
    void (*remove)(trace_session *session);
    /* From time to time: notices new codes, and that something else took its place. */
    void (*check)(trace_session *session);
    /* In the child of a fork, instead of remove: other threads are gone. */
    void (*forget)(trace_session *session);
    /* With the module. */
    int (*init)(PyObject *module, recorder_state *state);
    void (*release)(recorder_state *state);
} trace_mechanism;

extern const trace_mechanism trace_mechanism_built;

/* What is known of a code object that is about to run with these globals (NULL: those of the running
 * frame); asks the rules when it is met for the first time. Program errors and the current exception
 * are left alone. */
trace_code trace_resolve(trace_session *session, PyCodeObject *code, PyObject *globals);

/* The same for a C function (trace_c_calls.h): its region. `owner`: the class that defines it, NULL:
 * none does. */
int32_t trace_resolve_c(trace_session *session, const void *key, PyObject *function,
                        PyObject *owner);

/* Counts a call that was folded into its parent. */
void trace_count_folded(trace_session *session, int32_t region);

/* Begins and ends a traced call on this thread. */
static inline void trace_record_begin(trace_session *session, int32_t region, bool is_resumption)
{
    if (__builtin_expect(is_resumption, 0)) {
        sp_binding_resume(session->recorder, region);
    } else {
        sp_binding_begin(session->recorder, region);
    }
}

static inline void trace_record_end(trace_session *session, int32_t region, bool is_resumption)
{
    if (__builtin_expect(session->limits.min_duration_ns == 0, 1)) {
        if (__builtin_expect(is_resumption, 0)) {
            sp_binding_end_resumed(session->recorder, region);
        } else {
            sp_binding_end(session->recorder, region);
        }
    } else if (sp_binding_end_unless_shorter(session->recorder, region,
                                             session->limits.min_duration_ns)) {
        trace_count_folded(session, region);
    }
}

#endif
