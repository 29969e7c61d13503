#include "store/hdf5/codec.h"

const sp_hdf5_codec sp_hdf5_codec_lzf = {.name = "lzf", .id = 32000, .missing = "liblzf"};
