/* prediction.h - what packer and unpacker both remember within a block. They change it alike, call
 * by call, so a block is read without anything outside it. */
#ifndef SP_LOG_PREDICTION_H
#define SP_LOG_PREDICTION_H

#include <stdint.h>
#include <string.h>

enum { SP_PREDICTION_CONTEXTS = 256, SP_PREDICTION_LEVELS = 64 };

typedef struct sp_prediction {
    uint64_t last_end; /* end of the last call or drain */
    uint64_t has_first; /* bit l: first_start[l] is the start of the first call of that level since
                           the call around it began, as far as this block knows */
    uint32_t region, depth; /* of the last call */
    uint64_t first_start[SP_PREDICTION_LEVELS]; /* level = depth mod 64 */
    /* The last two steps seen after a region. Step: region, and change of depth << 32. */
    uint64_t steps[SP_PREDICTION_CONTEXTS][2];
} sp_prediction;

static inline void sp_prediction_reset(sp_prediction *p)
{
    memset(p, 0, sizeof *p);
}

static inline uint64_t *sp_prediction_steps(sp_prediction *p)
{
    return p->steps[p->region % SP_PREDICTION_CONTEXTS];
}

/* Notes a call that was just packed or unpacked. */
static inline void sp_prediction_note(sp_prediction *p, uint32_t region, uint32_t depth,
                                      uint64_t start, uint64_t end)
{
    unsigned level = depth % SP_PREDICTION_LEVELS;
    uint64_t bit = UINT64_C(1) << level;
    if (!(p->has_first & bit))
        p->first_start[level] = start;
    p->has_first |= bit;
    p->has_first &= ~(UINT64_C(1) << (depth + 1) % SP_PREDICTION_LEVELS);
    p->region = region;
    p->depth = depth;
    p->last_end = end;
}

#endif
