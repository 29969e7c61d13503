/* trace_thread.h - the traced calls that are open on a thread, for mechanisms that hear of beginnings
 * and ends one by one: an end that was never begun is told by it, and calls whose end will not be
 * heard can be closed.
 */
#ifndef SCOPE_PYTHON_TRACE_THREAD_H
#define SCOPE_PYTHON_TRACE_THREAD_H

#include "trace_mechanism.h"

#include <stdatomic.h>

typedef struct trace_open {
    const void *key; /* what an end is known by: code object, frame, key of a C function */
    trace_session *session; /* that began it */
    int32_t region;         /* TRACE_NOT: deeper than is recorded */
    bool is_resumption;
} trace_open;

typedef struct trace_thread {
    trace_open *top;   /* where the next call goes; below the outermost stands one without a key */
    trace_open *limit; /* the top stays below it */
    trace_open *open;
    Py_ssize_t outer; /* calls that are open besides, outside of these */
    Py_ssize_t inner; /* calls open when the innermost frame of Python began; the hook's, with C calls */
    const trace_session *hearing_for; /* for which it was last given a profile function */
    atomic_bool has_ended;
    struct trace_thread *next;
} trace_thread;

/* Of the calling thread. Never NULL: before trace_thread_prepare it is one that has no room. */
extern __thread trace_thread *trace_thread_current __attribute__((tls_model("initial-exec")));

/* The calling thread's, with room for one call more; NULL: memory is short. */
trace_thread *trace_thread_prepare(void);

static inline trace_thread *trace_thread_get(void)
{
    trace_thread *thread = trace_thread_current;
    return __builtin_expect(thread->top < thread->limit, 1) ? thread : trace_thread_prepare();
}

static inline Py_ssize_t trace_thread_depth(const trace_thread *thread)
{
    return thread->top - thread->open - 1;
}

static inline void trace_thread_push(trace_thread *thread, trace_session *session, const void *key,
                                     int32_t region, bool is_resumption)
{
    *thread->top++ = (trace_open){key, session, region, is_resumption};
}

static inline bool trace_thread_is_innermost(const trace_thread *thread, const void *key)
{
    return thread->top[-1].key == key;
}

/* Begins a call within the limits of the session. */
void trace_thread_begin(trace_thread *thread, trace_session *session, const void *key,
                        int32_t region, bool is_resumption);
/* Ends the innermost call. */
void trace_thread_end(trace_thread *thread);
/* Ends the innermost call of that key and what was begun after it; false: there is none. */
bool trace_thread_end_until(trace_thread *thread, const void *key);
/* Ends what was begun since so many calls were open. */
void trace_thread_end_above(trace_thread *thread, Py_ssize_t depth);
/* Ends the calls of a session on this thread. */
void trace_thread_close(const trace_session *session);
/* True while any thread has a call of that key open. */
bool trace_threads_have(const void *key);
/* True while any thread has a call of that session open. */
bool trace_threads_run(const trace_session *session);
/* Takes threads that have ended out of account. */
void trace_threads_reap(void);
/* In the child of a fork: no call is open. */
void trace_threads_forget(void);

#endif
