/* block.h - a block: what one drain of a ring leaves. A header of fixed layout and a packed
 * payload; docs/FORMATS.md, "Log blocks", defines every byte. */
#ifndef SP_LOG_BLOCK_H
#define SP_LOG_BLOCK_H

#include "scope_plugin.h"

#include <stddef.h>
#include <stdint.h>

enum { SP_BLOCK_HEADER_BYTES = 64, SP_BLOCK_VERSION = 1 };

typedef struct sp_block_header {
    uint32_t ring;          /* index of the ring within its profiler */
    uint32_t lane;          /* lane of the first record */
    uint64_t first_call;    /* running number, within the ring, of the first call record */
    uint32_t records;       /* records of every kind */
    uint32_t calls;         /* of them calls, marked ones included */
    uint32_t payload_bytes; /* the block is SP_BLOCK_HEADER_BYTES + payload_bytes long */
    uint64_t first_tick;    /* end of the first call and of the last one (appended calls aside), */
    uint64_t last_tick;     /* 0: no call */
} sp_block_header;

/* Reads and checks the header: magic, version, and that the whole block lies within `size` bytes
 * (more may follow it). Says nothing about the checksum. SP_ERR_DAMAGED, or SP_ERR_SCHEMA for a
 * newer version. */
int sp_block_read_header(const void *bytes, size_t size, sp_block_header *out, sp_error *error);

/* The same and the checksum over header and payload. */
int sp_block_check(const void *bytes, size_t size, sp_block_header *out, sp_error *error);

static inline size_t sp_block_bytes(const sp_block_header *header)
{
    return (size_t)SP_BLOCK_HEADER_BYTES + header->payload_bytes;
}

#endif
