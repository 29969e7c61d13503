/* Columns through the library. */
#include "store/hdf5/library_int.h"

#include "base/error.h"
#include "store/description.h"
#include "store/hdf5/instance.h"
#include "store/hdf5/schema.h"

#include <stdlib.h>

/* What a stored byte may at most become; nothing is ever allocated by this number alone. */
enum { MAX_EXPANSION = 1 << 16, MAX_FILTERS = 8, CHUNK_CACHE = 1 << 20, TEXT_PIECE = 256 };

/* ---- Checks ----------------------------------------------------------------------------------*/

static int check_filters(const sp_tree *tree, hid_t properties, const char *name, int *out_count,
                         sp_error *error)
{
    int count = H5Pget_nfilters(properties);
    if (count < 0 || count > MAX_FILTERS)
        return sp_library_unreadable(tree, error, name);
    for (int i = 0; i < count; i++) {
        unsigned flags = 0, config = 0;
        size_t values = 0;
        char label[64] = "";
        H5Z_filter_t id = H5Pget_filter2(properties, (unsigned)i, &flags, &values, NULL,
                                         sizeof label, label, &config);
        if (id < 0)
            return sp_library_unreadable(tree, error, name);
        if (H5Zfilter_avail(id) <= 0)
            return sp_tree_unknown_filter(tree->context, error, (int)id, label);
    }
    *out_count = count;
    return SP_OK;
}

/* The library allocates whole chunks on the word of the file. */
static bool chunk_is_sane(const sp_tree *tree, hid_t properties, size_t value_size,
                          bool is_filtered)
{
    hsize_t chunk = 0;
    if (H5Pget_layout(properties) != H5D_CHUNKED)
        return true;
    if (H5Pget_chunk(properties, 1, &chunk) != 1 || chunk == 0 ||
        chunk > SP_TREE_CHUNK_LIMIT / value_size)
        return false;
    uint64_t bytes = chunk * value_size;
    return bytes <= CHUNK_CACHE ||
           bytes / (is_filtered ? MAX_EXPANSION : 1) <= tree->context->file_size;
}

static bool storage_is_sane(const sp_tree *tree, hid_t dataset, hid_t properties, size_t value_size,
                            bool is_filtered, uint64_t length)
{
    H5D_layout_t layout = H5Pget_layout(properties);
    if ((layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED && layout != H5D_COMPACT) ||
        H5Pget_external_count(properties) != 0 ||
        !chunk_is_sane(tree, properties, value_size, is_filtered))
        return false;
    if (length == 0)
        return true;
    if (length > UINT64_MAX / value_size - MAX_EXPANSION)
        return false;
    uint64_t expansion = is_filtered ? MAX_EXPANSION : 1;
    uint64_t needed = (length * value_size + expansion - 1) / expansion;
    return needed <= H5Dget_storage_size(dataset) && needed <= tree->context->file_size;
}

/* A text of variable length takes this much in the file, whatever the library says of its type. */
static size_t stored_size(hid_t type)
{
    enum { REFERENCE = 16 };
    return H5Tis_variable_str(type) > 0 ? REFERENCE : H5Tget_size(type);
}

static bool has_all_statistics(hid_t type)
{
    for (size_t i = 0; i < SP_STATISTICS_MEMBERS; i++)
        if (H5Tget_member_index(type, sp_hdf5_statistics_members[i]) < 0)
            return false;
    return true;
}

static sp_tree_type tree_type(hid_t type)
{
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
        return SP_TREE_INTEGERS;
    case H5T_FLOAT:
        return SP_TREE_REALS;
    case H5T_STRING:
        return SP_TREE_TEXTS;
    case H5T_COMPOUND:
        return has_all_statistics(type) ? SP_TREE_STATISTICS : SP_TREE_OTHER;
    default:
        return SP_TREE_OTHER;
    }
}

static int check(const sp_tree *tree, const char *name, hid_t type, hid_t space, hid_t properties,
                 sp_tree_column *column, sp_error *error)
{
    hsize_t lengths[2] = {0, 1};
    int filters = 0;
    if (type < 0 || space < 0 || properties < 0)
        return sp_library_unreadable(tree, error, name);
    column->type = tree_type(type);
    size_t size = stored_size(type);
    if (size == 0 || H5Sget_simple_extent_type(space) != H5S_SIMPLE ||
        H5Sget_simple_extent_ndims(space) < 1 || H5Sget_simple_extent_ndims(space) > 2)
        return sp_tree_unreadable(tree->context, error, "at '%s', which is no column", name);
    column->dimensions = (unsigned)H5Sget_simple_extent_dims(space, lengths, NULL);
    if (lengths[1] != 0 && lengths[0] > UINT64_MAX / lengths[1])
        return sp_tree_unreadable(tree->context, error, "at '%s', which is no column", name);
    hsize_t length = lengths[0] * lengths[1];
    column->length = length;
    int status = check_filters(tree, properties, name, &filters, error);
    if (status == SP_OK &&
        !storage_is_sane(tree, column->handle, properties, size, filters > 0, length))
        status = sp_tree_overclaimed(tree->context, error, name, length);
    return status;
}

static int open_dataset(sp_tree *tree, hid_t group, const char *name, hid_t access,
                        sp_tree_column *out, sp_error *error)
{
    hid_t id = H5Dopen2(group, name, access);
    if (id < 0)
        return sp_library_unreadable(tree, error, name);
    out->handle = id;
    return SP_OK;
}

/* Chunks that are larger than the library's cache would be unpacked again for every piece. The
 * cache is as large as one chunk, whose size was checked. */
static int open_again(sp_tree *tree, hid_t group, const char *name, hid_t type, hid_t properties,
                      sp_tree_column *out, sp_error *error)
{
    enum { HASH_SLOTS = 521 };
    hsize_t chunk = 0;
    size_t size = stored_size(type);
    if (H5Pget_layout(properties) != H5D_CHUNKED || H5Pget_chunk(properties, 1, &chunk) != 1 ||
        chunk <= CHUNK_CACHE / size)
        return SP_OK;
    hid_t access = H5Pcreate(sp_hdf5.dataset_access);
    if (access < 0)
        return SP_OK;
    H5Pset_chunk_cache(access, HASH_SLOTS, (size_t)chunk * size, 1.0);
    H5Dclose(out->handle);
    out->handle = 0;
    int status = open_dataset(tree, group, name, access, out, error);
    H5Pclose(access);
    return status;
}

int sp_library_open_column(sp_tree *tree, sp_tree_handle group, const char *name,
                           sp_tree_column *out, sp_error *error)
{
    sp_tree_column column = {0};
    int status = open_dataset(tree, group, name, H5P_DEFAULT, &column, error);
    if (status != SP_OK)
        return status;
    hid_t type = H5Dget_type(column.handle), space = H5Dget_space(column.handle);
    hid_t properties = H5Dget_create_plist(column.handle);
    status = check(tree, name, type, space, properties, &column, error);
    if (status == SP_OK)
        status = open_again(tree, group, name, type, properties, &column, error);
    if (properties >= 0)
        H5Pclose(properties);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (status == SP_OK)
        *out = column;
    else if (column.handle > 0)
        H5Dclose(column.handle);
    return status;
}

void sp_library_close_column(sp_tree *tree, sp_tree_handle column)
{
    (void)tree;
    H5Dclose(column);
}

/* ---- Values ----------------------------------------------------------------------------------*/

static herr_t read_piece(hid_t dataset, hid_t type, hid_t transfer, uint64_t first, uint64_t count,
                         void *out)
{
    hsize_t start = first, length = count;
    hid_t file_space = H5Dget_space(dataset);
    hid_t memory_space = H5Screate_simple(1, &length, NULL);
    herr_t result = -1;
    bool is_matrix = file_space >= 0 && H5Sget_simple_extent_ndims(file_space) == 2;
    if (is_matrix && memory_space >= 0) /* always as a whole */
        result = first == 0 && (hssize_t)count == H5Sget_simple_extent_npoints(file_space)
                     ? H5Dread(dataset, type, memory_space, file_space, transfer, out) : -1;
    else if (file_space >= 0 && memory_space >= 0 &&
        H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &start, NULL, &length, NULL) >= 0)
        result = H5Dread(dataset, type, memory_space, file_space, transfer, out);
    if (memory_space >= 0)
        H5Sclose(memory_space);
    if (file_space >= 0)
        H5Sclose(file_space);
    return result;
}

static int read_values(const sp_tree *tree, hid_t dataset, hid_t type, size_t size, uint64_t first,
                       uint64_t count, void *out, sp_error *error)
{
    char *next = out;
    while (count > 0) {
        uint64_t piece = count < SP_TREE_PIECE ? count : SP_TREE_PIECE;
        if (read_piece(dataset, type, H5P_DEFAULT, first, piece, next) < 0)
            return sp_library_unreadable(tree, error, "the values of a column");
        next += piece * size;
        first += piece;
        count -= piece;
    }
    return SP_OK;
}

int sp_library_read_integers(sp_tree *tree, const sp_tree_column *column, uint64_t first,
                             uint64_t count, bool is_unsigned, void *out, sp_error *error)
{
    if (column->type != SP_TREE_INTEGERS)
        return sp_tree_damaged(tree->context, error, "has a column that should hold integers");
    return read_values(tree, column->handle, is_unsigned ? sp_hdf5.uint64 : sp_hdf5.int64,
                       sizeof(int64_t), first, count, out, error);
}

int sp_library_read_reals(sp_tree *tree, const sp_tree_column *column, uint64_t first,
                          uint64_t count, double *out, sp_error *error)
{
    if (column->type != SP_TREE_REALS && column->type != SP_TREE_INTEGERS)
        return sp_tree_damaged(tree->context, error, "has a column that should hold numbers");
    return read_values(tree, column->handle, sp_hdf5.real, sizeof *out, first, count, out, error);
}

int sp_library_read_statistics(sp_tree *tree, const sp_tree_column *column, uint64_t first,
                               uint64_t count, sp_row_statistics *out, sp_error *error)
{
    if (column->type != SP_TREE_STATISTICS)
        return sp_tree_damaged(tree->context, error, "has a column that should hold statistics");
    hid_t type = sp_hdf5_statistics_type(sp_hdf5.int64, sp_hdf5.uint64, sp_hdf5.real);
    if (type < 0)
        return sp_library_unreadable(tree, error, "the values of a column");
    int status = read_values(tree, column->handle, type, sizeof *out, first, count, out, error);
    H5Tclose(type);
    return status;
}

/* ---- Texts -----------------------------------------------------------------------------------*/

static int read_fixed(sp_tree *tree, hid_t dataset, hid_t type, uint64_t first, uint64_t count,
                      const char **out, sp_error *error)
{
    size_t size = H5Tget_size(type);
    char *bytes = size <= SP_TREE_MAX_TEXT / TEXT_PIECE ? calloc((size_t)count, size) : NULL;
    if (bytes == NULL)
        return sp_fail_memory(error, "opening a profile");
    int status = read_piece(dataset, type, H5P_DEFAULT, first, count, bytes) < 0
                     ? sp_library_unreadable(tree, error, "a column of texts")
                     : sp_library_fixed_texts(tree, bytes, type, out, (size_t)count, error);
    free(bytes);
    return status;
}

static int read_variable(sp_tree *tree, hid_t dataset, hid_t type, uint64_t first, uint64_t count,
                         const char **out, sp_error *error)
{
    const sp_library *file = (const sp_library *)(const void *)tree;
    if (read_piece(dataset, type, file->text_transfer, first, count, out) < 0)
        return sp_library_unreadable(tree, error, "a column of texts");
    for (uint64_t i = 0; i < count; i++) {
        out[i] = sp_store_utf8(&tree->context->arena, out[i] == NULL ? "" : out[i]);
        if (out[i] == NULL)
            return sp_fail_memory(error, "opening a profile");
    }
    return SP_OK;
}

int sp_library_read_texts(sp_tree *tree, const sp_tree_column *column, uint64_t first,
                          uint64_t count, const char **out, sp_error *error)
{
    if (column->type != SP_TREE_TEXTS)
        return sp_tree_damaged(tree->context, error, "has a column that should hold texts");
    hid_t own = H5Dget_type(column->handle);
    hid_t type = own >= 0 ? sp_library_text_type(own) : -1;
    bool is_variable = own >= 0 && H5Tis_variable_str(own) > 0;
    int status = type < 0 ? sp_library_unreadable(tree, error, "a column of texts") : SP_OK;
    while (status == SP_OK && count > 0) {
        uint64_t piece = count < TEXT_PIECE ? count : TEXT_PIECE;
        status = is_variable ? read_variable(tree, column->handle, type, first, piece, out, error)
                             : read_fixed(tree, column->handle, type, first, piece, out, error);
        out += piece;
        first += piece;
        count -= piece;
    }
    if (type >= 0)
        H5Tclose(type);
    if (own >= 0)
        H5Tclose(own);
    return status;
}
