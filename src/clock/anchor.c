#include "clock/anchor.h"

#include "clock/clock.h"

enum { TRIES = 6, SUSPEND_TRIES = 3 };

/* The tick lies half-way between two reads of the counter around the other clock; the closer the
 * two, the smaller the doubt. */
static void take_pair(sp_anchor *out)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = sp_tick_now();
        int64_t ns = sp_clock_monotonic_ns();
        uint64_t width = sp_tick_now() - before;
        if (width < best) {
            best = width;
            out->tick = before + width / 2;
            out->ns = ns;
        }
    }
}

static int64_t take_suspended(void)
{
    int64_t best = INT64_MAX, suspended = 0;
    for (int i = 0; i < SUSPEND_TRIES; i++) {
        int64_t before = sp_clock_monotonic_ns();
        int64_t boot = sp_clock_boottime_ns();
        int64_t width = sp_clock_monotonic_ns() - before;
        if (width < best) {
            best = width;
            suspended = boot - before - width / 2;
        }
    }
    return suspended;
}

void sp_anchor_take(sp_anchor *out)
{
    if (sp_clock_uses_counter()) {
        take_pair(out);
        out->suspended_ns = take_suspended();
    } else {
        out->ns = sp_clock_monotonic_ns();
        out->tick = (uint64_t)out->ns;
        out->suspended_ns = 0; /* the clock that ticks is the one that is published */
    }
}
