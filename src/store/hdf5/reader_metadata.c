/* The metadata group, and the arrays of the extension group. */
#include "store/hdf5/values.h"

#include "base/error.h"

#include <string.h>

enum { MAX_NAMES = 10000 };

/* Names of attributes or members. */
typedef struct name_list {
    sp_arena *arena;
    SP_VECTOR(const char *) names;
    bool failed; /* out of memory, or too many to be true */
} name_list;

static bool note_name(void *context, const char *name)
{
    name_list *list = context;
    const char *copy = sp_arena_text(list->arena, name);
    list->failed =
        copy == NULL || list->names.count >= MAX_NAMES || !sp_vector_reserve(&list->names, 1);
    if (!list->failed)
        list->names.items[list->names.count++] = copy;
    return !list->failed;
}

static int check_list(const sp_store_reader *reader, const name_list *list, sp_error *error)
{
    if (!list->failed)
        return SP_OK;
    return sp_tree_damaged(&reader->context, error, "holds more names than can be read");
}

static int read_entries(sp_store_reader *reader, sp_tree_handle group, const name_list *list,
                        sp_error *error)
{
    if (!sp_vector_reserve(&reader->metadata, list->names.count))
        return sp_fail_memory(error, "opening a profile");
    for (size_t i = 0; i < list->names.count; i++) {
        sp_metadata_entry entry;
        int status = sp_hdf5_read_attribute(reader, group, list->names.items[i], &entry, error);
        if (status == SP_OK)
            reader->metadata.items[reader->metadata.count++] = entry;
        else if (status != SP_ERR_NOT_FOUND)
            return status;
    }
    return SP_OK;
}

int sp_hdf5_read_metadata(sp_store_reader *reader, sp_error *error)
{
    sp_tree_handle group = 0;
    int status =
        sp_hdf5_open_group(reader, ROOT(reader), SP_HDF5_METADATA, SP_HDF5_OPTIONAL, &group, error);
    if (status != SP_OK || group == 0)
        return status;
    name_list list = {.arena = &reader->context.arena};
    status = reader->tree->ops->each_attribute(reader->tree, group, note_name, &list, error);
    if (status == SP_OK)
        status = check_list(reader, &list, error);
    if (status == SP_OK)
        status = read_entries(reader, group, &list, error);
    sp_vector_release(&list.names);
    sp_hdf5_close_group(reader, group);
    reader->description.metadata = reader->metadata.items;
    reader->description.num_metadata = reader->metadata.count;
    return status;
}

/* ---- Extension group -------------------------------------------------------------------------*/

static int read_array(sp_store_reader *reader, const sp_tree_column *column, sp_extra *out,
                      sp_error *error)
{
    const sp_tree_ops *ops = reader->tree->ops;
    size_t length = (size_t)column->length;
    void *values = sp_hdf5_is_modest(reader, column)
                       ? sp_arena_alloc(&reader->context.arena, length * sizeof(int64_t))
                       : NULL;
    if (values == NULL)
        return sp_fail_memory(error, "opening a profile");
    out->length = length;
    switch (column->type) {
    case SP_TREE_INTEGERS:
        out->integers = values;
        return sp_hdf5_read_integers(reader, column, 0, length, values, error);
    case SP_TREE_REALS:
        out->reals = values;
        return ops->read_reals(reader->tree, column, 0, length, values, error);
    default:
        out->texts = values;
        return ops->read_texts(reader->tree, column, 0, length, values, error);
    }
}

/* The part table, which says which piece of which array came from which rank, is read as three
 * arrays: names, ranks, lengths. */
static int read_part_column(sp_store_reader *reader, sp_tree_handle group, const char *name,
                            sp_extra *out, sp_error *error)
{
    sp_tree_column column;
    int status = sp_hdf5_open_column(reader, group, name, SP_HDF5_REQUIRED, &column, error);
    if (status == SP_OK)
        status = read_array(reader, &column, out, error);
    sp_hdf5_close_column(reader, &column);
    return status;
}

static int read_parts(sp_store_reader *reader, sp_tree_handle extra, sp_extra parts[3],
                      sp_error *error)
{
    static const char *const NAMES[3] = {"names", "ranks", "lengths"};
    sp_tree_handle group = 0;
    int status = sp_hdf5_open_group(reader, extra, SP_HDF5_PARTS, SP_HDF5_OPTIONAL, &group, error);
    for (int i = 0; status == SP_OK && group != 0 && i < 3; i++)
        status = read_part_column(reader, group, NAMES[i], &parts[i], error);
    sp_hdf5_close_group(reader, group);
    if (status != SP_OK || group == 0)
        return status;
    if (parts[0].texts == NULL || parts[1].integers == NULL || parts[2].integers == NULL ||
        parts[0].length != parts[1].length || parts[0].length != parts[2].length)
        return sp_tree_damaged(&reader->context, error,
                               "has a part table that does not fit together");
    return SP_OK;
}

static int append_part(sp_store_reader *reader, const sp_extra *whole, size_t first, size_t length,
                       uint32_t rank, sp_error *error)
{
    if (!sp_vector_reserve(&reader->extras, 1))
        return sp_fail_memory(error, "opening a profile");
    reader->extras.items[reader->extras.count++] = (sp_extra){
        .name = whole->name,
        .rank = rank,
        .length = length,
        .integers = whole->integers == NULL ? NULL : whole->integers + first,
        .reals = whole->reals == NULL ? NULL : whole->reals + first,
        .texts = whole->texts == NULL ? NULL : whole->texts + first,
    };
    return SP_OK;
}

/* One array, cut into the pieces of its ranks. What no part speaks of counts as rank 0. */
static int split_array(sp_store_reader *reader, const sp_extra *whole, const sp_extra parts[3],
                       sp_error *error)
{
    size_t used = 0, pieces = 0;
    int status = SP_OK;
    for (size_t i = 0; status == SP_OK && i < parts[0].length; i++) {
        int64_t length = parts[2].integers[i], rank = parts[1].integers[i];
        if (strcmp(parts[0].texts[i], whole->name) != 0)
            continue;
        if (length < 0 || (uint64_t)length > whole->length - used || rank < 0 || rank > UINT32_MAX)
            return sp_tree_damaged(&reader->context, error,
                                   "has a part table that does not fit '%s'", whole->name);
        status = append_part(reader, whole, used, (size_t)length, (uint32_t)rank, error);
        used += (size_t)length;
        pieces++;
    }
    if (status == SP_OK && (used < whole->length || pieces == 0))
        status = append_part(reader, whole, used, whole->length - used, 0, error);
    return status;
}

static int read_named_array(sp_store_reader *reader, sp_tree_handle group, const char *name,
                            const sp_extra parts[3], sp_error *error)
{
    sp_tree_column column;
    sp_extra whole = {.name = name};
    if (strcmp(name, SP_HDF5_PARTS) == 0)
        return SP_OK;
    int status = sp_hdf5_open_column(reader, group, name, SP_HDF5_REQUIRED, &column, error);
    if (status == SP_OK)
        status = read_array(reader, &column, &whole, error);
    sp_hdf5_close_column(reader, &column);
    return status == SP_OK ? split_array(reader, &whole, parts, error) : status;
}

static int read_arrays(sp_store_reader *reader, sp_tree_handle group, sp_error *error)
{
    sp_extra parts[3] = {{0}};
    name_list list = {.arena = &reader->context.arena};
    int status = read_parts(reader, group, parts, error);
    if (status == SP_OK)
        status = reader->tree->ops->each_member(reader->tree, group, note_name, &list, error);
    if (status == SP_OK)
        status = check_list(reader, &list, error);
    for (size_t i = 0; status == SP_OK && i < list.names.count; i++)
        status = read_named_array(reader, group, list.names.items[i], parts, error);
    sp_vector_release(&list.names);
    return status;
}

/* A newer version of the extension is left alone: the rest of the file says all that this version
 * knows of. */
static bool extension_is_known(sp_store_reader *reader, sp_tree_handle group)
{
    sp_metadata_entry version;
    return sp_hdf5_read_attribute(reader, group, SP_HDF5_EXTRA_VERSION_ATTRIBUTE, &version, NULL) ==
               SP_OK &&
           version.kind == SP_VALUE_INTEGER && version.integer == SP_HDF5_EXTRA_VERSION;
}

int sp_hdf5_read_extras(sp_store_reader *reader, sp_error *error)
{
    sp_tree_handle group = 0;
    int status =
        sp_hdf5_open_group(reader, ROOT(reader), SP_HDF5_EXTRA, SP_HDF5_OPTIONAL, &group, error);
    if (status != SP_OK || group == 0)
        return status;
    if (extension_is_known(reader, group))
        status = read_arrays(reader, group, error);
    sp_hdf5_close_group(reader, group);
    reader->description.extras = reader->extras.items;
    reader->description.num_extras = reader->extras.count;
    return status;
}
