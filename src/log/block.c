#include "log/block.h"

#include "base/crc32c.h"
#include "base/error.h"
#include "log/block_layout.h"

int sp_block_read_header(const void *bytes, size_t size, sp_block_header *out, sp_error *error)
{
    const uint8_t *at = bytes;
    if (size < SP_BLOCK_HEADER_BYTES)
        return sp_fail(error, SP_ERR_DAMAGED,
                       "log block: %zu bytes left, a header has %d; the log is truncated", size,
                       SP_BLOCK_HEADER_BYTES);
    if (memcmp(at, sp_block_magic, sizeof sp_block_magic) != 0)
        return sp_fail(error, SP_ERR_DAMAGED, "log block: does not begin with \"SPLB\"");
    unsigned version = at[SP_BLOCK_AT_VERSION] | (unsigned)at[SP_BLOCK_AT_VERSION + 1] << 8;
    unsigned length = at[SP_BLOCK_AT_LENGTH] | (unsigned)at[SP_BLOCK_AT_LENGTH + 1] << 8;
    if (version > SP_BLOCK_VERSION)
        return sp_fail(error, SP_ERR_SCHEMA,
                       "log block: format version %u, this program reads up to %d; use a newer one",
                       version, SP_BLOCK_VERSION);
    if (version == 0 || length != SP_BLOCK_HEADER_BYTES)
        return sp_fail(error, SP_ERR_DAMAGED, "log block: version %u with a header of %u bytes",
                       version, length);
    sp_block_header header = {
        .ring = sp_load_u32(at + SP_BLOCK_AT_RING),
        .lane = sp_load_u32(at + SP_BLOCK_AT_LANE),
        .first_call = sp_load_u64(at + SP_BLOCK_AT_FIRST_CALL),
        .records = sp_load_u32(at + SP_BLOCK_AT_RECORDS),
        .calls = sp_load_u32(at + SP_BLOCK_AT_CALLS),
        .payload_bytes = sp_load_u32(at + SP_BLOCK_AT_PAYLOAD_BYTES),
        .first_tick = sp_load_u64(at + SP_BLOCK_AT_FIRST_TICK),
        .last_tick = sp_load_u64(at + SP_BLOCK_AT_LAST_TICK),
    };
    if (header.payload_bytes > size - SP_BLOCK_HEADER_BYTES)
        return sp_fail(error, SP_ERR_DAMAGED,
                       "log block: claims %u bytes of payload, %zu are there; the log is truncated",
                       header.payload_bytes, size - SP_BLOCK_HEADER_BYTES);
    if (header.calls > header.records || header.records > header.payload_bytes)
        return sp_fail(error, SP_ERR_DAMAGED, "log block: %u calls in %u records in %u bytes",
                       header.calls, header.records, header.payload_bytes);
    *out = header;
    return SP_OK;
}

uint32_t sp_block_sum(const uint8_t *block, size_t payload_bytes)
{
    uint8_t header[SP_BLOCK_HEADER_BYTES];
    memcpy(header, block, sizeof header);
    sp_store_u32(header + SP_BLOCK_AT_SUM, 0);
    uint32_t crc = sp_crc32c(0, header, sizeof header);
    return sp_crc32c(crc, block + SP_BLOCK_HEADER_BYTES, payload_bytes);
}

int sp_block_check(const void *bytes, size_t size, sp_block_header *out, sp_error *error)
{
    sp_block_header header;
    int status = sp_block_read_header(bytes, size, &header, error);
    if (status != SP_OK)
        return status;
    uint32_t stored = sp_load_u32((const uint8_t *)bytes + SP_BLOCK_AT_SUM);
    uint32_t computed = sp_block_sum(bytes, header.payload_bytes);
    if (stored != computed)
        return sp_fail(error, SP_ERR_DAMAGED,
                       "log block of ring %u: checksum %08x, its bytes give %08x", header.ring,
                       stored, computed);
    *out = header;
    return SP_OK;
}
