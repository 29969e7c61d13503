/* heat_kernels.c - see heat_kernels.h. Regions of this file and of heat.py meet in one profile. */
#include "heat_kernels.h"

#include <math.h>
#include <scope_profiler.h>
#include <stddef.h>

/* Handles are process-wide; -1 (nothing records) makes begin and end do nothing. */
static int stencil_region = SP_INVALID_REGION;
static int rows_region = SP_INVALID_REGION;
static int boundary_region = SP_INVALID_REGION;
static int norm_region = SP_INVALID_REGION;
static int residual_region = SP_INVALID_REGION;

void heat_define_regions(void)
{
    stencil_region = SP_REGION_AT("apply stencil");
    rows_region = SP_REGION_AT("rows of a thread");
    boundary_region = SP_REGION_AT("boundary");
    norm_region = SP_REGION_AT("norm");
    residual_region = SP_REGION_AT("residual");
}

static void update_row(const double *u, double *next, size_t n, double ratio)
{
    for (size_t j = 1; j + 1 < n; j++)
        next[j] = u[j] + ratio * (u[j - 1] + u[j + 1] + (u - n)[j] + u[n + j] - 4.0 * u[j]);
}

static void update_rows(const double *u, double *next, size_t rows, size_t n, double ratio)
{
    for (size_t i = 1; i + 1 < rows; i++)
        update_row(u + i * n, next + i * n, n, ratio);
}

#ifdef _OPENMP
static void update_rows_threaded(const double *u, double *next, int rows, int n, double ratio,
                                 int threads)
{
#pragma omp parallel num_threads(threads)
    {
        sp_begin(rows_region);
#pragma omp for schedule(static) nowait
        for (int i = 1; i < rows - 1; i++)
            update_row(u + (size_t)i * (size_t)n, next + (size_t)i * (size_t)n, (size_t)n, ratio);
        sp_end(rows_region);
    }
}
#else
static void update_rows_threaded(const double *u, double *next, int rows, int n, double ratio,
                                 int threads)
{
    (void)threads;
    update_rows(u, next, (size_t)rows, (size_t)n, ratio);
}
#endif

static void set_side_walls(double *u, size_t rows, size_t n)
{
    for (size_t i = 0; i < rows; i++) {
        u[i * n] = 0.0;
        u[i * n + n - 1] = 0.0;
    }
}

static void set_walls(double *u, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        u[j] = 0.0;
        u[(n - 1) * n + j] = 0.0;
    }
    set_side_walls(u, n, n);
}

static void apply_stencil(const double *u, double *next, int rows, int n, double ratio, int threads)
{
    sp_begin(stencil_region);
    if (threads > 1)
        update_rows_threaded(u, next, rows, n, ratio, threads);
    else
        update_rows(u, next, (size_t)rows, (size_t)n, ratio);
    sp_end(stencil_region);
}

void heat_step(const double *u, double *next, int n, double ratio, int threads)
{
    apply_stencil(u, next, n, n, ratio, threads);
    sp_begin(boundary_region);
    set_walls(next, (size_t)n);
    sp_end(boundary_region);
}

void heat_step_rows(const double *u, double *next, int rows, int n, double ratio, int threads)
{
    apply_stencil(u, next, rows, n, ratio, threads);
    sp_begin(boundary_region);
    set_side_walls(next + n, (size_t)rows - 2, (size_t)n);
    sp_end(boundary_region);
}

double heat_norm(const double *u, int n)
{
    double sum = 0.0, h = 1.0 / (n - 1);
    sp_begin(norm_region);
    for (size_t i = 0; i < (size_t)n * (size_t)n; i++)
        sum += u[i] * u[i];
    sp_end(norm_region);
    return h * sqrt(sum);
}

double heat_residual(const double *a, const double *b, int n)
{
    double largest = 0.0;
    sp_begin(residual_region);
    for (size_t i = 0; i < (size_t)n * (size_t)n; i++)
        largest = fmax(largest, fabs(a[i] - b[i]));
    sp_end(residual_region);
    return largest;
}
