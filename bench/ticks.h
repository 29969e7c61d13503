/* ticks.h - the floor of the native rows: two bare tick reads. */
#ifndef SP_BENCH_TICKS_H
#define SP_BENCH_TICKS_H

#include "sample.h"

#include <stdint.h>
#if defined(__x86_64__)
#include <x86intrin.h>
static inline uint64_t bench_tick(void) { return __rdtsc(); }
#else
static inline uint64_t bench_tick(void)
{
    uint64_t t;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
    return t;
}
#endif

/* ns of a pair, over so many of them. */
static inline double bench_two_ticks(int pairs)
{
    static volatile uint64_t sink;
    double start = sample_now();
    uint64_t sum = 0;
    for (int i = 0; i < pairs; i++) {
        uint64_t a = bench_tick();
        uint64_t b = bench_tick();
        sum += b - a;
    }
    sink = sum;
    (void)sink;
    return (sample_now() - start) / pairs;
}

#endif
