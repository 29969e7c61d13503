/* Attributes and texts through the library. */
#include "store/hdf5/library_int.h"

#include "base/error.h"
#include "store/hdf5/instance.h"

#include <stdlib.h>
#include <string.h>

/* ---- Texts -----------------------------------------------------------------------------------*/

hid_t sp_library_text_type(hid_t type)
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

int sp_library_fixed_texts(sp_tree *tree, const char *bytes, hid_t type, const char **out,
                           size_t count, sp_error *error)
{
    size_t width = H5Tget_size(type);
    bool is_space_padded = H5Tget_strpad(type) == H5T_STR_SPACEPAD;
    for (size_t i = 0; i < count; i++) {
        const char *text = bytes + i * width;
        size_t size = width;
        while (is_space_padded && size > 0 && text[size - 1] == ' ')
            size--;
        out[i] = sp_tree_text(tree->context, text, size);
        if (out[i] == NULL)
            return sp_fail_memory(error, "opening a profile");
    }
    return SP_OK;
}

/* ---- Attributes ------------------------------------------------------------------------------*/

static int read_variable_list(sp_tree *tree, hid_t attribute, hid_t type, hid_t space,
                              const char **out, size_t count, sp_error *error)
{
    /* Attributes take no transfer properties: the library allocates, and takes back. */
    char **texts = calloc(count, sizeof *texts);
    if (texts == NULL)
        return sp_fail_memory(error, "opening a profile");
    int status = H5Aread(attribute, type, texts) < 0
                     ? sp_library_unreadable(tree, error, "an attribute")
                     : SP_OK;
    for (size_t i = 0; status == SP_OK && i < count; i++) {
        const char *text = texts[i] == NULL ? "" : texts[i];
        out[i] = sp_tree_text(tree->context, text, strlen(text));
        if (out[i] == NULL)
            status = sp_fail_memory(error, "opening a profile");
    }
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts);
    free(texts);
    return status;
}

static int read_fixed_list(sp_tree *tree, hid_t attribute, hid_t type, const char **out,
                           size_t count, sp_error *error)
{
    size_t size = H5Tget_size(type);
    char *bytes = size > 0 && count <= SP_TREE_MAX_TEXT / size ? calloc(count, size) : NULL;
    if (bytes == NULL)
        return sp_fail_memory(error, "opening a profile");
    int status = H5Aread(attribute, type, bytes) < 0
                     ? sp_library_unreadable(tree, error, "an attribute")
                     : sp_library_fixed_texts(tree, bytes, type, out, count, error);
    free(bytes);
    return status;
}

static int read_texts(sp_tree *tree, hid_t attribute, hid_t own, hid_t space, size_t count,
                      sp_metadata_entry *out, sp_error *error)
{
    const char **texts = sp_arena_array(&tree->context->arena, count, sizeof *texts);
    hid_t type = sp_library_text_type(own);
    int status = SP_OK;
    if (texts == NULL)
        status = sp_fail_memory(error, "opening a profile");
    else if (type < 0)
        status = sp_library_unreadable(tree, error, "an attribute");
    else if (count > 0 && H5Tis_variable_str(own) > 0)
        status = read_variable_list(tree, attribute, type, space, texts, count, error);
    else if (count > 0)
        status = read_fixed_list(tree, attribute, type, texts, count, error);
    if (type >= 0)
        H5Tclose(type);
    if (status != SP_OK)
        return status;
    if (H5Sget_simple_extent_type(space) == H5S_SIMPLE) {
        out->kind = SP_VALUE_TEXT_LIST;
        out->list = texts;
        out->list_length = count;
    } else {
        out->kind = SP_VALUE_TEXT;
        out->text = count > 0 ? texts[0] : "";
    }
    return SP_OK;
}

static int read_number(const sp_tree *tree, hid_t attribute, H5T_class_t type_class,
                       sp_metadata_entry *out, sp_error *error)
{
    bool is_real = type_class == H5T_FLOAT;
    out->kind = is_real ? SP_VALUE_REAL : SP_VALUE_INTEGER;
    herr_t bad = is_real ? H5Aread(attribute, sp_hdf5.real, &out->real)
                         : H5Aread(attribute, sp_hdf5.int64, &out->integer);
    return bad < 0 ? sp_library_unreadable(tree, error, "an attribute") : SP_OK;
}

static int read_open(sp_tree *tree, hid_t attribute, hid_t type, hid_t space,
                     sp_metadata_entry *out, sp_error *error)
{
    H5S_class_t shape = H5Sget_simple_extent_type(space);
    hssize_t count = shape == H5S_NULL ? 0 : H5Sget_simple_extent_npoints(space);
    H5T_class_t type_class = H5Tget_class(type);
    if (shape == H5S_NO_CLASS || count < 0 || count > SP_TREE_MAX_LIST)
        return sp_library_unreadable(tree, error, "an attribute");
    if (type_class == H5T_STRING)
        return read_texts(tree, attribute, type, space, (size_t)count, out, error);
    /* A truth value is an enumeration of 0 and 1. */
    if (count == 1 &&
        (type_class == H5T_INTEGER || type_class == H5T_FLOAT || type_class == H5T_ENUM))
        return read_number(tree, attribute, type_class, out, error);
    return sp_fail(error, SP_ERR_NOT_FOUND, "the attribute '%s' is of no known type", out->key);
}

int sp_library_read_attribute(sp_tree *tree, sp_tree_handle group, const char *name,
                              sp_metadata_entry *out, sp_error *error)
{
    if (H5Aexists(group, name) <= 0)
        return sp_fail(error, SP_ERR_NOT_FOUND, "no attribute '%s'", name);
    sp_metadata_entry entry = {.key = sp_tree_text(tree->context, name, strlen(name))};
    if (entry.key == NULL)
        return sp_fail_memory(error, "opening a profile");
    hid_t attribute = H5Aopen(group, name, H5P_DEFAULT);
    if (attribute < 0)
        return sp_library_unreadable(tree, error, "an attribute");
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    int status = type < 0 || space < 0
                     ? sp_library_unreadable(tree, error, "an attribute")
                     : read_open(tree, attribute, type, space, &entry, error);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    H5Aclose(attribute);
    if (status == SP_OK)
        *out = entry;
    return status;
}
