/* select.h - order statistics without sorting. */
#ifndef SP_RESULTS_SELECT_H
#define SP_RESULTS_SELECT_H

#include "scope_plugin.h"

/* One run of values of a pool. */
typedef struct sp_values {
    const int64_t *items;
    size_t count;
} sp_values;

/* Percentile (0..100) of a pool of at least one value, linearly interpolated between the two
 * nearest order statistics. The values are not touched. SP_ERR_NO_MEMORY. */
int sp_select_percentile(const sp_values *pool, size_t num_pieces, double percent, double *out,
                         sp_error *error);

#endif
