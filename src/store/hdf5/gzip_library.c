/* Deflate by the HDF5 library's own filter. */
#include "store/hdf5/gzip_parameters.h"

const sp_hdf5_codec sp_hdf5_codec_gzip = {
    .name = "gzip",
    .id = H5Z_FILTER_DEFLATE,
    .lowest_level = SP_HDF5_GZIP_LOWEST,
    .highest_level = SP_HDF5_GZIP_HIGHEST,
    .default_level = SP_HDF5_GZIP_DEFAULT,
    .parameters = sp_hdf5_gzip_parameters,
};
