#include "store/hdf5/values.h"

enum { MODEST_BYTES = 64 << 20, MODEST_EXPANSION = 64 };

int sp_hdf5_open_group(sp_store_reader *reader, sp_tree_handle parent, const char *name,
                       sp_hdf5_need need, sp_tree_handle *out, sp_error *error)
{
    *out = 0;
    if (sp_hdf5_has_member(reader, parent, name))
        return reader->tree->ops->open_group(reader->tree, parent, name, out, error);
    if (need == SP_HDF5_OPTIONAL)
        return SP_OK;
    return sp_tree_damaged(&reader->context, error, "lacks the group '%s'", name);
}

int sp_hdf5_open_column(sp_store_reader *reader, sp_tree_handle group, const char *name,
                        sp_hdf5_need need, sp_tree_column *out, sp_error *error)
{
    *out = (sp_tree_column){0};
    if (!sp_hdf5_has_member(reader, group, name))
        return need == SP_HDF5_OPTIONAL
                   ? SP_OK
                   : sp_tree_damaged(&reader->context, error, "lacks the dataset '%s'", name);
    int status = sp_hdf5_open_matrix(reader, group, name, out, error);
    if (status != SP_OK || out->dimensions == 1)
        return status;
    sp_hdf5_close_column(reader, out);
    return sp_tree_unreadable(&reader->context, error, "at '%s', which is no column", name);
}

int sp_hdf5_open_matrix(sp_store_reader *reader, sp_tree_handle group, const char *name,
                        sp_tree_column *out, sp_error *error)
{
    *out = (sp_tree_column){0};
    return reader->tree->ops->open_column(reader->tree, group, name, out, error);
}

void sp_hdf5_close_group(sp_store_reader *reader, sp_tree_handle group)
{
    if (group != 0)
        reader->tree->ops->close_group(reader->tree, group);
}

void sp_hdf5_close_column(sp_store_reader *reader, sp_tree_column *column)
{
    if (column->handle != 0)
        reader->tree->ops->close_column(reader->tree, column->handle);
    column->handle = 0;
}

bool sp_hdf5_has_member(sp_store_reader *reader, sp_tree_handle group, const char *name)
{
    return reader->tree->ops->has_member(reader->tree, group, name);
}

int sp_hdf5_read_attribute(sp_store_reader *reader, sp_tree_handle group, const char *name,
                           sp_metadata_entry *out, sp_error *error)
{
    return reader->tree->ops->read_attribute(reader->tree, group, name, out, error);
}

int sp_hdf5_read_integers(sp_store_reader *reader, const sp_tree_column *column, uint64_t first,
                          uint64_t count, int64_t *out, sp_error *error)
{
    return reader->tree->ops->read_integers(reader->tree, column, first, count, false, out, error);
}

bool sp_hdf5_is_modest(const sp_store_reader *reader, const sp_tree_column *column)
{
    return column->length <=
           (MODEST_BYTES + MODEST_EXPANSION * reader->context.file_size) / sizeof(int64_t);
}
