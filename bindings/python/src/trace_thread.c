#include "trace_thread.h"

#include <pthread.h>
#include <stdlib.h>

static trace_open no_call;
static trace_thread no_thread = {&no_call + 1, &no_call + 1, &no_call, 0, 0, NULL, false, NULL};

__thread trace_thread *trace_thread_current __attribute__((tls_model("initial-exec"))) = &no_thread;

/* Of the process: a thread may run in several interpreters. */
static trace_thread *threads;
static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t exit_key;
static pthread_once_t exit_once = PTHREAD_ONCE_INIT;

enum { FIRST_ROOM = 128 };

static void thread_ends(void *thread)
{
    trace_thread_current = &no_thread;
    atomic_store(&((trace_thread *)thread)->has_ended, true);
}

static void make_exit_key(void)
{
    pthread_key_create(&exit_key, thread_ends);
}

static trace_thread *make_thread(void)
{
    pthread_once(&exit_once, make_exit_key);
    trace_thread *thread = calloc(1, sizeof *thread);
    trace_open *open = thread != NULL ? calloc(FIRST_ROOM, sizeof *open) : NULL;
    if (open == NULL || pthread_setspecific(exit_key, thread) != 0) {
        free(open);
        free(thread);
        return NULL;
    }
    thread->open = open;
    thread->top = open + 1;
    thread->limit = open + FIRST_ROOM;
    pthread_mutex_lock(&threads_lock);
    thread->next = threads;
    threads = thread;
    pthread_mutex_unlock(&threads_lock);
    return trace_thread_current = thread;
}

static bool grow(trace_thread *thread)
{
    ptrdiff_t used = thread->top - thread->open;
    size_t room = (size_t)(thread->limit - thread->open) * 2;
    pthread_mutex_lock(&threads_lock);
    trace_open *open = realloc(thread->open, room * sizeof *open);
    if (open != NULL) {
        thread->open = open;
        thread->top = open + used;
        thread->limit = open + room;
    }
    pthread_mutex_unlock(&threads_lock);
    return open != NULL;
}

trace_thread *trace_thread_prepare(void)
{
    trace_thread *thread = trace_thread_current;
    if (thread == &no_thread) {
        return make_thread();
    }
    return thread->top < thread->limit || grow(thread) ? thread : NULL;
}

void trace_thread_begin(trace_thread *thread, trace_session *session, const void *key,
                        int32_t region, bool is_resumption)
{
    Py_ssize_t most = session->limits.max_depth;
    if (most > 0 && thread->outer + trace_thread_depth(thread) >= most) {
        region = TRACE_NOT;
    }
    trace_thread_push(thread, session, key, region, is_resumption);
    if (region != TRACE_NOT) {
        trace_record_begin(session, region, is_resumption);
    }
}

void trace_thread_end(trace_thread *thread)
{
    const trace_open *call = --thread->top;
    if (call->region != TRACE_NOT) {
        trace_record_end(call->session, call->region, call->is_resumption);
    }
}

bool trace_thread_end_until(trace_thread *thread, const void *key)
{
    trace_open *call = thread->top - 1;
    while (call > thread->open && call->key != key) {
        call--;
    }
    if (call == thread->open) {
        return false;
    }
    trace_thread_end_above(thread, call - thread->open - 1);
    return true;
}

void trace_thread_end_above(trace_thread *thread, Py_ssize_t depth)
{
    while (trace_thread_depth(thread) > depth) {
        trace_thread_end(thread);
    }
}

void trace_thread_close(const trace_session *session)
{
    trace_thread *thread = trace_thread_current;
    while (trace_thread_depth(thread) > 0 && thread->top[-1].session == session) {
        trace_thread_end(thread);
    }
}

/* NULL stands for any key, for any session. */
static bool is_any_open(const void *key, const trace_session *session)
{
    bool found = false;
    pthread_mutex_lock(&threads_lock);
    for (const trace_thread *thread = threads; thread != NULL && !found; thread = thread->next) {
        for (const trace_open *call = thread->open + 1; call < thread->top && !found; call++) {
            found = (key == NULL || call->key == key) &&
                    (session == NULL || call->session == session);
        }
    }
    pthread_mutex_unlock(&threads_lock);
    return found;
}

bool trace_threads_have(const void *key)
{
    return is_any_open(key, NULL);
}

bool trace_threads_run(const trace_session *session)
{
    return is_any_open(NULL, session);
}

void trace_threads_reap(void)
{
    pthread_mutex_lock(&threads_lock);
    trace_thread **link = &threads;
    while (*link != NULL) {
        trace_thread *thread = *link;
        if (!atomic_load(&thread->has_ended)) {
            link = &thread->next;
            continue;
        }
        *link = thread->next;
        free(thread->open);
        free(thread);
    }
    pthread_mutex_unlock(&threads_lock);
}

void trace_threads_forget(void)
{
    pthread_mutex_init(&threads_lock, NULL);
    for (trace_thread *thread = threads; thread != NULL; thread = thread->next) {
        thread->top = thread->open + 1;
        atomic_store(&thread->has_ended, thread != trace_thread_current);
    }
}
