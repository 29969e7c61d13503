/* tasks.h - asyncio tasks and greenlets that have lanes of their own.
 *
 * A followed task runs the coroutine that the program gave it inside an object of ours (steps.c), which
 * tells the recorder of each step. Greenlets are told of by greenlet's own trace function.
 */
#ifndef SCOPE_PYTHON_TASKS_H
#define SCOPE_PYTHON_TASKS_H

#include "profiler.h"

typedef struct followed_task {
    profiler_object *profiler; /* borrowed: who holds the task holds it */
    sp_binding_task task;
    PyObject *reference; /* weak, to the task object; NULL: not known yet */
    bool has_name;       /* as the task object had it at a step */
    bool is_done;
} followed_task;

/* NULL with an exception set. `coroutine`: what the task runs. */
followed_task *task_new(profiler_object *profiler, PyObject *coroutine);
void task_free(followed_task *task);

/* Around a step; exceptions that are set stay. `is_last`: there will be no other. */
void task_step_begin(followed_task *task, PyObject *coroutine, sp_binding_step *step);
void task_step_end(followed_task *task, const sp_binding_step *step, bool is_last);

/* It makes no more steps. */
void task_end(followed_task *task);

/* The task object itself, once there is one. */
int task_is(followed_task *task, PyObject *object);

/* Methods of a profiler. follow(coroutine) -> the object to run in its place;
 * greenlet_switched(event, (origin, target)) for greenlet.settrace. */
PyObject *tasks_follow(PyObject *self, PyObject *coroutine);
PyObject *tasks_where(PyObject *self, PyObject *ignored);
PyObject *tasks_number(PyObject *self, PyObject *followed);
PyObject *tasks_switched(PyObject *self, PyObject *const *args, Py_ssize_t nargs);

#endif
