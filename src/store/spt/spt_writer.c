#include "base/error.h"
#include "base/os/positioned.h"
#include "base/os/replace.h"
#include "base/text.h"
#include "base/vector.h"
#include "store/spt/spt.h"
#include "store/writer_order.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_CALLS = 4096, WORD = sizeof(int64_t) };

/* Where the calls of a region go: all starts, then all ends. */
typedef struct row_place {
    uint64_t starts_at, count;
} row_place;

struct sp_store_writer {
    sp_os_replacement file;
    sp_writer_order order;
    bool has_header;
    SP_VECTOR(row_place) places;
    size_t row;    /* the next call belongs to it */
    uint64_t done; /* calls of it that are written */
};

static void release(sp_store_writer *writer)
{
    if (writer == NULL)
        return;
    sp_os_replacement_abort(&writer->file);
    sp_writer_order_release(&writer->order);
    sp_vector_release(&writer->places);
    free(writer);
}

static int create(const char *path, const sp_store_options *options, sp_store_writer **out,
                  sp_error *error)
{
    if (options != NULL && options->is_aggregate)
        return sp_fail(error, SP_ERR_UNSUPPORTED,
                       "a native trace holds calls, not totals; write '%s' as HDF5", path);
    sp_store_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL)
        return sp_fail_memory(error, "writing a native trace");
    int status = sp_os_replacement_open(&writer->file, path, error);
    if (status == SP_OK)
        *out = writer;
    else
        free(writer);
    return status;
}

static int write_at(sp_store_writer *writer, uint64_t offset, const void *bytes, size_t size,
                    sp_error *error)
{
    return sp_os_write_at(writer->file.descriptor, writer->file.target, offset, bytes, size, error);
}

/* ---- Headers ---------------------------------------------------------------------------------*/

static void add_int32(sp_text *text, int32_t value)
{
    sp_text_add_n(text, (const char *)&value, sizeof value);
}

static void add_int64(sp_text *text, int64_t value)
{
    sp_text_add_n(text, (const char *)&value, sizeof value);
}

static int write_header(sp_store_writer *writer, uint32_t rank, size_t num_regions,
                        sp_error *error)
{
    unsigned char header[SP_SPT_HEADER_BYTES];
    int32_t numbers[2] = {SP_FORMAT_VERSION, (int32_t)rank};
    int64_t count = (int64_t)num_regions;
    memcpy(header, SP_SPT_MAGIC, SP_SPT_MAGIC_BYTES);
    memcpy(header + SP_SPT_MAGIC_BYTES, numbers, sizeof numbers);
    memcpy(header + SP_SPT_MAGIC_BYTES + sizeof numbers, &count, sizeof count);
    writer->has_header = true;
    return write_at(writer, 0, header, sizeof header, error);
}

static bool add_counted(sp_text *text, const char *bytes)
{
    size_t length = bytes == NULL ? 0 : strlen(bytes);
    if (length > INT32_MAX)
        return false;
    add_int32(text, (int32_t)length);
    sp_text_add_n(text, bytes, length);
    return true;
}

/* Writes what comes before the calls of a region; moves `*offset` behind them. */
static int write_region(sp_store_writer *writer, const sp_row *row, uint64_t *offset,
                        sp_error *error)
{
    sp_text text = {0};
    bool has_line = row->source_line >= 0 && row->source_line <= INT32_MAX;
    bool fits = add_counted(&text, row->region) && add_counted(&text, row->source_file);
    add_int32(&text, has_line ? (int32_t)row->source_line : -1);
    add_int64(&text, (int64_t)row->count);
    int status = SP_OK;
    if (!fits)
        status = sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                         "a region name or source path is too long for a native trace");
    else if (text.failed || !sp_vector_reserve(&writer->places, 1))
        status = sp_fail_memory(error, "writing a native trace");
    else
        status = write_at(writer, *offset, text.bytes, text.length, error);
    if (status == SP_OK) {
        row_place place = {.starts_at = *offset + text.length, .count = row->count};
        writer->places.items[writer->places.count++] = place;
        *offset = place.starts_at + 2 * WORD * place.count;
    }
    sp_text_release(&text);
    return status;
}

/* ---- Table -----------------------------------------------------------------------------------*/

static int write_metadata(sp_store_writer *writer, const sp_metadata_entry *entries, size_t count,
                          sp_error *error)
{
    (void)writer;
    (void)entries;
    (void)count;
    (void)error;
    return SP_OK;
}

static int write_extra(sp_store_writer *writer, const sp_extra *extra, sp_error *error)
{
    (void)writer;
    (void)extra;
    (void)error;
    return SP_OK;
}

/* Regions without calls are left out. */
static int begin_rank(sp_store_writer *writer, uint32_t rank, const sp_row *rows, size_t num_rows,
                      unsigned columns, const sp_thread_row *threads, size_t num_threads,
                      const sp_task_row *tasks, size_t num_tasks, sp_error *error)
{
    (void)threads;
    (void)num_threads;
    (void)tasks;
    (void)num_tasks;
    if (writer->has_header || rank > INT32_MAX)
        return sp_fail(error, SP_ERR_UNSUPPORTED,
                       "a native trace holds one rank below 2^31; rank %u does not fit", rank);
    int status = sp_writer_order_rank(&writer->order, rank, rows, num_rows, columns, error);
    if (status != SP_OK)
        return status;
    size_t num_regions = 0;
    uint64_t offset = SP_SPT_HEADER_BYTES;
    for (size_t i = 0; i < num_rows; i++)
        num_regions += rows[i].count > 0;
    status = write_header(writer, rank, num_regions, error);
    for (size_t i = 0; i < num_rows && status == SP_OK; i++)
        if (rows[i].count > 0)
            status = write_region(writer, &rows[i], &offset, error);
    return status;
}

/* Calls that all belong to the current row. */
static int write_piece(sp_store_writer *writer, const int64_t *starts, const int64_t *durations,
                       size_t count, sp_error *error)
{
    const row_place *place = &writer->places.items[writer->row];
    uint64_t starts_at = place->starts_at + writer->done * WORD;
    uint64_t ends_at = starts_at + place->count * WORD;
    int64_t ends[PIECE_CALLS];
    for (size_t i = 0; i < count; i++)
        ends[i] = (int64_t)((uint64_t)starts[i] + (uint64_t)durations[i]);
    int status = write_at(writer, starts_at, starts, count * WORD, error);
    if (status == SP_OK)
        status = write_at(writer, ends_at, ends, count * WORD, error);
    writer->done += count;
    if (writer->done == place->count) {
        writer->row++;
        writer->done = 0;
    }
    return status;
}

static int write_calls(sp_store_writer *writer, size_t count,
                       const int64_t *const values[SP_COLUMN_COUNT], sp_error *error)
{
    int status = sp_writer_order_calls(&writer->order, count, values, error);
    for (size_t at = 0; at < count && status == SP_OK;) {
        uint64_t left = writer->places.items[writer->row].count - writer->done;
        size_t piece = count - at < left ? count - at : (size_t)left;
        piece = piece < PIECE_CALLS ? piece : PIECE_CALLS;
        status = write_piece(writer, values[SP_COLUMN_START] + at,
                             values[SP_COLUMN_DURATION] + at, piece, error);
        at += piece;
    }
    return status;
}

static int commit(sp_store_writer *writer, sp_error *error)
{
    int status = sp_writer_order_commit(&writer->order, error);
    if (status == SP_OK && !writer->has_header)
        status = write_header(writer, 0, 0, error);
    if (status == SP_OK)
        status = sp_os_replacement_commit(&writer->file, error);
    release(writer);
    return status;
}

const sp_store_table sp_spt_writer = {
    .size = sizeof(sp_store_table),
    .version = SP_STORE_VERSION,
    .name = "spt",
    .create = create,
    .write_metadata = write_metadata,
    .begin_rank = begin_rank,
    .write_calls = write_calls,
    .write_extra = write_extra,
    .commit = commit,
    .abort = release,
};
