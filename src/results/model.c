#include "results/model.h"

#include "base/error.h"
#include "base/os/pages.h"

#include <stdlib.h>
#include <string.h>

static uint64_t row_key(uint32_t region, uint32_t rank)
{
    return (uint64_t)region << 32 | rank;
}

uint32_t sp_run_intern_region(sp_results *results, const char *name, uint32_t hint)
{
    if (hint < results->regions.count && strcmp(results->regions.items[hint].name, name) == 0)
        return hint;
    size_t length = strlen(name);
    uint32_t known = sp_map_get(&results->region_ids, name, length);
    if (known != SP_MAP_NONE)
        return known;
    uint32_t id = (uint32_t)results->regions.count;
    if (id == SP_NO_ROW || !sp_vector_reserve(&results->regions, 1) ||
        !sp_map_add(&results->region_ids, name, length, id))
        return SP_NO_ROW;
    results->regions.items[results->regions.count++] =
        (sp_run_region){.name = name, .first_row = SP_NO_ROW, .last_row = SP_NO_ROW};
    return id;
}

static sp_run_rank *intern_rank(sp_results *results, uint32_t rank)
{
    uint32_t known = sp_number_map_get(&results->rank_ids, rank);
    if (known != SP_NUMBER_NONE)
        return &results->ranks.items[known];
    if (!sp_vector_reserve(&results->ranks, 1) ||
        !sp_number_map_set(&results->rank_ids, rank, (uint32_t)results->ranks.count))
        return NULL;
    sp_run_rank *added = &results->ranks.items[results->ranks.count++];
    *added = (sp_run_rank){.rank = rank, .first_row = SP_NO_ROW, .last_row = SP_NO_ROW};
    return added;
}

/* Later rows of a rank change its calls. What was handed out before keeps its promise to live until
 * close, but is not handed out again. */
static void retire_trees(sp_results *results, uint32_t rank)
{
    bool any = false;
    for (size_t i = 0; i < results->trees.count; i++) {
        sp_run_tree *tree = &results->trees.items[i];
        any = any || (tree->rank == rank && !tree->is_obsolete);
        tree->is_obsolete = tree->is_obsolete || tree->rank == rank;
    }
    if (!any)
        return;
    for (uint32_t r = sp_run_first_row_of_rank(results, rank); r != SP_NO_ROW;
         r = results->rows.items[r].next_in_rank)
        if (results->rows.items[r].cache != NULL)
            results->rows.items[r].cache->exclusive = NULL;
}

int sp_run_append_row(sp_results *results, const sp_row *row, uint32_t region, unsigned columns,
                      sp_error *error)
{
    size_t at = results->rows.count;
    if (at >= SP_NO_ROW)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "a run holds at most %u rows", SP_NO_ROW);
    sp_run_rank *rank = intern_rank(results, row->rank);
    uint64_t key = row_key(region, row->rank);
    bool is_new = sp_number_map_get(&results->row_ids, key) == SP_NUMBER_NONE;
    if (rank == NULL || !sp_vector_reserve(&results->rows, 1) ||
        (is_new && !sp_number_map_set(&results->row_ids, key, (uint32_t)at)))
        return sp_fail_memory(error, "adding a row");
    sp_run_region *of_region = &results->regions.items[region];
    if (of_region->last_row == SP_NO_ROW)
        of_region->first_row = (uint32_t)at;
    else
        results->rows.items[of_region->last_row].next_in_region = (uint32_t)at;
    if (rank->last_row == SP_NO_ROW)
        rank->first_row = (uint32_t)at;
    else
        results->rows.items[rank->last_row].next_in_rank = (uint32_t)at;
    of_region->last_row = rank->last_row = (uint32_t)at;
    results->rows.items[results->rows.count++] = (sp_run_row){
        .row = row, .region = region, .next_in_region = SP_NO_ROW, .next_in_rank = SP_NO_ROW,
        .columns = columns};
    if (results->num_ranks <= row->rank && row->rank < UINT32_MAX)
        results->num_ranks = row->rank + 1;
    retire_trees(results, row->rank);
    return SP_OK;
}

sp_row_cache *sp_run_row_cache(sp_run_row *row)
{
    if (row->cache == NULL)
        row->cache = calloc(1, sizeof *row->cache);
    return row->cache;
}

uint32_t sp_run_first_row_of_rank(const sp_results *results, uint32_t rank)
{
    uint32_t known = sp_number_map_get(&results->rank_ids, rank);
    return known == SP_NUMBER_NONE ? SP_NO_ROW : results->ranks.items[known].first_row;
}

void sp_results_set_progress(sp_results *results, sp_progress progress, void *context)
{
    results->progress = progress;
    results->progress_context = context;
    results->progress_done = 0;
}

void sp_run_advance(sp_results *results, uint64_t calls)
{
    if (results->progress == NULL || results->num_calls == 0)
        return;
    if (results->progress_done >= results->num_calls)
        results->progress_done = 0; /* one more pass */
    results->progress_done += calls;
    if (results->progress_done > results->num_calls)
        results->progress_done = results->num_calls;
    results->progress(results->progress_context, results->progress_done, results->num_calls);
}

int sp_run_check_row(const sp_results *results, size_t row, sp_error *error)
{
    if (row < results->rows.count)
        return SP_OK;
    return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "row %zu is not one of the run's %zu rows", row,
                   results->rows.count);
}

int sp_run_check_region(const sp_results *results, size_t region, sp_error *error)
{
    if (region < results->regions.count)
        return SP_OK;
    return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "region %zu is not one of the run's %zu regions",
                   region, results->regions.count);
}

void sp_run_release_trees(sp_results *results)
{
    for (size_t i = 0; i < results->trees.count; i++)
        sp_os_pages_free(results->trees.items[i].memory, results->trees.items[i].memory_size);
    sp_vector_release(&results->trees);
}

static void release_rows(sp_results *results)
{
    for (size_t i = 0; i < results->rows.count; i++) {
        sp_row_cache *cache = results->rows.items[i].cache;
        if (cache == NULL)
            continue;
        for (int c = 0; c < SP_COLUMN_COUNT; c++)
            free(cache->owned[c]);
        free(cache);
    }
    sp_vector_release(&results->rows);
}

void sp_results_close(sp_results *results)
{
    if (results == NULL)
        return;
    sp_run_release_trees(results);
    release_rows(results);
    sp_run_release_blocks(results, 0);
    sp_vector_release(&results->blocks);
    sp_vector_release(&results->regions);
    sp_vector_release(&results->ranks);
    sp_vector_release(&results->metadata);
    sp_vector_release(&results->threads);
    sp_vector_release(&results->tasks);
    sp_vector_release(&results->extras);
    sp_map_release(&results->region_ids);
    sp_number_map_release(&results->rank_ids);
    sp_number_map_release(&results->row_ids);
    if (results->reader != NULL)
        results->store->close(results->reader);
    sp_arena_release(&results->arena);
    free(results);
}
