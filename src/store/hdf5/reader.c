#include "store/hdf5/reader.h"

#include "base/error.h"
#include "base/os/file.h"
#include "store/hdf5/values.h"
#include "store/hdf5/visit.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_ALLOWANCE = 16 << 20 };

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

/* ---- Schema ----------------------------------------------------------------------------------*/

static int schema_error(const sp_store_reader *reader, sp_error *error, const char *what)
{
    return sp_fail(error, SP_ERR_SCHEMA, "'%s': the schema version %s", reader->context.path, what);
}

/* Looks at every attribute: one of that name counts whatever its type. */
static bool is_schema_attribute(void *context, const char *name)
{
    bool *found = context;
    *found = strcmp(name, SP_HDF5_SCHEMA_ATTRIBUTE) == 0;
    return !*found;
}

/* Files of schema 1 carry no number. */
static int read_schema(sp_store_reader *reader, sp_error *error)
{
    sp_metadata_entry entry;
    bool exists = false;
    reader->description.schema = 1;
    int status = reader->tree->ops->each_attribute(reader->tree, ROOT(reader), is_schema_attribute,
                                                   &exists, error);
    if (status != SP_OK || !exists)
        return status;
    status = sp_hdf5_read_attribute(reader, ROOT(reader), SP_HDF5_SCHEMA_ATTRIBUTE, &entry, error);
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
        sp_hdf5_read_attribute(reader, ROOT(reader), SP_HDF5_LAYOUT_ATTRIBUTE, &entry, error);
    if (status == SP_OK && entry.kind == SP_VALUE_TEXT)
        reader->description.is_aggregate = strcmp(entry.text, SP_HDF5_LAYOUT_AGGREGATE) == 0;
    return status == SP_ERR_NOT_FOUND ? SP_OK : status;
}

static int read_contents(sp_store_reader *reader, sp_error *error)
{
    int status = read_schema(reader, error);
    if (status == SP_OK)
        status = sp_hdf5_read_metadata(reader, error);
    if (status != SP_OK)
        return status;
    if (reader->description.schema == 1) {
        status = sp_hdf5_read_groups(reader, error);
    } else {
        status = read_layout(reader, error);
        if (status == SP_OK)
            status = sp_hdf5_read_columnar(reader, error);
        if (status == SP_OK)
            status = sp_hdf5_read_extras(reader, error);
    }
    return status == SP_OK ? sp_hdf5_read_records(reader, error) : status;
}

static int create_reader(const char *path, sp_store_reader **out, sp_error *error)
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
    reader->context.path = reader->path;
    reader->context.file_size = size;
    reader->context.text_budget = TEXT_ALLOWANCE + 2 * size;
    reader->description.format = "hdf5";
    *out = reader;
    return SP_OK;
}

static void close_inside(sp_store_reader *reader)
{
    if (reader->tree != NULL) {
        sp_hdf5_close_column(reader, &reader->ends);
        for (int c = SP_COLUMN_COUNT - 1; c >= 0; c--)
            sp_hdf5_close_column(reader, &reader->columns[c]);
        reader->tree->ops->close(reader->tree);
    }
    sp_vector_release(&reader->metadata);
    sp_vector_release(&reader->extras);
    free(reader->cursors);
    sp_arena_release(&reader->context.arena);
    free(reader->path);
    free(reader);
}

/* Opens with one kind of tree. `*out_is_newer`: it failed, and the file is for the library. */
static int open_with(const char *path, bool with_library, sp_store_reader **out, bool *out_is_newer,
                     sp_error *error)
{
    sp_store_reader *reader = NULL;
    int status = create_reader(path, &reader, error);
    if (status != SP_OK)
        return status;
    reader->uses_library = with_library;
    status = with_library ? sp_library_open(&reader->context, &reader->tree, error)
                          : sp_classic_open(&reader->context, &reader->tree, error);
    if (status == SP_OK)
        status = read_contents(reader, error);
    *out_is_newer = reader->context.is_newer;
    if (status == SP_OK)
        *out = reader;
    else
        close_inside(reader);
    return status;
}

int sp_hdf5_reader_open(const char *path, sp_store_reader **out, sp_error *error)
{
    bool is_newer = false;
    int status = open_with(path, false, out, &is_newer, error);
    if (status == SP_OK || !is_newer)
        return status;
    sp_hdf5_visitor visitor;
    sp_hdf5_enter(&visitor);
    status = sp_hdf5_check_usable(error);
    if (status == SP_OK)
        status = open_with(path, true, out, &is_newer, error);
    sp_hdf5_leave(&visitor);
    return status;
}

void sp_hdf5_reader_close(sp_store_reader *reader)
{
    if (reader == NULL)
        return;
    sp_hdf5_visitor visitor;
    bool is_inside = reader->uses_library;
    if (is_inside)
        sp_hdf5_enter(&visitor);
    close_inside(reader);
    if (is_inside)
        sp_hdf5_leave(&visitor);
}

const sp_store_description *sp_hdf5_reader_describe(sp_store_reader *reader)
{
    return &reader->description;
}

/* ---- Calls -----------------------------------------------------------------------------------*/

/* Adds up the differences between the last call read and `first`. */
static int advance_cursor(sp_store_reader *reader, sp_hdf5_cursor *cursor, uint64_t offset,
                          uint64_t first, int64_t *scratch, sp_error *error)
{
    while (cursor->next < first) {
        uint64_t piece = first - cursor->next;
        if (piece > SP_TREE_PIECE)
            piece = SP_TREE_PIECE;
        int status = sp_hdf5_read_integers(reader, &reader->columns[SP_COLUMN_START],
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
    int64_t *scratch = malloc(SP_TREE_PIECE * sizeof *scratch);
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
        status = sp_hdf5_read_integers(reader, &reader->columns[SP_COLUMN_START], offset + first,
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
    int64_t *starts = malloc(SP_TREE_PIECE * sizeof *starts);
    int status = starts == NULL ? sp_fail_memory(error, "reading calls") : SP_OK;
    while (status == SP_OK && count > 0) {
        size_t piece = count < SP_TREE_PIECE ? count : SP_TREE_PIECE;
        status = sp_hdf5_read_integers(reader, &reader->ends, first, piece, out, error);
        if (status == SP_OK)
            status = sp_hdf5_read_integers(reader, &reader->columns[SP_COLUMN_START], first, piece,
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

static int read_column(sp_store_reader *reader, size_t row, sp_column column, uint64_t first,
                       size_t count, int64_t *out, sp_error *error)
{
    int schema = reader->description.schema;
    if (schema == 1)
        return sp_hdf5_read_group_calls(reader, row, column, first, count, out, error);
    if (column == SP_COLUMN_START && schema >= 3)
        return read_start_deltas(reader, row, first, count, out, error);
    uint64_t at = reader->rows[row].offset + first;
    if (column == SP_COLUMN_DURATION && reader->ends.handle != 0)
        return read_end_durations(reader, at, count, out, error);
    return sp_hdf5_read_integers(reader, &reader->columns[column], at, count, out, error);
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
    if (!reader->uses_library)
        return read_column(reader, row, column, first, count, out, error);
    sp_hdf5_visitor visitor;
    sp_hdf5_enter(&visitor);
    int status = read_column(reader, row, column, first, count, out, error);
    sp_hdf5_leave(&visitor);
    return status;
}
