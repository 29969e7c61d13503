#include "store/json/json_store.h"

#include "base/error.h"
#include "base/gzip/gzip.h"
#include "base/os/positioned.h"
#include "store/description.h"
#include "store/json/document.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT_VERSION = 1 };
static const char FORMAT[] = "scope-profiler-profile";

/* ---- Errors ----------------------------------------------------------------------------------*/

int sp_json_wrong(sp_json_document *doc, const char *format, ...)
{
    char what[400];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    return sp_fail(doc->error, SP_ERR_NOT_A_PROFILE,
                   "%s is not a scope-profiler JSON profile: %s", doc->path, what);
}

int sp_json_malformed(sp_json_document *doc)
{
    const sp_json_reader *json = &doc->json;
    return sp_json_wrong(doc, "%s at byte %zu",
                         json->trouble == NULL ? "a part is missing" : json->trouble,
                         (size_t)(json->at - json->start));
}

int sp_json_out_of_memory(sp_json_document *doc)
{
    return sp_fail_memory(doc->error, "reading a JSON profile");
}

/* ---- Values ----------------------------------------------------------------------------------*/

int sp_json_members(sp_json_document *doc, sp_json_member take, void *context)
{
    sp_json_text span;
    sp_json_token token;
    while ((token = sp_json_next(&doc->json, &span)) == SP_JSON_KEY) {
        char key[64];
        doc->scratch.length = 0;
        sp_json_decode(&doc->scratch, span);
        if (doc->scratch.failed)
            return sp_json_out_of_memory(doc);
        /* A longer key is none that is known. */
        snprintf(key, sizeof key, "%s", doc->scratch.length < sizeof key ? doc->scratch.bytes : "");
        token = sp_json_next(&doc->json, &span);
        if (token == SP_JSON_BAD)
            return sp_json_malformed(doc);
        int status = take(doc, context, key, token, span);
        if (status != SP_OK)
            return status;
    }
    return token == SP_JSON_OBJECT_END ? SP_OK : sp_json_malformed(doc);
}

int sp_json_skip_value(sp_json_document *doc, sp_json_token token)
{
    return sp_json_skip(&doc->json, token) ? SP_OK : sp_json_malformed(doc);
}

int sp_json_take_text(sp_json_document *doc, const char *what, sp_json_token token,
                      sp_json_text span, const char **out)
{
    if (token == SP_JSON_NULL) {
        *out = "";
        return SP_OK;
    }
    if (token != SP_JSON_STRING)
        return sp_json_wrong(doc, "%s is not a text", what);
    doc->scratch.length = 0;
    sp_json_decode(&doc->scratch, span);
    *out = doc->scratch.failed
               ? NULL
               : sp_arena_text_n(&doc->arena, doc->scratch.bytes, doc->scratch.length);
    return *out == NULL ? sp_json_out_of_memory(doc) : SP_OK;
}

int sp_json_take_integer(sp_json_document *doc, const char *what, sp_json_token token,
                         sp_json_text span, int64_t *out)
{
    double real;
    if (token == SP_JSON_NUMBER && sp_json_integer_of(span, out))
        return SP_OK;
    if (token == SP_JSON_TRUE || token == SP_JSON_FALSE) {
        *out = token == SP_JSON_TRUE;
        return SP_OK;
    }
    /* Whole numbers may have been written with a fraction. */
    if (token == SP_JSON_NUMBER && sp_json_real_of(span, &real) && real >= -9007199254740992.0 &&
        real <= 9007199254740992.0 && (double)(int64_t)real == real) {
        *out = (int64_t)real;
        return SP_OK;
    }
    return sp_json_wrong(doc, "%s is not a whole number of 64 bits", what);
}

int sp_json_take_json(sp_json_document *doc, sp_json_token token, sp_json_text span,
                      const char **out)
{
    doc->scratch.length = 0;
    if (!sp_json_copy(&doc->scratch, &doc->json, token, span, 0, 0))
        return sp_json_malformed(doc);
    *out = doc->scratch.failed
               ? NULL
               : sp_arena_text_n(&doc->arena, doc->scratch.bytes, doc->scratch.length);
    return *out == NULL ? sp_json_out_of_memory(doc) : SP_OK;
}

int sp_json_add_extra(sp_json_document *doc, const char *name, const char *text)
{
    const char **texts = sp_arena_array(&doc->arena, 1, sizeof *texts);
    if (texts == NULL || !sp_vector_reserve(&doc->extras, 1))
        return sp_json_out_of_memory(doc);
    texts[0] = text;
    doc->extras.items[doc->extras.count++] =
        (sp_extra){.name = name, .length = 1, .texts = texts};
    return SP_OK;
}

/* ---- The document ----------------------------------------------------------------------------*/

static int take_rest(sp_json_document *doc, const char *name, sp_json_token token,
                     sp_json_text span)
{
    const char *text;
    int status = sp_json_take_json(doc, token, span, &text);
    return status == SP_OK ? sp_json_add_extra(doc, name, text) : status;
}

static int take_member(sp_json_document *doc, void *context, const char *key, sp_json_token token,
                       sp_json_text span)
{
    (void)context;
    if (strcmp(key, "format") == 0)
        doc->is_profile = token == SP_JSON_STRING && sp_json_equals(span, FORMAT);
    else if (strcmp(key, "format_version") == 0)
        return sp_json_take_integer(doc, "format_version", token, span, &doc->version);
    else if (strcmp(key, "num_ranks") == 0 && token != SP_JSON_NULL)
        return sp_json_take_integer(doc, "num_ranks", token, span, &doc->num_ranks);
    else if (strcmp(key, "event_data_available") == 0)
        doc->is_summary = token == SP_JSON_FALSE;
    else if (strcmp(key, "metadata") == 0)
        return sp_json_take_metadata(doc, token);
    else if (strcmp(key, "regions") == 0)
        return sp_json_take_regions(doc, token);
    else if (strcmp(key, "threads") == 0 || strcmp(key, "tasks") == 0)
        return sp_json_take_lanes(doc, token, key[1] == 'a');
    else if (strcmp(key, "likwid") == 0)
        return take_rest(doc, "json_likwid", token, span);
    else if (strcmp(key, "likwid_environment") == 0)
        return take_rest(doc, "json_likwid_environment", token, span);
    else if (strcmp(key, "perf_events") == 0)
        return take_rest(doc, "json_perf_events", token, span);
    else if (strcmp(key, "line_profile") == 0)
        return take_rest(doc, "json_line_profile", token, span);
    else if (strcmp(key, "memory") == 0)
        return take_rest(doc, "json_memory", token, span);
    else if (strcmp(key, "memory_peak") == 0)
        return take_rest(doc, "json_memory_peak", token, span);
    return sp_json_skip_value(doc, token);
}

static int check_head(sp_json_document *doc)
{
    if (!doc->is_profile)
        return sp_fail(doc->error, SP_ERR_NOT_A_PROFILE,
                       "%s is not a scope-profiler JSON profile", doc->path);
    if (doc->version > FORMAT_VERSION)
        return sp_fail(doc->error, SP_ERR_SCHEMA,
                       "%s has format version %" PRId64 "; this version reads up to %d. Upgrade "
                       "scope-profiler to read it.", doc->path, doc->version, FORMAT_VERSION);
    if (doc->num_ranks > UINT32_MAX)
        return sp_json_wrong(doc, "num_ranks is %" PRId64, doc->num_ranks);
    return SP_OK;
}

static int take_document(sp_json_document *doc)
{
    sp_json_reader_init(&doc->json, doc->text, doc->length);
    sp_json_token token = sp_json_next(&doc->json, NULL);
    if (token == SP_JSON_BAD)
        return sp_json_malformed(doc);
    if (token != SP_JSON_OBJECT)
        return sp_json_wrong(doc, "it is not an object");
    int status = sp_json_members(doc, take_member, NULL);
    if (status == SP_OK && sp_json_next(&doc->json, NULL) != SP_JSON_END)
        status = sp_json_malformed(doc);
    /* A document of another kind, or a newer one, may fail before its head was seen. */
    return status == SP_OK || (doc->is_profile && doc->version > FORMAT_VERSION) ? check_head(doc)
                                                                                 : status;
}

static void describe_taken(sp_json_document *doc)
{
    sp_store_description *description = &doc->description;
    uint64_t calls = 0;
    for (size_t i = 0; i < doc->rows.count; i++) {
        const sp_row *row = &doc->rows.items[i];
        calls += row->has_aggregate ? row->aggregate.count : row->count;
        description->columns |= doc->row_columns.items[i];
        description->is_aggregate = description->is_aggregate || row->has_aggregate;
    }
    uint32_t ranks = sp_store_num_ranks(doc->metadata.items, doc->metadata.count, doc->rows.items,
                                        doc->rows.count);
    description->format = "json";
    description->schema = (int)doc->version;
    description->num_ranks = doc->num_ranks >= 0 ? (uint32_t)doc->num_ranks : ranks;
    description->metadata = doc->metadata.items;
    description->num_metadata = doc->metadata.count;
    description->rows = doc->rows.items;
    description->row_columns = doc->row_columns.items;
    description->num_rows = doc->rows.count;
    description->region_names = doc->regions.items;
    description->num_regions = doc->regions.count;
    description->num_calls = calls;
    description->threads = doc->threads.items;
    description->num_threads = doc->threads.count;
    description->tasks = doc->tasks.items;
    description->num_tasks = doc->tasks.count;
    description->extras = doc->extras.items;
    description->num_extras = doc->extras.count;
}

/* ---- Files -----------------------------------------------------------------------------------*/

static int read_file(const char *path, char **out, size_t *out_count, sp_error *error)
{
    int descriptor;
    uint64_t size;
    char *bytes;
    int status = sp_os_open_to_read(path, &descriptor, &size, error);
    if (status != SP_OK)
        return status;
    bytes = size < SIZE_MAX ? malloc((size_t)size + 1) : NULL;
    status = bytes == NULL ? sp_fail_memory(error, "reading a JSON profile")
                           : sp_os_read_at(descriptor, path, 0, bytes, (size_t)size, error);
    sp_os_close(descriptor);
    if (status != SP_OK) {
        free(bytes);
        return status;
    }
    *out = bytes;
    *out_count = (size_t)size;
    return SP_OK;
}

static int read_text(sp_json_document *doc)
{
    int status = read_file(doc->path, &doc->text, &doc->length, doc->error);
    if (status != SP_OK || doc->length < 2 || memcmp(doc->text, "\x1f\x8b", 2) != 0)
        return status;
    char *expanded;
    size_t length;
    status = sp_gzip_expand(doc->text, doc->length, doc->path, &expanded, &length, doc->error);
    if (status != SP_OK)
        return status;
    free(doc->text);
    doc->text = expanded;
    doc->length = length;
    return SP_OK;
}

static void close_document(sp_store_reader *doc)
{
    if (doc == NULL)
        return;
    for (size_t i = 0; i < doc->columns.count; i++)
        for (int c = 0; c < SP_COLUMN_COUNT; c++)
            free(doc->columns.items[i].values[c]);
    sp_arena_release(&doc->arena);
    sp_text_release(&doc->scratch);
    sp_vector_release(&doc->rows);
    sp_vector_release(&doc->columns);
    sp_vector_release(&doc->row_columns);
    sp_vector_release(&doc->regions);
    sp_vector_release(&doc->metadata);
    sp_vector_release(&doc->threads);
    sp_vector_release(&doc->tasks);
    sp_vector_release(&doc->extras);
    sp_map_release(&doc->region_ids);
    sp_number_map_release(&doc->row_ids);
    free(doc->text);
    free(doc);
}

static int open_document(const char *path, sp_store_reader **out, sp_error *error)
{
    sp_store_reader *doc = calloc(1, sizeof *doc);
    if (doc == NULL)
        return sp_fail_memory(error, "reading a JSON profile");
    doc->error = error;
    doc->num_ranks = -1;
    doc->path = sp_arena_text(&doc->arena, path);
    int status = doc->path == NULL ? sp_json_out_of_memory(doc) : read_text(doc);
    if (status == SP_OK)
        status = take_document(doc);
    if (status != SP_OK) {
        close_document(doc);
        return status;
    }
    free(doc->text); /* everything was copied out of it */
    doc->text = NULL;
    describe_taken(doc);
    doc->error = NULL; /* the caller's */
    *out = doc;
    return SP_OK;
}

/* ---- Table -----------------------------------------------------------------------------------*/

static const sp_store_description *describe(sp_store_reader *doc)
{
    return &doc->description;
}

static const int64_t *borrow_calls(sp_store_reader *doc, size_t row, sp_column column)
{
    return row < doc->columns.count ? doc->columns.items[row].values[column] : NULL;
}

static int read_calls(sp_store_reader *doc, size_t row, sp_column column, uint64_t first,
                      size_t count, int64_t *out, sp_error *error)
{
    if (row >= doc->rows.count)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "there is no row %zu", row);
    uint64_t calls = doc->rows.items[row].count;
    if (first > calls || count > calls - first)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "row %zu has %" PRIu64 " calls", row, calls);
    const int64_t *values = borrow_calls(doc, row, column);
    if (values == NULL && count > 0)
        return sp_fail(error, SP_ERR_NOT_FOUND, "row %zu has no column %d", row, (int)column);
    if (count > 0)
        memcpy(out, values + first, count * sizeof *out);
    return SP_OK;
}

static bool is_thread_safe(void)
{
    return true;
}

const sp_store_table sp_json_store = {
    .size = sizeof(sp_store_table),
    .version = SP_STORE_VERSION,
    .name = "json",
    .open = open_document,
    .describe = describe,
    .read_calls = read_calls,
    .close = close_document,
    .is_thread_safe = is_thread_safe,
    .borrow_calls = borrow_calls,
};
