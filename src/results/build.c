/* build.c - a run filled by hand. Everything given is copied. */
#include "base/error.h"
#include "results/model.h"
#include "results/moments.h"

#include <stdlib.h>
#include <string.h>

int sp_results_create(sp_results **out, sp_error *error)
{
    sp_results *results = calloc(1, sizeof *results);
    if (results == NULL)
        return sp_fail_memory(error, "creating a run");
    results->path = "";
    results->left_out = "";
    *out = results;
    return SP_OK;
}

/* A row of our own with copies of its texts; NULL when memory is short. */
static sp_row *copy_row(sp_results *results, const sp_row *row, const char *region)
{
    const char *metadata = row->event_metadata_json;
    sp_row *copy = sp_arena_alloc(&results->arena, sizeof *copy);
    if (copy == NULL)
        return NULL;
    *copy = *row;
    copy->region = region;
    copy->offset = results->num_calls;
    copy->source_file = sp_arena_text(&results->arena, row->source_file ? row->source_file : "");
    copy->source_text = sp_arena_text(&results->arena, row->source_text ? row->source_text : "");
    copy->tags_json = sp_arena_text(&results->arena, row->tags_json ? row->tags_json : "[]");
    copy->event_metadata_json = metadata ? sp_arena_text(&results->arena, metadata) : NULL;
    bool is_complete = copy->source_file != NULL && copy->source_text != NULL &&
                       copy->tags_json != NULL &&
                       (metadata == NULL || copy->event_metadata_json != NULL);
    return is_complete ? copy : NULL;
}

static int check_new_row(const sp_row *row, unsigned columns, sp_error *error)
{
    unsigned times = SP_COLUMN_BIT(SP_COLUMN_START) | SP_COLUMN_BIT(SP_COLUMN_DURATION);
    if (row->region == NULL || row->region[0] == '\0')
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "a row needs the name of its region");
    if (columns != 0 && (columns & times) != times)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "a row of region '%s' has columns but lacks start times or durations",
                       row->region);
    if (columns == 0 && row->count > 0 && !row->has_aggregate && !row->has_statistics)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "a row of region '%s' has neither calls nor totals", row->region);
    return SP_OK;
}

/* Name of the region that lives as long as the run. */
static int add_region(sp_results *results, const char *name, uint32_t *out_region, sp_error *error)
{
    int64_t known = sp_results_find_region(results, name);
    if (known < 0) {
        const char *copy = sp_arena_text(&results->arena, name);
        uint32_t added = copy == NULL ? SP_NO_ROW : sp_run_intern_region(results, copy, SP_NO_ROW);
        if (added == SP_NO_ROW)
            return sp_fail_memory(error, "adding a region");
        known = added;
    }
    *out_region = (uint32_t)known;
    return SP_OK;
}

static int copy_columns(sp_run_row *row, const int64_t *const columns[SP_COLUMN_COUNT],
                        sp_error *error)
{
    sp_row_cache *cache = sp_run_row_cache(row);
    if (cache == NULL || row->row->count > SIZE_MAX / sizeof(int64_t))
        return sp_fail_memory(error, "adding a row");
    size_t bytes = (size_t)row->row->count * sizeof(int64_t);
    for (int c = 0; c < SP_COLUMN_COUNT; c++) {
        if (!(row->columns & SP_COLUMN_BIT(c)))
            continue;
        cache->owned[c] = malloc(bytes == 0 ? 1 : bytes);
        if (cache->owned[c] == NULL)
            return sp_fail_memory(error, "adding a row");
        if (bytes > 0)
            memcpy(cache->owned[c], columns[c], bytes);
        cache->values[c] = cache->owned[c];
    }
    return SP_OK;
}

int sp_results_add_row(sp_results *results, const sp_row *row,
                       const int64_t *const columns[SP_COLUMN_COUNT], sp_error *error)
{
    unsigned mask = 0;
    for (int c = 0; columns != NULL && c < SP_COLUMN_COUNT; c++)
        if (columns[c] != NULL)
            mask |= SP_COLUMN_BIT(c);
    uint32_t region = 0;
    int status = check_new_row(row, mask, error);
    if (status == SP_OK)
        status = add_region(results, row->region, &region, error);
    if (status != SP_OK)
        return status;
    sp_row *copy = copy_row(results, row, results->regions.items[region].name);
    if (copy == NULL)
        return sp_fail_memory(error, "adding a row");
    /* The columns are copied into a row that is not yet part of the run, so that a failure leaves
     * the run as it was. */
    sp_run_row fresh = {.row = copy, .columns = mask};
    if (mask != 0)
        status = copy_columns(&fresh, columns, error);
    if (status == SP_OK)
        status = sp_run_append_row(results, copy, region, mask, error);
    if (status != SP_OK) {
        for (int c = 0; fresh.cache != NULL && c < SP_COLUMN_COUNT; c++)
            free(fresh.cache->owned[c]);
        free(fresh.cache);
        return status;
    }
    results->rows.items[results->rows.count - 1].cache = fresh.cache;
    if (mask != 0 && !copy->has_statistics) {
        sp_moments moments = {0};
        sp_moments_add_calls(&moments, columns[SP_COLUMN_START], columns[SP_COLUMN_DURATION],
                             columns[SP_COLUMN_GPU_DURATION], (size_t)copy->count);
        copy->statistics = sp_moments_statistics(&moments);
        copy->has_statistics = true;
    }
    results->num_calls += copy->has_aggregate ? copy->aggregate.count : copy->count;
    results->is_aggregate = results->is_aggregate || copy->has_aggregate;
    return SP_OK;
}

int sp_results_add_row_of(sp_results *results, sp_results *from, size_t row, const char *region,
                          sp_error *error)
{
    int status = sp_run_check_row(from, row, error);
    if (status != SP_OK)
        return status;
    const int64_t *columns[SP_COLUMN_COUNT] = {NULL};
    for (int c = 0; c < SP_COLUMN_COUNT; c++) {
        size_t count;
        if (!(from->rows.items[row].columns & SP_COLUMN_BIT(c)))
            continue;
        status = sp_results_column(from, row, (sp_column)c, &columns[c], &count, error);
        if (status != SP_OK)
            return status;
    }
    sp_row copy = *from->rows.items[row].row;
    if (region != NULL)
        copy.region = region;
    return sp_results_add_row(results, &copy, columns, error);
}

static const char *const *copy_list(sp_arena *arena, const sp_metadata_entry *entry)
{
    const char **list = sp_arena_array(arena, entry->list_length, sizeof *list);
    for (size_t i = 0; list != NULL && i < entry->list_length; i++) {
        list[i] = sp_arena_text(arena, entry->list[i]);
        if (list[i] == NULL)
            return NULL;
    }
    return list;
}

int sp_results_set_metadata(sp_results *results, const sp_metadata_entry *entry, sp_error *error)
{
    if (entry->key == NULL || entry->key[0] == '\0')
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "metadata needs a key");
    sp_metadata_entry *copy = sp_arena_alloc(&results->arena, sizeof *copy);
    if (copy == NULL)
        return sp_fail_memory(error, "setting metadata");
    *copy = (sp_metadata_entry){
        .key = sp_arena_text(&results->arena, entry->key), .kind = entry->kind,
        .integer = entry->integer, .real = entry->real};
    if (entry->kind == SP_VALUE_TEXT)
        copy->text = sp_arena_text(&results->arena, entry->text == NULL ? "" : entry->text);
    if (entry->kind == SP_VALUE_TEXT_LIST) {
        copy->list = copy_list(&results->arena, entry);
        copy->list_length = entry->list_length;
    }
    if (copy->key == NULL || (entry->kind == SP_VALUE_TEXT && copy->text == NULL) ||
        (entry->kind == SP_VALUE_TEXT_LIST && copy->list == NULL) ||
        !sp_vector_reserve(&results->metadata, 1))
        return sp_fail_memory(error, "setting metadata");
    for (size_t i = 0; i < results->metadata.count; i++)
        if (strcmp(results->metadata.items[i]->key, copy->key) == 0) {
            results->metadata.items[i] = copy;
            return SP_OK;
        }
    results->metadata.items[results->metadata.count++] = copy;
    return SP_OK;
}

int sp_results_add_thread(sp_results *results, const sp_thread_row *thread, sp_error *error)
{
    sp_thread_row *copy = sp_arena_alloc(&results->arena, sizeof *copy);
    if (copy == NULL || !sp_vector_reserve(&results->threads, 1))
        return sp_fail_memory(error, "adding a thread");
    *copy = *thread;
    copy->name = sp_arena_text(&results->arena, thread->name == NULL ? "" : thread->name);
    if (copy->name == NULL)
        return sp_fail_memory(error, "adding a thread");
    results->threads.items[results->threads.count++] = copy;
    return SP_OK;
}

int sp_results_add_task(sp_results *results, const sp_task_row *task, sp_error *error)
{
    sp_task_row *copy = sp_arena_alloc(&results->arena, sizeof *copy);
    if (copy == NULL || !sp_vector_reserve(&results->tasks, 1))
        return sp_fail_memory(error, "adding a task");
    *copy = *task;
    copy->kind = sp_arena_text(&results->arena, task->kind == NULL ? "task" : task->kind);
    copy->name = sp_arena_text(&results->arena, task->name == NULL ? "" : task->name);
    copy->coroutine_name = sp_arena_text(&results->arena,
                                         task->coroutine_name == NULL ? "" : task->coroutine_name);
    if (copy->kind == NULL || copy->name == NULL || copy->coroutine_name == NULL)
        return sp_fail_memory(error, "adding a task");
    results->tasks.items[results->tasks.count++] = copy;
    return SP_OK;
}

void sp_results_set_num_ranks(sp_results *results, uint32_t num_ranks)
{
    for (size_t i = 0; i < results->ranks.count; i++)
        if (results->ranks.items[i].rank >= num_ranks && results->ranks.items[i].rank < UINT32_MAX)
            num_ranks = results->ranks.items[i].rank + 1;
    results->num_ranks = num_ranks;
}
