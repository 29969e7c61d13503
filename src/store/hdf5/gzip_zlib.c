/* Deflate by zlib, where libdeflate is not there. */
#include "store/hdf5/gzip_parameters.h"

#include <zlib.h>

#include <stdlib.h>

static void *start(int level)
{
    int *state = malloc(sizeof *state);
    if (state != NULL)
        *state = level;
    return state;
}

static void stop(void *state)
{
    free(state);
}

static size_t bound(void *state, size_t size)
{
    (void)state;
    return compressBound(size);
}

static size_t pack(void *state, const void *in, size_t size, void *out, size_t room)
{
    uLongf used = room;
    return compress2(out, &used, in, size, *(const int *)state) == Z_OK ? used : 0;
}

static bool unpack(const void *in, size_t size, void *out, size_t out_size)
{
    uLongf used = out_size;
    return uncompress(out, &used, in, size) == Z_OK && used == out_size;
}

const sp_hdf5_codec sp_hdf5_codec_gzip = {
    .name = "gzip",
    .id = H5Z_FILTER_DEFLATE,
    .lowest_level = SP_HDF5_GZIP_LOWEST,
    .highest_level = SP_HDF5_GZIP_HIGHEST,
    .default_level = SP_HDF5_GZIP_DEFAULT,
    .parameters = sp_hdf5_gzip_parameters,
    .start = start,
    .stop = stop,
    .bound = bound,
    .pack = pack,
    .unpack = unpack,
};
