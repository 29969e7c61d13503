/* Tasks for a language binding, as binding.h declares them. */
#include "recorder/task.h"
#include "session/profiler.h"

#include <string.h>

_Static_assert(sizeof(sp_task_handle) <= sizeof(sp_binding_task), "a handle fits what holds it");
_Static_assert(sizeof(sp_task_step) <= sizeof(sp_binding_step), "a step fits what holds it");

static sp_task_handle handle_of(const sp_binding_task *task)
{
    sp_task_handle handle;
    memcpy(&handle, task, sizeof handle);
    return handle;
}

static void put(sp_binding_task *task, const sp_task_handle *handle)
{
    memcpy(task, handle, sizeof *handle);
}

bool sp_binding_task_create(sp_profiler *profiler, sp_binding_task *task, bool is_greenlet,
                            const char *name, const char *coroutine, int64_t created_ns)
{
    sp_task_handle handle;
    bool is_made = sp_task_create(&profiler->recording, &handle,
                                  is_greenlet ? SP_TASK_GREENLET : SP_TASK_ASYNC, name, coroutine,
                                  created_ns);
    put(task, &handle);
    return is_made;
}

void sp_binding_task_rename(sp_profiler *profiler, const sp_binding_task *task, const char *name)
{
    sp_task_handle handle = handle_of(task);
    sp_task_rename(&profiler->recording, &handle, name);
}

void sp_binding_task_enter(sp_profiler *profiler, sp_binding_task *task, sp_binding_step *out_step)
{
    sp_task_handle handle = handle_of(task);
    sp_task_step step;
    sp_task_enter(&profiler->recording, &handle, &step);
    put(task, &handle);
    memcpy(out_step, &step, sizeof step);
}

void sp_binding_task_leave(sp_profiler *profiler, sp_binding_task *task,
                           const sp_binding_step *given)
{
    sp_task_handle handle = handle_of(task);
    sp_task_step step;
    memcpy(&step, given, sizeof step);
    sp_task_leave(&profiler->recording, &handle, &step);
}

void sp_binding_task_finish(sp_profiler *profiler, sp_binding_task *task)
{
    sp_task_handle handle = handle_of(task);
    sp_task_finish(&profiler->recording, &handle);
    put(task, &handle);
}

void sp_binding_task_switch(sp_profiler *profiler, sp_binding_task *from, sp_binding_task *to)
{
    sp_task_handle handles[2];
    if (from != NULL)
        handles[0] = handle_of(from);
    if (to != NULL)
        handles[1] = handle_of(to);
    sp_task_switch(&profiler->recording, from == NULL ? NULL : &handles[0],
                   to == NULL ? NULL : &handles[1]);
    if (to != NULL)
        put(to, &handles[1]);
}

bool sp_binding_task_is_known(sp_profiler *profiler, const sp_binding_task *task)
{
    sp_task_handle handle = handle_of(task);
    return handle.generation != 0 &&
           handle.generation ==
               atomic_load_explicit(&profiler->recording.generation, memory_order_relaxed);
}

bool sp_binding_in_task(sp_profiler *profiler)
{
    return sp_task_is_current(&profiler->recording);
}

void sp_binding_where(sp_profiler *profiler, int64_t *out_thread, int64_t *out_task)
{
    sp_task_where(&profiler->recording, out_thread, out_task);
}

int64_t sp_binding_task_number(sp_profiler *profiler, const sp_binding_task *task)
{
    return sp_binding_task_is_known(profiler, task) ? (int64_t)handle_of(task).info->number : -1;
}
