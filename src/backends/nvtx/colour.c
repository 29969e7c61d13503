#include "backends/nvtx/colour.h"

#include <stddef.h>
#include <string.h>

/* Ten hues in three depths each: the table and the hash of viewer/src/palette.ts. */
static const uint32_t palette[10][3] = {
    {0x0072b2, 0x4799c8, 0x00598b}, {0xe69f00, 0xedba47, 0xb37c00}, {0x009e73, 0x47b99a, 0x007b5a},
    {0xcc79a7, 0xda9fc0, 0x9f5e82}, {0x56b4e9, 0x85c9ef, 0x438cb6}, {0xd55e00, 0xe18b47, 0xa64900},
    {0x8c7a1f, 0xac9f5e, 0x6d5f18}, {0x6a51a3, 0x9482bd, 0x533f7f}, {0x44aa99, 0x78c2b6, 0x358577},
    {0xaa4466, 0xc27891, 0x853550}};
static const uint32_t session_colour = 0x8a93a3;

enum { SEED = 46965, PRIME = 16777619, OPAQUE = 24 };

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

uint32_t sp_nvtx_colour(const char *name)
{
    uint32_t h = hash(name);
    uint32_t colour =
        strcmp(name, "scope_profiler.session") == 0 ? session_colour : palette[h % 10][h / 10 % 3];
    return UINT32_C(0xff) << OPAQUE | colour;
}
