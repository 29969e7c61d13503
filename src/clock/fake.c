#include "clock/clock.h"

#include <stddef.h>

_Thread_local uint64_t sp_fake_tick = 1000;
_Thread_local uint64_t sp_fake_step;

static int64_t same(uint64_t tick)
{
    return (int64_t)tick;
}

int64_t (*sp_fake_monotonic)(uint64_t tick) = same;
int64_t (*sp_fake_boottime)(uint64_t tick) = NULL;

bool sp_clock_prepare(void)
{
    return true;
}

bool sp_clock_uses_counter(void)
{
    return true;
}

const char *sp_clock_name(void)
{
    return "fake";
}

int64_t sp_clock_monotonic_ns(void)
{
    return sp_fake_monotonic(sp_fake_tick);
}

int64_t sp_clock_boottime_ns(void)
{
    return sp_fake_boottime == NULL ? sp_clock_monotonic_ns() : sp_fake_boottime(sp_fake_tick);
}
