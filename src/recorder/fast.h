/* fast.h - begin and end of a call, inline: what a recording program pays for.
 *
 *     sp_phase phase = sp_recording_phase(recording);
 *     if (SP_IN_LINE(phase == SP_PHASE_OFF))
 *         return;
 *     if (!sp_fast_begin(phase, sp_lane_of(recording), region))
 *         sp_path_begin(recording, region, 0);
 *
 * False: there is something out of the ordinary, nothing has changed; the caller then takes the
 * slow path (path.h) as its last act, so that the common case needs no stack frame.
 *
 * Between the stores to is_inside a signal handler that records on the same thread finds it set and
 * drops out; before and after it may do as it likes.
 */
#ifndef SP_RECORDER_FAST_H
#define SP_RECORDER_FAST_H

#include "clock/tick.h"
#include "log/record.h"
#include "recorder/recording.h"

#define SP_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define SP_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
/* Keeps the statement that follows in line, for a branch that should cost as little as it can even
 * where it is not the usual one. */
#define SP_IN_LINE(condition) __builtin_expect_with_probability(!!(condition), 1, 0.6)

/* The calling thread's lane of a recording; one that refuses everything when there is none. */
static inline sp_lane *sp_lane_of(const sp_recording *recording)
{
    sp_lane *lane = sp_lane_current;
    if (SP_LIKELY(lane->recording == recording))
        return lane;
    const sp_thread *thread = lane->thread;
    if (recording->slot >= thread->num_lanes)
        return &sp_lane_dummy;
    lane = thread->lanes[recording->slot];
    return lane->recording == recording ? lane : &sp_lane_dummy;
}

static inline void sp_lane_enter(sp_lane *lane)
{
    atomic_store_explicit(&lane->is_inside, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void sp_lane_leave(sp_lane *lane)
{
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&lane->is_inside, false, memory_order_relaxed);
}

static inline bool sp_lane_is_inside(const sp_lane *lane)
{
    return atomic_load_explicit(&lane->is_inside, memory_order_relaxed);
}

/* Take an anchor of the clock, which the event just recorded has found due. */
void sp_lane_anchor_begin(sp_lane *lane);
void sp_lane_anchor_end(sp_lane *lane);

/* While paused: begin and end only count, in the frame that the first ignored begin has put on the
 * stack. It stays there at zero until the next slow path. */
static inline bool sp_fast_ignore(sp_lane *lane, uint32_t region, uint64_t step)
{
    sp_frame *top = atomic_load_explicit(&lane->top, memory_order_relaxed);
    if (sp_lane_is_inside(lane) || region >= SP_REGION_LIMIT ||
        atomic_load_explicit(&top->key, memory_order_relaxed) != SP_KEY_IGNORED)
        return false;
    const _Atomic uint8_t *states = atomic_load_explicit(&lane->states, memory_order_relaxed);
    uint64_t count = atomic_load_explicit(&top->extra, memory_order_relaxed);
    if (atomic_load_explicit(&states[region], memory_order_relaxed) != SP_REGION_RECORD ||
        count + step == UINT64_MAX)
        return false;
    atomic_store_explicit(&top->extra, count + step, memory_order_relaxed);
    return true;
}

/* `flags`: 0 or SP_KEY_RESUMPTION, a constant. */
static inline __attribute__((always_inline)) bool
sp_fast_begin_as(sp_phase phase, sp_lane *lane, uint32_t region, uint64_t flags)
{
    if (SP_UNLIKELY(phase == SP_PHASE_PAUSED))
        return sp_fast_ignore(lane, region, 1);
    if (SP_UNLIKELY(sp_lane_is_inside(lane)) || SP_UNLIKELY(region >= SP_REGION_LIMIT))
        return false;
    const _Atomic uint8_t *states = atomic_load_explicit(&lane->states, memory_order_relaxed);
    if (SP_UNLIKELY(atomic_load_explicit(&states[region], memory_order_relaxed) !=
                    SP_REGION_RECORD))
        return false;
    sp_lane_enter(lane);
    sp_frame *top = atomic_load_explicit(&lane->top, memory_order_relaxed);
    if (SP_UNLIKELY(top >= lane->ceiling)) {
        sp_lane_leave(lane);
        return false;
    }
    sp_frame *frame = top + 1;
    uint64_t number = lane->next_number;
    lane->next_number = number + 1;
    atomic_store_explicit(&frame->key, region | flags, memory_order_relaxed);
    atomic_store_explicit(&frame->number, number, memory_order_relaxed);
    uint64_t now = sp_tick_counter();
    atomic_store_explicit(&frame->start, now, memory_order_relaxed);
    atomic_store_explicit(&lane->top, frame, memory_order_release);
    sp_lane_leave(lane);
    if (SP_UNLIKELY(now >= lane->anchor_due))
        sp_lane_anchor_begin(lane);
    return true;
}

static inline __attribute__((always_inline)) bool
sp_fast_end_as(sp_phase phase, sp_lane *lane, uint32_t region, uint64_t flags)
{
    if (SP_UNLIKELY(phase == SP_PHASE_PAUSED))
        return sp_fast_ignore(lane, region, UINT64_MAX);
    if (SP_UNLIKELY(sp_lane_is_inside(lane)))
        return false;
    sp_lane_enter(lane);
    sp_frame *frame = atomic_load_explicit(&lane->top, memory_order_relaxed);
    uint64_t *head = atomic_load_explicit(&lane->head, memory_order_relaxed);
    if (SP_UNLIKELY(atomic_load_explicit(&frame->key, memory_order_relaxed) != (region | flags)) ||
        SP_UNLIKELY(head >= lane->limit)) {
        sp_lane_leave(lane);
        return false;
    }
    uint64_t now = sp_tick_counter();
    uint64_t depth = (uint64_t)((const char *)frame - (const char *)lane->outermost) << 28;
    head[0] = depth | region | (flags != 0 ? SP_RECORD_RESUMPTION : 0);
    head[1] = atomic_load_explicit(&frame->start, memory_order_relaxed);
    head[2] = now;
    atomic_store_explicit(&lane->head, head + SP_RECORD_CALL_WORDS, memory_order_release);
    atomic_store_explicit(&lane->top, frame - 1, memory_order_release);
    sp_lane_leave(lane);
    if (SP_UNLIKELY(now >= lane->anchor_due))
        sp_lane_anchor_end(lane);
    return true;
}

/* An ordinary call. */
static inline __attribute__((always_inline)) bool
sp_fast_begin(sp_phase phase, sp_lane *lane, uint32_t region)
{
    return sp_fast_begin_as(phase, lane, region, 0);
}

static inline __attribute__((always_inline)) bool
sp_fast_end(sp_phase phase, sp_lane *lane, uint32_t region)
{
    return sp_fast_end_as(phase, lane, region, 0);
}

/* A resumption. */
static inline __attribute__((always_inline)) bool
sp_fast_begin_resumed(sp_phase phase, sp_lane *lane, uint32_t region)
{
    return sp_fast_begin_as(phase, lane, region, SP_KEY_RESUMPTION);
}

static inline __attribute__((always_inline)) bool
sp_fast_end_resumed(sp_phase phase, sp_lane *lane, uint32_t region)
{
    return sp_fast_end_as(phase, lane, region, SP_KEY_RESUMPTION);
}

_Static_assert(sizeof(sp_frame) == 32 && SP_RECORD_DEPTH_SHIFT == 5 + 28, "the depth in a record is a shift of a frame's address");
_Static_assert(SP_RECORD_CALL == 0, "the first word of a call needs no kind");

#endif
