/* select.h - order statistics without sorting. */
#ifndef SP_RESULTS_SELECT_H
#define SP_RESULTS_SELECT_H

#include "scope_plugin.h"

/* One run of values of a pool. */
typedef struct sp_values {
    const int64_t *items;
    size_t count;
} sp_values;

/* Values that can be gone through again and again, always the same ones. `each` calls `take` for all of
 * them, in pieces of any size. */
typedef void (*sp_take_values)(void *taker, const int64_t *items, size_t count);
typedef struct sp_value_source {
    int (*each)(void *context, sp_take_values take, void *taker, sp_error *error);
    void *context;
    uint64_t count; /* at least 1 */
} sp_value_source;

/* Percentiles (0..100) of the values, linearly interpolated between the two nearest order statistics.
 * Memory does not depend on the number of values. SP_ERR_NO_MEMORY, or what `each` says. */
int sp_select_percentiles(const sp_value_source *source, const double *percents, size_t count,
                          double *out, sp_error *error);

/* One percentile of a pool of at least one value in memory. */
int sp_select_percentile(const sp_values *pool, size_t num_pieces, double percent, double *out,
                         sp_error *error);

#endif
