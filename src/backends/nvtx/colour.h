/* colour.h - the colour of a region, from its name: that of the figures and reports. */
#ifndef SP_BACKENDS_NVTX_COLOUR_H
#define SP_BACKENDS_NVTX_COLOUR_H

#include <stdint.h>

/* 0xAARRGGBB, opaque. `name` is UTF-8. */
uint32_t sp_nvtx_colour(const char *name);

#endif
