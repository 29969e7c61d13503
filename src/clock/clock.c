#include "clock/clock.h"

#include "base/os/clock.h"

#include <stdatomic.h>

enum { UNDECIDED, MONOTONIC, COUNTER };

static atomic_int source = UNDECIDED;

bool sp_clock_prepare(void)
{
    if (atomic_load_explicit(&source, memory_order_relaxed) == UNDECIDED) {
        bool counter = SP_TICK_HAS_COUNTER && sp_os_counter_is_trusted();
        int expected = UNDECIDED;
        atomic_compare_exchange_strong(&source, &expected, counter ? COUNTER : MONOTONIC);
    }
    return sp_os_monotonic_ns() > 0;
}

bool sp_clock_uses_counter(void)
{
    return atomic_load_explicit(&source, memory_order_relaxed) == COUNTER;
}

const char *sp_clock_name(void)
{
    if (!sp_clock_uses_counter())
        return "monotonic";
#if defined(__aarch64__)
    return "cntvct";
#else
    return "tsc";
#endif
}

uint64_t sp_tick_now_or_monotonic(void)
{
    return sp_clock_uses_counter() ? sp_tick_counter() : (uint64_t)sp_os_monotonic_ns();
}

#if !SP_TICK_HAS_COUNTER
uint64_t sp_tick_counter(void)
{
    return (uint64_t)sp_os_monotonic_ns();
}
#endif

int64_t sp_clock_monotonic_ns(void)
{
    return sp_os_monotonic_ns();
}

int64_t sp_clock_boottime_ns(void)
{
    return sp_os_boottime_ns();
}
