/* prediction.h - what packer and unpacker both remember within a block. They change it alike, call
 * by call, so a block is read without anything outside it.
 *
 * A step leads from one call to the next: the region of the next in the low half, the change of
 * level (modulo 2^32) in the high half. A level is twice the depth, plus one for a resumption. After a region mostly one of two steps follows: the next
 * turn of an inner loop, or what comes when the loop ends. */
#ifndef SP_LOG_PREDICTION_H
#define SP_LOG_PREDICTION_H

#include <stdint.h>
#include <string.h>

enum { SP_PREDICTION_CONTEXTS = 256 };

typedef struct sp_prediction_now {
    uint64_t last_end; /* end of the last call or drain */
    uint64_t last;     /* the last call: level << 32 | region, the first word of its record */
} sp_prediction_now;

typedef struct sp_prediction {
    sp_prediction_now now; /* the loops keep a copy in registers */
    uint64_t steps[SP_PREDICTION_CONTEXTS][2]; /* the last two steps after a region mod 256 */
} sp_prediction;

static inline void sp_prediction_reset(sp_prediction *p)
{
    memset(p, 0, sizeof *p);
}

static inline uint64_t *sp_prediction_steps(sp_prediction *p, const sp_prediction_now *now)
{
    return p->steps[now->last % SP_PREDICTION_CONTEXTS];
}

static inline uint64_t sp_prediction_step(const sp_prediction_now *now, uint64_t call)
{
    return call - (now->last & ~(uint64_t)UINT32_MAX);
}

static inline uint64_t sp_prediction_apply(const sp_prediction_now *now, uint64_t step)
{
    return step + (now->last & ~(uint64_t)UINT32_MAX);
}

#endif
