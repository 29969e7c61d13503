/* drain.h - emptying rings: what they hold becomes blocks and sums. */
#ifndef SP_RECORDER_DRAIN_H
#define SP_RECORDER_DRAIN_H

#include "recorder/recording.h"

/* By the owner, inside the path: empties the ring but for the record of the time this took. `top`:
 * the stack, as after a loss the open calls are marked. */
void sp_drain_own(sp_lane *lane, sp_frame *top);
/* The same with words that do not fit any ring: they follow what the ring holds. */
void sp_drain_own_with(sp_lane *lane, sp_frame *top, const uint64_t *words, size_t count);

/* By anyone who holds the drain lock: hands on what the ring holds and leaves it in place. */
void sp_drain_other(sp_lane *lane);

/* Around emptying a ring of which all words were handed on, so that a reader elsewhere neither takes
 * them twice nor sees them half overwritten. By the owner, or under the lock when it has ended. */
static inline void sp_ring_empty_begin(sp_lane *lane)
{
    uint32_t epoch = atomic_load_explicit(&lane->state.epoch, memory_order_relaxed);
    atomic_store_explicit(&lane->state.epoch, epoch + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
}

static inline void sp_ring_empty_end(sp_lane *lane)
{
    uint32_t epoch = atomic_load_explicit(&lane->state.epoch, memory_order_relaxed);
    lane->state.calls = lane->num_calls;
    lane->state.settled = 0;
    atomic_store_explicit(&lane->state.epoch, epoch + 1, memory_order_release);
}

/* Words not handed on yet, for looking at under the drain lock. */
static inline const uint64_t *sp_drain_pending(const sp_lane *lane, size_t *out_count)
{
    const uint64_t *head = atomic_load_explicit(&lane->head, memory_order_acquire);
    *out_count = (size_t)(head - lane->published);
    return lane->published;
}

#endif
