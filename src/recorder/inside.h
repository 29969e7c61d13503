/* inside.h - being on a slow path of a lane; shared by its files. */
#ifndef SP_RECORDER_INSIDE_H
#define SP_RECORDER_INSIDE_H

#include "recorder/fast.h"
#include "recorder/stack.h"

static inline bool sp_is_recording(const sp_recording *recording)
{
    return sp_recording_phase(recording) != SP_PHASE_OFF;
}

/* The calling thread's lane of the current configuration; NULL: it has none yet. */
static inline sp_lane *sp_current_lane(const sp_recording *recording)
{
    sp_lane *lane = sp_lane_of(recording);
    uint64_t generation = atomic_load_explicit(&recording->generation, memory_order_relaxed);
    return lane->recording == recording && lane->attached_to == generation ? lane : NULL;
}

/* False: the call interrupts the recorder itself and is dropped. */
static inline bool sp_try_enter(sp_lane *lane)
{
    if (sp_lane_is_inside(lane))
        return false;
    sp_lane_enter(lane);
    return true;
}

static inline sp_frame *sp_top(const sp_lane *lane)
{
    return atomic_load_explicit(&lane->top, memory_order_relaxed);
}

/* The top, rid of what stands for no call any more. */
static inline sp_frame *sp_settled_top(sp_lane *lane)
{
    sp_frame *top = sp_stack_settle(lane, sp_top(lane));
    atomic_store_explicit(&lane->top, top, memory_order_release);
    return top;
}

static inline void sp_leave_with(sp_lane *lane, sp_frame *top)
{
    atomic_store_explicit(&lane->top, top, memory_order_release);
    sp_lane_leave(lane);
}

/* A token is the begin number, and the generation so that one of an earlier configuration ends
 * nothing. Never negative. */
enum { SP_TOKEN_SHIFT = 48 };

static inline uint64_t sp_token_number(int64_t token)
{
    return (uint64_t)token & ((UINT64_C(1) << SP_TOKEN_SHIFT) - 1);
}

static inline int64_t sp_token_make(const sp_lane *lane, uint64_t number)
{
    return (int64_t)((lane->attached_to & 0x7fff) << SP_TOKEN_SHIFT |
                     sp_token_number((int64_t)number));
}

static inline bool sp_token_is_of(const sp_lane *lane, int64_t token)
{
    return sp_token_make(lane, sp_token_number(token)) == token;
}

#endif
