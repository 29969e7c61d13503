/* source.h - a column of integers, read by position. Chunks of the usual make (64-bit integers,
 * shuffled, a codec that was built) are unpacked here, several times faster than by the library;
 * whatever else a file may hold is left to the library. */
#ifndef SP_STORE_HDF5_SOURCE_H
#define SP_STORE_HDF5_SOURCE_H

#include "store/hdf5/values.h"

/* Takes over a dataset of integers that was checked. */
void sp_hdf5_source_init(sp_hdf5_source *source, const sp_hdf5_dataset *dataset);

/* Values [first, first + count), which must lie inside the column. */
int sp_hdf5_source_read(const sp_store_reader *reader, sp_hdf5_source *source, uint64_t first,
                        uint64_t count, int64_t *out, sp_error *error);

/* Zeroed memory and a second call are fine. */
void sp_hdf5_source_release(sp_hdf5_source *source);

#endif
