/* columns.c - the calls of a row: read at first use, kept until close. */
#include "base/error.h"
#include "results/model.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char *const column_names[SP_COLUMN_COUNT] = {
    "start times", "durations", "call ids", "parent ids",
    "threads",     "tasks",     "await times", "device times"};

/* Fails unless the row has that column. */
static int check_column(const sp_results *results, size_t row, sp_column column, sp_error *error)
{
    int status = sp_run_check_row(results, row, error);
    if (status != SP_OK)
        return status;
    if ((unsigned)column >= SP_COLUMN_COUNT)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "there is no column %d", (int)column);
    const sp_run_row *run_row = &results->rows.items[row];
    if (run_row->columns & SP_COLUMN_BIT(column))
        return SP_OK;
    if (column == SP_COLUMN_START || column == SP_COLUMN_DURATION)
        return sp_fail(error, SP_ERR_NO_EVENTS,
                       "region '%s' on rank %u holds totals only, no calls", run_row->row->region,
                       run_row->row->rank);
    return sp_fail(error, SP_ERR_NOT_FOUND, "the run did not record %s", column_names[column]);
}

int sp_run_read_piece(sp_results *results, size_t row, sp_column column, uint64_t first,
                      size_t count, int64_t *out, sp_error *error)
{
    const sp_run_row *run_row = &results->rows.items[row];
    const int64_t *kept = run_row->cache == NULL ? NULL : run_row->cache->values[column];
    if (kept == NULL)
        return results->store->read_calls(results->reader, row, column, first, count, out, error);
    if (count > 0)
        memcpy(out, kept + first, count * sizeof *out);
    return SP_OK;
}

/* Values that the reader holds in memory as they are; NULL when it does not. */
static const int64_t *borrow(const sp_results *results, size_t row, sp_column column)
{
    const sp_store_table *store = results->store;
    bool can = store != NULL && store->size > offsetof(sp_store_table, borrow_calls) &&
               store->borrow_calls != NULL;
    return can ? store->borrow_calls(results->reader, row, column) : NULL;
}

/* Fills the cache of one column. */
static int load(sp_results *results, size_t row, sp_column column, sp_row_cache *cache,
                sp_error *error)
{
    uint64_t count = results->rows.items[row].row->count;
    cache->values[column] = borrow(results, row, column);
    if (cache->values[column] != NULL)
        return SP_OK;
    if (count > SIZE_MAX / sizeof(int64_t))
        return sp_fail_memory(error, "reading calls");
    int64_t *values = malloc(count == 0 ? 1 : (size_t)count * sizeof *values);
    if (values == NULL)
        return sp_fail_memory(error, "reading calls");
    int status = sp_run_read_piece(results, row, column, 0, (size_t)count, values, error);
    if (status != SP_OK) {
        free(values);
        return status;
    }
    cache->values[column] = cache->owned[column] = values;
    return SP_OK;
}

int sp_results_column(sp_results *results, size_t row, sp_column column, const int64_t **out_values,
                      size_t *out_count, sp_error *error)
{
    int status = check_column(results, row, column, error);
    if (status != SP_OK)
        return status;
    sp_row_cache *cache = sp_run_row_cache(&results->rows.items[row]);
    if (cache == NULL)
        return sp_fail_memory(error, "reading calls");
    if (cache->values[column] == NULL)
        status = load(results, row, column, cache, error);
    if (status != SP_OK)
        return status;
    *out_values = cache->values[column];
    *out_count = (size_t)results->rows.items[row].row->count;
    return SP_OK;
}

/* Hands the exclusive times of a rank's tree to its rows. */
static int spread_exclusive(sp_results *results, uint32_t rank, const sp_call_tree *tree,
                            sp_error *error)
{
    for (uint32_t r = sp_run_first_row_of_rank(results, rank); r != SP_NO_ROW;
         r = results->rows.items[r].next_in_rank) {
        sp_run_row *row = &results->rows.items[r];
        sp_row_cache *cache = sp_run_row_cache(row);
        if (cache != NULL && cache->exclusive == NULL)
            cache->exclusive = sp_arena_array(&results->arena, (size_t)row->row->count,
                                              sizeof *cache->exclusive);
        if (cache == NULL || cache->exclusive == NULL)
            return sp_fail_memory(error, "computing exclusive times");
    }
    for (size_t i = 0; i < tree->count; i++)
        results->rows.items[tree->row[i]].cache->exclusive[tree->call_index[i]] =
            tree->exclusive_ns[i];
    return SP_OK;
}

int sp_results_exclusive(sp_results *results, size_t row, const int64_t **out_values,
                         size_t *out_count, sp_error *error)
{
    int status = check_column(results, row, SP_COLUMN_START, error);
    if (status != SP_OK)
        return status;
    sp_run_row *run_row = &results->rows.items[row];
    if (run_row->cache == NULL || run_row->cache->exclusive == NULL) {
        sp_call_tree tree;
        status = sp_results_call_tree(results, run_row->row->rank, &tree, error);
        if (status == SP_OK)
            status = spread_exclusive(results, run_row->row->rank, &tree, error);
        if (status != SP_OK)
            return status;
    }
    *out_values = run_row->cache->exclusive;
    *out_count = (size_t)run_row->row->count;
    return SP_OK;
}
