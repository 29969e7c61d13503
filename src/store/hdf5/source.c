#include "store/hdf5/source.h"

#include "base/error.h"
#include "store/hdf5/filter.h"
#include "store/hdf5/instance.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_UNPACKED = 16 << 20 /* bytes of a chunk that is unpacked here */ };

/* ---- What the column is made of ----------------------------------------------------------------*/

static H5Z_filter_t stage_id(hid_t properties, unsigned stage, unsigned *first_value)
{
    unsigned flags = 0, config = 0;
    size_t count = 1;
    *first_value = 0;
    return H5Pget_filter2(properties, stage, &flags, &count, first_value, 0, NULL, &config);
}

/* The codec of a pipeline of byte shuffle and one codec that can unpack; else NULL. */
static const sp_hdf5_codec *usual_codec(hid_t properties)
{
    unsigned width = 0, unused;
    if (H5Pget_nfilters(properties) != 2 ||
        stage_id(properties, 0, &width) != H5Z_FILTER_SHUFFLE || width != sizeof(int64_t))
        return NULL;
    const sp_hdf5_codec *codec = sp_hdf5_codec_of(stage_id(properties, 1, &unused));
    return codec != NULL && codec->unpack != NULL ? codec : NULL;
}

static bool holds_plain_integers(hid_t dataset)
{
    hid_t type = H5Dget_type(dataset);
    bool holds = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && type >= 0 &&
                 H5Tequal(type, sp_hdf5.file_int64) > 0;
    if (type >= 0)
        H5Tclose(type);
    return holds;
}

void sp_hdf5_source_init(sp_hdf5_source *source, const sp_hdf5_dataset *dataset)
{
    *source = (sp_hdf5_source){.dataset = dataset->id, .length = dataset->length};
    hsize_t chunk = 0;
    hid_t properties = H5Dget_create_plist(dataset->id);
    if (properties < 0)
        return;
    if (H5Pget_layout(properties) == H5D_CHUNKED && H5Pget_chunk(properties, 1, &chunk) == 1 &&
        chunk <= MAX_UNPACKED / sizeof(int64_t) && holds_plain_integers(dataset->id))
        source->codec = usual_codec(properties);
    source->chunk = chunk;
    H5Pclose(properties);
}

/* ---- Unpacking -------------------------------------------------------------------------------*/

static bool make_buffers(sp_hdf5_source *source, size_t packed_size)
{
    size_t bytes = (size_t)source->chunk * sizeof(int64_t);
    if (source->values == NULL)
        source->values = malloc(bytes);
    if (source->shuffled == NULL)
        source->shuffled = malloc(bytes);
    if (packed_size > source->packed_room) {
        free(source->packed);
        source->packed = malloc(packed_size);
        source->packed_room = source->packed == NULL ? 0 : packed_size;
    }
    return source->values != NULL && source->shuffled != NULL && source->packed != NULL;
}

/* One chunk as the file has it; false: let the library try. */
static bool unpack_chunk(const sp_store_reader *reader, sp_hdf5_source *source, uint64_t index)
{
    hsize_t offset = index * source->chunk, size = 0;
    size_t bytes = (size_t)source->chunk * sizeof(int64_t);
    uint32_t left_out = 0;
    if (H5Dget_chunk_storage_size(source->dataset, &offset, &size) < 0 || size == 0 ||
        size > reader->file_size || size > 2 * bytes + 4096 || !make_buffers(source, (size_t)size))
        return false;
    source->held = 0;
    if (H5Dread_chunk(source->dataset, H5P_DEFAULT, &offset, &left_out, source->packed) < 0)
        return false;
    const void *shuffled = source->shuffled;
    if (left_out == SP_HDF5_CODEC_STAGE && size == bytes)
        shuffled = source->packed;
    else if (left_out != 0 ||
             !source->codec->unpack(source->packed, (size_t)size, source->shuffled, bytes))
        return false;
    sp_hdf5_unshuffle(source->values, shuffled, (size_t)source->chunk);
    source->held = index + 1;
    return true;
}

int sp_hdf5_source_read(const sp_store_reader *reader, sp_hdf5_source *source, uint64_t first,
                        uint64_t count, int64_t *out, sp_error *error)
{
    while (source->codec != NULL && count > 0) {
        uint64_t index = first / source->chunk, inside = first % source->chunk;
        uint64_t piece = source->chunk - inside < count ? source->chunk - inside : count;
        if (source->held != index + 1 && !unpack_chunk(reader, source, index))
            break;
        memcpy(out, source->values + inside, (size_t)piece * sizeof *out);
        out += piece;
        first += piece;
        count -= piece;
    }
    return sp_hdf5_read_range(reader, source->dataset, sp_hdf5.int64, sizeof *out, first, count,
                              out, error);
}

void sp_hdf5_source_release(sp_hdf5_source *source)
{
    if (source->dataset > 0)
        H5Dclose(source->dataset);
    free(source->values);
    free(source->shuffled);
    free(source->packed);
    *source = (sp_hdf5_source){0};
}
