/* The metadata group, and the arrays of the extension group. */
#include "store/hdf5/values.h"

#include "base/error.h"
#include "store/hdf5/instance.h"

#include <string.h>

enum { MAX_NAMES = 10000 };

/* Names of attributes or links, gathered by the library's iterators. */
typedef struct name_list {
    sp_arena *arena;
    SP_VECTOR(const char *) names;
} name_list;

static herr_t note_name(name_list *list, const char *name)
{
    const char *copy = sp_arena_text(list->arena, name);
    if (copy == NULL || list->names.count >= MAX_NAMES || !sp_vector_reserve(&list->names, 1))
        return -1;
    list->names.items[list->names.count++] = copy;
    return 0;
}

static herr_t note_attribute(hid_t object, const char *name, const H5A_info_t *info, void *context)
{
    (void)object;
    (void)info;
    return note_name(context, name);
}

static herr_t note_link(hid_t group, const char *name, const H5L_info_t *info, void *context)
{
    (void)group;
    (void)info;
    return note_name(context, name);
}

static int read_entries(sp_store_reader *reader, hid_t group, const name_list *list,
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
    hid_t group = 0;
    int status = sp_hdf5_open_group(reader, reader->file, SP_HDF5_METADATA, SP_HDF5_OPTIONAL, &group,
                                    error);
    if (status != SP_OK || group == 0)
        return status;
    name_list list = {.arena = &reader->arena};
    hsize_t at = 0;
    if (H5Aiterate2(group, H5_INDEX_NAME, H5_ITER_INC, &at, note_attribute, &list) < 0)
        status = sp_hdf5_unreadable(reader, error, SP_HDF5_METADATA);
    else
        status = read_entries(reader, group, &list, error);
    sp_vector_release(&list.names);
    H5Gclose(group);
    reader->description.metadata = reader->metadata.items;
    reader->description.num_metadata = reader->metadata.count;
    return status;
}

/* ---- Extension group -------------------------------------------------------------------------*/

static int read_array(sp_store_reader *reader, const sp_hdf5_dataset *dataset, sp_extra *out,
                      sp_error *error)
{
    size_t length = (size_t)dataset->length;
    void *values = sp_hdf5_is_modest(reader, dataset)
                       ? sp_arena_alloc(&reader->arena, length * sizeof(int64_t))
                       : NULL;
    if (values == NULL)
        return sp_fail_memory(error, "opening a profile");
    out->length = length;
    switch (dataset->type_class) {
    case H5T_INTEGER:
        out->integers = values;
        return sp_hdf5_read_range(reader, dataset->id, sp_hdf5.int64, sizeof(int64_t), 0, length,
                                  values, error);
    case H5T_FLOAT:
        out->reals = values;
        return sp_hdf5_read_range(reader, dataset->id, sp_hdf5.real, sizeof(double), 0, length,
                                  values, error);
    default:
        out->texts = values;
        return sp_hdf5_read_texts(reader, dataset, 0, length, values, error);
    }
}

/* The part table, which says which piece of which array came from which rank, is read as three
 * arrays: names, ranks, lengths. */
static int read_part_column(sp_store_reader *reader, hid_t group, const char *name, sp_extra *out,
                            sp_error *error)
{
    sp_hdf5_dataset dataset;
    int status = sp_hdf5_open_dataset(reader, group, name, SP_HDF5_REQUIRED, &dataset, error);
    if (status == SP_OK)
        status = read_array(reader, &dataset, out, error);
    sp_hdf5_close_dataset(&dataset);
    return status;
}

static int read_parts(sp_store_reader *reader, hid_t extra, sp_extra parts[3], sp_error *error)
{
    static const char *const NAMES[3] = {"names", "ranks", "lengths"};
    hid_t group = 0;
    int status = sp_hdf5_open_group(reader, extra, SP_HDF5_PARTS, SP_HDF5_OPTIONAL, &group, error);
    for (int i = 0; status == SP_OK && group != 0 && i < 3; i++)
        status = read_part_column(reader, group, NAMES[i], &parts[i], error);
    if (group != 0)
        H5Gclose(group);
    if (status != SP_OK || group == 0)
        return status;
    if (parts[0].texts == NULL || parts[1].integers == NULL || parts[2].integers == NULL ||
        parts[0].length != parts[1].length || parts[0].length != parts[2].length)
        return sp_hdf5_damaged(reader, error, "has a part table that does not fit together");
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
            return sp_hdf5_damaged(reader, error, "has a part table that does not fit '%s'",
                                   whole->name);
        status = append_part(reader, whole, used, (size_t)length, (uint32_t)rank, error);
        used += (size_t)length;
        pieces++;
    }
    if (status == SP_OK && (used < whole->length || pieces == 0))
        status = append_part(reader, whole, used, whole->length - used, 0, error);
    return status;
}

static int read_named_array(sp_store_reader *reader, hid_t group, const char *name,
                            const sp_extra parts[3], sp_error *error)
{
    sp_hdf5_dataset dataset;
    sp_extra whole = {.name = name};
    if (strcmp(name, SP_HDF5_PARTS) == 0)
        return SP_OK;
    int status = sp_hdf5_open_dataset(reader, group, name, SP_HDF5_REQUIRED, &dataset, error);
    if (status == SP_OK)
        status = read_array(reader, &dataset, &whole, error);
    sp_hdf5_close_dataset(&dataset);
    return status == SP_OK ? split_array(reader, &whole, parts, error) : status;
}

static int read_arrays(sp_store_reader *reader, hid_t group, sp_error *error)
{
    sp_extra parts[3] = {{0}};
    name_list list = {.arena = &reader->arena};
    hsize_t at = 0;
    int status = read_parts(reader, group, parts, error);
    if (status == SP_OK &&
        H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &at, note_link, &list) < 0)
        status = sp_hdf5_unreadable(reader, error, SP_HDF5_EXTRA);
    for (size_t i = 0; status == SP_OK && i < list.names.count; i++)
        status = read_named_array(reader, group, list.names.items[i], parts, error);
    sp_vector_release(&list.names);
    return status;
}

/* A newer version of the extension is left alone: the rest of the file says all that this version
 * knows of. */
static bool extension_is_known(sp_store_reader *reader, hid_t group)
{
    sp_metadata_entry version;
    return sp_hdf5_read_attribute(reader, group, SP_HDF5_EXTRA_VERSION_ATTRIBUTE, &version, NULL) ==
               SP_OK &&
           version.kind == SP_VALUE_INTEGER && version.integer == SP_HDF5_EXTRA_VERSION;
}

int sp_hdf5_read_extras(sp_store_reader *reader, sp_error *error)
{
    hid_t group = 0;
    int status =
        sp_hdf5_open_group(reader, reader->file, SP_HDF5_EXTRA, SP_HDF5_OPTIONAL, &group, error);
    if (status != SP_OK || group == 0)
        return status;
    if (extension_is_known(reader, group))
        status = read_arrays(reader, group, error);
    H5Gclose(group);
    reader->description.extras = reader->extras.items;
    reader->description.num_extras = reader->extras.count;
    return status;
}
