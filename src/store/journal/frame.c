#include "store/journal/frame.h"

#include "base/crc32c.h"
#include "log/bytes.h"

/* What the sum of a frame covers: everything, but of a block its place only. */
static uint32_t sum_of(const uint8_t *frame, uint32_t kind, size_t payload)
{
    static const uint8_t zero[4];
    size_t covered = kind == SP_FRAME_BLOCK && payload > SP_PLACE_BYTES ? SP_PLACE_BYTES : payload;
    uint32_t sum = sp_crc32c(0, frame, SP_FRAME_AT_SUM);
    sum = sp_crc32c(sum, zero, sizeof zero);
    return sp_crc32c(sum, frame + SP_FRAME_HEADER_BYTES, covered);
}

size_t sp_frame_finish(void *frame, sp_frame_kind kind, size_t payload)
{
    uint8_t *at = frame;
    size_t bytes = sp_frame_bytes(payload);
    memcpy(at, SP_FRAME_MAGIC, 4);
    sp_store_u32(at + SP_FRAME_AT_KIND, (uint32_t)kind);
    sp_store_u32(at + SP_FRAME_AT_BYTES, (uint32_t)payload);
    memset(at + SP_FRAME_HEADER_BYTES + payload, 0, bytes - SP_FRAME_HEADER_BYTES - payload);
    sp_store_u32(at + SP_FRAME_AT_SUM, sum_of(at, (uint32_t)kind, payload));
    return bytes;
}

bool sp_frame_read(const void *bytes, size_t size, sp_frame_view *out)
{
    const uint8_t *at = bytes;
    if (size < SP_FRAME_HEADER_BYTES || memcmp(at, SP_FRAME_MAGIC, 4) != 0)
        return false;
    size_t payload = sp_load_u32(at + SP_FRAME_AT_BYTES);
    uint32_t kind = sp_load_u32(at + SP_FRAME_AT_KIND);
    if (payload > size - SP_FRAME_HEADER_BYTES || sp_frame_bytes(payload) > size ||
        sum_of(at, kind, payload) != sp_load_u32(at + SP_FRAME_AT_SUM))
        return false;
    *out = (sp_frame_view){.kind = kind, .payload = at + SP_FRAME_HEADER_BYTES,
                           .payload_bytes = payload, .bytes = sp_frame_bytes(payload)};
    return true;
}
