#include "recorder/task.h"

#include "base/os/clock.h"
#include "clock/clock.h"
#include "recorder/attach.h"
#include "recorder/inside.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct sp_task {
    sp_strand strand;
    sp_task_info *info;
    uint64_t since;     /* tick of the last time that it went on or stopped; 0: it has not run yet */
    uint64_t suspended; /* ticks in which it did not run, since its first step */
    uint64_t *before;   /* by place on the stack: `suspended` when the call there was first left open */
    size_t before_room;
    sp_task *next;      /* of the free ones */
};

static const sp_frame no_frames[2];

static sp_task *task_of(const sp_strand *strand)
{
    return strand->slot == 0 ? NULL : (sp_task *)(uintptr_t)strand; /* its first member */
}

/* ---- The table -------------------------------------------------------------------------------*/

static char *copy(const char *text)
{
    return text == NULL ? NULL : strdup(text);
}

void sp_task_info_free(sp_task_info *info)
{
    if (info == NULL)
        return;
    free(info->name);
    free(info->coroutine);
    free(info);
}

static void tell_task(const sp_recording *recording, uint32_t number, const sp_task_info *info)
{
    if (recording->sink->table->task != NULL)
        recording->sink->table->task(recording->sink, number, info);
}

bool sp_task_create(sp_recording *recording, sp_task_handle *handle, sp_task_kind kind,
                    const char *name, const char *coroutine, int64_t created_ns)
{
    *handle = (sp_task_handle){.generation = 0};
    sp_task_info *info = sp_thread_is_occupied() ? NULL : calloc(1, sizeof *info);
    if (info == NULL)
        return false;
    info->kind = kind;
    info->name = copy(name);
    info->coroutine = copy(coroutine);
    info->created_ns = created_ns;
    atomic_init(&info->done_ns, -1);
    atomic_init(&info->thread, -1);
    sp_lane *own = sp_recording_lock(recording);
    bool fits = sp_is_recording(recording) && recording->tasks.count < SP_RECORD_TASK_LANES &&
                sp_vector_reserve(&recording->tasks, 1);
    if (fits) {
        info->number = (uint32_t)recording->tasks.count;
        recording->tasks.items[recording->tasks.count++] = info;
        handle->info = info;
        handle->generation = atomic_load_explicit(&recording->generation, memory_order_relaxed);
    }
    sp_recording_unlock(recording, own);
    if (!fits)
        sp_task_info_free(info);
    return fits;
}

/* Under the lock of the recording. */
static bool is_row(const sp_recording *recording, const sp_task_handle *handle)
{
    return handle->generation != 0 &&
           handle->generation ==
               atomic_load_explicit(&recording->generation, memory_order_relaxed);
}

void sp_task_rename(sp_recording *recording, const sp_task_handle *handle, const char *name)
{
    if (sp_thread_is_occupied())
        return;
    char *fresh = copy(name);
    sp_lane *own = sp_recording_lock(recording);
    if (fresh != NULL && is_row(recording, handle)) {
        char *old = handle->info->name;
        handle->info->name = fresh;
        fresh = old;
        tell_task(recording, handle->info->number, handle->info);
    }
    sp_recording_unlock(recording, own);
    free(fresh);
}

/* ---- Slots -----------------------------------------------------------------------------------*/

/* Slots come many at once, with their first stacks. With a sink that survives the process they lie
 * where another process finds them. */
enum { BLOCK_TASKS = 64 };

struct sp_task_block {
    struct sp_task_block *next;
    bool is_in_room;
    sp_task tasks[BLOCK_TASKS];
    sp_frame stacks[BLOCK_TASKS][SP_STACK_TASK_ROOM];
};

static struct sp_task_block *allocate_block(const sp_lane *lane)
{
    sp_sink *sink = lane->recording->sink;
    sp_sink_room room = {
        .bytes = sizeof(struct sp_task_block),
        .state = SP_ROOM_NONE,
        .head = SP_ROOM_NONE,
        .top = SP_ROOM_NONE,
        .ring = SP_ROOM_NONE,
        .outermost = SP_ROOM_NONE,
        .lane = SP_ROOM_NONE,
        .stack = offsetof(struct sp_task_block, stacks),
        .stack_frames = (size_t)BLOCK_TASKS * SP_STACK_TASK_ROOM,
        .waiting = offsetof(struct sp_task_block, tasks),
        .waiting_step = sizeof(sp_task),
        .num_waiting = BLOCK_TASKS,
    };
    struct sp_task_block *block = lane->free_room == NULL ? NULL : sink->table->take_room(sink, &room);
    if (block != NULL)
        block->is_in_room = true;
    return block != NULL ? block : calloc(1, sizeof *block);
}

static bool add_block(sp_lane *lane)
{
    if (lane->tasks.count + BLOCK_TASKS > SP_RECORD_MAX_DEPTH ||
        !sp_vector_reserve(&lane->tasks, BLOCK_TASKS))
        return false;
    struct sp_task_block *block = allocate_block(lane);
    if (block == NULL)
        return false;
    block->next = lane->task_blocks;
    lane->task_blocks = block;
    for (int i = 0; i < BLOCK_TASKS; i++) {
        sp_task *task = &block->tasks[i];
        lane->tasks.items[lane->tasks.count++] = task;
        task->strand.slot = (uint32_t)lane->tasks.count;
        sp_stack_adopt_strand(&task->strand, block->stacks[i]);
        task->next = lane->free_tasks;
        lane->free_tasks = task;
    }
    return true;
}

/* One that is not in use. NULL: memory is short. */
static sp_task *take_slot(sp_lane *lane)
{
    if (lane->free_tasks == NULL && !add_block(lane))
        return NULL;
    sp_task *task = lane->free_tasks;
    lane->free_tasks = task->next;
    return task;
}

/* Gives a task its stack on this lane. Under the drain lock. */
static bool settle(sp_lane *lane, sp_task_handle *handle)
{
    sp_task *task = take_slot(lane);
    if (task == NULL)
        return false;
    sp_stack_init_strand(lane, &task->strand);
    task->info = handle->info;
    task->since = task->suspended = 0;
    task->strand.index = SP_RECORD_TASK_LANES + handle->info->number;
    atomic_store_explicit(&handle->info->thread, lane->thread_index, memory_order_relaxed);
    handle->task = task;
    handle->stamp = lane->stamp;
    return true;
}

sp_strand *sp_lane_strand(sp_lane *lane, uint32_t index, uint32_t slot)
{
    if (slot == 0)
        return &lane->own;
    sp_strand *strand = slot > lane->tasks.count ? NULL : &lane->tasks.items[slot - 1]->strand;
    return strand != NULL && strand->index == index ? strand : NULL;
}

bool sp_lane_view(const sp_lane *lane, size_t i, sp_strand_view *out)
{
    enum { CURRENT, OWN, FIRST_TASK };
    if (i >= FIRST_TASK + lane->tasks.count)
        return false;
    if (i == CURRENT) {
        *out = (sp_strand_view){.outermost = lane->outermost, .index = lane->index,
                                .top = atomic_load_explicit(&lane->top, memory_order_acquire),
                                .task = task_of(lane->strand)};
        return true;
    }
    sp_task *task = i == OWN ? NULL : lane->tasks.items[i - FIRST_TASK];
    const sp_strand *strand = task == NULL ? &lane->own : &task->strand;
    sp_frame *top = atomic_load_explicit(&strand->top, memory_order_relaxed);
    /* One that has the lane, or no stack, is empty here. */
    *out = (sp_strand_view){.outermost = top == NULL ? &no_frames[1] : strand->outermost,
                            .top = top == NULL ? &no_frames[0] : top,
                            .index = strand->index, .task = task};
    return true;
}

/* Under the drain lock. */
static void hand_lane(sp_lane *lane, sp_strand *to)
{
    if (lane->strand == to)
        return;
    sp_stack_park(lane);
    sp_stack_unpark(lane, to);
    sp_lane_set_limit(lane);
}

/* Its open calls are lost. The task does not have the lane. Under the drain lock. */
static void give_up(sp_lane *lane, sp_task *task)
{
    sp_frame *top = atomic_load_explicit(&task->strand.top, memory_order_relaxed);
    if (lane->generation != 0 && top != NULL)
        sp_lane_give_up(lane, task->strand.outermost, top);
    atomic_store_explicit(&task->strand.top, NULL, memory_order_relaxed);
}

void sp_tasks_drop(sp_lane *lane)
{
    if (lane->strand != NULL)
        hand_lane(lane, &lane->own);
    for (size_t i = 0; i < lane->tasks.count; i++) {
        sp_task *task = lane->tasks.items[i];
        give_up(lane, task);
        sp_stack_release_strand(lane, &task->strand);
        free(task->before);
    }
    while (lane->task_blocks != NULL) {
        struct sp_task_block *block = lane->task_blocks;
        lane->task_blocks = block->next;
        if (block->is_in_room)
            lane->free_room(block, sizeof *block);
        else
            free(block);
    }
    sp_vector_release(&lane->tasks);
    lane->free_tasks = NULL;
}

/* ---- Steps -----------------------------------------------------------------------------------*/

/* Lane of the calling thread, where the task makes its steps or will; NULL: elsewhere. */
static sp_lane *lane_of_step(sp_recording *recording, const sp_task_handle *handle)
{
    if (handle->generation == 0 || !sp_is_recording(recording) ||
        handle->generation != atomic_load_explicit(&recording->generation, memory_order_relaxed))
        return NULL;
    sp_lane *lane = sp_current_lane(recording);
    if (lane == NULL)
        lane = sp_lane_attach(recording);
    if (lane == NULL || lane->attached_to != handle->generation)
        return NULL;
    return handle->stamp == 0 || handle->stamp == lane->stamp ? lane : NULL;
}

static void add(_Atomic uint64_t *sum, uint64_t more)
{
    atomic_store_explicit(sum, atomic_load_explicit(sum, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

static void go_on(sp_task *task, uint64_t now)
{
    if (task->since != 0) {
        task->suspended += now - task->since;
        atomic_store_explicit(&task->info->suspended, task->suspended, memory_order_relaxed);
    }
    task->since = now;
    add(&task->info->steps, 1);
}

/* The calls that are open now will have waited. Those that have already are the outer ones. Memory
 * that is short costs await times. The task has the lane. */
static void mark_open_calls(sp_lane *lane, sp_task *task)
{
    sp_frame *top = sp_top(lane);
    size_t places = (size_t)(top + 1 - lane->outermost);
    if (places > task->before_room) {
        size_t room = places > 2 * task->before_room ? places : 2 * task->before_room;
        uint64_t *before = realloc(task->before, room * sizeof *before);
        if (before == NULL)
            return;
        task->before = before;
        task->before_room = room;
    }
    for (sp_frame *frame = top; frame >= lane->outermost; frame--) {
        uint64_t key = sp_frame_key(frame);
        if (!sp_frame_is_call(frame))
            continue;
        if (key & SP_KEY_AWAITED)
            return;
        task->before[frame - lane->outermost] = task->suspended;
        sp_frame_set_key(frame, key | SP_KEY_AWAITED);
    }
}

static void stop(sp_lane *lane, sp_task *task, uint64_t now)
{
    add(&task->info->running, now - task->since);
    task->since = now;
    mark_open_calls(lane, task);
}

uint64_t sp_task_awaited(const sp_strand_view *view, const sp_frame *frame, uint64_t now)
{
    const sp_task *task = view->task;
    if (task == NULL || (sp_frame_key(frame) & SP_KEY_AWAITED) == 0)
        return 0;
    bool waits = atomic_load_explicit(&task->strand.top, memory_order_relaxed) != NULL;
    uint64_t last = waits && now > task->since ? now - task->since : 0;
    return task->suspended + last - task->before[frame - view->outermost];
}

void sp_task_enter(sp_recording *recording, sp_task_handle *handle, sp_task_step *out_step)
{
    *out_step = (sp_task_step){.stamp = 0};
    int saved_errno = errno;
    sp_lane *lane = lane_of_step(recording, handle);
    if (lane != NULL && sp_try_enter(lane)) {
        sp_mutex_lock(&lane->lock);
        bool is_there = lane->generation != 0 && (handle->stamp != 0 || settle(lane, handle));
        if (is_there && lane->strand != &handle->task->strand) {
            *out_step = (sp_task_step){.stamp = lane->stamp, .before = lane->strand};
            hand_lane(lane, &handle->task->strand);
            go_on(handle->task, sp_tick_now());
        }
        sp_mutex_unlock(&lane->lock);
        sp_lane_leave(lane);
    }
    errno = saved_errno;
}

/* Whether the lane that the step began on is still the thread's. */
static bool goes_on(const sp_lane *lane, uint64_t stamp)
{
    return lane != NULL && stamp != 0 && lane->stamp == stamp;
}

void sp_task_leave(sp_recording *recording, sp_task_handle *handle, const sp_task_step *step)
{
    sp_lane *lane = step->stamp == 0 ? NULL : sp_lane_of(recording);
    if (!goes_on(lane, step->stamp) || lane->recording != recording || !sp_try_enter(lane))
        return;
    sp_mutex_lock(&lane->lock);
    if (lane->generation != 0 && lane->strand == &handle->task->strand) {
        stop(lane, handle->task, sp_tick_now());
        hand_lane(lane, step->before);
    }
    sp_mutex_unlock(&lane->lock);
    sp_lane_leave(lane);
}

void sp_task_switch(sp_recording *recording, sp_task_handle *from, sp_task_handle *to)
{
    int saved_errno = errno;
    sp_lane *lane = to != NULL ? lane_of_step(recording, to) : NULL;
    if (lane == NULL)
        lane = sp_current_lane(recording);
    if (lane != NULL && sp_try_enter(lane)) {
        sp_mutex_lock(&lane->lock);
        uint64_t now = sp_tick_now();
        bool is_new = to != NULL && to->stamp == 0 && to->generation == lane->generation;
        if (from != NULL && from->stamp == lane->stamp && lane->strand == &from->task->strand)
            stop(lane, from->task, now);
        if (is_new)
            settle(lane, to);
        bool follows = lane->generation != 0 && to != NULL && to->stamp == lane->stamp;
        hand_lane(lane, follows ? &to->task->strand : &lane->own);
        if (follows)
            go_on(to->task, now);
        sp_mutex_unlock(&lane->lock);
        sp_lane_leave(lane);
    }
    errno = saved_errno;
}

/* On the lane of its steps: the slot is free for another. */
static bool finish_here(sp_lane *lane, sp_task_handle *handle)
{
    bool is_here = false;
    sp_mutex_lock(&lane->lock);
    sp_task *task = handle->task;
    if (lane->generation == handle->generation && lane->strand != &task->strand) {
        give_up(lane, task);
        task->strand.index = 0;
        task->next = lane->free_tasks;
        lane->free_tasks = task;
        is_here = true;
    }
    sp_mutex_unlock(&lane->lock);
    return is_here;
}

void sp_task_finish(sp_recording *recording, sp_task_handle *handle)
{
    int saved_errno = errno;
    int64_t now_ns = sp_clock_monotonic_ns();
    sp_lane *lane = sp_current_lane(recording);
    if (lane != NULL && handle->stamp == lane->stamp && sp_try_enter(lane)) {
        finish_here(lane, handle);
        sp_lane_leave(lane);
    }
    if (!sp_thread_is_occupied()) {
        sp_lane *own = sp_recording_lock(recording);
        if (is_row(recording, handle)) {
            atomic_store_explicit(&handle->info->done_ns, now_ns, memory_order_relaxed);
            tell_task(recording, handle->info->number, handle->info);
        }
        sp_recording_unlock(recording, own);
    }
    *handle = (sp_task_handle){.generation = 0};
    errno = saved_errno;
}

bool sp_task_is_current(const sp_recording *recording)
{
    const sp_lane *lane = sp_is_recording(recording) ? sp_current_lane(recording) : NULL;
    return lane != NULL && lane->strand != &lane->own;
}

void sp_task_where(sp_recording *recording, int64_t *out_thread, int64_t *out_task)
{
    *out_thread = *out_task = -1;
    int saved_errno = errno;
    sp_lane *lane = sp_is_recording(recording) ? sp_current_lane(recording) : NULL;
    if (lane == NULL && sp_is_recording(recording))
        lane = sp_lane_attach(recording);
    if (lane != NULL) {
        *out_thread = lane->thread_index;
        if (lane->strand != &lane->own)
            *out_task = (int64_t)lane->strand->index - SP_RECORD_TASK_LANES;
    }
    errno = saved_errno;
}
