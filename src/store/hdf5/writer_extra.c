/* The extension group: arrays that the schema has no place for. Counters and line records, which come
 * as arrays too, have a place. */
#include "store/hdf5/writer_int.h"

#include "base/error.h"
#include "store/hdf5/attributes.h"

#include <string.h>

static const struct {
    const char *name;
    sp_hdf5_kind kind;
} PARTS[SP_PART_FIELDS] = {
    [SP_PART_NAMES] = {"names", SP_HDF5_TEXT},
    [SP_PART_RANKS] = {"ranks", SP_HDF5_UINT32},
    [SP_PART_LENGTHS] = {"lengths", SP_HDF5_UINT64},
};

static int begin_group(sp_store_writer *writer, sp_error *error)
{
    const sp_metadata_entry version = {.key = SP_HDF5_EXTRA_VERSION_ATTRIBUTE,
                                       .kind = SP_VALUE_INTEGER,
                                       .integer = SP_HDF5_EXTRA_VERSION};
    int status = sp_hdf5_create_group(writer->file, SP_HDF5_EXTRA, &writer->extra, error);
    if (status == SP_OK)
        status = sp_hdf5_write_attribute(writer->extra, writer->sink.text_type, &version, error);
    if (status == SP_OK)
        status = sp_hdf5_create_group(writer->extra, SP_HDF5_PARTS, &writer->parts, error);
    for (size_t i = 0; status == SP_OK && i < SP_PART_FIELDS; i++) {
        sp_hdf5_column column = {.name = PARTS[i].name, .group = writer->parts,
                                 .kind = PARTS[i].kind};
        status = sp_hdf5_begin_column(writer, &writer->part_columns[i], &column, error);
    }
    return status;
}

static int check_name(const char *name, sp_error *error)
{
    static const char ALLOWED[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    if (name[0] != '\0' && name[strspn(name, ALLOWED)] == '\0' && strcmp(name, SP_HDF5_PARTS) != 0)
        return SP_OK;
    return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                   "'%s' cannot name an array: letters, digits and underscores, not '%s'", name,
                   SP_HDF5_PARTS);
}

static sp_hdf5_kind kind_of(const sp_extra *extra)
{
    return extra->integers != NULL ? SP_HDF5_INT64
           : extra->reals != NULL  ? SP_HDF5_REAL
                                   : SP_HDF5_TEXT;
}

static int begin_array(sp_store_writer *writer, const sp_extra *extra, sp_hdf5_extra_column **out,
                       sp_error *error)
{
    sp_hdf5_extra_column *array = sp_arena_array(&writer->lasting, 1, sizeof *array);
    const char *name = sp_arena_text(&writer->lasting, extra->name);
    if (array == NULL || name == NULL)
        return sp_fail_memory(error, "writing a profile");
    sp_hdf5_kind kind = kind_of(extra);
    sp_hdf5_column column = {.name = name, .group = writer->extra, .kind = kind};
    if (kind != SP_HDF5_TEXT) {
        column.storage = SP_HDF5_IF_LARGE;
        column.filter = (sp_hdf5_filter){&sp_hdf5_codec_gzip, 1};
        column.large_chunk = SP_HDF5_CHUNK;
    }
    array->next = writer->extras;
    writer->extras = array;
    *out = array;
    return sp_hdf5_begin_column(writer, &array->column, &column, error);
}

static int find_array(sp_store_writer *writer, const sp_extra *extra, sp_hdf5_extra_column **out,
                      sp_error *error)
{
    for (sp_hdf5_extra_column *array = writer->extras; array != NULL; array = array->next) {
        if (strcmp(array->column.name, extra->name) != 0)
            continue;
        if (array->column.kind != kind_of(extra))
            return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                           "the array '%s' is given with two types of values", extra->name);
        *out = array;
        return SP_OK;
    }
    return begin_array(writer, extra, out, error);
}

static int append_values(sp_store_writer *writer, sp_hdf5_column *column, const sp_extra *extra,
                         sp_error *error)
{
    if (column->kind != SP_HDF5_TEXT)
        return sp_hdf5_column_append(&writer->sink, column,
                                     extra->integers != NULL ? (const void *)extra->integers
                                                             : (const void *)extra->reals,
                                     extra->length, error);
    int status = SP_OK;
    for (size_t i = 0; status == SP_OK && i < extra->length; i++)
        status = sp_hdf5_append_text(writer, column, extra->texts[i], error);
    return status;
}

static int append_part(sp_store_writer *writer, const sp_hdf5_column *column, const sp_extra *extra,
                       sp_error *error)
{
    uint64_t rank = extra->rank, length = extra->length;
    int status = sp_hdf5_append_text(writer, &writer->part_columns[SP_PART_NAMES], column->name,
                                     error);
    if (status == SP_OK)
        status = sp_hdf5_column_append(&writer->sink, &writer->part_columns[SP_PART_RANKS], &rank,
                                       1, error);
    if (status == SP_OK)
        status = sp_hdf5_column_append(&writer->sink, &writer->part_columns[SP_PART_LENGTHS],
                                       &length, 1, error);
    return status;
}

static int add_part(sp_store_writer *writer, const sp_extra *extra, sp_error *error)
{
    sp_hdf5_extra_column *array = NULL;
    int status = writer->extra == 0 ? begin_group(writer, error) : SP_OK;
    if (status == SP_OK)
        status = find_array(writer, extra, &array, error);
    if (status == SP_OK)
        status = append_values(writer, &array->column, extra, error);
    return status == SP_OK ? append_part(writer, &array->column, extra, error) : status;
}

/* Records go where other tools look for them; a text of another form stays what it is. */
static int add_records(sp_store_writer *writer, sp_record_kind kind, const sp_extra *extra,
                       sp_error *error)
{
    int status = SP_OK;
    for (size_t i = 0; status == SP_OK && i < extra->length; i++) {
        sp_extra one = *extra;
        one.length = 1;
        one.texts = &extra->texts[i];
        status = sp_hdf5_write_records(writer, kind, one.texts[0], error);
        if (status == SP_ERR_NOT_FOUND)
            status = add_part(writer, &one, error);
    }
    return status;
}

int sp_hdf5_writer_extra(sp_store_writer *writer, const sp_extra *extra, sp_error *error)
{
    sp_record_kind kind;
    int status = check_name(extra->name, error);
    if (status == SP_OK && extra->texts != NULL && sp_record_kind_of(extra->name, &kind))
        status = add_records(writer, kind, extra, error);
    else if (status == SP_OK)
        status = add_part(writer, extra, error);
    if (status == SP_OK)
        status = sp_hdf5_bound_memory(writer, 0, error);
    return status == SP_OK ? sp_hdf5_flush_texts(writer, error) : status;
}
