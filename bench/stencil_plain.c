/* The stencil as it is without profiling. */
#define SP_DISABLE_PROFILING
#include "stencil.h"

void bench_sweep_plain(const double *grid, double *out, int rows, int columns)
{
    stencil_sweep(grid, out, rows, columns);
}
