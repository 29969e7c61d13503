/* codec.h - one compression method. Each lies in a file of its own; where the library that it needs
 * is not there when building, <name>_missing.c takes its place and says so. */
#ifndef SP_STORE_HDF5_CODEC_H
#define SP_STORE_HDF5_CODEC_H

#include "scope_plugin.h"

#include <hdf5.h>

enum { SP_HDF5_MAX_PARAMETERS = 3 };

typedef struct sp_hdf5_codec {
    const char *name;    /* of the setting */
    H5Z_filter_t id;     /* registered number */
    const char *missing; /* what the build lacked; NULL: nothing, the codec works */
    int lowest_level, highest_level, default_level;

    /* Parameters stored with the filter; returns how many. */
    size_t (*parameters)(int level, size_t chunk_bytes, unsigned out[SP_HDF5_MAX_PARAMETERS]);
    /* Registered with the library at first use; NULL: the library has the filter itself. */
    const H5Z_class2_t *filter;

    /* Packing whole chunks; all NULL when only the library can. `start` makes the state of a
     * level, NULL when memory is short. */
    void *(*start)(int level);
    void (*stop)(void *state);
    /* Room that packing `size` bytes may need. */
    size_t (*bound)(void *state, size_t size);
    /* Bytes written to `out`; 0: no smaller than the input. */
    size_t (*pack)(void *state, const void *in, size_t size, void *out, size_t room);
    /* Unpacks to exactly `out_size` bytes; false when the input is no such thing. NULL: only the
     * library can. */
    bool (*unpack)(const void *in, size_t size, void *out, size_t out_size);
} sp_hdf5_codec;

extern const sp_hdf5_codec sp_hdf5_codec_gzip, sp_hdf5_codec_lzf, sp_hdf5_codec_zstd;

#endif
