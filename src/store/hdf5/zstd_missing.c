#include "store/hdf5/codec.h"

const sp_hdf5_codec sp_hdf5_codec_zstd = {.name = "zstd", .id = 32015, .missing = "libzstd"};
