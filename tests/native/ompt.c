/* Parallel regions as the OpenMP tool shows them, with regions of the program inside; and after the end
 * of the recording, when the tool is silent. */
#include <omp.h>
#include <scope_profiler.h>

enum { THREADS = 3, SIZE = 300 };

static double field[SIZE];

__attribute__((noinline)) void relax(void)
{
#pragma omp parallel num_threads(THREADS)
    {
        SP_SCOPE("inner");
#pragma omp for
        for (int i = 0; i < SIZE; i++)
            field[i] += i;
    }
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < SIZE; i++)
        field[i] *= 0.5;
}

int main(void)
{
    relax();
    if (sp_init("ompt", 0) != SP_OK)
        return 1;
    for (int k = 0; k < 4; k++) {
        SP_SCOPE("step");
        relax();
    }
    if (sp_finalize() != SP_OK)
        return 2;
    relax();
    return 0;
}
