/* Schema 1: a group for each rank, below it one for each region, with its own columns. */
#include "store/hdf5/values.h"

#include "base/error.h"
#include "base/json.h"
#include "base/map.h"
#include "store/description.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char RANK_PREFIX[] = "rank";
static const char REGIONS[] = "regions";

/* Datasets of a region; schema 1 has ends instead of durations, and no lanes. */
static const struct {
    sp_column column;
    const char *name;
} OPTIONAL[] = {
    {SP_COLUMN_CALL_ID, "call_ids"},
    {SP_COLUMN_PARENT_ID, "parent_ids"},
    {SP_COLUMN_GPU_DURATION, "gpu_durations"},
};
enum { OPTIONAL_COUNT = sizeof OPTIONAL / sizeof *OPTIONAL };

/* What is gathered while the groups are walked. */
typedef struct walk {
    sp_store_reader *reader;
    SP_VECTOR(uint32_t) ranks;
    SP_VECTOR(const char *) links; /* names below the group that is walked */
    SP_VECTOR(sp_row) rows;
    SP_VECTOR(const char *) names;
    sp_map known;
    bool no_memory;
} walk;

/* ---- Walking ---------------------------------------------------------------------------------*/

/* Only the way a writer spells a number counts, so that no rank comes twice. */
static bool parse_rank(const char *name, uint32_t *out)
{
    char again[32];
    if (strncmp(name, RANK_PREFIX, strlen(RANK_PREFIX)) != 0)
        return false;
    unsigned long long number = strtoull(name + strlen(RANK_PREFIX), NULL, 10);
    snprintf(again, sizeof again, "%s%llu", RANK_PREFIX, number);
    if (strcmp(again, name) != 0 || number >= UINT32_MAX)
        return false;
    *out = (uint32_t)number;
    return true;
}

static bool note_rank(void *context, const char *name)
{
    walk *state = context;
    uint32_t rank;
    if (!parse_rank(name, &rank))
        return true;
    state->no_memory = !sp_vector_reserve(&state->ranks, 1);
    if (!state->no_memory)
        state->ranks.items[state->ranks.count++] = rank;
    return !state->no_memory;
}

static bool note_region(void *context, const char *name)
{
    walk *state = context;
    const char *copy = sp_arena_text(&state->reader->context.arena, name);
    state->no_memory = copy == NULL || !sp_vector_reserve(&state->links, 1);
    if (!state->no_memory)
        state->links.items[state->links.count++] = copy;
    return !state->no_memory;
}

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* ---- One region ------------------------------------------------------------------------------*/

static int read_text(sp_store_reader *reader, sp_tree_handle group, const char *name,
                     const char **out, sp_error *error)
{
    sp_metadata_entry entry;
    int status = sp_hdf5_read_attribute(reader, group, name, &entry, error);
    if (status == SP_OK && entry.kind == SP_VALUE_TEXT)
        *out = entry.text;
    return status == SP_ERR_NOT_FOUND ? SP_OK : status;
}

static int read_line(sp_store_reader *reader, sp_tree_handle group, int64_t *out, sp_error *error)
{
    sp_metadata_entry entry;
    int status = sp_hdf5_read_attribute(reader, group, "source_lineno", &entry, error);
    if (status == SP_OK && entry.kind == SP_VALUE_INTEGER)
        *out = entry.integer;
    return status == SP_ERR_NOT_FOUND ? SP_OK : status;
}

/* A list of texts becomes the JSON list that later schemas store. */
static int read_tags(sp_store_reader *reader, sp_tree_handle group, const char **out,
                     sp_error *error)
{
    sp_metadata_entry entry;
    int status = sp_hdf5_read_attribute(reader, group, "tags", &entry, error);
    if (status == SP_ERR_NOT_FOUND || (status == SP_OK && entry.kind != SP_VALUE_TEXT_LIST))
        return SP_OK;
    if (status != SP_OK)
        return status;
    sp_text json = {0};
    sp_text_add(&json, "[");
    for (size_t i = 0; i < entry.list_length; i++) {
        sp_text_add(&json, i == 0 ? "" : ", ");
        sp_json_string(&json, entry.list[i], strlen(entry.list[i]));
    }
    sp_text_add(&json, "]");
    *out = json.failed ? NULL : sp_arena_text(&reader->context.arena, json.bytes);
    sp_text_release(&json);
    return *out == NULL ? sp_fail_memory(error, "opening a profile") : SP_OK;
}

static int read_source(sp_store_reader *reader, sp_tree_handle group, sp_row *row, sp_error *error)
{
    int status = read_text(reader, group, "source_file", &row->source_file, error);
    if (status == SP_OK)
        status = read_text(reader, group, "source_text", &row->source_text, error);
    if (status == SP_OK)
        status = read_line(reader, group, &row->source_line, error);
    return status == SP_OK ? read_tags(reader, group, &row->tags_json, error) : status;
}

static int dataset_length(sp_store_reader *reader, sp_tree_handle group, const char *name,
                          sp_hdf5_need need, bool *is_there, uint64_t *out, sp_error *error)
{
    sp_tree_column column;
    int status = sp_hdf5_open_column(reader, group, name, need, &column, error);
    *is_there = status == SP_OK && column.handle != 0;
    if (!*is_there)
        return status;
    if (column.type != SP_TREE_INTEGERS)
        status = sp_tree_damaged(&reader->context, error,
                                 "has a column '%s' that should hold integers", name);
    *out = column.length;
    sp_hdf5_close_column(reader, &column);
    return status;
}

static int check_length(sp_store_reader *reader, uint64_t claimed, uint64_t held, sp_error *error)
{
    if (held >= claimed)
        return SP_OK;
    return sp_tree_damaged(&reader->context, error,
                           "claims %" PRIu64 " recorded events but its event columns hold %" PRIu64,
                           claimed, held);
}

static int read_columns(sp_store_reader *reader, sp_tree_handle group, sp_row *row, sp_error *error)
{
    uint64_t held = 0;
    bool is_there;
    int status = dataset_length(reader, group, "start_times", SP_HDF5_REQUIRED, &is_there,
                                &row->count, error);
    if (status == SP_OK)
        status =
            dataset_length(reader, group, "end_times", SP_HDF5_REQUIRED, &is_there, &held, error);
    if (status == SP_OK)
        status = check_length(reader, row->count, held, error);
    for (int i = 0; status == SP_OK && i < OPTIONAL_COUNT; i++) {
        status = dataset_length(reader, group, OPTIONAL[i].name, SP_HDF5_OPTIONAL, &is_there, &held,
                                error);
        if (status == SP_OK && is_there) {
            reader->description.columns |= SP_COLUMN_BIT(OPTIONAL[i].column);
            status = check_length(reader, row->count, held, error);
        }
    }
    return status;
}

static int note_row(walk *state, const sp_row *row, sp_error *error)
{
    size_t length = strlen(row->region);
    if (!sp_vector_reserve(&state->rows, 1) || !sp_vector_reserve(&state->names, 1))
        return sp_fail_memory(error, "opening a profile");
    state->rows.items[state->rows.count++] = *row;
    if (sp_map_get(&state->known, row->region, length) != SP_MAP_NONE)
        return SP_OK;
    if (!sp_map_add(&state->known, row->region, length, (uint32_t)state->names.count))
        return sp_fail_memory(error, "opening a profile");
    state->names.items[state->names.count++] = row->region;
    return SP_OK;
}

/* A group that holds no columns is a part of a nested name, not a region. */
static bool is_region(sp_store_reader *reader, sp_tree_handle group)
{
    return sp_hdf5_has_member(reader, group, "start_times") ||
           sp_hdf5_has_member(reader, group, "end_times");
}

static int read_region(walk *state, sp_tree_handle regions, const char *link, uint32_t rank,
                       sp_error *error)
{
    sp_store_reader *reader = state->reader;
    sp_tree_handle group = 0;
    if (!sp_hdf5_has_member(reader, regions, link))
        return SP_OK;
    int status = sp_hdf5_open_group(reader, regions, link, SP_HDF5_REQUIRED, &group, error);
    if (status == SP_OK && is_region(reader, group)) {
        sp_row row = {
            .region = link, /* as it is; made UTF-8 in keep() */
            .rank = rank,
            .offset = reader->description.num_calls,
            .source_file = "",
            .source_text = "",
            .source_line = -1,
            .tags_json = "[]",
            .exclusive_total = -1,
        };
        status = read_columns(reader, group, &row, error);
        if (status == SP_OK)
            status = read_source(reader, group, &row, error);
        if (status == SP_OK && row.count > UINT64_MAX / 2 - reader->description.num_calls)
            status = sp_tree_damaged(&reader->context, error, "claims too many events");
        reader->description.num_calls += status == SP_OK ? row.count : 0;
        if (status == SP_OK)
            status = note_row(state, &row, error);
    }
    sp_hdf5_close_group(reader, group);
    return status;
}

/* ---- Ranks -----------------------------------------------------------------------------------*/

static int open_regions(sp_store_reader *reader, uint32_t rank, sp_tree_handle *out,
                        sp_error *error)
{
    char name[32];
    sp_tree_handle group = 0;
    snprintf(name, sizeof name, "%s%" PRIu32, RANK_PREFIX, rank);
    int status = sp_hdf5_open_group(reader, ROOT(reader), name, SP_HDF5_REQUIRED, &group, error);
    if (status != SP_OK)
        return status;
    status = sp_hdf5_open_group(reader, group, REGIONS, SP_HDF5_OPTIONAL, out, error);
    sp_hdf5_close_group(reader, group);
    return status;
}

static int read_rank(walk *state, uint32_t rank, sp_error *error)
{
    sp_store_reader *reader = state->reader;
    sp_tree_handle regions = 0;
    int status = open_regions(reader, rank, &regions, error);
    if (status != SP_OK || regions == 0)
        return status;
    state->links.count = 0;
    status = reader->tree->ops->each_member(reader->tree, regions, note_region, state, error);
    if (status == SP_OK && state->no_memory)
        status = sp_fail_memory(error, "opening a profile");
    for (size_t i = 0; status == SP_OK && i < state->links.count; i++)
        status = read_region(state, regions, state->links.items[i], rank, error);
    sp_hdf5_close_group(reader, regions);
    return status;
}

static int read_ranks(walk *state, sp_error *error)
{
    sp_store_reader *reader = state->reader;
    int status =
        reader->tree->ops->each_member(reader->tree, ROOT(reader), note_rank, state, error);
    if (status == SP_OK && state->no_memory)
        status = sp_fail_memory(error, "opening a profile");
    if (state->ranks.count > 0)
        qsort(state->ranks.items, state->ranks.count, sizeof *state->ranks.items, by_number);
    for (size_t i = 0; status == SP_OK && i < state->ranks.count; i++)
        status = read_rank(state, state->ranks.items[i], error);
    return status;
}

/* Moves what was gathered into the reader's arena. */
static int keep(walk *state, sp_error *error)
{
    sp_store_reader *reader = state->reader;
    sp_store_description *description = &reader->description;
    const char **names = sp_arena_array(&reader->context.arena, state->names.count, sizeof *names);
    reader->links =
        sp_arena_array(&reader->context.arena, state->rows.count, sizeof *reader->links);
    reader->rows = sp_arena_array(&reader->context.arena, state->rows.count, sizeof *reader->rows);
    if (names == NULL || reader->links == NULL || reader->rows == NULL)
        return sp_fail_memory(error, "opening a profile");
    for (size_t i = 0; i < state->names.count; i++)
        if ((names[i] = sp_store_utf8(&reader->context.arena, state->names.items[i])) == NULL)
            return sp_fail_memory(error, "opening a profile");
    for (size_t i = 0; i < state->rows.count; i++) {
        reader->rows[i] = state->rows.items[i];
        reader->links[i] = state->rows.items[i].region;
        reader->rows[i].region = sp_store_utf8(&reader->context.arena, reader->links[i]);
        if (reader->rows[i].region == NULL)
            return sp_fail_memory(error, "opening a profile");
    }
    description->region_names = names;
    description->num_regions = state->names.count;
    description->rows = reader->rows;
    description->num_rows = state->rows.count;
    description->num_ranks = (uint32_t)state->ranks.count;
    return SP_OK;
}

int sp_hdf5_read_groups(sp_store_reader *reader, sp_error *error)
{
    walk state = {.reader = reader};
    reader->description.columns =
        SP_COLUMN_BIT(SP_COLUMN_START) | SP_COLUMN_BIT(SP_COLUMN_DURATION);
    int status = read_ranks(&state, error);
    if (status == SP_OK && state.ranks.count == 0 &&
        !sp_hdf5_has_member(reader, ROOT(reader), SP_HDF5_METADATA))
        status = sp_fail(error, SP_ERR_NOT_A_PROFILE,
                         "'%s' is not a readable HDF5 profiling file: it holds no profile, or the "
                         "run that wrote it was interrupted",
                         reader->context.path);
    if (status == SP_OK)
        status = keep(&state, error);
    sp_vector_release(&state.ranks);
    sp_vector_release(&state.links);
    sp_vector_release(&state.rows);
    sp_vector_release(&state.names);
    sp_map_release(&state.known);
    return status;
}

/* ---- Calls -----------------------------------------------------------------------------------*/

static int read_named(sp_store_reader *reader, sp_tree_handle group, const char *name,
                      sp_hdf5_need need, uint64_t first, size_t count, bool *is_there, int64_t *out,
                      sp_error *error)
{
    sp_tree_column column;
    int status = sp_hdf5_open_column(reader, group, name, need, &column, error);
    *is_there = status == SP_OK && column.handle != 0;
    if (!*is_there)
        return status;
    status = first + count > column.length
                 ? sp_tree_damaged(&reader->context, error, "has changed since it was opened")
                 : sp_hdf5_read_integers(reader, &column, first, count, out, error);
    sp_hdf5_close_column(reader, &column);
    return status;
}

static int read_durations(sp_store_reader *reader, sp_tree_handle group, uint64_t first,
                          size_t count, int64_t *out, sp_error *error)
{
    bool is_there;
    int64_t *starts = malloc(SP_TREE_PIECE * sizeof *starts);
    int status = starts == NULL ? sp_fail_memory(error, "reading calls") : SP_OK;
    while (status == SP_OK && count > 0) {
        size_t piece = count < SP_TREE_PIECE ? count : SP_TREE_PIECE;
        status = read_named(reader, group, "start_times", SP_HDF5_REQUIRED, first, piece, &is_there,
                            starts, error);
        if (status == SP_OK)
            status = read_named(reader, group, "end_times", SP_HDF5_REQUIRED, first, piece,
                                &is_there, out, error);
        for (size_t i = 0; status == SP_OK && i < piece; i++)
            out[i] = (int64_t)((uint64_t)out[i] - (uint64_t)starts[i]);
        out += piece;
        first += piece;
        count -= piece;
    }
    free(starts);
    return status;
}

static int read_optional(sp_store_reader *reader, sp_tree_handle group, sp_column column,
                         uint64_t first, size_t count, int64_t *out, sp_error *error)
{
    bool is_there = false;
    int status = SP_OK;
    for (int i = 0; i < OPTIONAL_COUNT; i++)
        if (OPTIONAL[i].column == column)
            status = read_named(reader, group, OPTIONAL[i].name, SP_HDF5_OPTIONAL, first, count,
                                &is_there, out, error);
    /* Another row has the column, this one does not. */
    for (size_t i = 0; status == SP_OK && !is_there && i < count; i++)
        out[i] = sp_store_missing_value(column);
    return status;
}

int sp_hdf5_read_group_calls(sp_store_reader *reader, size_t row, sp_column column, uint64_t first,
                             size_t count, int64_t *out, sp_error *error)
{
    sp_tree_handle regions = 0, group = 0;
    bool is_there;
    int status = open_regions(reader, reader->rows[row].rank, &regions, error);
    if (status == SP_OK && regions == 0)
        status = sp_tree_damaged(&reader->context, error, "has changed since it was opened");
    if (status == SP_OK)
        status = sp_hdf5_open_group(reader, regions, reader->links[row], SP_HDF5_REQUIRED, &group,
                                    error);
    if (status != SP_OK)
        ;
    else if (column == SP_COLUMN_START)
        status = read_named(reader, group, "start_times", SP_HDF5_REQUIRED, first, count, &is_there,
                            out, error);
    else if (column == SP_COLUMN_DURATION)
        status = read_durations(reader, group, first, count, out, error);
    else
        status = read_optional(reader, group, column, first, count, out, error);
    sp_hdf5_close_group(reader, group);
    sp_hdf5_close_group(reader, regions);
    return status;
}
