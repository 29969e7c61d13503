#include "store/hdf5/values.h"

#include "base/error.h"
#include "store/description.h"
#include "store/hdf5/instance.h"
#include "store/hdf5/trouble.h"

#include <stdlib.h>
#include <string.h>

/* What a stored byte may at most become: bounds of deflate (1032) and of the others are far below,
 * and nothing is ever allocated by this number alone. */
enum { MAX_EXPANSION = 1 << 16, MAX_CHUNK_BYTES = 1 << 30, MAX_FILTERS = 8 };
enum { MODEST_BYTES = 64 << 20, MODEST_EXPANSION = 64, CHUNK_CACHE = 1 << 20, MAX_TEXT = 1 << 20 };

bool sp_hdf5_has_member(hid_t group, const char *name)
{
    H5L_info_t info;
    /* Links to other files would make a profile read what its user never named. */
    return H5Lexists(group, name, H5P_DEFAULT) > 0 &&
           H5Lget_info(group, name, &info, H5P_DEFAULT) >= 0 && info.type == H5L_TYPE_HARD;
}

int sp_hdf5_open_group(const sp_store_reader *reader, hid_t parent, const char *name,
                       sp_hdf5_need need, hid_t *out, sp_error *error)
{
    *out = 0;
    if (!sp_hdf5_has_member(parent, name)) {
        if (need == SP_HDF5_OPTIONAL)
            return SP_OK;
        return sp_hdf5_damaged(reader, error, "lacks the group '%s'", name);
    }
    hid_t group = H5Gopen2(parent, name, H5P_DEFAULT);
    if (group < 0)
        return sp_hdf5_unreadable(reader, error, name);
    *out = group;
    return SP_OK;
}

/* ---- Checks ----------------------------------------------------------------------------------*/

static int check_filters(const sp_store_reader *reader, hid_t properties, const char *name,
                         int *out_count, sp_error *error)
{
    int count = H5Pget_nfilters(properties);
    if (count < 0 || count > MAX_FILTERS)
        return sp_hdf5_unreadable(reader, error, name);
    for (int i = 0; i < count; i++) {
        unsigned flags = 0, config = 0;
        size_t values = 0;
        char label[64] = "";
        H5Z_filter_t id = H5Pget_filter2(properties, (unsigned)i, &flags, &values, NULL,
                                         sizeof label, label, &config);
        if (id < 0)
            return sp_hdf5_unreadable(reader, error, name);
        if (H5Zfilter_avail(id) <= 0)
            return sp_fail(error, SP_ERR_UNSUPPORTED,
                           "'%s' is compressed with a filter that this build lacks: number %d %s",
                           reader->path, (int)id, label);
    }
    *out_count = count;
    return SP_OK;
}

/* The library allocates whole chunks on the word of the file. */
static bool chunk_is_sane(const sp_store_reader *reader, hid_t properties, size_t type_size,
                          bool is_filtered)
{
    hsize_t chunk = 0;
    if (H5Pget_layout(properties) != H5D_CHUNKED)
        return true;
    if (H5Pget_chunk(properties, 1, &chunk) != 1 || chunk == 0 ||
        chunk > MAX_CHUNK_BYTES / type_size)
        return false;
    uint64_t bytes = chunk * type_size;
    return bytes <= CHUNK_CACHE || bytes / (is_filtered ? MAX_EXPANSION : 1) <= reader->file_size;
}

static bool storage_is_sane(const sp_store_reader *reader, hid_t dataset, hid_t properties,
                            size_t type_size, bool is_filtered, uint64_t length)
{
    H5D_layout_t layout = H5Pget_layout(properties);
    if (layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED && layout != H5D_COMPACT)
        return false;
    if (H5Pget_external_count(properties) != 0)
        return false;
    if (!chunk_is_sane(reader, properties, type_size, is_filtered))
        return false;
    if (length == 0)
        return true;
    uint64_t expansion = is_filtered ? MAX_EXPANSION : 1;
    uint64_t stored = H5Dget_storage_size(dataset);
    if (length > UINT64_MAX / type_size)
        return false;
    uint64_t needed = (length * type_size + expansion - 1) / expansion;
    return needed <= stored && needed <= reader->file_size;
}

/* A text of variable length takes this much in the file, whatever the library says of its type. */
static size_t stored_size(hid_t type)
{
    enum { REFERENCE = 16 };
    return H5Tis_variable_str(type) > 0 ? REFERENCE : H5Tget_size(type);
}

static int check_dataset(const sp_store_reader *reader, const char *name, hid_t type, hid_t space,
                         hid_t properties, sp_hdf5_dataset *dataset, sp_error *error)
{
    hsize_t length = 0;
    int filters = 0;
    if (type < 0 || space < 0 || properties < 0)
        return sp_hdf5_unreadable(reader, error, name);
    dataset->type_class = H5Tget_class(type);
    size_t size = stored_size(type);
    if (size == 0 || H5Sget_simple_extent_type(space) != H5S_SIMPLE ||
        H5Sget_simple_extent_ndims(space) != 1 ||
        H5Sget_simple_extent_dims(space, &length, NULL) != 1)
        return sp_hdf5_damaged(reader, error, "has a dataset '%s' that is no column", name);
    dataset->length = length;
    int status = check_filters(reader, properties, name, &filters, error);
    if (status == SP_OK && !storage_is_sane(reader, dataset->id, properties, size, filters > 0,
                                            length))
        status = sp_hdf5_damaged(reader, error, "claims %llu values in '%s', more than it stores",
                                 (unsigned long long)length, name);
    return status;
}

/* Chunks that are larger than the library's cache would be unpacked again for every piece. */
static hid_t access_properties(hid_t dataset)
{
    enum { HASH_SLOTS = 521 };
    hid_t properties = H5Dget_create_plist(dataset), access = -1;
    hsize_t chunk = 0;
    hid_t type = H5Dget_type(dataset);
    if (properties >= 0 && type >= 0 && H5Pget_layout(properties) == H5D_CHUNKED &&
        H5Pget_chunk(properties, 1, &chunk) == 1 && H5Tget_size(type) > 0 &&
        chunk > CHUNK_CACHE / H5Tget_size(type)) {
        access = H5Pcreate(sp_hdf5.dataset_access);
        H5Pset_chunk_cache(access, HASH_SLOTS, (size_t)chunk * H5Tget_size(type), 1.0);
    }
    if (type >= 0)
        H5Tclose(type);
    if (properties >= 0)
        H5Pclose(properties);
    return access;
}

static hid_t open_again(hid_t group, const char *name, hid_t dataset)
{
    hid_t access = access_properties(dataset);
    if (access < 0)
        return dataset;
    H5Dclose(dataset);
    dataset = H5Dopen2(group, name, access);
    H5Pclose(access);
    return dataset;
}

int sp_hdf5_open_dataset(const sp_store_reader *reader, hid_t group, const char *name,
                         sp_hdf5_need need, sp_hdf5_dataset *out, sp_error *error)
{
    *out = (sp_hdf5_dataset){0};
    if (!sp_hdf5_has_member(group, name)) {
        if (need == SP_HDF5_OPTIONAL)
            return SP_OK;
        return sp_hdf5_damaged(reader, error, "lacks the dataset '%s'", name);
    }
    hid_t id = H5Dopen2(group, name, H5P_DEFAULT);
    if (id < 0)
        return sp_hdf5_unreadable(reader, error, name);
    out->id = id;
    hid_t type = H5Dget_type(id), space = H5Dget_space(id), properties = H5Dget_create_plist(id);
    int status = check_dataset(reader, name, type, space, properties, out, error);
    if (properties >= 0)
        H5Pclose(properties);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (status == SP_OK)
        out->id = open_again(group, name, out->id);
    if (status == SP_OK && out->id < 0)
        return sp_hdf5_unreadable(reader, error, name);
    if (status != SP_OK)
        sp_hdf5_close_dataset(out);
    return status;
}

void sp_hdf5_close_dataset(sp_hdf5_dataset *dataset)
{
    if (dataset->id > 0)
        H5Dclose(dataset->id);
    dataset->id = 0;
}

bool sp_hdf5_is_modest(const sp_store_reader *reader, const sp_hdf5_dataset *dataset)
{
    return dataset->length <=
           (MODEST_BYTES + MODEST_EXPANSION * reader->file_size) / sizeof(int64_t);
}

/* ---- Reading ---------------------------------------------------------------------------------*/

static herr_t read_piece(hid_t dataset, hid_t type, hid_t transfer, uint64_t first, uint64_t count,
                         void *out)
{
    hsize_t start = first, length = count;
    hid_t file_space = H5Dget_space(dataset);
    hid_t memory_space = H5Screate_simple(1, &length, NULL);
    herr_t result = -1;
    if (file_space >= 0 && memory_space >= 0 &&
        H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &start, NULL, &length, NULL) >= 0)
        result = H5Dread(dataset, type, memory_space, file_space, transfer, out);
    if (memory_space >= 0)
        H5Sclose(memory_space);
    if (file_space >= 0)
        H5Sclose(file_space);
    return result;
}

int sp_hdf5_read_range(const sp_store_reader *reader, hid_t dataset, hid_t type, size_t type_size,
                       uint64_t first, uint64_t count, void *out, sp_error *error)
{
    char *next = out;
    while (count > 0) {
        uint64_t piece = count < SP_HDF5_READ_PIECE ? count : SP_HDF5_READ_PIECE;
        if (read_piece(dataset, type, H5P_DEFAULT, first, piece, next) < 0)
            return sp_hdf5_unreadable(reader, error, "a column");
        next += piece * type_size;
        first += piece;
        count -= piece;
    }
    return SP_OK;
}

/* ---- Texts -----------------------------------------------------------------------------------*/

/* Type to read texts of this type with: its own, variable or fixed, in memory. */
static hid_t memory_text_type(hid_t type)
{
    hid_t memory = H5Tcopy(sp_hdf5.c_string);
    if (memory < 0)
        return memory;
    H5T_cset_t encoding = H5Tget_cset(type);
    bool is_variable = H5Tis_variable_str(type) > 0;
    herr_t bad = H5Tset_size(memory, is_variable ? H5T_VARIABLE : H5Tget_size(type));
    if (bad >= 0 && (encoding == H5T_CSET_ASCII || encoding == H5T_CSET_UTF8))
        bad = H5Tset_cset(memory, encoding);
    if (bad >= 0 && !is_variable)
        bad = H5Tset_strpad(memory, H5Tget_strpad(type));
    if (bad < 0) {
        H5Tclose(memory);
        return -1;
    }
    return memory;
}

static const char *clean(sp_store_reader *reader, const char *text)
{
    return sp_store_utf8(&reader->arena, text == NULL ? "" : text);
}

/* A text of fixed length ends at its first NUL, or before the spaces that fill it. */
static const char *clean_fixed(sp_store_reader *reader, const char *bytes, size_t size,
                               bool is_space_padded)
{
    size_t length = strnlen(bytes, size);
    while (is_space_padded && length > 0 && bytes[length - 1] == ' ')
        length--;
    if (length > reader->text_budget)
        return NULL;
    reader->text_budget -= length;
    char *text = sp_arena_text_n(&reader->arena, bytes, length);
    return text == NULL ? NULL : clean(reader, text);
}

static int clean_all(sp_store_reader *reader, const char **texts, uint64_t count, sp_error *error)
{
    for (uint64_t i = 0; i < count; i++) {
        texts[i] = clean(reader, texts[i]);
        if (texts[i] == NULL)
            return sp_fail_memory(error, "opening a profile");
    }
    return SP_OK;
}

/* `bytes` holds `count` texts of `size` bytes. */
static int clean_all_fixed(sp_store_reader *reader, const char *bytes, size_t size, hid_t type,
                           const char **out, uint64_t count, sp_error *error)
{
    bool is_space_padded = H5Tget_strpad(type) == H5T_STR_SPACEPAD;
    for (uint64_t i = 0; i < count; i++) {
        out[i] = clean_fixed(reader, bytes + i * size, size, is_space_padded);
        if (out[i] == NULL)
            return sp_fail_memory(error, "opening a profile");
    }
    return SP_OK;
}

static int read_fixed_texts(sp_store_reader *reader, hid_t dataset, hid_t type, uint64_t first,
                            uint64_t count, const char **out, sp_error *error)
{
    size_t size = H5Tget_size(type);
    char *bytes = size <= MAX_TEXT ? calloc((size_t)count, size) : NULL;
    if (bytes == NULL)
        return sp_fail_memory(error, "opening a profile");
    int status = read_piece(dataset, type, H5P_DEFAULT, first, count, bytes) < 0
                     ? sp_hdf5_unreadable(reader, error, "a column of texts")
                     : clean_all_fixed(reader, bytes, size, type, out, count, error);
    free(bytes);
    return status;
}

int sp_hdf5_read_texts(sp_store_reader *reader, const sp_hdf5_dataset *dataset, uint64_t first,
                       uint64_t count, const char **out, sp_error *error)
{
    hid_t own = H5Dget_type(dataset->id);
    hid_t type = own >= 0 && dataset->type_class == H5T_STRING ? memory_text_type(own) : -1;
    bool is_variable = own >= 0 && H5Tis_variable_str(own) > 0;
    int status = SP_OK;
    if (type < 0)
        status = sp_hdf5_damaged(reader, error, "has a column that should hold texts");
    while (status == SP_OK && count > 0) {
        uint64_t piece = count < SP_HDF5_ROW_PIECE ? count : SP_HDF5_ROW_PIECE;
        if (!is_variable)
            status = read_fixed_texts(reader, dataset->id, type, first, piece, out, error);
        else if (read_piece(dataset->id, type, reader->text_transfer, first, piece, out) < 0)
            status = sp_hdf5_unreadable(reader, error, "a column of texts");
        else
            status = clean_all(reader, out, piece, error);
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

/* ---- Attributes ------------------------------------------------------------------------------*/

enum { MAX_ATTRIBUTE_VALUES = 1 << 20, MAX_ATTRIBUTE_BYTES = 64 << 20 };

static int read_variable_list(sp_store_reader *reader, hid_t attribute, hid_t type, hid_t space,
                              const char **out, size_t count, sp_error *error)
{
    /* Attributes take no transfer properties: the library allocates, and takes back. */
    char **texts = calloc(count, sizeof *texts);
    if (texts == NULL)
        return sp_fail_memory(error, "opening a profile");
    int status = H5Aread(attribute, type, texts) < 0
                     ? sp_hdf5_unreadable(reader, error, "an attribute")
                     : SP_OK;
    for (size_t i = 0; status == SP_OK && i < count; i++) {
        const char *copy = sp_arena_text(&reader->arena, texts[i] == NULL ? "" : texts[i]);
        out[i] = copy == NULL ? NULL : clean(reader, copy);
        if (out[i] == NULL)
            status = sp_fail_memory(error, "opening a profile");
    }
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts);
    free(texts);
    return status;
}

static int read_fixed_list(sp_store_reader *reader, hid_t attribute, hid_t type, const char **out,
                           size_t count, sp_error *error)
{
    size_t size = H5Tget_size(type);
    if (size == 0 || count > MAX_ATTRIBUTE_BYTES / size)
        return sp_hdf5_damaged(reader, error, "has an attribute that is too large");
    char *bytes = calloc(count, size);
    if (bytes == NULL)
        return sp_fail_memory(error, "opening a profile");
    int status = H5Aread(attribute, type, bytes) < 0
                     ? sp_hdf5_unreadable(reader, error, "an attribute")
                     : clean_all_fixed(reader, bytes, size, type, out, count, error);
    free(bytes);
    return status;
}

static int read_text_attribute(sp_store_reader *reader, hid_t attribute, hid_t own, hid_t space,
                               size_t count, sp_metadata_entry *out, sp_error *error)
{
    bool is_list = H5Sget_simple_extent_type(space) == H5S_SIMPLE;
    const char **texts = sp_arena_array(&reader->arena, count, sizeof *texts);
    hid_t type = memory_text_type(own);
    int status = SP_OK;
    if (texts == NULL)
        status = sp_fail_memory(error, "opening a profile");
    else if (type < 0)
        status = sp_hdf5_unreadable(reader, error, "an attribute");
    else if (count > 0 && H5Tis_variable_str(own) > 0)
        status = read_variable_list(reader, attribute, type, space, texts, count, error);
    else if (count > 0)
        status = read_fixed_list(reader, attribute, type, texts, count, error);
    if (type >= 0)
        H5Tclose(type);
    if (status != SP_OK)
        return status;
    out->kind = is_list ? SP_VALUE_TEXT_LIST : SP_VALUE_TEXT;
    if (is_list) {
        out->list = texts;
        out->list_length = count;
    } else
        out->text = count > 0 ? texts[0] : "";
    return SP_OK;
}

/* Numbers are single values; of a list of one number the number counts. */
static int read_number_attribute(const sp_store_reader *reader, hid_t attribute,
                                 H5T_class_t type_class, sp_metadata_entry *out, sp_error *error)
{
    herr_t bad;
    if (type_class == H5T_FLOAT) {
        out->kind = SP_VALUE_REAL;
        bad = H5Aread(attribute, sp_hdf5.real, &out->real);
    } else {
        out->kind = SP_VALUE_INTEGER;
        bad = H5Aread(attribute, sp_hdf5.int64, &out->integer);
    }
    return bad < 0 ? sp_hdf5_unreadable(reader, error, "an attribute") : SP_OK;
}

static int read_open_attribute(sp_store_reader *reader, hid_t attribute, hid_t type, hid_t space,
                               sp_metadata_entry *out, sp_error *error)
{
    H5S_class_t shape = H5Sget_simple_extent_type(space);
    hssize_t count = shape == H5S_NULL ? 0 : H5Sget_simple_extent_npoints(space);
    H5T_class_t type_class = H5Tget_class(type);
    if (shape == H5S_NO_CLASS || count < 0 || count > MAX_ATTRIBUTE_VALUES)
        return sp_hdf5_unreadable(reader, error, "an attribute");
    if (type_class == H5T_STRING)
        return read_text_attribute(reader, attribute, type, space, (size_t)count, out, error);
    /* A truth value is an enumeration of 0 and 1. */
    if (count == 1 &&
        (type_class == H5T_INTEGER || type_class == H5T_FLOAT || type_class == H5T_ENUM))
        return read_number_attribute(reader, attribute, type_class, out, error);
    return sp_fail(error, SP_ERR_NOT_FOUND, "the attribute '%s' is of no known type", out->key);
}

int sp_hdf5_read_attribute(sp_store_reader *reader, hid_t object, const char *name,
                           sp_metadata_entry *out, sp_error *error)
{
    const char *copy = sp_arena_text(&reader->arena, name);
    *out = (sp_metadata_entry){.key = copy == NULL ? NULL : clean(reader, copy)};
    if (out->key == NULL)
        return sp_fail_memory(error, "opening a profile");
    if (H5Aexists(object, name) <= 0)
        return sp_fail(error, SP_ERR_NOT_FOUND, "no attribute '%s'", name);
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0)
        return sp_hdf5_unreadable(reader, error, "an attribute");
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    int status = type < 0 || space < 0
                     ? sp_hdf5_unreadable(reader, error, "an attribute")
                     : read_open_attribute(reader, attribute, type, space, out, error);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    H5Aclose(attribute);
    return status;
}
