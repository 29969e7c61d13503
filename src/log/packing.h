/* packing.h - the control byte that begins every packed record; see docs/FORMATS.md. */
#ifndef SP_LOG_PACKING_H
#define SP_LOG_PACKING_H

#include <stdint.h>

/* Bits 0-1 and 2-3: width codes of the two times of a regular call. Bit 4: how they are meant.
 * Bits 5-7: what the step (region, change of depth) is. */
enum {
    SP_PACK_FROM_FIRST = 1u << 4, /* the call around earlier ones of the block */
    SP_PACK_STEP_SHIFT = 5,
    SP_PACK_STEP_LAST = 0,     /* the step seen last after the previous region */
    SP_PACK_STEP_BEFORE = 1,   /* the one before that */
    SP_PACK_STEP_EXPLICIT = 2, /* region and depth change follow */
    SP_PACK_STEP_OTHER = 7     /* not a regular call: bits 0-4 are the record kind */
};

/* Bytes of a time by its width code. */
static const uint8_t sp_pack_width[4] = {1, 2, 3, 8};

enum {
    SP_PACK_SLACK = 16,     /* a time is stored as 8 bytes whatever its width */
    SP_PACK_CALL_BYTES = 32 /* longest regular call (27), rounded up */
};

static inline uint64_t sp_pack_step(uint32_t region, uint32_t depth, uint32_t last_depth)
{
    return region | (uint64_t)(uint32_t)(depth - last_depth) << 32;
}

#endif
