/* percentiles.c - percentiles of one region, pooled over ranks. */
#include "base/error.h"
#include "results/model.h"
#include "results/select.h"

#include <stdlib.h>

typedef SP_VECTOR(sp_values) value_pool;

static int gather(sp_results *results, size_t region, const sp_rank_filter *filter,
                  value_pool *pool, sp_error *error)
{
    for (uint32_t r = results->regions.items[region].first_row; r != SP_NO_ROW;
         r = results->rows.items[r].next_in_region) {
        const sp_row *row = results->rows.items[r].row;
        sp_values values;
        if (!sp_rank_filter_takes(filter, row->rank))
            continue;
        if (row->has_aggregate ? row->aggregate.count == 0 : row->count == 0)
            continue;
        int status = sp_results_column(results, r, SP_COLUMN_DURATION, &values.items,
                                       &values.count, error);
        if (status != SP_OK)
            return status;
        if (!sp_vector_reserve(pool, 1))
            return sp_fail_memory(error, "computing percentiles");
        pool->items[pool->count++] = values;
    }
    return SP_OK;
}

static int check_percents(const double *percents, size_t count, sp_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (!(percents[i] >= 0.0 && percents[i] <= 100.0))
            return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                           "a percentile lies between 0 and 100, not at %g", percents[i]);
    return SP_OK;
}

int sp_results_percentiles(sp_results *results, size_t region, const uint32_t *ranks,
                           size_t num_ranks, const double *percents, size_t count, double *out,
                           sp_error *error)
{
    value_pool pool = {0};
    sp_rank_filter filter;
    int status = sp_run_check_region(results, region, error);
    if (status == SP_OK)
        status = check_percents(percents, count, error);
    if (status == SP_OK)
        status = sp_rank_filter_init(&filter, ranks, num_ranks, error);
    if (status != SP_OK)
        return status;
    status = gather(results, region, &filter, &pool, error);
    for (size_t i = 0; status == SP_OK && i < count; i++) {
        out[i] = 0.0;
        if (pool.count > 0)
            status = sp_select_percentile(pool.items, pool.count, percents[i], &out[i], error);
    }
    sp_vector_release(&pool);
    sp_rank_filter_release(&filter);
    return status;
}
