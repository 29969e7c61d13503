#include "store/hdf5/column.h"

#include "base/error.h"
#include "store/hdf5/instance.h"
#include "store/hdf5/trouble.h"

#include <string.h>

enum { REPEAT_PIECE = 1024, WRITE_PIECE = 128 * 1024 /* values */ };

static size_t memory_size(sp_hdf5_kind kind)
{
    switch (kind) {
    case SP_HDF5_TEXT:
        return sizeof(char *);
    case SP_HDF5_STATISTICS:
        return sizeof(sp_row_statistics);
    default:
        return sizeof(int64_t);
    }
}

static hid_t memory_type(const sp_hdf5_sink *sink, sp_hdf5_kind kind)
{
    switch (kind) {
    case SP_HDF5_TEXT:
        return sink->text_type;
    case SP_HDF5_STATISTICS:
        return sink->statistics_memory;
    case SP_HDF5_REAL:
        return sp_hdf5.real;
    case SP_HDF5_UINT32:
    case SP_HDF5_UINT64:
        return sp_hdf5.uint64;
    default:
        return sp_hdf5.int64;
    }
}

static hid_t file_type(const sp_hdf5_sink *sink, sp_hdf5_kind kind)
{
    switch (kind) {
    case SP_HDF5_TEXT:
        return sink->text_type;
    case SP_HDF5_STATISTICS:
        return sink->statistics_type;
    case SP_HDF5_REAL:
        return sp_hdf5.file_real;
    case SP_HDF5_UINT64:
        return sp_hdf5.file_uint64;
    case SP_HDF5_UINT32:
        return sp_hdf5.file_uint32;
    case SP_HDF5_INT8:
        return sp_hdf5.file_int8;
    default:
        return sp_hdf5.file_int64;
    }
}

static int failed(const sp_hdf5_column *column, sp_error *error)
{
    return sp_hdf5_fail(error, SP_ERR_IO, "cannot write the dataset '%s'", column->name);
}

static uint64_t staged_count(const sp_hdf5_column *column)
{
    return column->staged.count / memory_size(column->kind);
}

uint64_t sp_hdf5_column_count(const sp_hdf5_column *column)
{
    return column->written + staged_count(column);
}

/* Chunks go to the library as the bytes that will be in the file: 8-byte values of a machine with
 * the byte order of the file. */
static bool writes_whole_chunks(const sp_hdf5_column *column)
{
    bool is_8_bytes = column->kind == SP_HDF5_INT64 || column->kind == SP_HDF5_UINT64 ||
                      column->kind == SP_HDF5_REAL;
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && is_8_bytes &&
           column->chunk <= SP_HDF5_MAX_PACKED / sizeof(int64_t) &&
           sp_hdf5_packer_can(&column->filter);
}

/* ---- Creating --------------------------------------------------------------------------------*/

static hid_t creation_properties(const sp_hdf5_column *column, bool is_chunked)
{
    hid_t properties = H5Pcreate(sp_hdf5.dataset_create);
    if (properties < 0)
        return properties;
    hsize_t chunk = column->chunk;
    herr_t bad = H5Pset_obj_track_times(properties, 0);
    if (bad >= 0 && is_chunked)
        bad = H5Pset_chunk(properties, 1, &chunk);
    if (bad >= 0 && is_chunked)
        bad = sp_hdf5_filter_apply(&column->filter, properties,
                                   (size_t)column->chunk * memory_size(column->kind));
    if (bad < 0) {
        H5Pclose(properties);
        return -1;
    }
    return properties;
}

static int create_dataset(sp_hdf5_sink *sink, sp_hdf5_column *column, bool is_chunked,
                          uint64_t length, sp_error *error)
{
    hsize_t size = length, limit = H5S_UNLIMITED;
    hid_t space = H5Screate_simple(1, &size, is_chunked ? &limit : NULL);
    hid_t properties = creation_properties(column, is_chunked);
    hid_t dataset = -1;
    if (space >= 0 && properties >= 0)
        dataset = H5Dcreate2(column->group, column->name, file_type(sink, column->kind), space,
                             H5P_DEFAULT, properties, H5P_DEFAULT);
    int status = dataset < 0 ? failed(column, error) : SP_OK;
    if (dataset >= 0)
        column->dataset = dataset;
    if (properties >= 0)
        H5Pclose(properties);
    if (space >= 0)
        H5Sclose(space);
    return status;
}

/* ---- Writing ---------------------------------------------------------------------------------*/

/* Forgets the first `count` waiting values. */
static void drop_staged(sp_hdf5_sink *sink, sp_hdf5_column *column, uint64_t count)
{
    size_t bytes = (size_t)count * memory_size(column->kind);
    if (bytes == 0)
        return;
    memmove(column->staged.items, column->staged.items + bytes, column->staged.count - bytes);
    column->staged.count -= bytes;
    sink->waiting -= bytes;
}

static int write_range(sp_hdf5_sink *sink, sp_hdf5_column *column, uint64_t count,
                       const void *values, sp_error *error)
{
    hsize_t start = column->written, length = count;
    hid_t file_space = H5Dget_space(column->dataset);
    hid_t memory_space = H5Screate_simple(1, &length, NULL);
    herr_t bad = -1;
    if (file_space >= 0 && memory_space >= 0 &&
        H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &start, NULL, &length, NULL) >= 0)
        bad = H5Dwrite(column->dataset, memory_type(sink, column->kind), memory_space, file_space,
                       H5P_DEFAULT, values);
    int status = bad < 0 ? failed(column, error) : SP_OK;
    if (memory_space >= 0)
        H5Sclose(memory_space);
    if (file_space >= 0)
        H5Sclose(file_space);
    if (status == SP_OK)
        column->written += count;
    return status;
}

/* All waiting values into a dataset that is large enough, in pieces. */
static int write_staged(sp_hdf5_sink *sink, sp_hdf5_column *column, sp_error *error)
{
    size_t size = memory_size(column->kind);
    uint64_t left = staged_count(column);
    const unsigned char *values = column->staged.items;
    int status = SP_OK;
    while (status == SP_OK && left > 0) {
        uint64_t piece = left < WRITE_PIECE ? left : WRITE_PIECE;
        status = write_range(sink, column, piece, values, error);
        values += piece * size;
        left -= piece;
    }
    sink->waiting -= column->staged.count;
    column->staged.count = 0;
    return status;
}

static int extend_dataset(sp_hdf5_column *column, uint64_t length, sp_error *error)
{
    hsize_t size = length;
    return H5Dset_extent(column->dataset, &size) < 0 ? failed(column, error) : SP_OK;
}

int sp_hdf5_column_flush(sp_hdf5_sink *sink, sp_hdf5_column *column, sp_error *error)
{
    if (column->staged.count == 0)
        return SP_OK;
    int status = extend_dataset(column, sp_hdf5_column_count(column), error);
    return status == SP_OK ? write_staged(sink, column, error) : status;
}

/* One chunk that begins where the dataset ends. `values` holds a whole chunk, of which the first
 * `count` values count. */
static int write_chunk(sp_hdf5_sink *sink, sp_hdf5_column *column, const void *values,
                       uint64_t count, sp_error *error)
{
    sp_hdf5_packed packed;
    if (!sp_hdf5_pack(&sink->packer, &column->filter, values, (size_t)column->chunk, &packed))
        return sp_fail_memory(error, "compressing");
    int status = extend_dataset(column, column->written + count, error);
    if (status != SP_OK)
        return status;
    hsize_t offset = column->written;
    if (H5Dwrite_chunk(column->dataset, H5P_DEFAULT, packed.left_out, &offset, packed.size,
                       packed.bytes) < 0)
        return failed(column, error);
    column->written += count;
    return SP_OK;
}

/* Whole chunks among the waiting values. */
static int write_full_chunks(sp_hdf5_sink *sink, sp_hdf5_column *column, sp_error *error)
{
    uint64_t left = staged_count(column), done = 0;
    int status = SP_OK;
    while (status == SP_OK && left >= column->chunk) {
        status = write_chunk(sink, column, column->staged.items + done * sizeof(int64_t),
                             column->chunk, error);
        left -= column->chunk;
        done += column->chunk;
    }
    drop_staged(sink, column, done);
    return status;
}

/* The rest that fills no chunk, filled up with zeros that no reader sees. */
static int write_last_chunk(sp_hdf5_sink *sink, sp_hdf5_column *column, sp_error *error)
{
    uint64_t count = staged_count(column);
    if (count == 0)
        return SP_OK;
    size_t padding = (size_t)(column->chunk - count) * sizeof(int64_t);
    if (!sp_vector_reserve(&column->staged, padding))
        return sp_fail_memory(error, "writing calls");
    memset(column->staged.items + column->staged.count, 0, padding);
    int status = write_chunk(sink, column, column->staged.items, count, error);
    drop_staged(sink, column, count);
    return status;
}

/* ---- Appending -------------------------------------------------------------------------------*/

/* How many more values may wait before something has to be written. */
static uint64_t room_for(const sp_hdf5_column *column)
{
    if (column->dataset == 0)
        return UINT64_MAX;
    uint64_t chunk = writes_whole_chunks(column) ? column->chunk : WRITE_PIECE;
    uint64_t staged = staged_count(column);
    return staged < chunk ? chunk - staged : 0;
}

static int make_room(sp_hdf5_sink *sink, sp_hdf5_column *column, sp_error *error)
{
    return writes_whole_chunks(column) ? write_full_chunks(sink, column, error)
                                       : sp_hdf5_column_flush(sink, column, error);
}

int sp_hdf5_column_append(sp_hdf5_sink *sink, sp_hdf5_column *column, const void *values,
                          uint64_t count, sp_error *error)
{
    size_t size = memory_size(column->kind);
    const unsigned char *next = values;
    while (count > 0) {
        uint64_t room = room_for(column);
        uint64_t piece = count < room ? count : room;
        size_t bytes = (size_t)piece * size;
        if (!sp_vector_reserve(&column->staged, bytes))
            return sp_fail_memory(error, "writing a profile");
        memcpy(column->staged.items + column->staged.count, next, bytes);
        column->staged.count += bytes;
        sink->waiting += bytes;
        next += bytes;
        count -= piece;
        if (room_for(column) == 0) {
            int status = make_room(sink, column, error);
            if (status != SP_OK)
                return status;
        }
    }
    return SP_OK;
}

int sp_hdf5_column_repeat(sp_hdf5_sink *sink, sp_hdf5_column *column, const void *value,
                          uint64_t count, sp_error *error)
{
    unsigned char piece[REPEAT_PIECE * sizeof(int64_t)];
    for (size_t i = 0; i < REPEAT_PIECE; i++)
        memcpy(piece + i * sizeof(int64_t), value, sizeof(int64_t));
    int status = SP_OK;
    while (status == SP_OK && count > 0) {
        uint64_t step = count < REPEAT_PIECE ? count : REPEAT_PIECE;
        status = sp_hdf5_column_append(sink, column, piece, step, error);
        count -= step;
    }
    return status;
}

/* ---- Settling --------------------------------------------------------------------------------*/

int sp_hdf5_column_stream(sp_hdf5_sink *sink, sp_hdf5_column *column, sp_error *error)
{
    if (column->chunk == 0)
        column->chunk = column->large_chunk;
    int status = create_dataset(sink, column, true, 0, error);
    return status == SP_OK ? make_room(sink, column, error) : status;
}

/* A dataset of a length that is known. */
static int finish_small(sp_hdf5_sink *sink, sp_hdf5_column *column, sp_error *error)
{
    uint64_t count = staged_count(column);
    bool is_chunked = column->storage == SP_HDF5_CHUNKED || column->chunk > 0 ||
                      (column->storage == SP_HDF5_IF_LARGE && count > SP_HDF5_SMALL_EXTRA);
    if (!is_chunked) {
        int status = create_dataset(sink, column, false, count, error);
        return status == SP_OK ? write_staged(sink, column, error) : status;
    }
    if (column->chunk == 0)
        column->chunk = count == 0 ? 1 : count < column->large_chunk ? count : column->large_chunk;
    return create_dataset(sink, column, true, 0, error);
}

int sp_hdf5_column_finish(sp_hdf5_sink *sink, sp_hdf5_column *column, sp_error *error)
{
    int status = SP_OK;
    if (column->dataset == 0)
        status = finish_small(sink, column, error);
    if (status != SP_OK || column->staged.count == 0)
        return status;
    if (!writes_whole_chunks(column))
        return sp_hdf5_column_flush(sink, column, error);
    status = write_full_chunks(sink, column, error);
    return status == SP_OK ? write_last_chunk(sink, column, error) : status;
}

void sp_hdf5_column_release(sp_hdf5_sink *sink, sp_hdf5_column *column)
{
    if (column->dataset > 0)
        H5Dclose(column->dataset);
    column->dataset = 0;
    sink->waiting -= column->staged.count;
    sp_vector_release(&column->staged);
}
