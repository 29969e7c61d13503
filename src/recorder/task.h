/* task.h - lanes of tasks and greenlets. A thread that works for one writes its lane: the task's
 * nesting stack takes the place of the thread's, and a record says so before the next one. Begin and
 * end know nothing of it.
 *
 * A task is a row in the table of the recording from the moment it is made, and gets a stack on the
 * thread of its first step. Its owner keeps a sp_task_handle, which may outlive everything else: what
 * it stands for is gone once the configuration or the thread is.
 *
 * Thread rules: a handle is used by one thread at a time. Steps of a task on another thread than its
 * first one are recorded on the lane of that thread.
 */
#ifndef SP_RECORDER_TASK_H
#define SP_RECORDER_TASK_H

#include "recorder/recording.h"

typedef struct sp_task_handle {
    uint64_t generation; /* of the configuration; 0: none yet */
    uint64_t stamp;      /* of the lane, 0: none yet */
    sp_task_info *info;  /* valid in that generation */
    sp_task *task;       /* valid on that lane */
} sp_task_handle;

/* Frees a row. */
void sp_task_info_free(sp_task_info *info);

/* What a thread did before a step. */
typedef struct sp_task_step {
    uint64_t stamp; /* 0: the step is not followed */
    sp_strand *before;
} sp_task_step;

/* Makes a row. The texts are copied; `created_ns` is of the monotonic clock. False: memory is short,
 * or nothing records. */
bool sp_task_create(sp_recording *recording, sp_task_handle *handle, sp_task_kind kind,
                    const char *name, const char *coroutine, int64_t created_ns);
/* Names it anew. */
void sp_task_rename(sp_recording *recording, const sp_task_handle *handle, const char *name);

/* Around a step, on the thread that makes it. Steps of other tasks may lie inside. */
void sp_task_enter(sp_recording *recording, sp_task_handle *handle, sp_task_step *out_step);
void sp_task_leave(sp_recording *recording, sp_task_handle *handle, const sp_task_step *step);
/* It makes no more steps. What it has left open is lost. Outside its steps. */
void sp_task_finish(sp_recording *recording, sp_task_handle *handle);

/* The thread goes on with another greenlet (NULL: with none that is followed). */
void sp_task_switch(sp_recording *recording, sp_task_handle *from, sp_task_handle *to);

/* Whether a task has the lane of the calling thread. */
bool sp_task_is_current(const sp_recording *recording);
/* Numbers of the calling thread, which gets a lane by it, and of the task that has the lane; -1: none. */
void sp_task_where(sp_recording *recording, int64_t *out_thread, int64_t *out_task);

/* Gives the lane back to its thread and frees all tasks. Under the drain lock, or nobody else knows
 * the lane. */
void sp_tasks_drop(sp_lane *lane);

/* The strand with that lane number, NULL when it has ended. Under the drain lock. */
sp_strand *sp_lane_strand(sp_lane *lane, uint32_t index, uint32_t slot);

/* Visits what has the lane and everything that waits for it: `top` and `outermost` are its stack. Under
 * the drain lock. */
typedef struct sp_strand_view {
    const sp_frame *outermost, *top;
    uint32_t index;
    const sp_task *task; /* NULL: the thread's own */
} sp_strand_view;
bool sp_lane_view(const sp_lane *lane, size_t i, sp_strand_view *out);

/* Ticks up to now of the open call of `frame` in which its task did not run. Under the drain lock, or
 * by the owner about what has the lane. */
uint64_t sp_task_awaited(const sp_strand_view *view, const sp_frame *frame, uint64_t now);

static inline uint64_t *sp_lane_full_limit(const sp_lane *lane)
{
    return lane->words + lane->num_words - (SP_RECORD_CALL_WORDS - 1);
}

/* Whether the next record needs one before it that says whose it is. */
static inline bool sp_lane_must_tell(const sp_lane *lane)
{
    return lane->told != lane->index || (lane->strand->lost > 0 && !lane->is_losing);
}

/* No short record fits while there is something to tell. */
static inline void sp_lane_set_limit(sp_lane *lane)
{
    lane->limit = sp_lane_must_tell(lane) ? lane->words : sp_lane_full_limit(lane);
}

#endif
