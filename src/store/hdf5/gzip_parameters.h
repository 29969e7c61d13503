/* gzip_parameters.h - what both ways to compress with deflate have in common. */
#ifndef SP_STORE_HDF5_GZIP_PARAMETERS_H
#define SP_STORE_HDF5_GZIP_PARAMETERS_H

#include "store/hdf5/codec.h"

enum { SP_HDF5_GZIP_LOWEST = 0, SP_HDF5_GZIP_HIGHEST = 9, SP_HDF5_GZIP_DEFAULT = 4 };

static inline size_t sp_hdf5_gzip_parameters(int level, size_t chunk_bytes,
                                             unsigned out[SP_HDF5_MAX_PARAMETERS])
{
    (void)chunk_bytes;
    out[0] = (unsigned)level;
    return 1;
}

#endif
