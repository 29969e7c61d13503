/* Schemas 2 and 3: one table of rows, and columns that all rows share. */
#include "store/hdf5/values.h"

#include "base/error.h"
#include "store/description.h"

#include <stdlib.h>
#include <string.h>

/* ---- Columns of a table into structures -------------------------------------------------------*/

/* Where the members of one field are: in `count` structures of `stride` bytes. */
typedef struct target {
    char *rows;
    size_t stride, count;
    const sp_hdf5_field *field;
} target;

static void *member_of(const target *to, size_t i)
{
    return to->rows + i * to->stride + to->field->offset;
}

static void set_number(const target *to, size_t i, int64_t value)
{
    switch (to->field->member) {
    case SP_MEMBER_UINT32:
        *(uint32_t *)member_of(to, i) = (uint32_t)value;
        break;
    case SP_MEMBER_BOOL:
        *(bool *)member_of(to, i) = value != 0;
        break;
    default:
        memcpy(member_of(to, i), &value, sizeof value);
    }
}

static int read_numbers(sp_store_reader *reader, const sp_tree_column *column, const target *to,
                        sp_error *error)
{
    int64_t values[SP_HDF5_ROW_PIECE];
    if (column->type != SP_TREE_INTEGERS)
        return sp_tree_damaged(&reader->context, error,
                               "has a column '%s' that should hold integers", to->field->name);
    /* Read as wide as the member is: what does not fit becomes its largest value. */
    bool is_unsigned =
        to->field->member == SP_MEMBER_UINT64 || to->field->member == SP_MEMBER_UINT32;
    for (size_t done = 0; done < to->count;) {
        size_t piece = to->count - done < SP_HDF5_ROW_PIECE ? to->count - done : SP_HDF5_ROW_PIECE;
        int status = reader->tree->ops->read_integers(reader->tree, column, done, piece,
                                                      is_unsigned, values, error);
        if (status != SP_OK)
            return status;
        for (size_t i = 0; i < piece; i++) {
            if (to->field->member == SP_MEMBER_UINT32 && (uint64_t)values[i] > UINT32_MAX)
                return sp_tree_damaged(&reader->context, error,
                                       "has a value in '%s' that is too large", to->field->name);
            set_number(to, done + i, values[i]);
        }
        done += piece;
    }
    return SP_OK;
}

static int read_text_members(sp_store_reader *reader, const sp_tree_column *column,
                             const target *to, sp_error *error)
{
    const char *texts[SP_HDF5_ROW_PIECE];
    for (size_t done = 0; done < to->count;) {
        size_t piece = to->count - done < SP_HDF5_ROW_PIECE ? to->count - done : SP_HDF5_ROW_PIECE;
        int status = reader->tree->ops->read_texts(reader->tree, column, done, piece, texts, error);
        if (status != SP_OK)
            return status;
        for (size_t i = 0; i < piece; i++)
            memcpy(member_of(to, done + i), &texts[i], sizeof texts[i]);
        done += piece;
    }
    return SP_OK;
}

/* Statistics count only when all their members are there. */
static int read_statistics(sp_store_reader *reader, const sp_tree_column *column, const target *to,
                           sp_error *error)
{
    sp_row_statistics values[SP_HDF5_ROW_PIECE];
    int status = SP_OK;
    if (column->type != SP_TREE_STATISTICS)
        return SP_OK;
    for (size_t done = 0; status == SP_OK && done < to->count;) {
        size_t piece = to->count - done < SP_HDF5_ROW_PIECE ? to->count - done : SP_HDF5_ROW_PIECE;
        status =
            reader->tree->ops->read_statistics(reader->tree, column, done, piece, values, error);
        for (size_t i = 0; status == SP_OK && i < piece; i++) {
            sp_row *row = (sp_row *)(void *)(to->rows + (done + i) * to->stride);
            row->statistics = values[i];
            row->has_statistics = true;
        }
        done += piece;
    }
    return status;
}

/* One column; absent and optional: the members stay as they are. */
static int read_field(sp_store_reader *reader, sp_tree_handle group, sp_hdf5_need need,
                      const target *to, sp_error *error)
{
    sp_tree_column column;
    int status = sp_hdf5_open_column(reader, group, to->field->name, need, &column, error);
    if (status != SP_OK || column.handle == 0)
        return status;
    if (column.length != to->count)
        status = sp_tree_damaged(&reader->context, error, "has %llu values in '%s' for %zu rows",
                                 (unsigned long long)column.length, to->field->name, to->count);
    else if (to->field->member == SP_MEMBER_TEXT)
        status = read_text_members(reader, &column, to, error);
    else if (to->field->member == SP_MEMBER_STATISTICS)
        status = read_statistics(reader, &column, to, error);
    else
        status = read_numbers(reader, &column, to, error);
    sp_hdf5_close_column(reader, &column);
    return status;
}

static int column_length(sp_store_reader *reader, sp_tree_handle group, const char *name,
                         size_t *out, sp_error *error)
{
    sp_tree_column column;
    int status = sp_hdf5_open_column(reader, group, name, SP_HDF5_REQUIRED, &column, error);
    if (status == SP_OK && !sp_hdf5_is_modest(reader, &column))
        status = sp_tree_damaged(&reader->context, error, "claims %llu rows in '%s'",
                                 (unsigned long long)column.length, name);
    if (status == SP_OK)
        *out = (size_t)column.length;
    sp_hdf5_close_column(reader, &column);
    return status;
}

/* ---- Regions and rows -------------------------------------------------------------------------*/

static int read_names(sp_store_reader *reader, sp_error *error)
{
    sp_tree_handle group = 0;
    sp_tree_column column = {0};
    int status = sp_hdf5_open_group(reader, ROOT(reader), SP_HDF5_REGION_TABLE, SP_HDF5_REQUIRED,
                                    &group, error);
    if (status == SP_OK)
        status =
            sp_hdf5_open_column(reader, group, SP_HDF5_NAMES, SP_HDF5_REQUIRED, &column, error);
    if (status == SP_OK) {
        const char **names =
            sp_hdf5_is_modest(reader, &column)
                ? sp_arena_array(&reader->context.arena, (size_t)column.length, sizeof *names)
                : NULL;
        status = names == NULL ? sp_fail_memory(error, "opening a profile")
                               : reader->tree->ops->read_texts(reader->tree, &column, 0,
                                                               column.length, names, error);
        reader->description.region_names = names;
        reader->description.num_regions = (size_t)column.length;
    }
    sp_hdf5_close_column(reader, &column);
    sp_hdf5_close_group(reader, group);
    return status;
}

/* Numbers of regions, looked up in the region table. */
static int read_regions(sp_store_reader *reader, sp_tree_handle group, size_t count,
                        sp_error *error)
{
    static const sp_hdf5_field REGION_ID = {SP_HDF5_REGION_IDS, SP_HDF5_UINT32, SP_MEMBER_UINT64,
                                            0};
    uint64_t *numbers = malloc((count == 0 ? 1 : count) * sizeof *numbers);
    if (numbers == NULL)
        return sp_fail_memory(error, "opening a profile");
    target to = {(char *)numbers, sizeof *numbers, count, &REGION_ID};
    int status = read_field(reader, group, SP_HDF5_REQUIRED, &to, error);
    for (size_t i = 0; status == SP_OK && i < count; i++) {
        if (numbers[i] >= reader->description.num_regions)
            status =
                sp_tree_damaged(&reader->context, error, "refers to region %llu of %zu",
                                (unsigned long long)numbers[i], reader->description.num_regions);
        else
            reader->rows[i].region = reader->description.region_names[numbers[i]];
    }
    free(numbers);
    return status;
}

static sp_hdf5_need need_of(const sp_store_reader *reader, int field)
{
    bool is_aggregate = reader->description.is_aggregate;
    bool is_needed = field == SP_INDEX_RANKS || (field >= SP_INDEX_AGGREGATES && is_aggregate) ||
                     ((field == SP_INDEX_OFFSETS || field == SP_INDEX_COUNTS) && !is_aggregate);
    return is_needed ? SP_HDF5_REQUIRED : SP_HDF5_OPTIONAL;
}

/* In layout "aggregate" only ranks and totals are filled; the other columns are empty. */
static bool is_filled(const sp_store_reader *reader, int field)
{
    return field == SP_INDEX_RANKS ||
           (field >= SP_INDEX_AGGREGATES) == reader->description.is_aggregate;
}

static int read_rows(sp_store_reader *reader, sp_tree_handle group, size_t count, sp_error *error)
{
    for (size_t i = 0; i < count; i++)
        reader->rows[i] = (sp_row){
            .source_file = "",
            .source_text = "",
            .source_line = -1,
            .tags_json = "[]",
            .exclusive_total = -1,
            .has_aggregate = reader->description.is_aggregate,
        };
    int status = read_regions(reader, group, count, error);
    for (int f = 0; status == SP_OK && f < SP_INDEX_FIELDS; f++) {
        target to = {(char *)reader->rows, sizeof *reader->rows, count, &sp_hdf5_index_fields[f]};
        if (is_filled(reader, f))
            status = read_field(reader, group, need_of(reader, f), &to, error);
    }
    return status;
}

static int read_index(sp_store_reader *reader, sp_error *error)
{
    sp_tree_handle group = 0;
    size_t count = 0;
    int status =
        sp_hdf5_open_group(reader, ROOT(reader), SP_HDF5_INDEX, SP_HDF5_REQUIRED, &group, error);
    if (status == SP_OK)
        status = column_length(reader, group, SP_HDF5_REGION_IDS, &count, error);
    if (status == SP_OK) {
        reader->rows = sp_arena_array(&reader->context.arena, count, sizeof *reader->rows);
        status = reader->rows == NULL ? sp_fail_memory(error, "opening a profile")
                                      : read_rows(reader, group, count, error);
        reader->description.rows = reader->rows;
        reader->description.num_rows = count;
    }
    sp_hdf5_close_group(reader, group);
    return status;
}

/* ---- Columns of calls -------------------------------------------------------------------------*/

/* Opens a column of calls for the life of the reader; `*shortest` keeps the smallest length. */
static int open_events_column(sp_store_reader *reader, sp_tree_handle group, const char *name,
                              sp_hdf5_need need, sp_tree_column *out, uint64_t *shortest,
                              sp_error *error)
{
    sp_tree_column column;
    int status = sp_hdf5_open_column(reader, group, name, need, &column, error);
    if (status != SP_OK || column.handle == 0)
        return status;
    *out = column;
    if (column.type != SP_TREE_INTEGERS)
        return sp_tree_damaged(&reader->context, error,
                               "has a column '%s' that should hold integers", name);
    if (column.length < *shortest)
        *shortest = column.length;
    return SP_OK;
}

static int open_columns(sp_store_reader *reader, sp_tree_handle group, uint64_t *shortest,
                        sp_error *error)
{
    bool has_ends = reader->description.schema == 2;
    int status = open_events_column(
        reader, group, has_ends ? "start_times" : sp_hdf5_event_names[SP_COLUMN_START],
        SP_HDF5_REQUIRED, &reader->columns[SP_COLUMN_START], shortest, error);
    if (status == SP_OK && has_ends)
        status = open_events_column(reader, group, "end_times", SP_HDF5_REQUIRED, &reader->ends,
                                    shortest, error);
    else if (status == SP_OK)
        status = open_events_column(reader, group, sp_hdf5_event_names[SP_COLUMN_DURATION],
                                    SP_HDF5_REQUIRED, &reader->columns[SP_COLUMN_DURATION],
                                    shortest, error);
    for (int c = SP_COLUMN_DURATION + 1; status == SP_OK && c < SP_COLUMN_COUNT; c++)
        status = open_events_column(reader, group, sp_hdf5_event_names[c], SP_HDF5_OPTIONAL,
                                    &reader->columns[c], shortest, error);
    return status;
}

/* Rows by position of their calls. */
static int by_offset(const void *left, const void *right)
{
    const sp_row *a = *(const sp_row *const *)left, *b = *(const sp_row *const *)right;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static int check_overlap(sp_store_reader *reader, sp_error *error)
{
    size_t count = reader->description.num_rows, filled = 0;
    const sp_row **sorted = malloc((count == 0 ? 1 : count) * sizeof *sorted);
    if (sorted == NULL)
        return sp_fail_memory(error, "opening a profile");
    for (size_t i = 0; i < count; i++)
        if (reader->rows[i].count > 0)
            sorted[filled++] = &reader->rows[i];
    qsort(sorted, filled, sizeof *sorted, by_offset);
    int status = SP_OK;
    for (size_t i = 1; status == SP_OK && i < filled; i++)
        if (sorted[i]->offset - sorted[i - 1]->offset < sorted[i - 1]->count)
            status =
                sp_tree_damaged(&reader->context, error,
                                "has overlapping region rows: '%s' of rank %u and '%s' of rank "
                                "%u",
                                sorted[i - 1]->region, (unsigned)sorted[i - 1]->rank,
                                sorted[i]->region, (unsigned)sorted[i]->rank);
    free(sorted);
    return status;
}

/* Slices of rows must lie inside the columns and must not overlap. */
static int check_slices(sp_store_reader *reader, uint64_t held, sp_error *error)
{
    uint64_t claimed = 0, total = 0;
    for (size_t i = 0; i < reader->description.num_rows; i++) {
        const sp_row *row = &reader->rows[i];
        uint64_t end =
            row->count > UINT64_MAX - row->offset ? UINT64_MAX : row->offset + row->count;
        if (row->count > 0 && end > claimed)
            claimed = end;
        total = row->count > UINT64_MAX - total ? UINT64_MAX : total + row->count;
    }
    if (claimed > held)
        return sp_tree_damaged(&reader->context, error,
                               "claims %llu recorded events but its event columns hold %llu",
                               (unsigned long long)claimed, (unsigned long long)held);
    reader->description.num_calls = total;
    return check_overlap(reader, error);
}

static int read_events(sp_store_reader *reader, sp_error *error)
{
    sp_tree_handle group = 0;
    uint64_t held = UINT64_MAX;
    int status =
        sp_hdf5_open_group(reader, ROOT(reader), SP_HDF5_EVENTS, SP_HDF5_REQUIRED, &group, error);
    if (status == SP_OK)
        status = open_columns(reader, group, &held, error);
    sp_hdf5_close_group(reader, group);
    if (status != SP_OK)
        return status;
    unsigned columns = SP_COLUMN_BIT(SP_COLUMN_START) | SP_COLUMN_BIT(SP_COLUMN_DURATION);
    for (int c = 0; c < SP_COLUMN_COUNT; c++)
        if (reader->columns[c].handle != 0)
            columns |= SP_COLUMN_BIT(c);
    reader->description.columns = columns;
    return check_slices(reader, held, error);
}

/* ---- Lanes ------------------------------------------------------------------------------------*/

/* A table of structures; `initial` is what a row is without any column. */
static int read_table(sp_store_reader *reader, const char *name, const sp_hdf5_field *fields,
                      size_t num_fields, const void *initial, size_t row_size, void **out_rows,
                      size_t *out_count, sp_error *error)
{
    sp_tree_handle group = 0;
    size_t count = 0;
    char *rows = NULL;
    int status = sp_hdf5_open_group(reader, ROOT(reader), name, SP_HDF5_OPTIONAL, &group, error);
    if (status != SP_OK || group == 0)
        return status;
    status = column_length(reader, group, fields[0].name, &count, error);
    if (status == SP_OK && (rows = sp_arena_array(&reader->context.arena, count, row_size)) == NULL)
        status = sp_fail_memory(error, "opening a profile");
    for (size_t i = 0; status == SP_OK && i < count; i++)
        memcpy(rows + i * row_size, initial, row_size);
    for (size_t f = 0; status == SP_OK && f < num_fields; f++) {
        target to = {rows, row_size, count, &fields[f]};
        status = read_field(reader, group, SP_HDF5_OPTIONAL, &to, error);
    }
    sp_hdf5_close_group(reader, group);
    *out_rows = rows;
    *out_count = count;
    return status;
}

static int read_lanes(sp_store_reader *reader, sp_error *error)
{
    static const sp_thread_row THREAD = {0, -1, -1, -1, false, -1, -1, -1, ""};
    static const sp_task_row TASK = {0, -1, -1, -1, -1, -1, -1, -1, "", "", ""};
    sp_store_description *description = &reader->description;
    void *threads = NULL, *tasks = NULL;
    int status = read_table(reader, SP_HDF5_THREAD_TABLE, sp_hdf5_thread_fields, SP_THREAD_FIELDS,
                            &THREAD, sizeof THREAD, &threads, &description->num_threads, error);
    if (status == SP_OK)
        status = read_table(reader, SP_HDF5_TASK_TABLE, sp_hdf5_task_fields, SP_TASK_FIELDS, &TASK,
                            sizeof TASK, &tasks, &description->num_tasks, error);
    description->threads = threads;
    description->tasks = tasks;
    return status;
}

int sp_hdf5_read_columnar(sp_store_reader *reader, sp_error *error)
{
    sp_store_description *description = &reader->description;
    int status = read_names(reader, error);
    if (status == SP_OK)
        status = read_index(reader, error);
    if (status == SP_OK && !description->is_aggregate)
        status = read_events(reader, error);
    if (status == SP_OK)
        status = read_lanes(reader, error);
    if (status == SP_OK)
        description->num_ranks =
            sp_store_num_ranks(description->metadata, description->num_metadata, description->rows,
                               description->num_rows);
    return status;
}
