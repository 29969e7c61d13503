/* Regions around and inside parallel loops: every thread on the same handle. */
#include <omp.h>
#include <scope_profiler.h>
#include <stdio.h>

enum { THREADS = 4, CALLS = 20000, LOOPS = 10, SIZE = 1000 };

int main(void)
{
    static double field[SIZE];
    int threads = 0;
    if (sp_init("openmp", 0) != SP_OK)
        return 1;
    int outer = SP_REGION_AT("outer"), parallel = sp_region("parallel"), hot = sp_region("hot");
    for (int k = 0; k < LOOPS; k++) {
        sp_begin(outer);
#pragma omp parallel for
        for (int i = 0; i < SIZE; i++)
            field[i] += i * 1e-9;
        sp_end(outer);
    }
    sp_begin(parallel);
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp master
        threads = omp_get_num_threads();
        for (int i = 0; i < CALLS; i++) {
            sp_begin(hot);
            sp_end(hot);
        }
    }
    sp_end(parallel);
    if (sp_finalize() != SP_OK)
        return 2;
    if (threads != THREADS || sp_num_calls(hot) != (int64_t)THREADS * CALLS)
        printf("%d threads, %lld calls\n", threads, (long long)sp_num_calls(hot));
    return 0;
}
