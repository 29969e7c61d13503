/* json_profile.c - a run as a JSON profile: docs/FORMATS.md has the keys. Calls are read and written
 * in pieces, so that memory does not grow with their number. */
#include "base/error.h"
#include "export/call_metadata.h"
#include "export/json_layout.h"
#include "export/selection.h"

#include <math.h>
#include <stdlib.h>
#include <strings.h>

enum { PIECE_CALLS = 8192 };

static const struct {
    sp_column column;
    const char *key;
} optional[] = {
    {SP_COLUMN_GPU_DURATION, "gpu_durations_ns"}, {SP_COLUMN_CALL_ID, "call_ids"},
    {SP_COLUMN_PARENT_ID, "parent_ids"},          {SP_COLUMN_THREAD_ID, "thread_ids"},
    {SP_COLUMN_TASK_ID, "task_ids"},              {SP_COLUMN_AWAIT, "await_ns"},
};

typedef struct profile_writer {
    sp_json_layout layout;
    sp_results *results;
    const sp_selection *selection;
    int64_t values[PIECE_CALLS], more[PIECE_CALLS];
} profile_writer;

/* ---- Metadata --------------------------------------------------------------------------------*/

/* Text of an extra array that a JSON profile brought along; NULL when there is none. */
static const char *find_extra(const sp_results *results, const char *name)
{
    for (size_t i = 0; i < results->extras.count; i++) {
        const sp_extra *extra = results->extras.items[i];
        if (extra->texts != NULL && extra->length == 1 && strcmp(extra->name, name) == 0)
            return extra->texts[0];
    }
    return NULL;
}

/* The member `key` of the object `json`, as it was before the model took it for a text or a number. */
static bool add_original(sp_json_layout *layout, const char *json, const char *key)
{
    sp_json_reader reader;
    sp_json_text span;
    sp_json_reader_init(&reader, json, strlen(json));
    if (sp_json_next(&reader, NULL) != SP_JSON_OBJECT)
        return false;
    while (sp_json_next(&reader, &span) == SP_JSON_KEY) {
        bool is_it = sp_json_equals(span, key);
        sp_json_token token = sp_json_next(&reader, &span);
        if (is_it) {
            sp_layout_value(layout);
            bool done = sp_json_copy(&layout->out->scratch, &reader, token, span, layout->indent,
                                     layout->level);
            sp_output_add_scratch(layout->out);
            return done;
        }
        if (!sp_json_skip(&reader, token))
            return false;
    }
    return false;
}

static void add_entry(sp_json_layout *layout, const sp_metadata_entry *entry, const char *originals)
{
    sp_layout_key(layout, entry->key);
    if (originals != NULL && add_original(layout, originals, entry->key))
        return;
    switch (entry->kind) {
    case SP_VALUE_INTEGER:
        sp_layout_integer(layout, entry->integer);
        break;
    case SP_VALUE_REAL:
        sp_layout_real(layout, entry->real);
        break;
    case SP_VALUE_TEXT:
        sp_layout_text(layout, entry->text);
        break;
    case SP_VALUE_TEXT_LIST:
        sp_layout_open(layout, '[');
        for (size_t i = 0; i < entry->list_length; i++)
            sp_layout_text(layout, entry->list[i]);
        sp_layout_close(layout, ']');
        break;
    }
}

static int add_metadata(profile_writer *w, sp_error *error)
{
    const char *given = w->selection->options.metadata_json;
    sp_layout_key(&w->layout, "metadata");
    if (given != NULL)
        return sp_layout_copy(&w->layout, given, strlen(given))
                   ? SP_OK
                   : sp_fail(error, SP_ERR_INVALID_ARGUMENT, "the metadata given are no JSON");
    const char *originals = find_extra(w->results, "json_metadata");
    sp_layout_open(&w->layout, '{');
    for (size_t i = 0; i < w->results->metadata.count; i++)
        add_entry(&w->layout, w->results->metadata.items[i], originals);
    sp_layout_close(&w->layout, '}');
    return SP_OK;
}

/* ---- Calls -----------------------------------------------------------------------------------*/

/* Appends values to the array at hand. */
static void add_values(sp_json_layout *layout, const int64_t *values, size_t count)
{
    if (layout->indent > 0) {
        for (size_t i = 0; i < count; i++)
            sp_layout_integer(layout, values[i]);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (layout->has_items)
            sp_output_add_n(layout->out, ", ", 2);
        layout->has_items = true;
        sp_output_integer(layout->out, values[i]);
    }
}

static int read_ends(profile_writer *w, size_t row, uint64_t first, size_t count, sp_error *error)
{
    int status = sp_run_read_piece(w->results, row, SP_COLUMN_START, first, count, w->values, error);
    if (status == SP_OK)
        status = sp_run_read_piece(w->results, row, SP_COLUMN_DURATION, first, count, w->more, error);
    for (size_t i = 0; status == SP_OK && i < count; i++)
        w->values[i] = (int64_t)((uint64_t)w->values[i] + (uint64_t)w->more[i]);
    return status;
}

/* One column of a row as an array; the durations as ends. */
static int add_column(profile_writer *w, size_t row, sp_column column, const char *key,
                      sp_error *error)
{
    uint64_t count = w->results->rows.items[row].row->count;
    int status = SP_OK;
    sp_layout_key(&w->layout, key);
    sp_layout_open(&w->layout, '[');
    for (uint64_t first = 0; status == SP_OK && first < count; first += PIECE_CALLS) {
        size_t size = count - first < PIECE_CALLS ? (size_t)(count - first) : PIECE_CALLS;
        status = column == SP_COLUMN_DURATION
                     ? read_ends(w, row, first, size, error)
                     : sp_run_read_piece(w->results, row, column, first, size, w->values, error);
        if (status == SP_OK)
            add_values(&w->layout, w->values, size);
    }
    sp_layout_close(&w->layout, ']');
    return status;
}

static int add_event_metadata(profile_writer *w, const sp_row *row, sp_error *error)
{
    sp_call_metadata metadata;
    int status = sp_call_metadata_split(row, &metadata, error);
    if (status != SP_OK || metadata.items == NULL)
        return status;
    sp_layout_key(&w->layout, "event_metadata");
    sp_layout_open(&w->layout, '[');
    for (size_t i = 0; i < metadata.count; i++)
        sp_layout_copy(&w->layout, metadata.items[i].bytes, metadata.items[i].length);
    sp_layout_close(&w->layout, ']');
    sp_call_metadata_release(&metadata);
    return SP_OK;
}

static int add_calls(profile_writer *w, size_t row, sp_error *error)
{
    const sp_run_row *of = &w->results->rows.items[row];
    int status = SP_OK;
    if (of->columns == 0) {
        static const char *const keys[] = {"start_times_ns", "end_times_ns"};
        for (int i = 0; i < 2; i++) {
            sp_layout_key(&w->layout, keys[i]);
            sp_layout_open(&w->layout, '[');
            sp_layout_close(&w->layout, ']');
        }
    } else {
        status = add_column(w, row, SP_COLUMN_START, "start_times_ns", error);
        if (status == SP_OK)
            status = add_column(w, row, SP_COLUMN_DURATION, "end_times_ns", error);
        if (status == SP_OK)
            status = add_event_metadata(w, of->row, error);
    }
    for (size_t i = 0; status == SP_OK && i < sizeof optional / sizeof *optional; i++)
        if (of->columns & SP_COLUMN_BIT(optional[i].column))
            status = add_column(w, row, optional[i].column, optional[i].key, error);
    if (status == SP_OK && of->row->exclusive_total >= 0) {
        sp_layout_key(&w->layout, "exclusive_total_ns");
        sp_layout_integer(&w->layout, of->row->exclusive_total);
    }
    return status;
}

/* ---- Totals ----------------------------------------------------------------------------------*/

static void add_member(sp_json_layout *layout, const char *key, int64_t value)
{
    sp_layout_key(layout, key);
    sp_layout_integer(layout, value);
}

/* Whole numbers stand without a fraction. */
static void add_real_member(sp_json_layout *layout, const char *key, double value)
{
    if (fabs(value) < 9e15 && value == floor(value)) {
        add_member(layout, key, (int64_t)value);
        return;
    }
    sp_layout_key(layout, key);
    sp_layout_real(layout, value);
}

static void add_aggregate(sp_json_layout *layout, const sp_row_aggregate *totals)
{
    sp_layout_key(layout, "aggregate");
    sp_layout_open(layout, '{');
    add_member(layout, "count", (int64_t)totals->count);
    add_member(layout, "total", totals->total);
    add_member(layout, "minimum", totals->minimum);
    add_member(layout, "maximum", totals->maximum);
    add_member(layout, "exclusive", totals->exclusive);
    sp_layout_close(layout, '}');
}

static int add_statistics(profile_writer *w, size_t row, sp_error *error)
{
    sp_json_layout *layout = &w->layout;
    const sp_row *of = w->results->rows.items[row].row;
    sp_statistics s;
    int status = sp_results_row_statistics(w->results, row, &s, error);
    if (status != SP_OK)
        return status;
    double m2 = of->has_statistics       ? of->statistics.m2
                : isfinite(s.deviation) ? s.deviation * s.deviation * (double)s.calls
                                        : 0.0;
    sp_layout_key(layout, "aggregate");
    sp_layout_open(layout, '{');
    add_member(layout, "count", (int64_t)s.calls);
    add_member(layout, "total", s.total);
    add_member(layout, "minimum", s.minimum);
    add_member(layout, "maximum", s.maximum);
    add_member(layout, "first", s.first);
    add_member(layout, "last", s.last);
    add_member(layout, "start_minimum", s.start_minimum);
    add_member(layout, "end_maximum", s.end_maximum);
    add_member(layout, "exclusive", s.exclusive);
    add_member(layout, "gpu_count", (int64_t)s.gpu_calls);
    add_member(layout, "gpu_total", s.gpu_total);
    add_real_member(layout, "mean", s.mean);
    add_real_member(layout, "m2", m2);
    sp_layout_close(layout, '}');
    sp_layout_key(layout, "event_data_available");
    sp_layout_word(layout, "false");
    return SP_OK;
}

/* ---- Rows ------------------------------------------------------------------------------------*/

static bool has_statistics_only(const profile_writer *w, const sp_run_row *row)
{
    return w->selection->options.statistics_only ||
           (row->columns == 0 && row->row->count > 0 && !row->row->has_aggregate);
}

static int add_row(profile_writer *w, size_t row, sp_error *error)
{
    sp_json_layout *layout = &w->layout;
    const sp_run_row *run_row = &w->results->rows.items[row];
    const sp_row *of = run_row->row;
    int status = SP_OK;
    sp_layout_open(layout, '{');
    sp_layout_key(layout, "name");
    sp_layout_text(layout, of->region);
    add_member(layout, "rank", of->rank);
    if (of->source_file != NULL && of->source_file[0] != '\0') {
        sp_layout_key(layout, "source_file");
        sp_layout_text(layout, of->source_file);
    }
    if (of->source_line >= 0)
        add_member(layout, "source_lineno", of->source_line);
    if (of->source_text != NULL && of->source_text[0] != '\0') {
        sp_layout_key(layout, "source_text");
        sp_layout_text(layout, of->source_text);
    }
    if (of->tags_json != NULL && of->tags_json[0] != '\0' && strcmp(of->tags_json, "[]") != 0) {
        sp_layout_key(layout, "tags");
        sp_layout_copy(layout, of->tags_json, strlen(of->tags_json));
    }
    if (has_statistics_only(w, run_row))
        status = add_statistics(w, row, error);
    else if (of->has_aggregate)
        add_aggregate(layout, &of->aggregate);
    else
        status = add_calls(w, row, error);
    sp_layout_close(layout, '}');
    return status;
}

static int compare_rows(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The rows of a region in order of their ranks. */
static int add_region(profile_writer *w, size_t region, sp_error *error)
{
    SP_VECTOR(uint64_t) rows = {0};
    int status = SP_OK;
    for (uint32_t r = w->results->regions.items[region].first_row; r != SP_NO_ROW;
         r = w->results->rows.items[r].next_in_region) {
        uint32_t rank = w->results->rows.items[r].row->rank;
        if (!sp_rank_filter_takes(&w->selection->ranks, rank))
            continue;
        if (!sp_vector_reserve(&rows, 1)) {
            status = sp_fail_memory(error, "exporting a run");
            break;
        }
        rows.items[rows.count++] = (uint64_t)rank << 32 | r;
    }
    if (rows.count > 0)
        qsort(rows.items, rows.count, sizeof *rows.items, compare_rows);
    for (size_t i = 0; status == SP_OK && i < rows.count; i++)
        status = add_row(w, (size_t)(rows.items[i] & UINT32_MAX), error);
    sp_vector_release(&rows);
    return status;
}

/* ---- Lanes -----------------------------------------------------------------------------------*/

static void add_thread(sp_json_layout *layout, const sp_thread_row *thread)
{
    sp_layout_open(layout, '{');
    add_member(layout, "index", thread->index);
    sp_layout_key(layout, "name");
    sp_layout_text(layout, thread->name);
    add_member(layout, "ident", thread->ident);
    add_member(layout, "native_id", thread->native_id);
    sp_layout_key(layout, "daemon");
    sp_layout_word(layout, thread->is_daemon ? "true" : "false");
    add_member(layout, "start_ns", thread->start_ns);
    add_member(layout, "end_ns", thread->end_ns);
    add_member(layout, "cpu_ns", thread->cpu_ns);
    sp_layout_close(layout, '}');
}

static void add_task(sp_json_layout *layout, const sp_task_row *task)
{
    sp_layout_open(layout, '{');
    add_member(layout, "index", task->index);
    sp_layout_key(layout, "kind");
    sp_layout_text(layout, task->kind);
    sp_layout_key(layout, "name");
    sp_layout_text(layout, task->name);
    sp_layout_key(layout, "coro_name");
    sp_layout_text(layout, task->coroutine_name);
    add_member(layout, "thread_index", task->thread_index);
    add_member(layout, "created_ns", task->created_ns);
    add_member(layout, "done_ns", task->done_ns);
    add_member(layout, "steps", task->steps);
    add_member(layout, "running_ns", task->running_ns);
    add_member(layout, "suspended_ns", task->suspended_ns);
    sp_layout_close(layout, '}');
}

/* Rows of a lane table by rank, ranks in order of appearance. Written once for both tables. */
#define ADD_LANES(w, table, key, add)                                                              \
    do {                                                                                           \
        sp_number_map seen_ = {0};                                                                 \
        if ((w)->results->table.count > 0) {                                                       \
            sp_layout_key(&(w)->layout, key);                                                      \
            sp_layout_open(&(w)->layout, '{');                                                     \
            for (size_t i_ = 0; i_ < (w)->results->table.count; i_++) {                            \
                uint32_t rank_ = (w)->results->table.items[i_]->rank;                              \
                if (sp_number_map_get(&seen_, rank_) != SP_NUMBER_NONE ||                          \
                    !sp_rank_filter_takes(&(w)->selection->ranks, rank_))                          \
                    continue;                                                                      \
                if (!sp_number_map_set(&seen_, rank_, 0))                                          \
                    (w)->layout.out->scratch.failed = true;                                        \
                add_rank_key(&(w)->layout, rank_);                                                 \
                for (size_t j_ = i_; j_ < (w)->results->table.count; j_++)                         \
                    if ((w)->results->table.items[j_]->rank == rank_)                              \
                        add(&(w)->layout, (w)->results->table.items[j_]);                          \
                sp_layout_close(&(w)->layout, ']');                                                \
            }                                                                                      \
            sp_layout_close(&(w)->layout, '}');                                                    \
        }                                                                                          \
        sp_number_map_release(&seen_);                                                             \
    } while (0)

static void add_rank_key(sp_json_layout *layout, uint32_t rank)
{
    char key[16];
    snprintf(key, sizeof key, "%u", rank);
    sp_layout_key(layout, key);
    sp_layout_open(layout, '[');
}

/* ---- The document ----------------------------------------------------------------------------*/

/* The members of an object, each a rank; those that are not selected are left out. */
static void add_members(profile_writer *w, const char *json)
{
    sp_json_reader reader;
    sp_json_text key, span;
    sp_json_reader_init(&reader, json, strlen(json));
    if (sp_json_next(&reader, NULL) != SP_JSON_OBJECT)
        return;
    while (sp_json_next(&reader, &key) == SP_JSON_KEY) {
        sp_json_token token = sp_json_next(&reader, &span);
        const char *from = reader.at - (token == SP_JSON_OBJECT || token == SP_JSON_ARRAY ? 1 : 0);
        char name[32];
        if ((token != SP_JSON_OBJECT && token != SP_JSON_ARRAY) || !sp_json_skip(&reader, token))
            return;
        snprintf(name, sizeof name, "%.*s", (int)(key.length < 31 ? key.length : 31), key.bytes);
        if (!sp_rank_filter_takes(&w->selection->ranks, (uint32_t)strtoul(name, NULL, 10)))
            continue;
        sp_layout_key(&w->layout, name);
        sp_layout_copy(&w->layout, from, (size_t)(reader.at - from));
    }
}

/* Counters and line records, which mean nothing to the model. */
static void add_unknown(profile_writer *w)
{
    static const char *const names[][2] = {{"json_likwid", "likwid"},
                                           {"json_line_profile", "line_profile"},
                                           {"json_likwid_environment", "likwid_environment"},
                                           {"json_perf_events", "perf_events"},
                                           {"json_memory", "memory"},
                                           {"json_memory_peak", "memory_peak"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool any = false;
        for (size_t e = 0; e < w->results->extras.count; e++) {
            const sp_extra *extra = w->results->extras.items[e];
            if (extra->texts == NULL || strcmp(extra->name, names[i][0]) != 0)
                continue;
            if (!any) {
                sp_layout_key(&w->layout, names[i][1]);
                sp_layout_open(&w->layout, '{');
            }
            any = true;
            for (size_t t = 0; t < extra->length; t++)
                add_members(w, extra->texts[t]);
        }
        if (any)
            sp_layout_close(&w->layout, '}');
    }
}

static int add_more(profile_writer *w, sp_error *error)
{
    const char *json = w->selection->options.more_json;
    sp_json_reader reader;
    sp_json_text span;
    sp_text key = {0};
    if (json == NULL) {
        add_unknown(w);
        return SP_OK;
    }
    sp_json_reader_init(&reader, json, strlen(json));
    sp_json_token token = sp_json_next(&reader, NULL);
    bool fits = token == SP_JSON_OBJECT;
    while (fits && (token = sp_json_next(&reader, &span)) == SP_JSON_KEY) {
        key.length = 0;
        sp_json_decode(&key, span);
        fits = !key.failed;
        if (!fits)
            break;
        sp_layout_key(&w->layout, key.bytes);
        sp_layout_value(&w->layout);
        token = sp_json_next(&reader, &span);
        fits = sp_json_copy(&w->layout.out->scratch, &reader, token, span, w->layout.indent,
                            w->layout.level);
        sp_output_add_scratch(w->layout.out);
    }
    sp_text_release(&key);
    return fits && token == SP_JSON_OBJECT_END
               ? SP_OK
               : sp_fail(error, SP_ERR_INVALID_ARGUMENT, "the members given are no JSON object");
}

static bool has_events(const profile_writer *w)
{
    for (size_t i = 0; i < w->results->rows.count; i++)
        if (has_statistics_only(w, &w->results->rows.items[i]))
            return false;
    return !w->selection->options.statistics_only;
}

static void add_head(profile_writer *w)
{
    sp_json_layout *layout = &w->layout;
    sp_layout_open(layout, '{');
    sp_layout_key(layout, "format");
    sp_layout_text(layout, "scope-profiler-profile");
    add_member(layout, "format_version", 1);
    sp_layout_key(layout, "exporter");
    sp_layout_text(layout, "scope-profiler@" SP_VERSION);
    sp_layout_key(layout, "time_unit");
    sp_layout_text(layout, "nanoseconds");
    add_member(layout, "num_ranks", w->results->num_ranks);
    sp_layout_key(layout, "event_data_available");
    sp_layout_word(layout, has_events(w) ? "true" : "false");
}

static int write_document(profile_writer *w, sp_error *error)
{
    add_head(w);
    int status = add_metadata(w, error);
    sp_layout_key(&w->layout, "regions");
    sp_layout_open(&w->layout, '[');
    for (size_t i = 0; status == SP_OK && i < w->results->regions.count; i++)
        if (w->selection->regions[i])
            status = add_region(w, i, error);
    sp_layout_close(&w->layout, ']');
    ADD_LANES(w, threads, "threads", add_thread);
    ADD_LANES(w, tasks, "tasks", add_task);
    if (status == SP_OK)
        status = add_more(w, error);
    sp_layout_close(&w->layout, '}');
    sp_output_add(w->layout.out, "\n");
    return status;
}

static bool is_compressed_name(const char *path)
{
    size_t length = strlen(path);
    return length > 3 && strcasecmp(path + length - 3, ".gz") == 0;
}

int sp_export_json(sp_results *results, const sp_export_options *options, const char *path,
                   sp_error *error)
{
    sp_selection selection;
    sp_output out;
    int status = sp_selection_init(&selection, results, options, error);
    if (status != SP_OK)
        return status;
    profile_writer *w = malloc(sizeof *w);
    status = w == NULL ? sp_fail_memory(error, "exporting a run")
                       : sp_output_open_file(&out, path, is_compressed_name(path), error);
    if (status == SP_OK) {
        w->layout = (sp_json_layout){.out = &out, .indent = selection.options.indent};
        w->results = results;
        w->selection = &selection;
        status = sp_output_finish(&out, write_document(w, error), error);
    }
    free(w);
    sp_selection_release(&selection);
    return status;
}
