/* statistics.c - statistics of rows and pools of rows; from what the file stored where it did, else
 * from the calls in pieces that are not kept. */
#include "base/error.h"
#include "results/model.h"
#include "results/moments.h"

#include <math.h>
#include <stdlib.h>

enum { PIECE_CALLS = 32768 };

typedef struct piece {
    int64_t start[PIECE_CALLS], duration[PIECE_CALLS], gpu[PIECE_CALLS];
} piece;

static int read_moments(sp_results *results, size_t row, piece *buffer, sp_moments *moments,
                        sp_error *error)
{
    uint64_t count = results->rows.items[row].row->count;
    bool has_gpu = results->rows.items[row].columns & SP_COLUMN_BIT(SP_COLUMN_GPU_DURATION);
    for (uint64_t first = 0; first < count; first += PIECE_CALLS) {
        size_t size = count - first < PIECE_CALLS ? (size_t)(count - first) : PIECE_CALLS;
        int status = sp_run_read_piece(results, row, SP_COLUMN_START, first, size, buffer->start,
                                       error);
        if (status == SP_OK)
            status = sp_run_read_piece(results, row, SP_COLUMN_DURATION, first, size,
                                       buffer->duration, error);
        if (status == SP_OK && has_gpu)
            status = sp_run_read_piece(results, row, SP_COLUMN_GPU_DURATION, first, size,
                                       buffer->gpu, error);
        if (status != SP_OK)
            return status;
        sp_moments_add_calls(moments, buffer->start, buffer->duration,
                             has_gpu ? buffer->gpu : NULL, size);
        sp_run_advance(results, size);
    }
    return SP_OK;
}

/* Computes and keeps the statistics of a row that came without. */
static int compute(sp_results *results, size_t row, sp_row_cache *cache, sp_error *error)
{
    sp_moments moments = {0};
    piece *buffer = malloc(sizeof *buffer);
    if (buffer == NULL)
        return sp_fail_memory(error, "computing statistics");
    int status = read_moments(results, row, buffer, &moments, error);
    free(buffer);
    if (status == SP_OK) {
        cache->statistics = sp_moments_statistics(&moments);
        cache->has_statistics = true;
    }
    return status;
}

/* Statistics as stored, or computed once; NULL for a row of totals only. */
static int row_statistics(sp_results *results, size_t row, const sp_row_statistics **out,
                          sp_error *error)
{
    sp_run_row *run_row = &results->rows.items[row];
    *out = NULL;
    if (run_row->row->has_statistics) {
        *out = &run_row->row->statistics;
        return SP_OK;
    }
    if (run_row->row->has_aggregate || run_row->row->count == 0 || run_row->columns == 0)
        return SP_OK;
    sp_row_cache *cache = sp_run_row_cache(run_row);
    if (cache == NULL)
        return sp_fail_memory(error, "computing statistics");
    int status = cache->has_statistics ? SP_OK : compute(results, row, cache, error);
    if (status == SP_OK)
        *out = &cache->statistics;
    return status;
}

/* Of a row that kept its totals only: what cannot be known stays 0. */
static sp_statistics from_aggregate(const sp_row_aggregate *aggregate)
{
    return (sp_statistics){
        .calls = aggregate->count, .total = aggregate->total, .minimum = aggregate->minimum,
        .maximum = aggregate->maximum, .exclusive = aggregate->exclusive,
        .mean = aggregate->count == 0 ? 0.0 : (double)aggregate->total / (double)aggregate->count,
        .deviation = NAN};
}

static sp_statistics from_stored(const sp_row *row, const sp_row_statistics *s)
{
    double variance = row->count == 0 ? 0.0 : s->m2 / (double)row->count;
    return (sp_statistics){
        .calls = row->count, .total = s->total, .minimum = s->minimum, .maximum = s->maximum,
        .first = s->first, .last = s->last, .start_minimum = s->start_minimum,
        .end_maximum = s->end_maximum, .exclusive = row->exclusive_total, .mean = s->mean,
        .deviation = variance > 0 ? sqrt(variance) : 0.0, .gpu_calls = s->gpu_count,
        .gpu_total = s->gpu_total};
}

int sp_results_row_statistics(sp_results *results, size_t row, sp_statistics *out, sp_error *error)
{
    const sp_row_statistics *stored;
    int status = sp_run_check_row(results, row, error);
    if (status == SP_OK)
        status = row_statistics(results, row, &stored, error);
    if (status != SP_OK)
        return status;
    const sp_row *of = results->rows.items[row].row;
    if (of->has_aggregate)
        *out = from_aggregate(&of->aggregate);
    else if (stored != NULL && of->count > 0)
        *out = from_stored(of, stored);
    else
        *out = (sp_statistics){.exclusive = of->exclusive_total < 0 ? 0 : of->exclusive_total};
    return SP_OK;
}

/* Means and sums of squares of two groups of calls combine exactly. */
static void pool_deviation(sp_statistics *pool, double *m2, const sp_statistics *row)
{
    double a = (double)pool->calls, b = (double)row->calls;
    double difference = row->mean - pool->mean;
    *m2 += row->deviation * row->deviation * b + difference * difference * (a * b / (a + b));
    pool->mean += difference * (b / (a + b));
}

static void pool_row(sp_statistics *pool, double *m2, const sp_statistics *row)
{
    if (pool->calls == 0) {
        *pool = *row;
        *m2 = row->deviation * row->deviation * (double)row->calls;
        return;
    }
    pool_deviation(pool, m2, row);
    pool->calls += row->calls;
    pool->total = sp_wrap_add(pool->total, row->total);
    pool->minimum = row->minimum < pool->minimum ? row->minimum : pool->minimum;
    pool->maximum = row->maximum > pool->maximum ? row->maximum : pool->maximum;
    if (row->start_minimum < pool->start_minimum) {
        pool->start_minimum = row->start_minimum;
        pool->first = row->first;
    }
    if (row->end_maximum > pool->end_maximum) {
        pool->end_maximum = row->end_maximum;
        pool->last = row->last;
    }
    pool->exclusive = pool->exclusive < 0 || row->exclusive < 0
                          ? -1 : sp_wrap_add(pool->exclusive, row->exclusive);
    pool->gpu_calls += row->gpu_calls;
    pool->gpu_total = sp_wrap_add(pool->gpu_total, row->gpu_total);
}

static int pool_region(sp_results *results, size_t region, const sp_rank_filter *filter,
                       sp_statistics *pool, sp_error *error)
{
    double m2 = 0.0;
    for (uint32_t r = results->regions.items[region].first_row; r != SP_NO_ROW;
         r = results->rows.items[r].next_in_region) {
        sp_statistics row;
        if (!sp_rank_filter_takes(filter, results->rows.items[r].row->rank))
            continue;
        int status = sp_results_row_statistics(results, r, &row, error);
        if (status != SP_OK)
            return status;
        if (row.calls > 0)
            pool_row(pool, &m2, &row);
    }
    if (pool->calls > 0)
        pool->deviation = m2 > 0 || isnan(m2) ? sqrt(m2 / (double)pool->calls) : 0.0;
    return SP_OK;
}

int sp_results_region_statistics(sp_results *results, size_t region, const uint32_t *ranks,
                                 size_t num_ranks, sp_statistics *out, sp_error *error)
{
    sp_rank_filter filter;
    sp_statistics pool = {0};
    int status = sp_run_check_region(results, region, error);
    if (status == SP_OK)
        status = sp_rank_filter_init(&filter, ranks, num_ranks, error);
    if (status != SP_OK)
        return status;
    status = pool_region(results, region, &filter, &pool, error);
    sp_rank_filter_release(&filter);
    if (status == SP_OK)
        *out = pool;
    return status;
}

static int measure_imbalance(sp_results *results, size_t region, const sp_rank_filter *filter,
                             double *out, sp_error *error)
{
    double sum = 0, largest = 0;
    size_t count = 0;
    for (uint32_t r = results->regions.items[region].first_row; r != SP_NO_ROW;
         r = results->rows.items[r].next_in_region) {
        sp_statistics row;
        if (!sp_rank_filter_takes(filter, results->rows.items[r].row->rank))
            continue;
        int status = sp_results_row_statistics(results, r, &row, error);
        if (status != SP_OK)
            return status;
        if (row.total <= 0)
            continue;
        count++;
        sum += (double)row.total;
        largest = (double)row.total > largest ? (double)row.total : largest;
    }
    *out = count < 2 ? 0.0 : largest / (sum / (double)count);
    return SP_OK;
}

int sp_results_imbalance(sp_results *results, size_t region, const uint32_t *ranks,
                         size_t num_ranks, double *out, sp_error *error)
{
    sp_rank_filter filter;
    int status = sp_run_check_region(results, region, error);
    if (status == SP_OK)
        status = sp_rank_filter_init(&filter, ranks, num_ranks, error);
    if (status != SP_OK)
        return status;
    status = measure_imbalance(results, region, &filter, out, error);
    sp_rank_filter_release(&filter);
    return status;
}
