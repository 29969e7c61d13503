/* The timeline with a scripted clock: what it must give is worked out from the script. */
#include "check.h"

#include "clock/clock.h"
#include "clock/timeline.h"

#include <stdlib.h>

static void add_at(sp_timeline *timeline, uint64_t tick, int64_t ns, int64_t suspended)
{
    sp_anchor anchor = {.tick = tick, .ns = ns, .suspended_ns = suspended};
    CHECK(sp_timeline_add(timeline, &anchor));
}

static void empty_and_single(void)
{
    sp_timeline timeline = {.discontinuities = 0};
    CHECK_INT(sp_timeline_ns(&timeline, 12345), 0);
    CHECK_INT(sp_timeline_num_anchors(&timeline), 0);
    add_at(&timeline, 1000, 77, 0);
    CHECK_INT(sp_timeline_ns(&timeline, 1000), 77);
    sp_anchor last;
    CHECK(sp_timeline_last(&timeline, &last));
    CHECK_INT(last.ns, 77);
    sp_timeline_release(&timeline);
}

/* Anchors (1000, 5 ms) and (3000, 5 ms + 1000): half a nanosecond a tick, then 2 ns a tick. */
static void interpolates(void)
{
    sp_timeline timeline = {.discontinuities = 0};
    add_at(&timeline, 1000, 5000000, 0);
    add_at(&timeline, 3000, 5001000, 0);
    CHECK_INT(sp_timeline_ns(&timeline, 1000), 5000000);
    CHECK_INT(sp_timeline_ns(&timeline, 2000), 5000500);
    CHECK_INT(sp_timeline_ns(&timeline, 2997), 5000999);
    CHECK_INT(sp_timeline_ns(&timeline, 3000), 5001000);
    CHECK_INT(sp_timeline_ns(&timeline, 4000), 5001500); /* the last rate goes on */
    CHECK_INT(sp_timeline_ns(&timeline, 900), 4999950);  /* and back before the first */
    CHECK_INT(sp_timeline_tick(&timeline, 5000500), 2000);
    CHECK_INT(sp_timeline_tick(&timeline, 5001500), 4000);

    int64_t before = sp_timeline_ns(&timeline, 2345);
    add_at(&timeline, 4000, 5003000, 0);
    CHECK_INT(sp_timeline_ns(&timeline, 2345), before); /* settled once and for all */
    CHECK_INT(sp_timeline_ns(&timeline, 3500), 5002000);
    CHECK_INT(atomic_load(&timeline.discontinuities), 0); /* too short to be a jump */
    add_at(&timeline, 4000, 5003500, 0); /* does not advance: left out */
    CHECK_INT(sp_timeline_num_anchors(&timeline), 3);
    sp_timeline_release(&timeline);
}

static void near_equals_plain(void)
{
    sp_timeline timeline = {.discontinuities = 0};
    uint64_t tick = 500;
    int64_t ns = 9;
    for (int i = 0; i < 300; i++) {
        add_at(&timeline, tick, ns, 0);
        tick += 1000 + (uint64_t)(i * 37 % 91);
        ns += 400 + i * 13 % 17;
    }
    size_t segment = 0;
    for (uint64_t t = 400; t < tick + 500; t += 777)
        CHECK_INT(sp_timeline_ns_near(&timeline, t, &segment), sp_timeline_ns(&timeline, t));
    CHECK_INT(sp_timeline_ns_near(&timeline, 450, &segment), sp_timeline_ns(&timeline, 450));
    uint64_t ticks[500];
    int64_t many[500];
    for (size_t i = 0; i < 500; i++)
        ticks[i] = 100 + (i * 7919 % 500) * (tick / 450);
    sp_timeline_ns_many(&timeline, ticks, many, 500);
    for (size_t i = 0; i < 500; i++)
        CHECK_INT(many[i], sp_timeline_ns(&timeline, ticks[i]));
    sp_timeline_release(&timeline);
}

enum { SECOND = 1000000000 };

/* 1 tick = 1 ns. After 2 s the machine sleeps 100 s: the counter goes on, CLOCK_MONOTONIC does
 * not. The first event after it comes half a second later and takes an anchor. */
static void suspend_is_cut_out(void)
{
    sp_timeline timeline = {.discontinuities = 0};
    add_at(&timeline, 0, 0, 0);
    add_at(&timeline, 1 * (uint64_t)SECOND, 1 * (int64_t)SECOND, 0);
    add_at(&timeline, (uint64_t)102.5e9, (int64_t)2.5e9, 100 * (int64_t)SECOND);
    add_at(&timeline, (uint64_t)103.5e9, (int64_t)3.5e9, 100 * (int64_t)SECOND);
    CHECK_INT(atomic_load(&timeline.discontinuities), 1);
    CHECK_INT(atomic_load(&timeline.discontinuity_tick), (int64_t)102.5e9);
    CHECK_INT(sp_timeline_ns(&timeline, (uint64_t)1.9e9), (int64_t)1.9e9); /* before the sleep */
    CHECK_INT(sp_timeline_ns(&timeline, (uint64_t)50e9), (int64_t)2.5e9);  /* no later than after */
    CHECK_INT(sp_timeline_ns(&timeline, (uint64_t)103e9), (int64_t)3e9);
    sp_timeline_rate rate = sp_timeline_current_rate(&timeline);
    CHECK_INT(rate.since, (int64_t)102.5e9);
    CHECK_INT(sp_timeline_scale(&rate, SECOND), SECOND);
    CHECK_INT(sp_timeline_span_ns(&rate, (uint64_t)1.9e9, (uint64_t)103e9), (int64_t)1.1e9);
    CHECK_INT(sp_timeline_span_ns(&rate, (uint64_t)102.6e9, (uint64_t)102.7e9), (int64_t)0.1e9);
    CHECK_INT(sp_timeline_span_ns(&rate, 7, 5), 0);
    sp_timeline_release(&timeline);
}

/* The rate changes by 0.1 % from one second to the next: stored, and followed from then on. */
static void rate_jump_is_noted(void)
{
    sp_timeline timeline = {.discontinuities = 0};
    add_at(&timeline, 0, 0, 0);
    add_at(&timeline, 1000000000, 1000000000, 0);
    add_at(&timeline, 2000000000, 2000400000, 0); /* 400 ppm: a slew */
    CHECK_INT(atomic_load(&timeline.discontinuities), 0);
    add_at(&timeline, 3000000000, 3002400000, 0); /* 1600 ppm more */
    CHECK_INT(atomic_load(&timeline.discontinuities), 1);
    add_at(&timeline, 4000000000, 4004400000, 0); /* the new rate */
    CHECK_INT(atomic_load(&timeline.discontinuities), 1);
    CHECK_INT(sp_timeline_ns(&timeline, 3500000000), 3503400000);
    sp_timeline_release(&timeline);
}

/* A day of simulated time at 2.5 ticks a ns, an NTP slew that swings by +-450 ppm every two hours,
 * anchors a second apart with up to 30 ns of doubt, two sleeps of an hour. */
static double slewed_ns(double awake_ticks)
{
    double t = awake_ticks / 2.5;
    double period = 7200e9;
    return t + 450e-6 * period / 6.283185307179586 *
                   (1 - cos(6.283185307179586 * t / period));
}

static uint64_t day_awake = 2500, day_slept;

static int64_t day_monotonic(uint64_t tick)
{
    return (int64_t)slewed_ns((double)(tick - day_slept));
}

static int64_t day_boottime(uint64_t tick)
{
    return day_monotonic(tick) + (int64_t)((double)day_slept / 2.5);
}

static void a_day_of_slew_and_sleep(void)
{
    sp_timeline timeline = {.discontinuities = 0};
    sp_fake_monotonic = day_monotonic;
    sp_fake_boottime = day_boottime;
    uint64_t state = 12345;
    double worst = 0;
    int64_t previous = 0;
    for (int second = 0; second < 24 * 3600; second++) {
        if (second == 30000 || second == 60000)
            day_slept += (uint64_t)(3600 * 2.5e9);
        sp_fake_tick = day_awake + day_slept;
        sp_anchor anchor;
        sp_anchor_take(&anchor);
        state = state * 6364136223846793005u + 1442695040888963407u;
        anchor.ns += (int64_t)(state >> 58) - 32;
        sp_timeline_add(&timeline, &anchor);
        /* An event less than a second after the anchor before this one, converted now. */
        if (second > 1) {
            uint64_t back = (state >> 33) % (uint64_t)2.4e9;
            bool slept = second == 30000 || second == 60000;
            uint64_t tick = sp_fake_tick - back - (slept ? (uint64_t)(3600 * 2.5e9) : 0);
            double truth = slewed_ns((double)(day_awake - back));
            double error = fabs((double)sp_timeline_ns(&timeline, tick) - truth);
            if (error > worst)
                worst = error;
        }
        int64_t now = sp_timeline_ns(&timeline, sp_fake_tick);
        CHECK(now >= previous);
        previous = now;
        day_awake += (uint64_t)2.5e9;
    }
    CHECK_INT(atomic_load(&timeline.discontinuities), 2);
    /* Doubt 32 ns; curvature 450 ppm * 2 pi / 7200 s * (1 s)^2 / 8 = 49 ns; in the two seconds
     * with a sleep the rate of the second before holds: 393 ns by the curvature, 64 by the doubt. */
    CHECK(worst < 500);
    sp_fake_boottime = NULL;
    sp_timeline_release(&timeline);
}

/* Cores whose counters are 40 ticks apart take anchors in turn. */
static void skew_between_cores(void)
{
    sp_timeline timeline = {.discontinuities = 0};
    for (int i = 0; i < 1000; i++) {
        int64_t ns = (int64_t)i * 50000000;
        add_at(&timeline, (uint64_t)(ns * 2 + (i % 2) * 40 + 1000), ns, 0);
    }
    double worst = 0;
    for (int64_t ns = 25000000; ns < 49 * (int64_t)SECOND; ns += 33333333) {
        double error = fabs((double)(sp_timeline_ns(&timeline, (uint64_t)(ns * 2) + 1000) - ns));
        worst = error > worst ? error : worst;
    }
    CHECK(worst <= 21);
    CHECK_INT(atomic_load(&timeline.discontinuities), 0);
    sp_timeline_release(&timeline);
}

int main(void)
{
    RUN(empty_and_single);
    RUN(interpolates);
    RUN(near_equals_plain);
    RUN(suspend_is_cut_out);
    RUN(rate_jump_is_noted);
    RUN(a_day_of_slew_and_sleep);
    RUN(skew_between_cores);
    return check_result();
}
