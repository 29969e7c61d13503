/* stack.h - the nesting stack of a lane beyond push and pop: growing, calls that end out of order,
 * frames of ignored calls. Owner only, on a path.
 *
 * A call that ends while later ones are open leaves its frame behind as ENDED until it is on top.
 * Calls begun while paused share one IGNORED frame that counts them; calls begun after a resume
 * stack on top of it as usual; it may stay on top at zero until the next slow path. While either kind is on the stack the ceiling sends every begin to
 * the slow path.
 */
#ifndef SP_RECORDER_STACK_H
#define SP_RECORDER_STACK_H

#include "recorder/lane.h"

static inline uint64_t sp_frame_key(const sp_frame *frame)
{
    return atomic_load_explicit(&frame->key, memory_order_relaxed);
}

static inline void sp_frame_set_key(sp_frame *frame, uint64_t key)
{
    atomic_store_explicit(&frame->key, key, memory_order_relaxed);
}

static inline uint64_t sp_frame_start(const sp_frame *frame)
{
    return atomic_load_explicit(&frame->start, memory_order_relaxed);
}

static inline uint64_t sp_frame_number(const sp_frame *frame)
{
    return atomic_load_explicit(&frame->number, memory_order_relaxed);
}

static inline uint64_t sp_frame_extra(const sp_frame *frame)
{
    return atomic_load_explicit(&frame->extra, memory_order_relaxed);
}

static inline void sp_frame_set_extra(sp_frame *frame, uint64_t extra)
{
    atomic_store_explicit(&frame->extra, extra, memory_order_relaxed);
}

static inline bool sp_frame_is_call(const sp_frame *frame)
{
    return (sp_frame_key(frame) & SP_KEY_SPECIAL) == 0;
}

/* Tick from which on the call counts for the one below. */
static inline uint64_t sp_frame_outer_from(const sp_frame *frame)
{
    bool is_marked = (sp_frame_key(frame) & SP_KEY_MARKED) != 0;
    return is_marked ? sp_frame_extra(frame) : sp_frame_start(frame);
}

static inline uint32_t sp_frame_depth_from(const sp_frame *outermost, const sp_frame *frame)
{
    uint64_t ignored = sp_frame_key(frame) >> SP_KEY_IGNORED_SHIFT & SP_KEY_IGNORED_MASK;
    return (uint32_t)((uint64_t)(frame - outermost) - ignored);
}

static inline uint32_t sp_frame_depth(const sp_lane *lane, const sp_frame *frame)
{
    return sp_frame_depth_from(lane->outermost, frame);
}

/* The innermost open call at or below a frame; NULL: none. */
sp_frame *sp_stack_call(const sp_lane *lane, sp_frame *frame);
/* The innermost open call of that region, of that begin number; NULL: none. */
sp_frame *sp_stack_find(const sp_lane *lane, sp_frame *top, uint32_t region);
sp_frame *sp_stack_find_number(const sp_lane *lane, sp_frame *top, uint64_t number);
/* Depth + 1 of the nearest open call below a frame, 0: none. */
uint32_t sp_stack_level_below(const sp_lane *lane, sp_frame *frame);
/* Begin number of the call that was innermost when the frame's call began, also of one that has
 * ended meanwhile. SP_RECORD_NO_PARENT: none. */
uint64_t sp_stack_parent_from(const sp_frame *outermost, const sp_frame *frame);

static inline uint64_t sp_stack_parent(const sp_lane *lane, const sp_frame *frame)
{
    return sp_stack_parent_from(lane->outermost, frame);
}
/* True while a call opened later than the frame's is open. */
bool sp_stack_is_covered(const sp_frame *top, const sp_frame *frame);

/* A lane that lies in a room has its first stack there: SP_STACK_FIRST_ROOM frames. */
enum { SP_STACK_FIRST_ROOM = 64 };
void sp_stack_adopt_first(sp_lane *lane, sp_frame *stack);
/* Gives a lane an empty stack, its first one if need be. False: memory is short. */
bool sp_stack_init(sp_lane *lane);
void sp_stack_release(sp_lane *lane);
/* After `is_instrumented` has changed. */
void sp_stack_settle_ceiling(sp_lane *lane);
/* The strand that has the lane leaves it with its stack; one that has a stack, or has none yet, gets
 * it. Under the drain lock. */
void sp_stack_park(sp_lane *lane);
void sp_stack_unpark(sp_lane *lane, sp_strand *strand);
/* The first stack of a task, of SP_STACK_TASK_ROOM frames. */
enum { SP_STACK_TASK_ROOM = 16 };
void sp_stack_adopt_strand(sp_strand *strand, sp_frame *stack);
/* Empties the stack of a strand. */
void sp_stack_init_strand(const sp_lane *lane, sp_strand *strand);
/* Frees the stack of a strand that does not have the lane. */
void sp_stack_release_strand(const sp_lane *lane, sp_strand *strand);

/* Ends that are still to come, of what has the lane: of open and of ignored calls. */
uint64_t sp_stack_count_due(const sp_lane *lane);

/* Makes sure that one more call fits; may move the stack, `*top` follows. False: memory is short. */
bool sp_stack_make_room(sp_lane *lane, sp_frame **top);

/* Puts a call on top; everything but its ticks is set. There is room. */
sp_frame *sp_stack_push(sp_lane *lane, sp_frame *top, uint32_t region, uint32_t flags);
/* Removes what stands on top for no call any more; to be done first on every slow path. */
sp_frame *sp_stack_settle(sp_lane *lane, sp_frame *top);
/* Counts an ignored call. Needs no memory: one frame is always kept for it. */
sp_frame *sp_stack_ignore(sp_lane *lane, sp_frame *top);
/* Takes the one begun last off again, if there is any. */
sp_frame *sp_stack_unignore(sp_lane *lane, sp_frame *top);

/* Since when calls above have covered the call of `frame`, which ends at that tick; the tick itself
 * when there are none. */
uint64_t sp_stack_covered_from(const sp_frame *top, const sp_frame *frame, uint64_t tick);
/* The call of `frame` ends at that tick, wherever it stands. Returns the new top. */
sp_frame *sp_stack_end(sp_lane *lane, sp_frame *top, sp_frame *frame, uint64_t tick);
/* Every open call is to be written marked from now on. */
void sp_stack_mark_all(sp_lane *lane, sp_frame *top);

#endif
