/* Rows and calls. */
#include "store/hdf5/writer_int.h"

#include "base/error.h"
#include "store/description.h"

#include <string.h>

enum { DELTA_PIECE = 4096 };

static const sp_hdf5_filter *light_filter(void)
{
    static const sp_hdf5_filter light = {&sp_hdf5_codec_gzip, 1};
    return &light;
}

/* ---- Tables ----------------------------------------------------------------------------------*/

/* One member of a row's structure. */
static int append_field(sp_store_writer *writer, sp_hdf5_column *column, const sp_hdf5_field *field,
                        const void *row, sp_error *error)
{
    const char *member = (const char *)row + field->offset;
    uint64_t value = 0;
    const char *text;
    switch (field->member) {
    case SP_MEMBER_TEXT:
        memcpy(&text, member, sizeof text);
        return sp_hdf5_append_text(writer, column, text, error);
    case SP_MEMBER_STATISTICS:
        return sp_hdf5_column_append(&writer->sink, column, member, 1, error);
    case SP_MEMBER_UINT32:
        value = *(const uint32_t *)member;
        break;
    case SP_MEMBER_BOOL:
        value = *(const bool *)member;
        break;
    default:
        memcpy(&value, member, sizeof value);
    }
    return sp_hdf5_column_append(&writer->sink, column, &value, 1, error);
}

/* Appends rows of a table that exists only when it has rows. */
static int append_table(sp_store_writer *writer, const char *name, hid_t *group,
                        const sp_hdf5_field *fields, sp_hdf5_column *columns, size_t num_fields,
                        const void *rows, size_t num_rows, size_t row_size, sp_error *error)
{
    int status = SP_OK;
    if (num_rows > 0 && *group == 0)
        status = sp_hdf5_create_group(writer->file, name, group, error);
    for (size_t f = 0; status == SP_OK && num_rows > 0 && f < num_fields; f++) {
        if (columns[f].name == NULL) {
            sp_hdf5_column column = {
                .name = fields[f].name, .group = *group, .kind = fields[f].kind};
            status = sp_hdf5_begin_column(writer, &columns[f], &column, error);
        }
        for (size_t i = 0; status == SP_OK && i < num_rows; i++)
            status = append_field(writer, &columns[f], &fields[f],
                                  (const char *)rows + i * row_size, error);
    }
    return status;
}

/* Number of the region in the region table, where it joins at its first row. */
static int region_number(sp_store_writer *writer, const char *name, uint32_t *out, sp_error *error)
{
    name = sp_store_utf8(&writer->lasting, name);
    if (name == NULL)
        return sp_fail_memory(error, "writing a profile");
    size_t length = strlen(name);
    *out = sp_map_get(&writer->region_numbers, name, length);
    if (*out != SP_MAP_NONE)
        return SP_OK;
    const char *kept = sp_arena_text_n(&writer->lasting, name, length);
    *out = (uint32_t)sp_hdf5_column_count(&writer->names);
    if (kept == NULL || !sp_map_add(&writer->region_numbers, kept, length, *out))
        return sp_fail_memory(error, "writing a profile");
    return sp_hdf5_column_append(&writer->sink, &writer->names, &kept, 1, error);
}

static bool has_event_metadata(const sp_row *row)
{
    return row->event_metadata_json != NULL && strcmp(row->event_metadata_json, "[]") != 0;
}

/* The column joins the file at the first row that needs it. */
static int append_event_metadata(sp_store_writer *writer, const sp_row *row, sp_error *error)
{
    sp_hdf5_column *column = &writer->index_columns[SP_INDEX_EVENT_METADATA];
    static const char *const NOTHING = "[]";
    int status = SP_OK;
    if (column->name == NULL) {
        if (!has_event_metadata(row))
            return SP_OK;
        sp_hdf5_column fresh = {.name = sp_hdf5_index_fields[SP_INDEX_EVENT_METADATA].name,
                                .group = writer->index,
                                .kind = SP_HDF5_TEXT,
                                .chunk = writer->chunk_size};
        status = sp_hdf5_begin_column(writer, column, &fresh, error);
        if (status == SP_OK)
            status =
                sp_hdf5_column_repeat(&writer->sink, column, &NOTHING, writer->num_rows, error);
    }
    if (status != SP_OK)
        return status;
    return sp_hdf5_append_text(writer, column,
                               has_event_metadata(row) ? row->event_metadata_json : NOTHING, error);
}

static bool in_layout(const sp_store_writer *writer, int field)
{
    bool is_total = field >= SP_INDEX_AGGREGATES;
    return field == SP_INDEX_RANKS || is_total == writer->order.is_aggregate;
}

static int append_row(sp_store_writer *writer, const sp_row *given, uint64_t offset,
                      sp_error *error)
{
    sp_row row = *given;
    row.offset = offset;
    row.tags_json = row.tags_json == NULL ? "[]" : row.tags_json;
    /* An empty row has statistics of its own: zeros. */
    if (!row.has_statistics && row.count == 0)
        row.statistics = (sp_row_statistics){0};
    else if (!row.has_statistics && !writer->order.is_aggregate)
        writer->lacks_statistics = true;
    uint64_t value;
    uint32_t number = 0;
    int status = region_number(writer, row.region, &number, error);
    value = number;
    if (status == SP_OK)
        status = sp_hdf5_column_append(&writer->sink, &writer->region_ids, &value, 1, error);
    for (int i = 0; status == SP_OK && i < SP_INDEX_FIELDS; i++)
        if (i != SP_INDEX_EVENT_METADATA && in_layout(writer, i))
            status = append_field(writer, &writer->index_columns[i], &sp_hdf5_index_fields[i], &row,
                                  error);
    if (status == SP_OK && !writer->order.is_aggregate)
        status = append_event_metadata(writer, &row, error);
    writer->num_rows++;
    return status;
}

static uint64_t text_bytes(const sp_row *rows, size_t num_rows)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < num_rows; i++)
        bytes += has_event_metadata(&rows[i]) ? strlen(rows[i].event_metadata_json) : 0;
    return bytes;
}

/* ---- Columns of calls ------------------------------------------------------------------------*/

static bool is_optional(int column)
{
    return column != SP_COLUMN_START && column != SP_COLUMN_DURATION;
}

/* A column that a rank brings for the first time: the calls before it get the missing value. */
static int begin_optional(sp_store_writer *writer, int c, sp_error *error)
{
    uint64_t chunk = writer->chunk_size, before = writer->num_events;
    if (chunk > 0 && before > 0 && before < chunk)
        chunk = before;
    sp_hdf5_column column = {
        .name = sp_hdf5_event_names[c],
        .group = writer->events,
        .kind = SP_HDF5_INT64,
        .storage = SP_HDF5_CHUNKED,
        .filter = *light_filter(),
        .chunk = chunk,
        .large_chunk = SP_HDF5_CHUNK,
    };
    int64_t missing = sp_store_missing_value((sp_column)c);
    int status = sp_hdf5_begin_column(writer, &writer->event_columns[c], &column, error);
    if (status == SP_OK)
        status = sp_hdf5_column_repeat(&writer->sink, &writer->event_columns[c], &missing, before,
                                       error);
    return status;
}

static int begin_call_columns(sp_store_writer *writer, sp_error *error)
{
    int status = SP_OK;
    if (writer->order.announced == 0)
        return SP_OK;
    for (int c = 0; status == SP_OK && c < SP_COLUMN_COUNT; c++)
        if (is_optional(c) && (writer->order.columns & SP_COLUMN_BIT(c)) != 0 &&
            writer->event_columns[c].name == NULL)
            status = begin_optional(writer, c, error);
    return status;
}

static int note_counts(sp_store_writer *writer, const sp_row *rows, size_t num_rows,
                       sp_error *error)
{
    writer->row_counts.count = 0;
    writer->row = 0;
    writer->given_of_row = 0;
    writer->previous_start = 0;
    if (!sp_vector_reserve(&writer->row_counts, num_rows))
        return sp_fail_memory(error, "writing a profile");
    for (size_t i = 0; i < num_rows; i++)
        writer->row_counts.items[writer->row_counts.count++] = rows[i].count;
    return SP_OK;
}

int sp_hdf5_writer_rank(sp_store_writer *writer, uint32_t rank, const sp_row *rows, size_t num_rows,
                        unsigned columns, const sp_thread_row *threads, size_t num_threads,
                        const sp_task_row *tasks, size_t num_tasks, sp_error *error)
{
    int status = sp_writer_order_rank(&writer->order, rank, rows, num_rows, columns, error);
    if (status == SP_OK)
        status = note_counts(writer, rows, num_rows, error);
    if (status == SP_OK)
        status = sp_hdf5_bound_memory(writer, text_bytes(rows, num_rows), error);
    uint64_t offset = writer->num_events;
    for (size_t i = 0; status == SP_OK && i < num_rows; i++) {
        status = append_row(writer, &rows[i], offset, error);
        offset += rows[i].count;
    }
    if (status == SP_OK)
        status = append_table(writer, SP_HDF5_THREAD_TABLE, &writer->threads, sp_hdf5_thread_fields,
                              writer->thread_columns, SP_THREAD_FIELDS, threads, num_threads,
                              sizeof *threads, error);
    if (status == SP_OK)
        status = append_table(writer, SP_HDF5_TASK_TABLE, &writer->tasks, sp_hdf5_task_fields,
                              writer->task_columns, SP_TASK_FIELDS, tasks, num_tasks, sizeof *tasks,
                              error);
    if (status == SP_OK)
        status = begin_call_columns(writer, error);
    if (status == SP_OK)
        status = sp_hdf5_bound_memory(writer, 0, error);
    return status == SP_OK ? sp_hdf5_flush_texts(writer, error) : status;
}

/* ---- Calls -----------------------------------------------------------------------------------*/

/* Moves to the row that the next call belongs to. */
static void skip_full_rows(sp_store_writer *writer)
{
    while (writer->row < writer->row_counts.count &&
           writer->given_of_row == writer->row_counts.items[writer->row]) {
        writer->row++;
        writer->given_of_row = 0;
        writer->previous_start = 0;
    }
}

/* Starts become differences to the previous start of the same row; the first one stays. */
static size_t encode_starts(sp_store_writer *writer, const int64_t *starts, size_t count,
                            int64_t *out)
{
    size_t done = 0;
    while (done < count && done < DELTA_PIECE) {
        skip_full_rows(writer);
        uint64_t left = writer->row_counts.items[writer->row] - writer->given_of_row;
        size_t piece = count - done < DELTA_PIECE - done ? count - done : DELTA_PIECE - done;
        if (left < piece)
            piece = (size_t)left;
        uint64_t previous = (uint64_t)writer->previous_start;
        for (size_t i = 0; i < piece; i++) {
            uint64_t start = (uint64_t)starts[done + i];
            out[done + i] = (int64_t)(start - previous);
            previous = start;
        }
        writer->previous_start = (int64_t)previous;
        writer->given_of_row += piece;
        done += piece;
    }
    return done;
}

static int append_starts(sp_store_writer *writer, const int64_t *starts, size_t count,
                         sp_error *error)
{
    int64_t deltas[DELTA_PIECE];
    int status = SP_OK;
    while (status == SP_OK && count > 0) {
        size_t piece = encode_starts(writer, starts, count, deltas);
        status = sp_hdf5_column_append(&writer->sink, &writer->event_columns[SP_COLUMN_START],
                                       deltas, piece, error);
        starts += piece;
        count -= piece;
    }
    return status;
}

static int append_column(sp_store_writer *writer, int c, const int64_t *values, size_t count,
                         sp_error *error)
{
    sp_hdf5_column *column = &writer->event_columns[c];
    int64_t missing = sp_store_missing_value((sp_column)c);
    if (column->name == NULL)
        return SP_OK;
    if (c == SP_COLUMN_START)
        return append_starts(writer, values, count, error);
    if ((writer->order.columns & SP_COLUMN_BIT(c)) == 0)
        return sp_hdf5_column_repeat(&writer->sink, column, &missing, count, error);
    return sp_hdf5_column_append(&writer->sink, column, values, count, error);
}

int sp_hdf5_writer_calls(sp_store_writer *writer, size_t count,
                         const int64_t *const values[SP_COLUMN_COUNT], sp_error *error)
{
    int status = sp_writer_order_calls(&writer->order, count, values, error);
    size_t done = 0;
    /* In pieces, so that what waits stays near its limit however much is given at once. */
    while (status == SP_OK && done < count) {
        size_t piece = count - done < SP_HDF5_CHUNK ? count - done : SP_HDF5_CHUNK;
        for (int c = 0; status == SP_OK && c < SP_COLUMN_COUNT; c++)
            status =
                append_column(writer, c, values[c] == NULL ? NULL : values[c] + done, piece, error);
        writer->num_events += piece;
        done += piece;
        if (status == SP_OK)
            status = sp_hdf5_bound_memory(writer, 0, error);
    }
    return status;
}
