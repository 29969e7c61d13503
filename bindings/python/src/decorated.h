/* decorated.h - a function or other callable, decorated so that every call is recorded.
 *
 * The object stands in for what it wraps: attributes that it lacks come from there. A configuration
 * turns recording on and off by swapping the function behind the vectorcall slot, so a call never
 * tests what is switched on.
 */
#ifndef SCOPE_PYTHON_DECORATED_H
#define SCOPE_PYTHON_DECORATED_H

#include "profiler.h"

/* What a call of the wrapped function gives: itself a result, or something that runs in steps. */
typedef enum call_kind {
    CALL_PLAIN,
    CALL_GENERATOR,
    CALL_COROUTINE,
    CALL_ASYNC_GENERATOR,
    CALL_AWAITABLE /* generator made awaitable by types.coroutine */
} call_kind;

/* Whether what a call calls is traced. */
typedef enum call_tracing {
    TRACES_AS_CONFIGURED,
    TRACES,
    TRACES_NOT
} call_tracing;

struct decorated_object {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *target;
    vectorcallfunc target_call;
    sp_profiler *recorder;
    int32_t id;
    call_kind kind;
    bool record_outcome;
    bool traces; /* in the current configuration */
    PyObject *lines; /* what times the lines of its calls, NULL: nothing does */
    vectorcallfunc timed_call; /* what such a call is apart from that */
    call_tracing wants_tracing;
    profiler_object *profiler;
    PyObject *metadata; /* NULL, str (a JSON object) or callable */
    PyObject *name;
    PyObject *tags; /* tuple or NULL */
    PyObject *attributes;
    PyObject *weak_references;
    decorated_object *next; /* of the profiler's list */
    decorated_object **link;
};

typedef struct decorated_options {
    PyObject *name;
    PyObject *tags;     /* tuple or NULL */
    PyObject *metadata; /* NULL, mapping or callable */
    bool record_outcome;
    call_kind kind;
    call_tracing traces;
} decorated_options;

int decorated_init(PyObject *module, recorder_state *state);

PyObject *decorated_new(profiler_object *profiler, PyObject *target,
                        const decorated_options *options);
/* Makes it follow the current configuration. */
int decorated_rebind(decorated_object *decorated);
/* Lets calls pass straight through. */
void decorated_unbind(decorated_object *decorated);

#endif
