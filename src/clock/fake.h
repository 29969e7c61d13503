/* fake.h - a clock that a test sets by hand. Part of test builds (SP_CLOCK_FAKE) only.
 *
 * Ticks are per thread, so that a test can script several threads at once. The other two clocks are
 * functions of the tick, by default the tick itself.
 */
#ifndef SP_CLOCK_FAKE_H
#define SP_CLOCK_FAKE_H

#include <stdint.h>

#define SP_TICK_HAS_COUNTER 1

extern _Thread_local uint64_t sp_fake_tick; /* what the next read answers */
extern _Thread_local uint64_t sp_fake_step; /* added after each read */
extern int64_t (*sp_fake_monotonic)(uint64_t tick);
extern int64_t (*sp_fake_boottime)(uint64_t tick);

static inline uint64_t sp_tick_counter(void)
{
    uint64_t tick = sp_fake_tick;
    sp_fake_tick += sp_fake_step;
    return tick;
}

static inline uint64_t sp_tick_now(void)
{
    return sp_tick_counter();
}

#endif
