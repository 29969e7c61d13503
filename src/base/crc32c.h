/* crc32c.h - the Castagnoli CRC-32, with the processor's instruction where it has one. */
#ifndef SP_BASE_CRC32C_H
#define SP_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* CRC of `bytes` continued from `crc` (0 to begin with), so that
 * crc(a + b) = sp_crc32c(sp_crc32c(0, a), b). */
uint32_t sp_crc32c(uint32_t crc, const void *bytes, size_t length);

/* The same in plain C; for tests and processors without the instruction. */
uint32_t sp_crc32c_plain(uint32_t crc, const void *bytes, size_t length);

#endif
