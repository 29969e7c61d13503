/* steps.h - generators, coroutines and asynchronous generators of decorated functions.
 *
 * The object stands in for the one that the function made and records one interval for every time
 * it runs: a consumer's time is never charged to it, and intervals always nest.
 */
#ifndef SCOPE_PYTHON_STEPS_H
#define SCOPE_PYTHON_STEPS_H

#include "details.h"

/* An object to run in the place of a coroutine that is to have a lane of its own; what is none, or is
 * followed already, is given back. */
PyObject *steps_follow(profiler_object *profiler, PyObject *coroutine);
/* The task of that profiler which such an object runs, NULL: it is none. */
const struct followed_task *steps_task(const profiler_object *profiler, PyObject *followed);
/* The task object that runs it. */
PyObject *steps_task_is(PyObject *module, PyObject *const *args, Py_ssize_t nargs);

int steps_init(PyObject *module, recorder_state *state);

/* Takes over `inner` and `details`, also on failure. What is not a fresh generator or coroutine is
 * given back as it is. */
PyObject *steps_new(decorated_object *decorated, PyObject *inner, call_details *details);

#endif
