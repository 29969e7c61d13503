/* columns.c - the calls of a row: read at first use, kept until close. */
#include "base/error.h"
#include "base/os/pages.h"
#include "results/model.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char *const column_names[SP_COLUMN_COUNT] = {
    "start times", "durations", "call ids", "parent ids",
    "threads",     "tasks",     "await times", "device times"};

int sp_run_check_column(const sp_results *results, size_t row, sp_column column, sp_error *error)
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

const int64_t *sp_run_held_column(sp_results *results, size_t row, sp_column column)
{
    const sp_row_cache *cache = results->rows.items[row].cache;
    return cache != NULL && cache->values[column] != NULL ? cache->values[column]
                                                          : borrow(results, row, column);
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
    int status = sp_run_check_column(results, row, column, error);
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

/* ---- Whole ranks -----------------------------------------------------------------------------*/

/* Below this, columns are read one by one. */
enum { BLOCK_BYTES = 4 << 20 };

/* Columns of a row that would have to be read; those that can be borrowed are on the way. */
static unsigned unread_columns(sp_results *results, uint32_t row, unsigned columns)
{
    sp_run_row *run_row = &results->rows.items[row];
    unsigned unread = 0;
    for (int c = 0; c < SP_COLUMN_COUNT; c++) {
        bool is_wanted = (columns & run_row->columns & SP_COLUMN_BIT(c)) != 0;
        bool is_kept = run_row->cache != NULL && run_row->cache->values[c] != NULL;
        if (is_wanted && !is_kept && borrow(results, row, (sp_column)c) == NULL)
            unread |= SP_COLUMN_BIT(c);
    }
    return unread;
}

static size_t block_bytes(sp_results *results, uint32_t rank, unsigned columns)
{
    size_t bytes = 0;
    for (uint32_t r = sp_run_first_row_of_rank(results, rank); r != SP_NO_ROW;
         r = results->rows.items[r].next_in_rank) {
        uint64_t count = results->rows.items[r].row->count;
        unsigned unread = count == 0 ? 0 : unread_columns(results, r, columns);
        for (; unread != 0; unread &= unread - 1) {
            if (count > (SIZE_MAX - bytes) / sizeof(int64_t))
                return SIZE_MAX;
            bytes += (size_t)count * sizeof(int64_t);
        }
    }
    return bytes;
}

/* Reads into `memory`, which holds what block_bytes counted. */
static int fill_block(sp_results *results, uint32_t rank, unsigned columns, int64_t *memory,
                      sp_error *error)
{
    for (uint32_t r = sp_run_first_row_of_rank(results, rank); r != SP_NO_ROW;
         r = results->rows.items[r].next_in_rank) {
        size_t count = (size_t)results->rows.items[r].row->count;
        unsigned unread = count == 0 ? 0 : unread_columns(results, r, columns);
        sp_row_cache *cache = unread == 0 ? NULL : sp_run_row_cache(&results->rows.items[r]);
        if (unread != 0 && cache == NULL)
            return sp_fail_memory(error, "reading calls");
        for (int c = 0; c < SP_COLUMN_COUNT; c++) {
            if (!(unread & SP_COLUMN_BIT(c)))
                continue;
            int status = sp_run_read_piece(results, r, (sp_column)c, 0, count, memory, error);
            if (status != SP_OK)
                return status;
            cache->values[c] = memory;
            memory += count;
        }
    }
    return SP_OK;
}

int sp_run_load_rank(sp_results *results, uint32_t rank, unsigned columns, sp_error *error)
{
    size_t bytes = results->store == NULL ? 0 : block_bytes(results, rank, columns);
    if (bytes < BLOCK_BYTES)
        return SP_OK;
    void *memory = sp_vector_reserve(&results->blocks, 1) ? sp_os_pages_alloc(bytes) : NULL;
    if (memory == NULL)
        return sp_fail_memory(error, "reading calls");
    results->blocks.items[results->blocks.count++] = (sp_column_block){memory, bytes};
    return fill_block(results, rank, columns, memory, error);
}

bool sp_run_holds_rank(sp_results *results, uint32_t rank)
{
    if (results->store == NULL)
        return true;
    for (uint32_t r = sp_run_first_row_of_rank(results, rank); r != SP_NO_ROW;
         r = results->rows.items[r].next_in_rank)
        if (results->rows.items[r].row->count > 0)
            return borrow(results, r, SP_COLUMN_START) != NULL;
    return true;
}

void sp_run_release_blocks(sp_results *results, size_t keep)
{
    while (results->blocks.count > keep) {
        const sp_column_block *block = &results->blocks.items[--results->blocks.count];
        sp_os_pages_free(block->memory, block->size);
    }
}

/* ---- Exclusive times -------------------------------------------------------------------------*/

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
    int status = sp_run_check_column(results, row, SP_COLUMN_START, error);
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
