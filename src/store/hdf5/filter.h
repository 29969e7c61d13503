/* filter.h - how the chunks of a column are compressed: bytes shuffled, then one codec. Chunks are
 * packed here and handed to the library whole, which is several times faster than its own filters;
 * they hold what those filters would have written, so any reader can read them. */
#ifndef SP_STORE_HDF5_FILTER_H
#define SP_STORE_HDF5_FILTER_H

#include "store/hdf5/codec.h"

typedef struct sp_hdf5_filter {
    const sp_hdf5_codec *codec; /* NULL: not compressed */
    int level;
} sp_hdf5_filter;

/* Filter of a compression name and a level (-1: its default). "auto" is not a codec.
 * SP_ERR_INVALID_ARGUMENT, or SP_ERR_UNSUPPORTED with what is missing. */
int sp_hdf5_filter_parse(const char *name, int level, sp_hdf5_filter *out, sp_error *error);

/* Makes the codecs that were built known to the library, where it does not know them yet. */
void sp_hdf5_filters_register(void);

/* Adds the filter to the properties of a dataset that is to be created. */
herr_t sp_hdf5_filter_apply(const sp_hdf5_filter *filter, hid_t properties, size_t chunk_bytes);

/* Codec of a registered number; NULL when this module does not know or did not build it. */
const sp_hdf5_codec *sp_hdf5_codec_of(H5Z_filter_t id);

/* Bit of the codec in the mask of stages that a chunk left out. */
enum { SP_HDF5_CODEC_STAGE = 1u << 1 };

/* Puts the bytes of `count` values of `width` bytes, stored first bytes first, back together. */
void sp_hdf5_unshuffle(void *values, const void *shuffled, size_t count, size_t width);

/* Packs chunks of 8-byte values. Zeroed memory is a packer that has not packed yet. */
typedef struct sp_hdf5_packer {
    unsigned char *shuffled, *packed;
    size_t shuffled_room, packed_room;
    void *state; /* of the codec, made for this filter: */
    sp_hdf5_filter made_for;
} sp_hdf5_packer;

typedef struct sp_hdf5_packed {
    const void *bytes; /* the packer's, until its next call; or the input itself */
    size_t size;
    uint32_t left_out; /* bit for each stage that was not applied */
} sp_hdf5_packed;

/* True when chunks of this filter can be packed here, or need no packing. */
bool sp_hdf5_packer_can(const sp_hdf5_filter *filter);

/* False when memory is short. */
bool sp_hdf5_pack(sp_hdf5_packer *packer, const sp_hdf5_filter *filter, const void *values,
                  size_t count, sp_hdf5_packed *out);
void sp_hdf5_packer_release(sp_hdf5_packer *packer);

#endif
