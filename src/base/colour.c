#include "base/colour.h"

#include <stddef.h>
#include <string.h>

/* Ten hues in three depths each: the table and the hash of viewer/src/palette.ts. */
static const uint32_t palette[SP_COLOUR_HUES][SP_COLOUR_DEPTHS] = {
    {0x09569c, 0x4e85b8, 0x07437a}, {0xf8a808, 0xfac04d, 0xc18306}, {0x3bc39d, 0x72d4b8, 0x2e987a},
    {0xa58ffe, 0xbeaefe, 0x8170c6}, {0x5cbed8, 0x8ad0e3, 0x4894a8}, {0xcb550c, 0xda8550, 0x9e4209},
    {0xb2bf6c, 0xc8d195, 0x8b9554}, {0x2641c9, 0x6376d8, 0x1e339d}, {0x865336, 0xa8836e, 0x69412a},
    {0x8d2a5a, 0xad6688, 0x6e2146}};
static const uint32_t session_colour = 0x8a93a3;

enum { SEED = 46965, PRIME = 16777619 };

/* The character at `*at`, which moves on; bytes that are no UTF-8 count as they are. */
static uint32_t next_character(const unsigned char **at)
{
    uint32_t first = *(*at)++;
    unsigned more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
    uint32_t value = more == 0 ? first : first & (0x3fu >> more);
    for (; more > 0 && (**at & 0xc0) == 0x80; more--)
        value = value << 6 | (*(*at)++ & 0x3fu);
    return value;
}

static uint32_t add(uint32_t hash, uint32_t unit)
{
    return (hash ^ unit) * (uint32_t)PRIME;
}

/* Over the UTF-16 of the name, which is what the page of reports goes through. */
static uint32_t hash(const char *name)
{
    uint32_t h = SEED;
    for (const unsigned char *at = (const unsigned char *)name; *at != 0;) {
        uint32_t c = next_character(&at);
        if (c < 0x10000) {
            h = add(h, c);
            continue;
        }
        h = add(h, 0xd800 + (c - 0x10000) / 0x400);
        h = add(h, 0xdc00 + (c - 0x10000) % 0x400);
    }
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    return h ^ h >> 13;
}

uint32_t sp_colour(unsigned hue, unsigned depth)
{
    return palette[hue % SP_COLOUR_HUES][depth % SP_COLOUR_DEPTHS];
}

uint32_t sp_colour_of_region(const char *name)
{
    uint32_t h = hash(name);
    if (strcmp(name, "scope_profiler.session") == 0)
        return session_colour;
    return sp_colour(h % SP_COLOUR_HUES, h / SP_COLOUR_HUES);
}
