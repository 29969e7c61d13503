/* number_bytes.h - unsigned numbers in as few bytes as they need: seven bits a byte, lowest first, top
 * bit: more follow. */
#ifndef SP_BASE_NUMBER_BYTES_H
#define SP_BASE_NUMBER_BYTES_H

#include <stdbool.h>
#include <stdint.h>

enum { SP_NUMBER_BYTES = 10 }; /* longest number */

static inline uint8_t *sp_put_number(uint8_t *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

/* False when it runs past `end` or does not fit 64 bits. */
static inline bool sp_get_number(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        uint8_t byte = *(*at)++;
        if (shift == 63 && byte > 1)
            return false;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *out = value;
            return true;
        }
    }
    return false;
}

#endif
