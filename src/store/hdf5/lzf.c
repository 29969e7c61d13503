/* LZF: a chunk is one stream of liblzf without a frame. The parameters are those that other readers
 * of the filter expect: its revision, the version of the algorithm, the bytes of a chunk. */
#include "store/hdf5/codec.h"

#include <lzf.h>

enum { LZF_ID = 32000, REVISION = 4, LARGEST_CHUNK = 1 << 30 };

static size_t parameters(int level, size_t chunk_bytes, unsigned out[SP_HDF5_MAX_PARAMETERS])
{
    (void)level;
    out[0] = REVISION;
    out[1] = LZF_VERSION;
    out[2] = (unsigned)chunk_bytes;
    return 3;
}

/* The method keeps no state; its address stands for one. */
static void *start(int level)
{
    static char nothing;
    (void)level;
    return &nothing;
}

static void stop(void *state)
{
    (void)state;
}

static size_t bound(void *state, size_t size)
{
    (void)state;
    return size;
}

static size_t pack(void *state, const void *in, size_t size, void *out, size_t room)
{
    (void)state;
    return lzf_compress(in, (unsigned)size, out, (unsigned)(room < size ? room : size));
}

static bool unpack(const void *in, size_t size, void *out, size_t out_size)
{
    return lzf_decompress(in, (unsigned)size, out, (unsigned)out_size) == out_size;
}

static size_t filter_pack(size_t size, size_t *room, void **bytes)
{
    void *packed = size > 0 && size < LARGEST_CHUNK ? H5allocate_memory(size, 0) : NULL;
    if (packed == NULL)
        return 0;
    size_t used = lzf_compress(*bytes, (unsigned)size, packed, (unsigned)size);
    if (used == 0) {
        H5free_memory(packed);
        return 0;
    }
    H5free_memory(*bytes);
    *bytes = packed;
    *room = size;
    return used;
}

/* The third parameter says how much comes out. It is a claim of the file, so it only sizes the
 * buffer, which grows up to a limit while the stream turns out to be longer. */
static size_t filter_unpack(size_t count, const unsigned values[], size_t size, size_t *room,
                            void **bytes)
{
    size_t wanted = count >= 3 && values[2] != 0 ? values[2] : *room;
    for (; wanted > 0 && wanted <= LARGEST_CHUNK; wanted *= 2) {
        void *unpacked = H5allocate_memory(wanted, 0);
        if (unpacked == NULL)
            return 0;
        size_t used = lzf_decompress(*bytes, (unsigned)size, unpacked, (unsigned)wanted);
        if (used > 0) {
            H5free_memory(*bytes);
            *bytes = unpacked;
            *room = wanted;
            return used;
        }
        H5free_memory(unpacked);
        /* A stream cannot expand by more than its longest back reference. */
        if (wanted / 300 > size)
            return 0;
    }
    return 0;
}

static size_t filter(unsigned flags, size_t count, const unsigned values[], size_t size,
                     size_t *room, void **bytes)
{
    return (flags & H5Z_FLAG_REVERSE) != 0 ? filter_unpack(count, values, size, room, bytes)
                                           : filter_pack(size, room, bytes);
}

static const H5Z_class2_t FILTER = {
    .version = H5Z_CLASS_T_VERS,
    .id = LZF_ID,
    .encoder_present = 1,
    .decoder_present = 1,
    .name = "lzf",
    .filter = filter,
};

const sp_hdf5_codec sp_hdf5_codec_lzf = {
    .name = "lzf",
    .id = LZF_ID,
    .parameters = parameters,
    .filter = &FILTER,
    .start = start,
    .stop = stop,
    .bound = bound,
    .pack = pack,
    .unpack = unpack,
};
