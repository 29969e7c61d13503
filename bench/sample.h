/* sample.h - how every bench program measures and prints.
 *
 * Variants are measured in turn, repeat by repeat, so that a machine whose speed drifts slows all of
 * them alike; bench.py forms the ratio within each repeat and shows median and spread. */
#ifndef SP_BENCH_SAMPLE_H
#define SP_BENCH_SAMPLE_H

#include <stdint.h>
#include <stdio.h>
#include <time.h>

static inline double sample_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* One result line: variant, repeat, nanoseconds for one unit of its work. */
static inline void sample_print(const char *variant, int repeat, double ns)
{
    printf("%s %d %.4f\n", variant, repeat, ns);
    fflush(stdout);
}

#endif
