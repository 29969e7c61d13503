#include "store/hdf5/attributes.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "store/description.h"
#include "store/hdf5/instance.h"
#include "store/hdf5/trouble.h"

#include <stdlib.h>
#include <string.h>

static hid_t name_properties(const char *name)
{
    hid_t properties = H5Pcreate(sp_hdf5.attribute_create);
    bool is_ascii = true;
    for (const char *c = name; *c != '\0'; c++)
        is_ascii = is_ascii && (unsigned char)*c < 0x80;
    if (properties >= 0 && !is_ascii)
        H5Pset_char_encoding(properties, H5T_CSET_UTF8);
    return properties;
}

static int put(hid_t object, const char *name, hid_t file_type, hid_t memory_type, hid_t space,
               const void *values, sp_error *error)
{
    hid_t properties = name_properties(name), attribute = -1;
    herr_t bad = -1;
    if (H5Aexists(object, name) > 0)
        H5Adelete(object, name);
    if (properties >= 0)
        attribute = H5Acreate2(object, name, file_type, space, properties, H5P_DEFAULT);
    if (attribute >= 0)
        bad = values == NULL ? 0 : H5Awrite(attribute, memory_type, values);
    int status = SP_OK;
    if (bad < 0)
        status = sp_hdf5_fail(error, SP_ERR_IO, "cannot write the metadata entry '%s'", name);
    if (attribute >= 0)
        H5Aclose(attribute);
    if (properties >= 0)
        H5Pclose(properties);
    return status;
}

static int put_scalar(hid_t object, const char *name, hid_t file_type, hid_t memory_type,
                      const void *value, sp_error *error)
{
    hid_t space = H5Screate(H5S_SCALAR);
    if (space < 0)
        return sp_hdf5_fail(error, SP_ERR_IO, "cannot write the metadata entry '%s'", name);
    int status = put(object, name, file_type, memory_type, space, value, error);
    H5Sclose(space);
    return status;
}

static int put_list(hid_t object, hid_t text_type, const sp_metadata_entry *entry, sp_arena *arena,
                    sp_error *error)
{
    hsize_t length = entry->list_length;
    const char **texts = sp_arena_array(arena, entry->list_length, sizeof *texts);
    for (size_t i = 0; texts != NULL && i < entry->list_length; i++) {
        texts[i] = sp_store_utf8(arena, entry->list[i]);
        if (texts[i] == NULL)
            texts = NULL;
    }
    if (texts == NULL)
        return sp_fail_memory(error, "writing metadata");
    hid_t space = H5Screate_simple(1, &length, NULL);
    if (space < 0)
        return sp_hdf5_fail(error, SP_ERR_IO, "cannot write the metadata entry '%s'", entry->key);
    int status = put(object, entry->key, text_type, text_type, space, length == 0 ? NULL : texts,
                     error);
    H5Sclose(space);
    return status;
}

static int put_long_list(hid_t object, hid_t text_type, const sp_metadata_entry *entry,
                         sp_error *error)
{
    sp_text json = {0};
    for (size_t i = 0; i < entry->list_length; i++) {
        sp_text_add(&json, i == 0 ? "[" : ", ");
        sp_json_string(&json, entry->list[i], strlen(entry->list[i]));
    }
    sp_text_add(&json, "]");
    int status = json.failed ? sp_fail_memory(error, "writing metadata")
                             : put_scalar(object, entry->key, text_type, text_type, &json.bytes,
                                          error);
    sp_text_release(&json);
    return status;
}

static int put_text(hid_t object, hid_t text_type, const sp_metadata_entry *entry, sp_arena *arena,
                    sp_error *error)
{
    const char *text = sp_store_utf8(arena, entry->text == NULL ? "" : entry->text);
    if (text == NULL)
        return sp_fail_memory(error, "writing metadata");
    return put_scalar(object, entry->key, text_type, text_type, &text, error);
}

int sp_hdf5_write_attribute(hid_t object, hid_t text_type, const sp_metadata_entry *entry,
                            sp_error *error)
{
    sp_arena arena = {0};
    sp_metadata_entry clean = *entry;
    int status = SP_OK;
    clean.key = sp_store_utf8(&arena, entry->key);
    if (clean.key == NULL)
        status = sp_fail_memory(error, "writing metadata");
    else if (clean.key[0] == '\0')
        status = sp_fail(error, SP_ERR_INVALID_ARGUMENT, "a metadata entry has an empty name");
    else if (entry->kind == SP_VALUE_INTEGER)
        status = put_scalar(object, clean.key, sp_hdf5.file_int64, sp_hdf5.int64, &clean.integer,
                            error);
    else if (entry->kind == SP_VALUE_REAL)
        status = put_scalar(object, clean.key, sp_hdf5.file_real, sp_hdf5.real, &clean.real, error);
    else if (entry->kind == SP_VALUE_TEXT)
        status = put_text(object, text_type, &clean, &arena, error);
    else if (entry->list_length > SP_HDF5_MAX_LIST)
        status = put_long_list(object, text_type, &clean, error);
    else
        status = put_list(object, text_type, &clean, &arena, error);
    sp_arena_release(&arena);
    return status;
}
