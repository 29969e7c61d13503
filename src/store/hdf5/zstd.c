/* Zstandard: a chunk is one frame. */
#include "store/hdf5/codec.h"

#include <zstd.h>

enum { ZSTD_ID = 32015, LOWEST = 1, HIGHEST = 22, DEFAULT = 3, LARGEST_CHUNK = 1 << 30 };


static size_t parameters(int level, size_t chunk_bytes, unsigned out[SP_HDF5_MAX_PARAMETERS])
{
    (void)chunk_bytes;
    out[0] = (unsigned)level;
    return 1;
}

static void *start(int level)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    if (context != NULL)
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    return context;
}

static void stop(void *state)
{
    ZSTD_freeCCtx(state);
}

static size_t bound(void *state, size_t size)
{
    (void)state;
    return ZSTD_compressBound(size);
}

static size_t pack(void *state, const void *in, size_t size, void *out, size_t room)
{
    size_t used = ZSTD_compress2(state, out, room, in, size);
    return ZSTD_isError(used) ? 0 : used;
}

static bool unpack(const void *in, size_t size, void *out, size_t out_size)
{
    return ZSTD_decompress(out, out_size, in, size) == out_size;
}

static size_t filter_pack(int level, size_t size, size_t *room, void **bytes)
{
    size_t wanted = ZSTD_compressBound(size);
    void *packed = H5allocate_memory(wanted, 0);
    if (packed == NULL)
        return 0;
    size_t used = ZSTD_compress(packed, wanted, *bytes, size, level);
    if (ZSTD_isError(used)) {
        H5free_memory(packed);
        return 0;
    }
    H5free_memory(*bytes);
    *bytes = packed;
    *room = wanted;
    return used;
}

static size_t filter_unpack(size_t size, size_t *room, void **bytes)
{
    unsigned long long wanted = ZSTD_getFrameContentSize(*bytes, size);
    if (wanted == ZSTD_CONTENTSIZE_ERROR || wanted == ZSTD_CONTENTSIZE_UNKNOWN || wanted == 0 ||
        wanted > LARGEST_CHUNK)
        return 0;
    void *unpacked = H5allocate_memory((size_t)wanted, 0);
    if (unpacked == NULL)
        return 0;
    size_t used = ZSTD_decompress(unpacked, (size_t)wanted, *bytes, size);
    if (ZSTD_isError(used)) {
        H5free_memory(unpacked);
        return 0;
    }
    H5free_memory(*bytes);
    *bytes = unpacked;
    *room = (size_t)wanted;
    return used;
}

static size_t filter(unsigned flags, size_t count, const unsigned values[], size_t size,
                     size_t *room, void **bytes)
{
    if ((flags & H5Z_FLAG_REVERSE) != 0)
        return filter_unpack(size, room, bytes);
    return filter_pack(count > 0 ? (int)values[0] : DEFAULT, size, room, bytes);
}

static const H5Z_class2_t FILTER = {
    .version = H5Z_CLASS_T_VERS,
    .id = ZSTD_ID,
    .encoder_present = 1,
    .decoder_present = 1,
    .name = "zstd",
    .filter = filter,
};

const sp_hdf5_codec sp_hdf5_codec_zstd = {
    .name = "zstd",
    .id = ZSTD_ID,
    .lowest_level = LOWEST,
    .highest_level = HIGHEST,
    .default_level = DEFAULT,
    .parameters = parameters,
    .filter = &FILTER,
    .start = start,
    .stop = stop,
    .bound = bound,
    .pack = pack,
    .unpack = unpack,
};
