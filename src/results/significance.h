/* significance.h - whether two groups of runs differ, from the order of their values alone. */
#ifndef SP_RESULTS_SIGNIFICANCE_H
#define SP_RESULTS_SIGNIFICANCE_H

#include "scope_plugin.h"

typedef struct sp_rank_test {
    double p_greater;   /* of seeing b this large if both groups were alike */
    double p_two_sided;
    double effect;      /* median of all b / a, minus 1; NaN when some a is not positive */
    double low, high;   /* interval of the effect ... */
    double confidence;  /* ... that holds the true one with at least this probability */
} sp_rank_test;

/* Rank sum test: exact, ties included, up to 40 values together; beyond that by the normal
 * approximation. Both groups hold at least one value. SP_ERR_NO_MEMORY. */
int sp_rank_test_run(const double *a, size_t num_a, const double *b, size_t num_b,
                     sp_rank_test *out, sp_error *error);

/* Replaces p-values by the false discovery rates at which each would be accepted (Benjamini and
 * Hochberg). NaN entries are left out. SP_ERR_NO_MEMORY. */
int sp_false_discovery_rates(double *p_values, size_t count, sp_error *error);

double sp_median_of(double *values, size_t count); /* sorts them; NaN of none */

#endif
