/* stencil.h - one sweep of the five-point stencil over a grid, a region for each row. Included by two
 * files, one of which is compiled without profiling. */
#ifndef SP_BENCH_STENCIL_H
#define SP_BENCH_STENCIL_H

#include "scope_profiler.h"

void bench_sweep_plain(const double *grid, double *out, int rows, int columns);
void bench_sweep_off(const double *grid, double *out, int rows, int columns);

static inline void stencil_row(const double *restrict above, const double *restrict here,
                               const double *restrict below, double *restrict out, int columns)
{
    for (int j = 1; j < columns - 1; j++)
        out[j] = here[j] + 0.2 * (above[j] + below[j] + here[j - 1] + here[j + 1] - 4 * here[j]);
}

static inline void stencil_sweep(const double *grid, double *out, int rows, int columns)
{
    for (int i = 1; i < rows - 1; i++) {
        const double *here = grid + (long)i * columns;
        SP_SCOPE("row");
        stencil_row(here - columns, here, here + columns, out + (long)i * columns, columns);
    }
}

#endif
