/* stencil - what profiling that is off costs a real kernel: a five-point stencil with a region a row.
 *
 *   plain   compiled with SP_DISABLE_PROFILING        off   with the library, before sp_init
 *
 * ns a sweep. The two take turns sweep by sweep, so that both see the same machine. */
#include "stencil.h"

#include "sample.h"

#include <stdlib.h>

enum { ROWS = 512, COLUMNS = 1024, SWEEPS = 100, REPEATS = 15 };

int main(void)
{
    size_t cells = (size_t)ROWS * COLUMNS;
    double *a = aligned_alloc(64, cells * sizeof *a), *b = aligned_alloc(64, cells * sizeof *b);
    if (a == NULL || b == NULL)
        return 1;
    for (size_t i = 0; i < cells; i++)
        a[i] = b[i] = (double)(i % 7);
    for (int r = 0; r < REPEATS; r++) {
        double plain = 0, off = 0;
        for (int s = 0; s < SWEEPS; s++) {
            double start = sample_now();
            bench_sweep_plain(a, b, ROWS, COLUMNS);
            double middle = sample_now();
            bench_sweep_off(a, b, ROWS, COLUMNS);
            off += sample_now() - middle;
            plain += middle - start;
        }
        sample_print("plain", r, plain / SWEEPS);
        sample_print("off", r, off / SWEEPS);
    }
    free(a);
    free(b);
    return 0;
}
