/* heat.c - the driver of heat.py in C: the same kernels, numbers and regions, without Python.
 *
 *     build/heat --threads 2                  writes heat_rank00000.h5
 *     scope-profiler inspect heat_rank00000.h5
 */
#include "heat_kernels.h"

#include <math.h>
#include <scope_profiler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATIO 0.2 /* dt / h^2; the scheme is stable up to 0.25 */

static const double pi = 3.14159265358979323846;

typedef struct options {
    int n, steps, threads, every;
} options;

typedef struct solution {
    double time, error, norm;
} solution;

/* sin(pi x) sin(pi y), decaying. */
static double exact(int n, double time, int i, int j)
{
    double h = 1.0 / (n - 1);
    return exp(-2.0 * pi * pi * time) * (sin(pi * (i * h)) * sin(pi * (j * h)));
}

static double *setup(int n)
{
    SP_SCOPE("setup");
    double *u = malloc((size_t)n * (size_t)n * sizeof *u);
    if (u == NULL)
        exit(1);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int is_wall = i == 0 || j == 0 || i == n - 1 || j == n - 1;
            u[(size_t)i * (size_t)n + (size_t)j] = is_wall ? 0.0 : exact(n, 0.0, i, j);
        }
    return u;
}

static double largest_error(const double *u, int n, double time)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            largest = fmax(largest, fabs(u[(size_t)i * (size_t)n + (size_t)j] -
                                         exact(n, time, i, j)));
    return largest;
}

static void report(const double *u, const double *before, int n, int step)
{
    SP_SCOPE("output");
    double norm = heat_norm(u, n), change = heat_residual(u, before, n);
    printf("step %6d  norm %.9e  largest change %.3e\n", step, norm, change);
}

/* Leaves the last field in *u. */
static void step_loop(double **u, double **next, int n, int steps, int threads, int every)
{
    SP_SCOPE("step loop");
    for (int step = 1; step <= steps; step++) {
        {
            SP_SCOPE("step");
            heat_step(*u, *next, n, RATIO, threads);
        }
        double *swap = *u;
        *u = *next;
        *next = swap;
        if (every > 0 && step % every == 0)
            report(*u, *next, n, step);
    }
}

static solution solve(int intervals, int steps, int threads, int every)
{
    SP_SCOPE("solve");
    int n = intervals + 1;
    double *u = setup(n), *next = malloc((size_t)n * (size_t)n * sizeof *next);
    if (next == NULL)
        exit(1);
    step_loop(&u, &next, n, steps, threads, every);
    solution found = {.time = steps * RATIO / ((double)intervals * intervals)};
    found.error = largest_error(u, n, found.time);
    found.norm = heat_norm(u, n);
    free(u);
    free(next);
    return found;
}

static void read_options(int argc, char **argv, options *out)
{
    const struct {
        const char *name;
        int *value;
    } known[] = {{"--n", &out->n}, {"--steps", &out->steps}, {"--threads", &out->threads},
                 {"--every", &out->every}};
    for (int i = 1; i + 1 < argc; i += 2)
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            if (strcmp(argv[i], known[k].name) == 0)
                *known[k].value = atoi(argv[i + 1]);
    if (argc % 2 == 0 || out->n < 4 || out->n % 2 != 0 || out->steps < 4 || out->steps % 4 != 0 ||
        out->threads < 1 || out->every < 0) {
        fprintf(stderr, "usage: heat [--n EVEN] [--steps MULTIPLE_OF_4] [--threads N] [--every N]\n");
        exit(2);
    }
}

int main(int argc, char **argv)
{
    options given = {.n = 256, .steps = 400, .threads = 1, .every = 100};
    read_options(argc, argv, &given);
    sp_init("heat", 0);
    heat_define_regions();
    /* Half the intervals, steps four times as long: the same ratio, the same final time. */
    solution coarse = solve(given.n / 2, given.steps / 4, given.threads, 0);
    solution fine = solve(given.n, given.steps, given.threads, given.every);
    printf("time %.6e  norm %.9e\n", fine.time, fine.norm);
    printf("error %.3e  (half the grid: %.3e)\n", fine.error, coarse.error);
    printf("order of accuracy %.3f\n", log2(coarse.error / fine.error));
    return sp_finalize();
}
