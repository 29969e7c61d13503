#include "base/crc32c.h"

#include "base/os/cpu.h"

#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#endif

/* CRC of each value of four bits under the reflected polynomial 0x82F63B78: small enough to be read
 * over, fast enough for machines without the instruction. */
static const uint32_t nibble_crc[16] = {
    0x00000000, 0x105EC76F, 0x20BD8EDE, 0x30E349B1, 0x417B1DBC, 0x5125DAD3, 0x61C69362, 0x7198540D,
    0x82F63B78, 0x92A8FC17, 0xA24BB5A6, 0xB21572C9, 0xC38D26C4, 0xD3D3E1AB, 0xE330A81A, 0xF36E6F75,
};

uint32_t sp_crc32c_plain(uint32_t crc, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    crc = ~crc;
    for (size_t i = 0; i < length; i++) {
        crc ^= at[i];
        crc = crc >> 4 ^ nibble_crc[crc & 15];
        crc = crc >> 4 ^ nibble_crc[crc & 15];
    }
    return ~crc;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) static uint32_t crc32c_fast(uint32_t crc, const uint8_t *at,
                                                              size_t length)
{
    uint64_t state = (uint32_t)~crc;
    for (; length >= 8; at += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        state = _mm_crc32_u64(state, word);
    }
    for (; length > 0; at++, length--)
        state = _mm_crc32_u8((uint32_t)state, *at);
    return ~(uint32_t)state;
}

#elif defined(__aarch64__)

__attribute__((target("+crc"))) static uint32_t crc32c_fast(uint32_t crc, const uint8_t *at,
                                                            size_t length)
{
    uint32_t state = ~crc;
    for (; length >= 8; at += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        state = __crc32cd(state, word);
    }
    for (; length > 0; at++, length--)
        state = __crc32cb(state, *at);
    return ~state;
}

#else

static uint32_t crc32c_fast(uint32_t crc, const uint8_t *at, size_t length)
{
    return sp_crc32c_plain(crc, at, length);
}

#endif

uint32_t sp_crc32c(uint32_t crc, const void *bytes, size_t length)
{
    return sp_cpu_has_crc32c() ? crc32c_fast(crc, bytes, length)
                               : sp_crc32c_plain(crc, bytes, length);
}
