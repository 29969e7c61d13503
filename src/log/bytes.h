/* bytes.h - little-endian words in a byte stream. */
#ifndef SP_LOG_BYTES_H
#define SP_LOG_BYTES_H

#include "base/number_bytes.h"

#include <stdint.h>
#include <string.h>

static inline uint64_t sp_load_u64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

static inline void sp_store_u64(uint8_t *at, uint64_t value)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    memcpy(at, &value, sizeof value);
}

static inline uint32_t sp_load_u32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline void sp_store_u32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

/* Small numbers of either sign become small unsigned ones: 0, -1, 1, -2, ... */
static inline uint64_t sp_zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static inline int64_t sp_unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1 ^ (~(value & 1) + 1));
}

#endif
