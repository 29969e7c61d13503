/* query.c - what a run holds, answered without reading a call. */
#include "base/error.h"
#include "results/model.h"

#include <math.h>
#include <string.h>

uint32_t sp_results_num_ranks(const sp_results *results)
{
    return results->num_ranks;
}

int sp_results_schema(const sp_results *results)
{
    return results->schema;
}

bool sp_results_is_aggregate(const sp_results *results)
{
    return results->is_aggregate;
}

uint64_t sp_results_num_calls(const sp_results *results)
{
    return results->num_calls;
}

uint64_t sp_results_file_bytes(const sp_results *results)
{
    return results->file_bytes;
}

const char *sp_results_path(const sp_results *results)
{
    return results->path;
}

size_t sp_results_num_metadata(const sp_results *results)
{
    return results->metadata.count;
}

const sp_metadata_entry *sp_results_metadata(const sp_results *results, size_t i)
{
    return i < results->metadata.count ? results->metadata.items[i] : NULL;
}

const sp_metadata_entry *sp_results_find_metadata(const sp_results *results, const char *key)
{
    for (size_t i = 0; i < results->metadata.count; i++)
        if (strcmp(results->metadata.items[i]->key, key) == 0)
            return results->metadata.items[i];
    return NULL;
}

size_t sp_results_num_regions(const sp_results *results)
{
    return results->regions.count;
}

const char *sp_results_region_name(const sp_results *results, size_t region)
{
    return region < results->regions.count ? results->regions.items[region].name : NULL;
}

int64_t sp_results_find_region(const sp_results *results, const char *name)
{
    uint32_t known = sp_map_get(&results->region_ids, name, strlen(name));
    return known == SP_MAP_NONE ? -1 : (int64_t)known;
}

size_t sp_results_num_rows(const sp_results *results)
{
    return results->rows.count;
}

const sp_row *sp_results_row(const sp_results *results, size_t row)
{
    return row < results->rows.count ? results->rows.items[row].row : NULL;
}

size_t sp_results_row_region(const sp_results *results, size_t row)
{
    return row < results->rows.count ? results->rows.items[row].region : SIZE_MAX;
}

int64_t sp_results_find_row(const sp_results *results, size_t region, uint32_t rank)
{
    if (region >= results->regions.count)
        return -1;
    uint32_t known = sp_number_map_get(&results->row_ids, (uint64_t)region << 32 | rank);
    return known == SP_NUMBER_NONE ? -1 : (int64_t)known;
}

size_t sp_results_num_threads(const sp_results *results)
{
    return results->threads.count;
}

const sp_thread_row *sp_results_thread(const sp_results *results, size_t i)
{
    return i < results->threads.count ? results->threads.items[i] : NULL;
}

size_t sp_results_num_tasks(const sp_results *results)
{
    return results->tasks.count;
}

const sp_task_row *sp_results_task(const sp_results *results, size_t i)
{
    return i < results->tasks.count ? results->tasks.items[i] : NULL;
}

size_t sp_results_num_extras(const sp_results *results)
{
    return results->extras.count;
}

const sp_extra *sp_results_extra(const sp_results *results, size_t i)
{
    return i < results->extras.count ? results->extras.items[i] : NULL;
}

unsigned sp_results_row_columns(const sp_results *results, size_t row)
{
    return row < results->rows.count ? results->rows.items[row].columns : 0;
}

/* A time in ns from metadata; whatever is not a number counts as missing. */
static int64_t time_of(const sp_results *results, const char *key)
{
    const sp_metadata_entry *entry = sp_results_find_metadata(results, key);
    if (entry == NULL)
        return -1;
    if (entry->kind == SP_VALUE_INTEGER)
        return entry->integer;
    bool fits = entry->kind == SP_VALUE_REAL && isfinite(entry->real) && entry->real >= 0 &&
                entry->real < 9.2e18;
    return fits ? (int64_t)entry->real : -1;
}

int sp_results_times(sp_results *results, sp_run_times *out, sp_error *error)
{
    sp_run_times times = {time_of(results, "start_time_ns"), -1, -1,
                          time_of(results, "finalize_time_ns")};
    bool any = false;
    for (size_t i = 0; i < results->rows.count; i++) {
        if (results->rows.items[i].row->has_aggregate || results->rows.items[i].row->count == 0)
            continue;
        sp_statistics row;
        int status = sp_results_row_statistics(results, i, &row, error);
        if (status != SP_OK)
            return status;
        if (!any || row.start_minimum < times.first_entry)
            times.first_entry = row.start_minimum;
        if (!any || row.end_maximum > times.last_exit)
            times.last_exit = row.end_maximum;
        any = true;
    }
    *out = times;
    return SP_OK;
}

int sp_rank_filter_init(sp_rank_filter *filter, const uint32_t *ranks, size_t num_ranks,
                        sp_error *error)
{
    *filter = (sp_rank_filter){.takes_all = ranks == NULL};
    for (size_t i = 0; ranks != NULL && i < num_ranks; i++)
        if (!sp_number_map_set(&filter->ranks, ranks[i], 0)) {
            sp_rank_filter_release(filter);
            return sp_fail_memory(error, "selecting ranks");
        }
    return SP_OK;
}

void sp_rank_filter_release(sp_rank_filter *filter)
{
    sp_number_map_release(&filter->ranks);
}
