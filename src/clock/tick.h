/* tick.h - reading the clock, inline.
 *
 * A tick is a step of the processor's counter where the kernel trusts it, else a nanosecond of
 * CLOCK_MONOTONIC. Ticks become nanoseconds through a timeline (timeline.h).
 *
 * A test build (SP_CLOCK_FAKE) takes ticks from clock/fake.h instead; nothing of that is in the
 * library.
 */
#ifndef SP_CLOCK_TICK_H
#define SP_CLOCK_TICK_H

#include <stdbool.h>
#include <stdint.h>

#if defined(SP_CLOCK_FAKE)

#include "clock/fake.h"

#else

#if defined(__x86_64__)

#define SP_TICK_HAS_COUNTER 1
static inline uint64_t sp_tick_counter(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

#elif defined(__aarch64__)

#define SP_TICK_HAS_COUNTER 1
static inline uint64_t sp_tick_counter(void)
{
    uint64_t value;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
}

#else

#define SP_TICK_HAS_COUNTER 0
uint64_t sp_tick_counter(void); /* CLOCK_MONOTONIC */

#endif

uint64_t sp_tick_now_or_monotonic(void);

/* The clock that every recorded time comes from. Code that runs only when the counter is in use
 * (sp_clock_uses_counter) may call sp_tick_counter itself. */
static inline uint64_t sp_tick_now(void)
{
    return sp_tick_now_or_monotonic();
}

#endif
#endif
