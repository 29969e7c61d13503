/* regions.c - the rows of a JSON profile: arrays of numbers into columns. */
#include "base/error.h"
#include "store/json/document.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *key;
    sp_column column;
} arrays[] = {
    {"start_times_ns", SP_COLUMN_START},        {"end_times_ns", SP_COLUMN_DURATION},
    {"gpu_durations_ns", SP_COLUMN_GPU_DURATION}, {"call_ids", SP_COLUMN_CALL_ID},
    {"parent_ids", SP_COLUMN_PARENT_ID},        {"thread_ids", SP_COLUMN_THREAD_ID},
    {"task_ids", SP_COLUMN_TASK_ID},            {"await_ns", SP_COLUMN_AWAIT},
};

/* A row while its members come, in any order. */
typedef struct row_draft {
    sp_row row;
    sp_json_columns columns;
    size_t lengths[SP_COLUMN_COUNT];
    int64_t rank;
    bool is_summary, has_first;
    uint64_t num_metadata; /* objects of event_metadata */
} row_draft;

/* ---- Numbers ---------------------------------------------------------------------------------*/

static int take_array(sp_json_document *doc, row_draft *draft, const char *key, sp_column column,
                      sp_json_token token)
{
    SP_VECTOR(int64_t) values = {0};
    sp_json_text span;
    int status = SP_OK;
    if (token == SP_JSON_NULL)
        return SP_OK;
    if (token != SP_JSON_ARRAY)
        return sp_json_wrong(doc, "%s is not a list", key);
    while ((token = sp_json_next(&doc->json, &span)) == SP_JSON_NUMBER) {
        if (!sp_vector_reserve(&values, 1))
            status = sp_json_out_of_memory(doc);
        else
            status = sp_json_take_integer(doc, key, token, span, &values.items[values.count]);
        if (status != SP_OK)
            break;
        values.count++;
    }
    if (status == SP_OK && token != SP_JSON_ARRAY_END)
        status = token == SP_JSON_BAD ? sp_json_malformed(doc)
                                      : sp_json_wrong(doc, "%s holds something else than numbers", key);
    if (status == SP_OK && values.items == NULL)
        values.items = malloc(sizeof *values.items);
    if (status == SP_OK && values.items == NULL)
        status = sp_json_out_of_memory(doc);
    if (status != SP_OK) {
        free(values.items);
        return status;
    }
    free(draft->columns.values[column]);
    draft->columns.values[column] = values.items;
    draft->lengths[column] = values.count;
    return SP_OK;
}

/* A real number that stands for a whole one is accepted: totals may have been written so. */
static int take_aggregate_member(sp_json_document *doc, void *context, const char *key,
                                 sp_json_token token, sp_json_text span)
{
    row_draft *draft = context;
    sp_row_statistics *s = &draft->row.statistics;
    sp_row_aggregate *a = &draft->row.aggregate;
    const struct {
        const char *key;
        int64_t *first, *second;
    } integers[] = {
        {"total", &s->total, &a->total},       {"minimum", &s->minimum, &a->minimum},
        {"maximum", &s->maximum, &a->maximum}, {"exclusive", &a->exclusive, NULL},
        {"first", &s->first, NULL},            {"last", &s->last, NULL},
        {"start_minimum", &s->start_minimum, NULL}, {"end_maximum", &s->end_maximum, NULL},
        {"gpu_total", &s->gpu_total, NULL},
    };
    int64_t value = 0;
    double *real = strcmp(key, "mean") == 0 ? &s->mean : strcmp(key, "m2") == 0 ? &s->m2 : NULL;
    if (real != NULL)
        return token == SP_JSON_NUMBER && sp_json_real_of(span, real)
                   ? SP_OK
                   : sp_json_wrong(doc, "%s is not a number", key);
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        if (strcmp(key, integers[i].key) != 0)
            continue;
        int status = sp_json_take_integer(doc, key, token, span, integers[i].first);
        if (integers[i].second != NULL)
            *integers[i].second = *integers[i].first;
        draft->has_first = draft->has_first || integers[i].first == &s->first;
        return status;
    }
    if (strcmp(key, "count") != 0 && strcmp(key, "gpu_count") != 0)
        return sp_json_skip_value(doc, token);
    int status = sp_json_take_integer(doc, key, token, span, &value);
    if (status == SP_OK && value < 0)
        return sp_json_wrong(doc, "%s is negative", key);
    *(key[0] == 'g' ? &s->gpu_count : &a->count) = (uint64_t)value;
    return status;
}

static int take_aggregate(sp_json_document *doc, row_draft *draft, sp_json_token token)
{
    if (token == SP_JSON_NULL)
        return SP_OK;
    if (token != SP_JSON_OBJECT)
        return sp_json_wrong(doc, "aggregate is not an object");
    draft->row.has_aggregate = true;
    draft->row.aggregate.exclusive = -1;
    return sp_json_members(doc, take_aggregate_member, draft);
}

/* ---- Members ---------------------------------------------------------------------------------*/

static int take_event_metadata(sp_json_document *doc, row_draft *draft, sp_json_token token,
                               sp_json_text span)
{
    if (token == SP_JSON_NULL)
        return SP_OK;
    if (token != SP_JSON_ARRAY)
        return sp_json_wrong(doc, "event_metadata is not a list");
    const char *text;
    int status = sp_json_take_json(doc, token, span, &text);
    if (status != SP_OK)
        return status;
    sp_json_reader list;
    sp_json_reader_init(&list, text, strlen(text));
    sp_json_next(&list, NULL);
    draft->num_metadata = 0;
    while ((token = sp_json_next(&list, NULL)) == SP_JSON_OBJECT && sp_json_skip(&list, token))
        draft->num_metadata++;
    if (token != SP_JSON_ARRAY_END)
        return sp_json_wrong(doc, "event_metadata holds something else than objects");
    draft->row.event_metadata_json = draft->num_metadata > 0 ? text : NULL;
    return SP_OK;
}

static int take_tags(sp_json_document *doc, row_draft *draft, sp_json_token token,
                     sp_json_text span)
{
    if (token == SP_JSON_NULL)
        return SP_OK;
    if (token != SP_JSON_ARRAY)
        return sp_json_wrong(doc, "tags is not a list");
    int status = sp_json_take_json(doc, token, span, &draft->row.tags_json);
    sp_json_reader list;
    if (status != SP_OK)
        return status;
    sp_json_reader_init(&list, draft->row.tags_json, strlen(draft->row.tags_json));
    sp_json_next(&list, NULL);
    while ((token = sp_json_next(&list, NULL)) == SP_JSON_STRING) {
    }
    return token == SP_JSON_ARRAY_END ? SP_OK
                                      : sp_json_wrong(doc, "tags holds something else than texts");
}

static int take_name(sp_json_document *doc, sp_row *row, sp_json_token token, sp_json_text span)
{
    if (token != SP_JSON_STRING)
        return sp_json_wrong(doc, "the name of a region is not a text");
    int status = sp_json_take_text(doc, "name", token, span, &row->region);
    if (status == SP_OK && strlen(row->region) != doc->scratch.length)
        return sp_json_wrong(doc, "the name of a region holds a NUL");
    return status;
}

static int take_member(sp_json_document *doc, void *context, const char *key, sp_json_token token,
                       sp_json_text span)
{
    row_draft *draft = context;
    sp_row *row = &draft->row;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (strcmp(key, arrays[i].key) == 0)
            return take_array(doc, draft, key, arrays[i].column, token);
    if (strcmp(key, "name") == 0)
        return take_name(doc, row, token, span);
    if (strcmp(key, "rank") == 0)
        return sp_json_take_integer(doc, key, token, span, &draft->rank);
    if (strcmp(key, "source_file") == 0)
        return sp_json_take_text(doc, key, token, span, &row->source_file);
    if (strcmp(key, "source_text") == 0)
        return sp_json_take_text(doc, key, token, span, &row->source_text);
    if (strcmp(key, "source_lineno") == 0 && token != SP_JSON_NULL)
        return sp_json_take_integer(doc, key, token, span, &row->source_line);
    if (strcmp(key, "exclusive_total_ns") == 0 && token != SP_JSON_NULL)
        return sp_json_take_integer(doc, key, token, span, &row->exclusive_total);
    if (strcmp(key, "tags") == 0)
        return take_tags(doc, draft, token, span);
    if (strcmp(key, "event_metadata") == 0)
        return take_event_metadata(doc, draft, token, span);
    if (strcmp(key, "aggregate") == 0)
        return take_aggregate(doc, draft, token);
    if (strcmp(key, "event_data_available") == 0)
        draft->is_summary = token == SP_JSON_FALSE;
    return sp_json_skip_value(doc, token);
}

/* ---- Rows ------------------------------------------------------------------------------------*/

/* Totals that are all a row has, in the place that fits them. */
static void settle_totals(row_draft *draft)
{
    sp_row *row = &draft->row;
    for (int c = 0; c < SP_COLUMN_COUNT; c++) {
        free(draft->columns.values[c]);
        draft->columns.values[c] = NULL;
    }
    row->exclusive_total = row->aggregate.exclusive;
    row->event_metadata_json = NULL;
    if (!draft->is_summary || !draft->has_first)
        return;
    row->has_statistics = true;
    row->has_aggregate = false;
    row->count = row->aggregate.count;
    row->aggregate = (sp_row_aggregate){0};
}

static int check_calls(sp_json_document *doc, row_draft *draft)
{
    static const sp_column first = SP_COLUMN_START;
    sp_row *row = &draft->row;
    row->count = draft->lengths[first];
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        sp_column column = arrays[i].column;
        bool is_needed = column == SP_COLUMN_START || column == SP_COLUMN_DURATION;
        bool is_there = draft->columns.values[column] != NULL;
        if ((is_there && draft->lengths[column] != row->count) || (is_needed && !is_there && row->count))
            return sp_json_wrong(doc, "region '%.200s' on rank %u has %" PRIu64 " starts, but %zu "
                                 "values of %s", row->region, row->rank, row->count,
                                 is_there ? draft->lengths[column] : 0, arrays[i].key);
    }
    if (row->event_metadata_json != NULL && draft->num_metadata != row->count)
        return sp_json_wrong(doc, "region '%.200s' on rank %u has %" PRIu64 " calls, but metadata of "
                             "%" PRIu64, row->region, row->rank, row->count, draft->num_metadata);
    int64_t *ends = draft->columns.values[SP_COLUMN_DURATION];
    const int64_t *starts = draft->columns.values[SP_COLUMN_START];
    for (size_t i = 0; i < row->count; i++)
        ends[i] = (int64_t)((uint64_t)ends[i] - (uint64_t)starts[i]);
    return SP_OK;
}

/* Number of the region of that name, which is new or known. */
static bool find_region(sp_json_document *doc, const char *name, uint32_t *out)
{
    size_t length = strlen(name);
    *out = sp_map_get(&doc->region_ids, name, length);
    if (*out != SP_MAP_NONE)
        return true;
    *out = (uint32_t)doc->regions.count;
    if (!sp_vector_reserve(&doc->regions, 1) || !sp_map_add(&doc->region_ids, name, length, *out))
        return false;
    doc->regions.items[doc->regions.count++] = name;
    return true;
}

static int keep_row(sp_json_document *doc, row_draft *draft)
{
    uint32_t region;
    unsigned mask = 0;
    if (!find_region(doc, draft->row.region, &region) || !sp_vector_reserve(&doc->rows, 1) ||
        !sp_vector_reserve(&doc->columns, 1) || !sp_vector_reserve(&doc->row_columns, 1))
        return sp_json_out_of_memory(doc);
    uint64_t key = (uint64_t)region << 32 | draft->row.rank;
    if (sp_number_map_get(&doc->row_ids, key) != SP_NUMBER_NONE)
        return sp_json_wrong(doc, "region '%.200s' is there twice for rank %u", draft->row.region,
                             draft->row.rank);
    if (!sp_number_map_set(&doc->row_ids, key, 0))
        return sp_json_out_of_memory(doc);
    for (int c = 0; c < SP_COLUMN_COUNT; c++)
        if (draft->columns.values[c] != NULL)
            mask |= SP_COLUMN_BIT(c);
    draft->row.region = doc->regions.items[region];
    doc->rows.items[doc->rows.count++] = draft->row;
    doc->columns.items[doc->columns.count++] = draft->columns;
    doc->row_columns.items[doc->row_columns.count++] = mask;
    draft->columns = (sp_json_columns){{NULL}};
    return SP_OK;
}

static int take_row(sp_json_document *doc)
{
    row_draft draft = {.rank = -1,
                       .row = {.source_file = "", .source_text = "", .source_line = -1,
                               .tags_json = "[]", .exclusive_total = -1}};
    int status = sp_json_members(doc, take_member, &draft);
    if (status == SP_OK && draft.row.region == NULL)
        status = sp_json_wrong(doc, "a region has no name");
    if (status == SP_OK && (draft.rank < 0 || draft.rank >= UINT32_MAX))
        status = sp_json_wrong(doc, "region '%.200s' has no rank", draft.row.region);
    draft.row.rank = (uint32_t)draft.rank;
    draft.is_summary = draft.is_summary || doc->is_summary;
    if (status == SP_OK && draft.row.has_aggregate)
        settle_totals(&draft);
    else if (status == SP_OK)
        status = check_calls(doc, &draft);
    if (status == SP_OK)
        status = keep_row(doc, &draft);
    for (int c = 0; c < SP_COLUMN_COUNT; c++)
        free(draft.columns.values[c]);
    return status;
}

int sp_json_take_regions(sp_json_document *doc, sp_json_token token)
{
    if (token != SP_JSON_ARRAY)
        return sp_json_wrong(doc, "regions is not a list");
    while ((token = sp_json_next(&doc->json, NULL)) == SP_JSON_OBJECT) {
        int status = take_row(doc);
        if (status != SP_OK)
            return status;
    }
    if (token == SP_JSON_BAD)
        return sp_json_malformed(doc);
    return token == SP_JSON_ARRAY_END
               ? SP_OK
               : sp_json_wrong(doc, "regions holds something else than objects");
}
