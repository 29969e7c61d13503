/* block_layout.h - where the header fields of a block are; private to log. */
#ifndef SP_LOG_BLOCK_LAYOUT_H
#define SP_LOG_BLOCK_LAYOUT_H

#include "log/block.h"
#include "log/bytes.h"

enum {
    SP_BLOCK_AT_VERSION = 4,
    SP_BLOCK_AT_LENGTH = 6,
    SP_BLOCK_AT_RING = 8,
    SP_BLOCK_AT_LANE = 12,
    SP_BLOCK_AT_FIRST_CALL = 16,
    SP_BLOCK_AT_RECORDS = 24,
    SP_BLOCK_AT_CALLS = 28,
    SP_BLOCK_AT_PAYLOAD_BYTES = 32,
    SP_BLOCK_AT_SUM = 36,
    SP_BLOCK_AT_FIRST_TICK = 40,
    SP_BLOCK_AT_LAST_TICK = 48
    /* 56-63: zero */
};

static const char sp_block_magic[4] = {'S', 'P', 'L', 'B'};

/* CRC-32C over the header, its sum field taken as zero, and the payload. */
uint32_t sp_block_sum(const uint8_t *block, size_t payload_bytes);

#endif
