/* column.h - one-dimensional datasets: where their bytes lie, how they are packed. */
#ifndef SP_STORE_HDF5_CLASSIC_COLUMN_H
#define SP_STORE_HDF5_CLASSIC_COLUMN_H

#include "store/hdf5/classic/object.h"
#include "store/hdf5/classic/type.h"
#include "store/hdf5/filter.h"

/* One chunk in the file. */
typedef struct sp_classic_chunk {
    uint64_t address;
    uint32_t size, left_out; /* bit for each stage of the pipeline that was not applied */
} sp_classic_chunk;

typedef struct sp_classic_column {
    sp_classic_type type;
    uint64_t length;
    unsigned dimensions; /* 1, or 2: then in one piece */
    /* In one piece: where it begins. In chunks: how many values each has, and all of them. */
    bool is_chunked;
    uint64_t address;
    uint64_t chunk;
    SP_VECTOR(sp_classic_chunk) chunks;
    /* Stages of the pipeline: byte shuffle, then a codec; -1: not there. */
    int shuffle_stage, codec_stage;
    const sp_hdf5_codec *codec;
    int unknown_filter; /* number of a filter that this build lacks, 0: none */
    char filter_name[32];
    /* The chunk that was unpacked last, counted from 1. */
    uint64_t held;
    unsigned char *values, *packed, *shuffled;
} sp_classic_column;

/* `is_overclaimed`: the outcome is SP_CLASSIC_BAD because more values are claimed than stored. */
sp_classic_outcome sp_classic_load_column(sp_classic_bytes *bytes, uint64_t address,
                                          sp_classic_column *out, bool *is_overclaimed);

/* The bytes of `count` values from `first` on, which must lie inside. */
sp_classic_outcome sp_classic_read_values(sp_classic_bytes *bytes, sp_classic_column *column,
                                          uint64_t first, uint64_t count, void *out);
void sp_classic_column_release(sp_classic_column *column);

#endif
