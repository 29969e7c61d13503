/* Counters and line records: the groups /rank<N>/ of the schema. */
#include "store/hdf5/writer_int.h"

#include "base/error.h"
#include "base/text.h"
#include "store/description.h"
#include "store/hdf5/attributes.h"
#include "store/hdf5/instance.h"
#include "store/hdf5/trouble.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Where a kind of records lies below the group of a rank. */
static const char *const PLACES[] = {
    [SP_RECORD_LIKWID] = "likwid",
    [SP_RECORD_LIKWID_ENVIRONMENT] = "likwid",
    [SP_RECORD_PERF_EVENTS] = "perf_events",
    [SP_RECORD_LINES] = "line_profile",
};

/* ---- Groups ----------------------------------------------------------------------------------*/

static int enter_group(hid_t parent, const char *name, hid_t *out, sp_error *error)
{
    if (H5Lexists(parent, name, H5P_DEFAULT) <= 0)
        return sp_hdf5_create_group(parent, name, out, error);
    hid_t group = H5Gopen2(parent, name, H5P_DEFAULT);
    if (group < 0)
        return sp_hdf5_fail(error, SP_ERR_IO, "cannot open the group '%s'", name);
    *out = group;
    return SP_OK;
}

static void close_group(hid_t group)
{
    if (group > 0)
        H5Gclose(group);
}

static uint64_t num_members(hid_t group)
{
    H5G_info_t info;
    return H5Gget_info(group, &info) < 0 ? 0 : info.nlinks;
}

/* A name for the group of a region: what would be a path gets another character, and a name that is
 * taken a number. The attribute `tag` has it as it is. */
static int create_named(hid_t parent, const char *key, hid_t *out, bool *out_is_renamed,
                        sp_error *error)
{
    sp_text name = {0};
    sp_text_add(&name, strcmp(key, ".") == 0 ? "|" : key);
    for (size_t i = 0; !name.failed && i < name.length; i++)
        if (name.bytes[i] == '/')
            name.bytes[i] = '|';
    size_t length = name.length;
    for (uint64_t n = 2; !name.failed && H5Lexists(parent, name.bytes, H5P_DEFAULT) > 0; n++) {
        name.length = length;
        sp_text_format(&name, "|%" PRIu64, n);
    }
    int status = name.failed ? sp_fail_memory(error, "writing counters")
                             : sp_hdf5_create_group(parent, name.bytes, out, error);
    if (status == SP_OK)
        *out_is_renamed = strcmp(name.bytes, key) != 0;
    sp_text_release(&name);
    return status;
}

/* ---- One record ------------------------------------------------------------------------------*/

static int write_values(hid_t group, const sp_record_values *values, sp_error *error)
{
    const struct {
        hid_t file, memory;
    } types[] = {
        [SP_RECORD_INT64] = {sp_hdf5.file_int64, sp_hdf5.int64},
        [SP_RECORD_UINT64] = {sp_hdf5.file_uint64, sp_hdf5.uint64},
        [SP_RECORD_REAL] = {sp_hdf5.file_real, sp_hdf5.real},
    };
    hsize_t size[2] = {values->count, 0};
    if (values->is_matrix) {
        size[0] = values->width == 0 ? 0 : values->count / values->width;
        size[1] = values->width;
    }
    hid_t space = H5Screate_simple(values->is_matrix ? 2 : 1, size, NULL);
    hid_t properties = H5Pcreate(sp_hdf5.dataset_create), dataset = -1;
    if (space >= 0 && properties >= 0 && H5Pset_obj_track_times(properties, 0) >= 0)
        dataset = H5Dcreate2(group, values->name, types[values->type].file, space, H5P_DEFAULT,
                             properties, H5P_DEFAULT);
    bool bad = dataset < 0 ||
               (values->count > 0 && H5Dwrite(dataset, types[values->type].memory, H5S_ALL, H5S_ALL,
                                              H5P_DEFAULT, values->values) < 0);
    int status = bad ? sp_hdf5_fail(error, SP_ERR_IO, "cannot write the dataset '%s'", values->name)
                     : SP_OK;
    if (dataset >= 0)
        H5Dclose(dataset);
    if (properties >= 0)
        H5Pclose(properties);
    if (space >= 0)
        H5Sclose(space);
    return status;
}

static int write_attributes(sp_store_writer *writer, hid_t group, const sp_record *record,
                            sp_error *error)
{
    int status = SP_OK;
    for (size_t i = 0; status == SP_OK && i < record->attributes.count; i++)
        status = sp_hdf5_write_attribute(group, writer->sink.text_type,
                                         &record->attributes.items[i], error);
    return status;
}

static int write_text(sp_store_writer *writer, hid_t group, const char *key, const char *text,
                      sp_error *error)
{
    const sp_metadata_entry entry = {.key = key, .kind = SP_VALUE_TEXT, .text = text};
    return sp_hdf5_write_attribute(group, writer->sink.text_type, &entry, error);
}

static int write_record(sp_store_writer *writer, hid_t parent, sp_record_kind kind,
                        const sp_record *record, sp_error *error)
{
    hid_t group = 0;
    char number[24];
    bool is_renamed = false;
    const char *key = sp_store_utf8(&writer->lasting, record->key == NULL ? "" : record->key);
    if (key == NULL)
        return sp_fail_memory(error, "writing counters");
    snprintf(number, sizeof number, "%" PRIu64, num_members(parent));
    int status = kind == SP_RECORD_LINES ? sp_hdf5_create_group(parent, number, &group, error)
                                         : create_named(parent, key, &group, &is_renamed, error);
    if (status == SP_OK)
        status = write_attributes(writer, group, record, error);
    if (status == SP_OK && (is_renamed || kind == SP_RECORD_LIKWID))
        status = write_text(writer, group, "tag", key, error);
    for (size_t i = 0; status == SP_OK && i < record->values.count; i++)
        status = write_values(group, &record->values.items[i], error);
    close_group(group);
    return status;
}

/* ---- Ranks -----------------------------------------------------------------------------------*/

static int count_regions(sp_store_writer *writer, hid_t likwid, hid_t regions, sp_error *error)
{
    const sp_metadata_entry entry = {.key = "num_regions", .kind = SP_VALUE_INTEGER,
                                     .integer = (int64_t)num_members(regions)};
    return sp_hdf5_write_attribute(likwid, writer->sink.text_type, &entry, error);
}

/* A record into the group of its rank, which the first one makes. */
static int place_record(sp_store_writer *writer, sp_record_kind kind, const sp_record *record,
                        sp_error *error)
{
    hid_t of_rank = 0, outer = 0, inner = 0;
    char name[24];
    bool is_likwid = kind == SP_RECORD_LIKWID || kind == SP_RECORD_LIKWID_ENVIRONMENT;
    snprintf(name, sizeof name, "rank%" PRIu32, record->rank);
    int status = enter_group(writer->file, name, &of_rank, error);
    if (status == SP_OK)
        status = enter_group(of_rank, PLACES[kind], &outer, error);
    if (status == SP_OK && is_likwid) /* there whether or not it has members */
        status = enter_group(outer, "regions", &inner, error);
    if (status == SP_OK && kind == SP_RECORD_LIKWID_ENVIRONMENT)
        status = write_attributes(writer, outer, record, error);
    else if (status == SP_OK)
        status = write_record(writer, is_likwid ? inner : outer, kind, record, error);
    if (status == SP_OK && is_likwid)
        status = count_regions(writer, outer, inner, error);
    close_group(inner);
    close_group(outer);
    close_group(of_rank);
    return status;
}

int sp_hdf5_write_records(sp_store_writer *writer, sp_record_kind kind, const char *json,
                          sp_error *error)
{
    sp_records records;
    int status = sp_records_parse(kind, json, &records, error);
    for (size_t i = 0; status == SP_OK && i < records.list.count; i++)
        status = place_record(writer, kind, &records.list.items[i], error);
    sp_records_release(&records);
    return status;
}
