#include "store/hdf5/reader.h"

#include "base/error.h"
#include "base/os/file.h"
#include "store/hdf5/instance.h"
#include "store/hdf5/trouble.h"
#include "store/hdf5/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_ALLOWANCE = 16 << 20 };

int sp_hdf5_damaged(const sp_store_reader *reader, sp_error *error, const char *format, ...)
{
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return sp_fail(error, SP_ERR_DAMAGED, "'%s' %s; the file is truncated or damaged", reader->path,
                   what);
}

int sp_hdf5_unreadable(const sp_store_reader *reader, sp_error *error, const char *what)
{
    return sp_hdf5_fail(error, SP_ERR_DAMAGED,
                        "'%s' is not a readable HDF5 profiling file: it is truncated or damaged, or "
                        "the run that wrote it was interrupted (at %s)",
                        reader->path, what);
}

/* ---- Opening ---------------------------------------------------------------------------------*/

static int check_path(const char *path, uint64_t *out_size, sp_error *error)
{
    switch (sp_os_file_look(path, out_size)) {
    case SP_OS_FILE_NONE:
        return sp_fail(error, SP_ERR_NOT_FOUND, "HDF5 file not found: %s", path);
    case SP_OS_FILE_FOLDER:
    case SP_OS_FILE_OTHER:
        return sp_fail(error, SP_ERR_NOT_A_PROFILE,
                       "'%s' is not a readable HDF5 profiling file: it is no regular file", path);
    default:
        return SP_OK;
    }
}

static int open_file(sp_store_reader *reader, sp_error *error)
{
    hid_t access = H5Pcreate(sp_hdf5.file_access);
    hid_t file = -1;
#if H5_VERSION_GE(1, 10, 7)
    /* Profiles appear complete and are never changed; a folder that is read-only grants no lock. */
    H5Pset_file_locking(access, 0, 1);
#endif
    if (access >= 0)
        file = H5Fopen(reader->path, H5F_ACC_RDONLY, access);
    int status = SP_OK;
    if (file >= 0)
        reader->file = file;
    else if (sp_hdf5_errno() != 0)
        status = sp_hdf5_fail(error, SP_ERR_IO, "cannot read '%s'", reader->path);
    else
        status = sp_hdf5_fail(error, SP_ERR_NOT_A_PROFILE,
                              "'%s' is not a readable HDF5 profiling file: it is of another kind, "
                              "truncated or damaged, or the run that wrote it was interrupted",
                              reader->path);
    if (access >= 0)
        H5Pclose(access);
    return status;
}

/* The library takes memory for texts from here, so it gets no more than the file can hold. */
static void *take_text_memory(size_t size, void *context)
{
    sp_store_reader *reader = context;
    if (size > reader->text_budget)
        return NULL;
    reader->text_budget -= size;
    return sp_arena_alloc(&reader->arena, size);
}

static void keep_text_memory(void *memory, void *context)
{
    (void)memory;
    (void)context;
}

static int prepare_texts(sp_store_reader *reader, sp_error *error)
{
    hid_t transfer = H5Pcreate(sp_hdf5.transfer);
    if (transfer < 0)
        return sp_hdf5_unreadable(reader, error, "its start");
    reader->text_transfer = transfer;
    reader->text_budget = TEXT_ALLOWANCE + 2 * reader->file_size;
    if (H5Pset_vlen_mem_manager(transfer, take_text_memory, reader, keep_text_memory, reader) < 0)
        return sp_hdf5_unreadable(reader, error, "its start");
    return SP_OK;
}

/* ---- Schema ----------------------------------------------------------------------------------*/

static int schema_error(const sp_store_reader *reader, sp_error *error, const char *what)
{
    return sp_fail(error, SP_ERR_SCHEMA, "'%s': the schema version %s", reader->path, what);
}

/* Files of schema 1 carry no number. */
static int read_schema(sp_store_reader *reader, sp_error *error)
{
    sp_metadata_entry entry;
    reader->description.schema = 1;
    htri_t exists = H5Aexists(reader->file, SP_HDF5_SCHEMA_ATTRIBUTE);
    if (exists < 0)
        return sp_hdf5_unreadable(reader, error, "its root group");
    if (exists == 0)
        return SP_OK;
    int status =
        sp_hdf5_read_attribute(reader, reader->file, SP_HDF5_SCHEMA_ATTRIBUTE, &entry, error);
    if (status == SP_ERR_NOT_FOUND || (status == SP_OK && entry.kind != SP_VALUE_INTEGER))
        return schema_error(reader, error, "must be an integer");
    if (status != SP_OK)
        return status;
    if (entry.integer <= 0)
        return schema_error(reader, error, "must be positive");
    if (entry.integer > SP_HDF5_SCHEMA)
        return sp_fail(error, SP_ERR_SCHEMA,
                       "'%s' has schema version %lld, but this package supports versions through "
                       "%d. Upgrade scope-profiler to read it.",
                       reader->path, (long long)entry.integer, SP_HDF5_SCHEMA);
    reader->description.schema = (int)entry.integer;
    return SP_OK;
}

static int read_layout(sp_store_reader *reader, sp_error *error)
{
    sp_metadata_entry entry;
    int status =
        sp_hdf5_read_attribute(reader, reader->file, SP_HDF5_LAYOUT_ATTRIBUTE, &entry, error);
    if (status == SP_OK && entry.kind == SP_VALUE_TEXT)
        reader->description.is_aggregate = strcmp(entry.text, SP_HDF5_LAYOUT_AGGREGATE) == 0;
    return status == SP_ERR_NOT_FOUND ? SP_OK : status;
}

static int read_contents(sp_store_reader *reader, sp_error *error)
{
    int status = open_file(reader, error);
    if (status == SP_OK)
        status = prepare_texts(reader, error);
    if (status == SP_OK)
        status = read_schema(reader, error);
    if (status == SP_OK)
        status = sp_hdf5_read_metadata(reader, error);
    if (status != SP_OK)
        return status;
    if (reader->description.schema == 1)
        return sp_hdf5_read_groups(reader, error);
    status = read_layout(reader, error);
    if (status == SP_OK)
        status = sp_hdf5_read_columnar(reader, error);
    return status == SP_OK ? sp_hdf5_read_extras(reader, error) : status;
}

int sp_hdf5_reader_open(const char *path, sp_store_reader **out, sp_error *error)
{
    uint64_t size = 0;
    int status = check_path(path, &size, error);
    if (status != SP_OK)
        return status;
    sp_store_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL || (reader->path = strdup(path)) == NULL) {
        free(reader);
        return sp_fail_memory(error, "opening a profile");
    }
    reader->file_size = size;
    reader->description.format = "hdf5";
    status = read_contents(reader, error);
    if (status != SP_OK) {
        sp_hdf5_reader_close(reader);
        return status;
    }
    *out = reader;
    return SP_OK;
}

const sp_store_description *sp_hdf5_reader_describe(sp_store_reader *reader)
{
    return &reader->description;
}

void sp_hdf5_reader_close(sp_store_reader *reader)
{
    if (reader == NULL)
        return;
    sp_hdf5_source_release(&reader->ends);
    for (int c = SP_COLUMN_COUNT - 1; c >= 0; c--)
        sp_hdf5_source_release(&reader->columns[c]);
    if (reader->text_transfer > 0)
        H5Pclose(reader->text_transfer);
    if (reader->file > 0)
        H5Fclose(reader->file);
    sp_vector_release(&reader->metadata);
    sp_vector_release(&reader->extras);
    free(reader->cursors);
    sp_arena_release(&reader->arena);
    free(reader->path);
    free(reader);
}

/* ---- Calls -----------------------------------------------------------------------------------*/

/* Adds up the differences between the last call read and `first`. */
static int advance_cursor(sp_store_reader *reader, sp_hdf5_cursor *cursor, uint64_t offset,
                          uint64_t first, int64_t *scratch, sp_error *error)
{
    while (cursor->next < first) {
        uint64_t piece = first - cursor->next;
        if (piece > SP_HDF5_READ_PIECE)
            piece = SP_HDF5_READ_PIECE;
        int status = sp_hdf5_source_read(reader, &reader->columns[SP_COLUMN_START],
                                         offset + cursor->next, piece, scratch, error);
        if (status != SP_OK)
            return status;
        for (uint64_t i = 0; i < piece; i++)
            cursor->sum += (uint64_t)scratch[i];
        cursor->next += piece;
    }
    return SP_OK;
}

static int skip_to(sp_store_reader *reader, sp_hdf5_cursor *cursor, uint64_t offset, uint64_t first,
                   sp_error *error)
{
    if (first < cursor->next)
        *cursor = (sp_hdf5_cursor){0, 0};
    if (first == cursor->next)
        return SP_OK;
    int64_t *scratch = malloc(SP_HDF5_READ_PIECE * sizeof *scratch);
    if (scratch == NULL)
        return sp_fail_memory(error, "reading calls");
    int status = advance_cursor(reader, cursor, offset, first, scratch, error);
    free(scratch);
    return status;
}

/* Starts are stored as differences within their row. */
static int read_start_deltas(sp_store_reader *reader, size_t row, uint64_t first, size_t count,
                             int64_t *out, sp_error *error)
{
    if (reader->cursors == NULL)
        reader->cursors = calloc(reader->description.num_rows, sizeof *reader->cursors);
    if (reader->cursors == NULL)
        return sp_fail_memory(error, "reading calls");
    sp_hdf5_cursor *cursor = &reader->cursors[row];
    uint64_t offset = reader->rows[row].offset;
    int status = skip_to(reader, cursor, offset, first, error);
    if (status == SP_OK)
        status = sp_hdf5_source_read(reader, &reader->columns[SP_COLUMN_START], offset + first,
                                     count, out, error);
    if (status != SP_OK)
        return status;
    uint64_t sum = cursor->sum;
    for (size_t i = 0; i < count; i++) {
        sum += (uint64_t)out[i];
        out[i] = (int64_t)sum;
    }
    *cursor = (sp_hdf5_cursor){first + count, sum};
    return SP_OK;
}

/* Schema 2 has ends: reads them and takes the starts away. */
static int read_end_durations(sp_store_reader *reader, uint64_t first, size_t count, int64_t *out,
                              sp_error *error)
{
    int64_t *starts = malloc(SP_HDF5_READ_PIECE * sizeof *starts);
    int status = starts == NULL ? sp_fail_memory(error, "reading calls") : SP_OK;
    while (status == SP_OK && count > 0) {
        size_t piece = count < SP_HDF5_READ_PIECE ? count : SP_HDF5_READ_PIECE;
        status = sp_hdf5_source_read(reader, &reader->ends, first, piece, out, error);
        if (status == SP_OK)
            status = sp_hdf5_source_read(reader, &reader->columns[SP_COLUMN_START], first, piece,
                                         starts, error);
        for (size_t i = 0; status == SP_OK && i < piece; i++)
            out[i] = (int64_t)((uint64_t)out[i] - (uint64_t)starts[i]);
        out += piece;
        first += piece;
        count -= piece;
    }
    free(starts);
    return status;
}

int sp_hdf5_reader_calls(sp_store_reader *reader, size_t row, sp_column column, uint64_t first,
                         size_t count, int64_t *out, sp_error *error)
{
    const sp_store_description *description = &reader->description;
    if (row >= description->num_rows || column < 0 || column >= SP_COLUMN_COUNT)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "'%s' has no row %zu or no column %d",
                       reader->path, row, (int)column);
    if (first > reader->rows[row].count || count > reader->rows[row].count - first)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "row %zu of '%s' has %llu calls", row,
                       reader->path, (unsigned long long)reader->rows[row].count);
    if ((description->columns & SP_COLUMN_BIT(column)) == 0)
        return sp_fail(error, SP_ERR_NOT_FOUND, "'%s' has no column '%s'", reader->path,
                       sp_hdf5_event_names[column]);
    if (count == 0)
        return SP_OK;
    if (description->schema == 1)
        return sp_hdf5_read_group_calls(reader, row, column, first, count, out, error);
    if (column == SP_COLUMN_START && description->schema >= 3)
        return read_start_deltas(reader, row, first, count, out, error);
    uint64_t at = reader->rows[row].offset + first;
    if (column == SP_COLUMN_DURATION && reader->ends.dataset > 0)
        return read_end_durations(reader, at, count, out, error);
    return sp_hdf5_source_read(reader, &reader->columns[column], at, count, out, error);
}
