/* cell.h - what a call site remembers: the id of its region, and for which sessions it holds.
 *
 *     static sp_cell cell;
 *     int32_t region = sp_cell_get(&cell, generation);
 *     if (region == SP_INVALID_REGION) region = ...look up the name, sp_cell_set(...)
 *
 * A cell never remembers that there was nothing: a call site first reached before the session comes
 * alive with it. Zeroed memory is an empty cell. Any thread, no lock.
 */
#ifndef SP_REGISTRY_CELL_H
#define SP_REGISTRY_CELL_H

#include "scope_profiler.h"

#include <stdatomic.h>

typedef struct sp_cell {
    _Atomic uint64_t word; /* generation << 32 | id + 1, so both change at once */
} sp_cell;

/* SP_INVALID_REGION: not known for this generation, look it up. */
static inline int32_t sp_cell_get(const sp_cell *cell, uint32_t generation)
{
    uint64_t word = atomic_load_explicit(&cell->word, memory_order_relaxed);
    return word >> 32 == generation ? (int32_t)(uint32_t)word - 1 : SP_INVALID_REGION;
}

static inline void sp_cell_set(sp_cell *cell, uint32_t generation, int32_t region)
{
    if (region >= 0)
        atomic_store_explicit(&cell->word, (uint64_t)generation << 32 | ((uint32_t)region + 1),
                              memory_order_relaxed);
}

#endif
