/* assemble_counters.h - what instruments measured: summed while the records go by, and written as texts
 * and arrays of the file. Private to assembling. */
#ifndef SP_STORE_ASSEMBLE_COUNTERS_H
#define SP_STORE_ASSEMBLE_COUNTERS_H

#include "log/counters.h"
#include "store/assemble_walk.h"

typedef struct sp_counted_call {
    uint32_t instrument, lane;
    uint64_t number;
    size_t first; /* of its values */
} sp_counted_call;

/* Zeroed memory is empty. */
typedef struct sp_measured {
    sp_counter_sums sums;
    SP_VECTOR(sp_counted_call) calls; /* of instruments that keep them */
    SP_VECTOR(int64_t) values;
} sp_measured;

/* Adds what one side record says. What makes no sense is SP_ERR_DAMAGED; an instrument that is not
 * known is passed over. */
int sp_measured_take(sp_measured *measured, const sp_assemble_instruments *instruments,
                     const sp_walk_side *side, sp_error *error);
/* Adds the sums of others. */
int sp_measured_add(sp_measured *measured, const sp_assemble_instruments *instruments,
                    sp_error *error);
void sp_measured_release(sp_measured *measured);

/* Where a text goes, and what regions and lanes are called in it. */
typedef struct sp_measured_place {
    uint32_t rank;
    bool (*region)(const void *context, uint32_t region, sp_assemble_region *out);
    const void *region_context;
    const sp_assemble_lane *lanes; /* NULL: lanes are threads */
    size_t num_lanes;
    const sp_assemble_output *outputs;
    size_t num_outputs;
} sp_measured_place;

/* Writes the text of every instrument that has something to say. */
int sp_measured_write(const sp_measured *measured, const sp_assemble_instruments *instruments,
                      const sp_measured_place *place, sp_error *error);

#endif
