/* colour.h - the colour of a region, from its name alone: the same in reports, figures and the tools of
 * devices. The page of reports has the same table and hash (viewer/src/palette.ts). */
#ifndef SP_BASE_COLOUR_H
#define SP_BASE_COLOUR_H

#include <stdint.h>

enum { SP_COLOUR_HUES = 10, SP_COLOUR_DEPTHS = 3 };

/* 0xRRGGBB. `name` is UTF-8. */
uint32_t sp_colour_of_region(const char *name);

/* One of the table, for what has no name that stays: `depth` 0 is the hue itself, 1 lighter, 2 darker. */
uint32_t sp_colour(unsigned hue, unsigned depth);

#endif
