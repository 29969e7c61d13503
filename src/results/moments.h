/* moments.h - the statistics of calls, gathered exactly.
 *
 * Sum and sum of squares are integers wide enough for every run whose total fits 64 bits, so the
 * result does not depend on the order or on the pieces in which calls came. */
#ifndef SP_RESULTS_MOMENTS_H
#define SP_RESULTS_MOMENTS_H

#include "scope_plugin.h"

__extension__ typedef unsigned __int128 sp_uint128;

/* Zeroed: no calls yet. */
typedef struct sp_moments {
    uint64_t count;
    uint64_t total; /* two's complement: wraps instead of overflowing on hostile input */
    sp_uint128 squares;
    int64_t minimum, maximum, first, last, start_minimum, end_maximum;
    uint64_t gpu_count, gpu_total;
} sp_moments;

/* a + b, a - b without overflow: a damaged file may hold any number. */
static inline int64_t sp_wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t sp_wrap_subtract(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline void sp_moments_add(sp_moments *m, int64_t start, int64_t duration)
{
    uint64_t length = duration < 0 ? 0 - (uint64_t)duration : (uint64_t)duration;
    int64_t end = sp_wrap_add(start, duration);
    if (m->count == 0) {
        m->minimum = m->maximum = m->first = duration;
        m->start_minimum = start;
        m->end_maximum = end;
    }
    m->count++;
    m->total += (uint64_t)duration;
    m->squares += (sp_uint128)length * length;
    m->minimum = duration < m->minimum ? duration : m->minimum;
    m->maximum = duration > m->maximum ? duration : m->maximum;
    m->last = duration;
    m->start_minimum = start < m->start_minimum ? start : m->start_minimum;
    m->end_maximum = end > m->end_maximum ? end : m->end_maximum;
}

/* `count` calls in row order; `gpu` may be NULL, its entries below 0 are missing. */
void sp_moments_add_calls(sp_moments *m, const int64_t *start, const int64_t *duration,
                          const int64_t *gpu, size_t count);

/* Mean, and population variance times count. */
double sp_moments_mean(const sp_moments *m);
double sp_moments_m2(const sp_moments *m);

sp_row_statistics sp_moments_statistics(const sp_moments *m);

#endif
