/* summary.c - the life of a summary: options checked, rows built, sorted, handed out. */
#include "export/summary.h"

#include "base/error.h"
#include "export/region_filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Columns and keys ------------------------------------------------------------------------*/

static const struct {
    const char *key, *header;
} columns[SP_SUMMARY_NUM_COLUMNS] = {
    [SP_SUMMARY_REGION] = {"region", "region"},
    [SP_SUMMARY_RANKS] = {"ranks", "ranks"},
    [SP_SUMMARY_CALLS] = {"calls", "n"},
    [SP_SUMMARY_TOTAL] = {"total", "total [s]"},
    [SP_SUMMARY_PERCENT] = {"percent", "% session"},
    [SP_SUMMARY_PARENT_PERCENT] = {"parent_percent", "% parent"},
    [SP_SUMMARY_AVERAGE] = {"avg", "avg/call [s]"},
    [SP_SUMMARY_MINIMUM] = {"min", "min [s]"},
    [SP_SUMMARY_MAXIMUM] = {"max", "max [s]"},
    [SP_SUMMARY_FIRST] = {"first", "first [s]"},
    [SP_SUMMARY_LAST] = {"last", "last [s]"},
    [SP_SUMMARY_DEVIATION] = {"std", "std [s]"},
    [SP_SUMMARY_P50] = {"p50", "p50 [s]"},
    [SP_SUMMARY_P95] = {"p95", "p95 [s]"},
    [SP_SUMMARY_P99] = {"p99", "p99 [s]"},
    [SP_SUMMARY_IMBALANCE] = {"imbalance", "imbalance [%]"},
    [SP_SUMMARY_GPU_TOTAL] = {"gpu_total", "gpu total [s]"},
    [SP_SUMMARY_GPU_AVERAGE] = {"gpu_avg", "gpu avg [s]"},
};

static const char *const sort_keys[] = {
    [SP_SORT_START] = "start",     [SP_SORT_TOTAL] = "total",     [SP_SORT_CALLS] = "calls",
    [SP_SORT_AVERAGE] = "avg",     [SP_SORT_MINIMUM] = "min",     [SP_SORT_MAXIMUM] = "max",
    [SP_SORT_FIRST] = "first",     [SP_SORT_LAST] = "last",       [SP_SORT_DEVIATION] = "std",
    [SP_SORT_P50] = "p50",         [SP_SORT_P95] = "p95",         [SP_SORT_P99] = "p99",
    [SP_SORT_IMBALANCE] = "imbalance", [SP_SORT_NAME] = "name",
};
enum { NUM_SORT_KEYS = sizeof sort_keys / sizeof *sort_keys };

const char *sp_summary_header(sp_summary_column column)
{
    return columns[column].header;
}

const char *sp_summary_key(sp_summary_column column)
{
    return columns[column].key;
}

static sp_summary_column find_column(const char *key)
{
    sp_summary_column found = 0;
    if (strcmp(key, "name") == 0)
        return SP_SUMMARY_REGION;
    while (found < SP_SUMMARY_NUM_COLUMNS && strcmp(columns[found].key, key) != 0)
        found++;
    return found;
}

/* Fails with all unknown keys and the choices. */
static int fail_columns(const char *const *keys, size_t count, sp_error *error)
{
    sp_text unknown = {0};
    for (size_t i = 0; i < count; i++)
        if (find_column(keys[i]) == SP_SUMMARY_NUM_COLUMNS)
            sp_text_format(&unknown, "%s'%s'", unknown.length == 0 ? "" : ", ", keys[i]);
    sp_text_add(&unknown, "; choose from ");
    for (int c = 0; c < SP_SUMMARY_NUM_COLUMNS; c++)
        sp_text_format(&unknown, "%s%s", c == 0 ? "" : ", ", columns[c].key);
    int status = sp_fail(error, SP_ERR_INVALID_ARGUMENT, "Unknown region summary column(s): %s",
                         unknown.bytes == NULL ? "" : unknown.bytes);
    sp_text_release(&unknown);
    return status;
}

int sp_summary_parse_columns(const char *const *keys, size_t count, sp_summary_column *out,
                             sp_error *error)
{
    if (count == 0)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "At least one region summary column must be selected.");
    for (size_t i = 0; i < count; i++) {
        out[i] = find_column(keys[i]);
        if (out[i] == SP_SUMMARY_NUM_COLUMNS)
            return fail_columns(keys, count, error);
    }
    return SP_OK;
}

int sp_summary_parse_sort(const char *key, sp_summary_sort *out, sp_error *error)
{
    sp_text choices = {0};
    for (int i = 0; i < NUM_SORT_KEYS; i++) {
        if (strcmp(sort_keys[i], key) == 0) {
            *out = (sp_summary_sort)i;
            sp_text_release(&choices);
            return SP_OK;
        }
        sp_text_format(&choices, "%s%s", i == 0 ? "" : ", ", sort_keys[i]);
    }
    int status = sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                         "Unknown sort key '%s'; choose from %s", key,
                         choices.bytes == NULL ? "" : choices.bytes);
    sp_text_release(&choices);
    return status;
}

/* ---- Options ---------------------------------------------------------------------------------*/

static bool asks_for_percentiles(const sp_summary_request *request)
{
    sp_summary_sort sort = request->options.sort;
    bool asks = request->options.with_percentiles || sort == SP_SORT_P50 || sort == SP_SORT_P95 ||
                sort == SP_SORT_P99;
    for (size_t i = 0; i < request->num_columns; i++)
        asks = asks || request->columns[i] == SP_SUMMARY_P50 ||
               request->columns[i] == SP_SUMMARY_P95 || request->columns[i] == SP_SUMMARY_P99;
    return asks;
}

static int copy_texts(sp_summary *summary, sp_error *error)
{
    sp_summary_options *options = &summary->request.options;
    const char *title = options->title, *path = options->file_path;
    options->title = title == NULL ? NULL : sp_arena_text(&summary->arena, title);
    options->file_path = path == NULL ? NULL : sp_arena_text(&summary->arena, path);
    bool failed = (title != NULL && options->title == NULL) ||
                  (path != NULL && options->file_path == NULL);
    return failed ? sp_fail_memory(error, "summing up a run") : SP_OK;
}

static int copy_columns(sp_summary *summary, sp_error *error)
{
    sp_summary_request *request = &summary->request;
    if (request->options.columns == NULL)
        return SP_OK;
    request->columns = sp_arena_array(&summary->arena, request->options.num_columns,
                                      sizeof *request->columns);
    if (request->columns == NULL)
        return sp_fail_memory(error, "summing up a run");
    request->num_columns = request->options.num_columns;
    return sp_summary_parse_columns(request->options.columns, request->num_columns,
                                    request->columns, error);
}

int sp_summary_take_layout(sp_summary *summary, const sp_summary_options *options,
                           sp_error *error)
{
    sp_summary_request *request = &summary->request;
    if (options != NULL && options->size == 0)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "sp_summary_options.size is not set");
    if (options != NULL)
        memcpy(&request->options, options,
               options->size < sizeof *options ? options->size : sizeof *options);
    int status = copy_texts(summary, error);
    return status == SP_OK ? copy_columns(summary, error) : status;
}

/* Copies what must outlive the call and checks the rest. */
static int take_options(sp_summary *summary, const sp_summary_options *options, sp_error *error)
{
    sp_summary_request *request = &summary->request;
    int status = sp_summary_take_layout(summary, options, error);
    if (status != SP_OK)
        return status;
    if ((unsigned)request->options.reduction > SP_REDUCE_SUM)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "there is no reduction %d",
                       (int)request->options.reduction);
    if ((unsigned)request->options.sort >= NUM_SORT_KEYS)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "there is no sort key %d",
                       (int)request->options.sort);
    status = sp_rank_filter_init(&request->ranks, request->options.ranks,
                                 request->options.num_ranks, error);
    if (status == SP_OK)
        status = sp_region_filter(summary->results, &request->options, &request->regions, error);
    request->wants_percentiles = asks_for_percentiles(request);
    return status;
}

/* ---- Rows ------------------------------------------------------------------------------------*/

void sp_summary_set_moments(sp_summary_row *row, const sp_moments *m)
{
    double count = (double)m->count;
    row->calls = m->count;
    row->total = (double)(int64_t)m->total / 1e9;
    row->average = sp_moments_mean(m) / 1e9;
    row->minimum = (double)m->minimum / 1e9;
    row->maximum = (double)m->maximum / 1e9;
    row->deviation = m->count == 0 ? 0.0 : sqrt(sp_moments_m2(m) / count) / 1e9;
    row->p50 = row->p95 = row->p99 = NAN;
    row->gpu_total = m->gpu_count == 0 ? NAN : (double)(int64_t)m->gpu_total / 1e9;
    row->gpu_average = m->gpu_count == 0 ? NAN : row->gpu_total / (double)m->gpu_count;
}

static double sort_value(const sp_summary_row *row, sp_summary_sort sort)
{
    switch (sort) {
    case SP_SORT_TOTAL:
        return row->total;
    case SP_SORT_CALLS:
        return (double)row->calls;
    case SP_SORT_AVERAGE:
        return row->average;
    case SP_SORT_MINIMUM:
        return row->minimum;
    case SP_SORT_MAXIMUM:
        return row->maximum;
    case SP_SORT_FIRST:
        return row->first;
    case SP_SORT_LAST:
        return row->last;
    case SP_SORT_DEVIATION:
        return row->deviation;
    case SP_SORT_P50:
        return row->p50;
    case SP_SORT_P95:
        return row->p95;
    case SP_SORT_P99:
        return row->p99;
    case SP_SORT_IMBALANCE:
        return row->imbalance;
    case SP_SORT_START:
        return -row->start; /* ascending */
    case SP_SORT_NAME:
        break;
    }
    return 0.0;
}

typedef struct sort_item {
    double value; /* larger first, NaN last */
    const char *name;
    uint32_t entry;
} sort_item;

static int compare_items(const void *a, const void *b)
{
    const sort_item *x = a, *y = b;
    if (isnan(x->value) != isnan(y->value))
        return isnan(x->value) ? 1 : -1;
    if (x->value != y->value && !isnan(x->value))
        return x->value > y->value ? -1 : 1;
    int by_name = strcmp(x->name, y->name);
    return by_name != 0 ? by_name : (x->entry > y->entry) - (x->entry < y->entry);
}

/* By start, rows of call paths stay in the pre-order in which they were built. */
static int sort_rows(sp_summary *summary, sp_error *error)
{
    size_t count = summary->entries.count;
    sp_summary_sort sort = summary->request.options.sort;
    bool keeps_order = sort == SP_SORT_START && !summary->is_flat;
    sort_item *items = malloc((count + 1) * sizeof *items);
    if (items == NULL || !sp_vector_reserve(&summary->sorted, count)) {
        free(items);
        return sp_fail_memory(error, "sorting a summary");
    }
    for (size_t i = 0; i < count; i++) {
        const sp_summary_row *row = &summary->entries.items[i].row;
        items[i] = (sort_item){sort_value(row, sort), row->name, (uint32_t)i};
    }
    if (!keeps_order)
        qsort(items, count, sizeof *items, compare_items);
    for (size_t i = 0; i < count; i++)
        summary->sorted.items[i] = items[i].entry;
    summary->sorted.count = count;
    free(items);
    return SP_OK;
}

/* Pooled total of the session's root region on the selected ranks. */
static int find_session(sp_summary *summary, sp_error *error)
{
    sp_statistics session;
    const sp_summary_options *options = &summary->request.options;
    int64_t region = sp_results_find_region(summary->results, SP_SESSION_REGION);
    summary->session_total = NAN;
    if (region < 0)
        return SP_OK;
    int status = sp_results_region_statistics(summary->results, (size_t)region, options->ranks,
                                              options->num_ranks, &session, error);
    if (status == SP_OK && session.calls > 0)
        summary->session_total = (double)session.total / 1e9;
    return status;
}

static bool has_device_times(const sp_results *results)
{
    for (size_t i = 0; i < results->rows.count; i++)
        if (results->rows.items[i].columns & SP_COLUMN_BIT(SP_COLUMN_GPU_DURATION))
            return true;
    return false;
}

static int add_pooled(sp_summary *summary, bool flat, sp_error *error)
{
    bool done = false;
    int status = find_session(summary, error);
    if (status == SP_OK && !flat && !summary->results->is_aggregate)
        status = sp_summary_add_paths(summary, &done, error);
    if (status == SP_OK && !done) {
        summary->is_flat = true;
        status = sp_summary_add_regions(summary, error);
    }
    return status;
}

static int add_rows(sp_summary *summary, bool flat, sp_error *error)
{
    summary->has_gpu = has_device_times(summary->results);
    int status = summary->request.options.reduction == SP_REDUCE_POOLED
                     ? add_pooled(summary, flat, error) : sp_summary_add_reduced(summary, error);
    summary->has_gpu = false;
    for (size_t i = 0; i < summary->entries.count; i++)
        summary->has_gpu =
            summary->has_gpu || !isnan(summary->entries.items[i].row.gpu_total);
    return status;
}

int sp_summary_create_rows(sp_results *results, const sp_summary_options *options, bool flat,
                           sp_summary **out, sp_error *error)
{
    sp_summary *summary = calloc(1, sizeof *summary);
    if (summary == NULL)
        return sp_fail_memory(error, "summing up a run");
    summary->results = results;
    int status = take_options(summary, options, error);
    if (status == SP_OK)
        status = add_rows(summary, flat, error);
    if (status != SP_OK) {
        sp_summary_free(summary);
        return status;
    }
    *out = summary;
    return SP_OK;
}

int sp_summary_create(sp_results *results, const sp_summary_options *options, sp_summary **out,
                      sp_error *error)
{
    sp_summary *summary;
    int status = sp_summary_create_rows(results, options, false, &summary, error);
    if (status != SP_OK)
        return status;
    status = sort_rows(summary, error);
    if (status == SP_OK)
        status = sp_summary_limit(summary, error);
    if (status != SP_OK) {
        sp_summary_free(summary);
        return status;
    }
    *out = summary;
    return SP_OK;
}

void sp_summary_free(sp_summary *summary)
{
    if (summary == NULL)
        return;
    sp_rank_filter_release(&summary->request.ranks);
    free(summary->request.regions);
    sp_vector_release(&summary->entries);
    sp_vector_release(&summary->sorted);
    sp_arena_release(&summary->arena);
    sp_table_release(&summary->cells);
    free(summary->text);
    free(summary);
}

/* ---- Handing out -----------------------------------------------------------------------------*/

size_t sp_summary_num_rows(const sp_summary *summary)
{
    return summary->sorted.count;
}

/* Names of a path that are written at its start and at its end; what lies between is left out. */
enum { PATH_HEAD = 128, PATH_TAIL = 128 };

/* Joins the names of the rows above and of this one; NULL when memory is short. */
static const char *make_path(sp_summary *summary, uint32_t entry)
{
    const sp_summary_entry *entries = summary->entries.items;
    size_t length = (size_t)entries[entry].row.depth + 1, at = length;
    const char **names = malloc(length * sizeof *names);
    sp_text path = {0};
    for (uint32_t e = entry; names != NULL && at > 0; e = entries[e].parent)
        names[--at] = entries[e].row.name;
    for (size_t i = 0; names != NULL && i < length; i++) {
        bool is_cut = length > PATH_HEAD + PATH_TAIL && i == PATH_HEAD;
        sp_text_add(&path, i == 0 ? "" : " > ");
        sp_text_add(&path, is_cut ? "..." : names[i]);
        i = is_cut ? length - PATH_TAIL - 1 : i;
    }
    char *copy = names == NULL || path.failed
                     ? NULL : sp_arena_text_n(&summary->arena, path.bytes, path.length);
    free(names);
    sp_text_release(&path);
    return copy;
}

const sp_summary_row *sp_summary_get_row(sp_summary *summary, size_t i)
{
    if (i >= summary->sorted.count)
        return NULL;
    uint32_t entry = summary->sorted.items[i];
    sp_summary_row *row = &summary->entries.items[entry].row;
    if (row->call_path == NULL)
        row->call_path = make_path(summary, entry);
    return row->call_path == NULL ? NULL : row;
}

const char *sp_summary_text(sp_summary *summary)
{
    sp_text text = {0};
    if (summary->text != NULL)
        return summary->text;
    if (summary->sorted.count == 0) {
        sp_summary_write_title(summary, &text);
        sp_text_add(&text, "\n  (no regions recorded)\n");
    } else {
        sp_summary_write_table(summary, &text);
        if (!summary->request.options.suppress_notes)
            sp_summary_write_notes(summary, &text);
        sp_text_add(&text, "\n");
    }
    summary->text = sp_text_take(&text);
    return summary->text;
}

int sp_results_print_summary(sp_results *results, const sp_summary_options *options, FILE *stream,
                             sp_error *error)
{
    sp_summary *summary;
    int status = sp_summary_create(results, options, &summary, error);
    if (status != SP_OK)
        return status;
    const char *text = sp_summary_text(summary);
    if (text == NULL)
        status = sp_fail_memory(error, "printing a summary");
    else if (fputs(text, stream) == EOF || fflush(stream) != 0)
        status = sp_fail(error, SP_ERR_IO, "the summary could not be printed");
    sp_summary_free(summary);
    return status;
}
