#include "results/moments.h"

void sp_moments_add_calls(sp_moments *m, const int64_t *start, const int64_t *duration,
                          const int64_t *gpu, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sp_moments_add(m, start[i], duration[i]);
    for (size_t i = 0; gpu != NULL && i < count; i++)
        if (gpu[i] >= 0) {
            m->gpu_count++;
            m->gpu_total += (uint64_t)gpu[i];
        }
}

double sp_moments_mean(const sp_moments *m)
{
    return m->count == 0 ? 0.0 : (double)(int64_t)m->total / (double)m->count;
}

/* sum(d^2) - sum(d)^2 / n without rounding before the end. With sum(d) = q n + r the subtrahend is
 * q sum(d) + r q + r^2 / n, of which only the last term is no integer. */
double sp_moments_m2(const sp_moments *m)
{
    int64_t total = (int64_t)m->total;
    if (m->count < 2)
        return 0.0;
    uint64_t size = total < 0 ? 0 - (uint64_t)total : (uint64_t)total;
    uint64_t quotient = size / m->count, rest = size % m->count;
    sp_uint128 subtrahend = (sp_uint128)quotient * size + (sp_uint128)quotient * rest;
    if (subtrahend > m->squares)
        return 0.0; /* only when the total had wrapped */
    double fraction = (double)rest * ((double)rest / (double)m->count);
    double m2 = (double)(m->squares - subtrahend) - fraction;
    return m2 > 0.0 ? m2 : 0.0;
}

sp_row_statistics sp_moments_statistics(const sp_moments *m)
{
    return (sp_row_statistics){
        .total = (int64_t)m->total, .minimum = m->minimum, .maximum = m->maximum,
        .first = m->first, .last = m->last, .start_minimum = m->start_minimum,
        .end_maximum = m->end_maximum, .gpu_count = m->gpu_count,
        .gpu_total = (int64_t)m->gpu_total, .mean = sp_moments_mean(m), .m2 = sp_moments_m2(m)};
}
