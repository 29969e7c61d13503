/* shape.h - the calls that the file and analysis benches use, the same on every machine: time steps
 * of a program whose calls nest up to 23 levels over 64 regions, most of them short leaves whose
 * number varies from step to step. */
#ifndef SP_BENCH_SHAPE_H
#define SP_BENCH_SHAPE_H

#include <stdint.h>

enum { SHAPE_REGIONS = 64, SHAPE_DEPTH = 23, SHAPE_LEAVES = SHAPE_REGIONS - SHAPE_DEPTH };

/* Linear congruential generator of Knuth (MMIX constants): repeatable on every machine. */
static inline uint64_t shape_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* One level of a step: itself, some leaves, the level below, some leaves. */
static inline void shape_level(int level, uint64_t *state, uint64_t *left, void (*begin)(int),
                               void (*end)(int))
{
    if (*left == 0)
        return;
    begin(level);
    --*left;
    for (int half = 0; half < 2; half++) {
        int leaf = SHAPE_DEPTH + (level * 2 + half) % SHAPE_LEAVES;
        for (uint64_t i = 2 + shape_random(state) % 8; i > 0 && *left > 0; i--) {
            begin(leaf);
            end(leaf);
            --*left;
        }
        if (half == 0 && level + 1 < SHAPE_DEPTH - 1)
            shape_level(level + 1, state, left, begin, end);
    }
    end(level);
}

/* Drives begin(region) and end(region) for exactly `calls` calls. */
static inline void shape_drive(uint64_t calls, void (*begin)(int), void (*end)(int))
{
    uint64_t state = 1;
    while (calls > 0)
        shape_level(0, &state, &calls, begin, end);
}

#endif
