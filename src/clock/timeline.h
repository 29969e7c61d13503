/* timeline.h - from ticks to nanoseconds of CLOCK_MONOTONIC, piecewise linear between anchors.
 *
 * Between two anchors the mapping is the line through them; after the last one the last known rate
 * goes on. What was converted between two anchors never changes afterwards. A segment in which the
 * rate jumps by more than 500 ppm, or the machine was suspended, is a discontinuity: its ticks go on
 * at the rate known before it and stop at the closing anchor's time, because an event that comes a
 * second or more after the last anchor takes an anchor first.
 *
 * Thread rules: one thread at a time adds; any number convert meanwhile, without a lock.
 */
#ifndef SP_CLOCK_TIMELINE_H
#define SP_CLOCK_TIMELINE_H

#include "clock/anchor.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sp_timeline_table sp_timeline_table;

/* Zeroed memory is an empty timeline (it converts everything to 0). */
typedef struct sp_timeline {
    _Atomic(sp_timeline_table *) table;
    atomic_uint discontinuities;
    _Atomic uint64_t discontinuity_tick; /* end of the latest one, 0: none */
} sp_timeline;

/* ns per tick as an integer: value / 2^SP_TIMELINE_RATE_BITS. */
enum { SP_TIMELINE_RATE_BITS = 48 };

/* Adds an anchor after the others. One whose tick does not advance is left out. False when memory
 * is short (the anchor is left out, conversion goes on with those before). */
bool sp_timeline_add(sp_timeline *timeline, const sp_anchor *anchor);

size_t sp_timeline_num_anchors(const sp_timeline *timeline);
/* The oldest and the newest; false when there is none. */
bool sp_timeline_first(const sp_timeline *timeline, sp_anchor *out);
bool sp_timeline_last(const sp_timeline *timeline, sp_anchor *out);

int64_t sp_timeline_ns(const sp_timeline *timeline, uint64_t tick);

/* The same for many ticks that lie near each other: `*segment` (start with 0) remembers where the
 * last one was. */
int64_t sp_timeline_ns_near(const sp_timeline *timeline, uint64_t tick, size_t *segment);

/* The same for `count` ticks, best in the order of a log. */
void sp_timeline_ns_many(const sp_timeline *timeline, const uint64_t *ticks, int64_t *out_ns,
                         size_t count);

/* For lengths of calls: the rate that holds now. */
typedef struct sp_timeline_rate {
    const sp_timeline *timeline;
    uint64_t rate;
    uint64_t since; /* the end of the latest discontinuity: no span from before it is scaled */
} sp_timeline_rate;

sp_timeline_rate sp_timeline_current_rate(const sp_timeline *timeline);

static inline int64_t sp_timeline_scale(const sp_timeline_rate *rate, uint64_t ticks)
{
    __extension__ typedef unsigned __int128 wide;
    wide half = (wide)1 << (SP_TIMELINE_RATE_BITS - 1);
    return (int64_t)(((wide)ticks * rate->rate + half) >> SP_TIMELINE_RATE_BITS);
}

/* Longer spans are converted end by end: the rate may have changed meanwhile. */
#define SP_TIMELINE_LONG_SPAN (UINT64_C(1) << 28)
int64_t sp_timeline_odd_span_ns(const sp_timeline_rate *rate, uint64_t start, uint64_t end);

/* ns from tick to tick; 0 when they are turned round. */
static inline int64_t sp_timeline_span_ns(const sp_timeline_rate *rate, uint64_t start,
                                          uint64_t end)
{
    uint64_t ticks = end - start; /* huge when turned round */
    if (__builtin_expect(ticks > SP_TIMELINE_LONG_SPAN || start < rate->since, 0))
        return sp_timeline_odd_span_ns(rate, start, end);
    return sp_timeline_scale(rate, ticks);
}

/* The tick of a moment in ns; the inverse of sp_timeline_ns within a nanosecond's worth of ticks. */
uint64_t sp_timeline_tick(const sp_timeline *timeline, int64_t ns);

void sp_timeline_release(sp_timeline *timeline);

#endif
