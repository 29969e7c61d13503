/* frame.h - one frame of a journal: written, and checked when read. */
#ifndef SP_STORE_JOURNAL_FRAME_H
#define SP_STORE_JOURNAL_FRAME_H

#include "store/journal/format.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes that a frame takes in a file. */
static inline size_t sp_frame_bytes(size_t payload)
{
    size_t bytes = SP_FRAME_HEADER_BYTES + payload;
    return (bytes + SP_FRAME_ALIGNMENT - 1) / SP_FRAME_ALIGNMENT * SP_FRAME_ALIGNMENT;
}

/* Fills in the header in front of the payload, which is at `frame` + SP_FRAME_HEADER_BYTES, and the
 * zeros behind it. Returns the bytes of the frame. */
size_t sp_frame_finish(void *frame, sp_frame_kind kind, size_t payload);

typedef struct sp_frame_view {
    uint32_t kind;
    const uint8_t *payload;
    size_t payload_bytes, bytes;
} sp_frame_view;

/* The frame at the beginning of `bytes`. False: there is no whole one, or its sum is wrong. Of a
 * block only the frame's own part is checked. */
bool sp_frame_read(const void *bytes, size_t size, sp_frame_view *out);

#endif
