/* column.h - a one-dimensional dataset that grows while it is written.
 *
 * Values wait in memory until the column is settled. A small run settles at the end, when every
 * length is known: each column is then one piece of exactly its size. A large run settles earlier
 * and from then on values go to the file chunk by chunk, so that memory stays bounded.
 */
#ifndef SP_STORE_HDF5_COLUMN_H
#define SP_STORE_HDF5_COLUMN_H

#include "base/vector.h"
#include "store/hdf5/filter.h"

typedef enum sp_hdf5_kind {
    SP_HDF5_INT64,
    SP_HDF5_UINT64,
    SP_HDF5_UINT32, /* in memory a uint64_t */
    SP_HDF5_INT8,   /* in memory an int64_t */
    SP_HDF5_REAL,
    SP_HDF5_TEXT,      /* in memory a const char *, which must live until the values are written */
    SP_HDF5_STATISTICS /* sp_row_statistics */
} sp_hdf5_kind;

typedef enum sp_hdf5_storage {
    SP_HDF5_PLAIN,    /* small: contiguous; large: chunked */
    SP_HDF5_CHUNKED,  /* chunked always */
    SP_HDF5_IF_LARGE  /* small: contiguous, without the filter; large: chunked with it */
} sp_hdf5_storage;

/* What all columns of a file share. */
typedef struct sp_hdf5_sink {
    hid_t text_type;                          /* in files and in memory */
    hid_t statistics_type, statistics_memory; /* in files, in memory */
    sp_hdf5_packer packer;
    uint64_t waiting; /* bytes of values that wait in memory */
    bool is_streaming; /* columns settle when they are created */
} sp_hdf5_sink;

typedef struct sp_hdf5_column {
    const char *name;
    hid_t group; /* borrowed */
    sp_hdf5_kind kind;
    sp_hdf5_storage storage;
    sp_hdf5_filter filter;
    uint64_t chunk;       /* values; 0: chosen when it settles */
    uint64_t large_chunk; /* what is chosen for a large run */
    SP_VECTOR(unsigned char) staged; /* values that wait, `count` in bytes */
    hid_t dataset; /* 0: not settled */
    uint64_t written; /* values in the dataset */
} sp_hdf5_column;

enum {
    SP_HDF5_CHUNK = 32 * 1024,  /* values a chunk of a large column of calls */
    SP_HDF5_INDEX_CHUNK = 256,  /* values a chunk of a large column of the index */
    SP_HDF5_MAX_PACKED = 4 << 20, /* bytes of a chunk that is packed here, not by the library */
    SP_HDF5_SMALL_EXTRA = 512   /* values below which an SP_HDF5_IF_LARGE column is not chunked */
};

/* Values in the column, waiting ones included. */
uint64_t sp_hdf5_column_count(const sp_hdf5_column *column);

/* Appends `count` values (of the memory type of its kind). Texts are borrowed. */
int sp_hdf5_column_append(sp_hdf5_sink *sink, sp_hdf5_column *column, const void *values,
                          uint64_t count, sp_error *error);
/* Appends the same 8-byte value or text `count` times. */
int sp_hdf5_column_repeat(sp_hdf5_sink *sink, sp_hdf5_column *column, const void *value,
                          uint64_t count, sp_error *error);

/* Creates the dataset as one that grows; call it once, before values pile up. */
int sp_hdf5_column_stream(sp_hdf5_sink *sink, sp_hdf5_column *column, sp_error *error);
/* Writes what waits, whole chunks or not. For columns whose chunks the library packs. */
int sp_hdf5_column_flush(sp_hdf5_sink *sink, sp_hdf5_column *column, sp_error *error);
/* Writes what waits and settles the column for good. */
int sp_hdf5_column_finish(sp_hdf5_sink *sink, sp_hdf5_column *column, sp_error *error);

/* Closes the dataset and frees what waits. Zeroed memory and a second call are fine. */
void sp_hdf5_column_release(sp_hdf5_sink *sink, sp_hdf5_column *column);

#endif
