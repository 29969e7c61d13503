/* The real clock against CLOCK_MONOTONIC: half a second, a minute with SCOPE_PROFILER_LONG_TESTS. */
#include "check.h"

#include "base/os/clock.h"
#include "clock/clock.h"
#include "clock/timeline.h"

#include <stdlib.h>
#include <time.h>

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static void ticks_advance(void)
{
    CHECK(sp_clock_prepare());
    uint64_t before = sp_tick_now();
    sleep_ms(1);
    CHECK(sp_tick_now() > before);
    if (sp_clock_uses_counter())
        CHECK(strcmp(sp_clock_name(), "monotonic") != 0);
    else
        CHECK_TEXT(sp_clock_name(), "monotonic");
}

/* Ticks taken on the way, converted afterwards, lie between the two readings of the system's clock
 * around them. */
static void follows_the_system(void)
{
    enum { SAMPLES = 200 };
    static uint64_t ticks[SAMPLES];
    static int64_t before[SAMPLES], after[SAMPLES];
    long total_ms = getenv("SCOPE_PROFILER_LONG_TESTS") != NULL ? 60000 : 500;
    sp_timeline timeline = {.discontinuities = 0};
    sp_anchor anchor;
    sp_anchor_take(&anchor);
    sp_timeline_add(&timeline, &anchor);
    for (int i = 0; i < SAMPLES; i++) {
        before[i] = sp_os_monotonic_ns();
        ticks[i] = sp_tick_now();
        after[i] = sp_os_monotonic_ns();
        sleep_ms(total_ms / SAMPLES);
        if (i % 50 == 49) {
            sp_anchor_take(&anchor);
            sp_timeline_add(&timeline, &anchor);
        }
    }
    enum { DOUBT_NS = 2000 };
    for (int i = 0; i < SAMPLES; i++) {
        int64_t ns = sp_timeline_ns(&timeline, ticks[i]);
        CHECK(ns >= before[i] - DOUBT_NS && ns <= after[i] + DOUBT_NS);
    }
    sp_timeline_release(&timeline);
}

int main(void)
{
    RUN(ticks_advance);
    RUN(follows_the_system);
    return check_result();
}
