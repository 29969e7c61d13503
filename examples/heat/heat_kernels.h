/* heat_kernels.h - kernels of the explicit heat equation solver on an n by n grid, row by row, with
 * the walls in the first and last row and column. */
#ifndef HEAT_KERNELS_H
#define HEAT_KERNELS_H

/* Names the regions that the kernels mark; call it once recording may be on. */
void heat_define_regions(void);

/* next = u + ratio * (sum of the four neighbours of u - 4 u), walls at zero; ratio is dt / h^2. With
 * `threads` > 1 and OpenMP the rows are shared out. */
void heat_step(const double *u, double *next, int n, double ratio, int threads);

/* The same for `rows` rows of such a grid: the first and the last belong to a neighbour, or are a wall, and
 * are left alone. */
void heat_step_rows(const double *u, double *next, int rows, int n, double ratio, int threads);

/* sqrt(h^2 * sum of squares): the L2 norm on the unit square. */
double heat_norm(const double *u, int n);

/* Largest |a - b|. */
double heat_residual(const double *a, const double *b, int n);

#endif
