/* shape.h - the calls that the file and analysis benches use: nests of up to 23 levels over 64
 * regions, most calls at the leaves, the same on every machine. */
#ifndef SP_BENCH_SHAPE_H
#define SP_BENCH_SHAPE_H

#include <stdint.h>

enum { SHAPE_REGIONS = 64, SHAPE_DEPTH = 23 };

/* Linear congruential generator of Knuth (MMIX constants): repeatable on every machine. */
static inline uint64_t shape_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* Drives begin(level region) and end(...) until `calls` calls were made. */
static inline void shape_drive(uint64_t calls, void (*begin)(int), void (*end)(int))
{
    uint64_t state = 1, made = 0;
    int stack[SHAPE_DEPTH], depth = 0;
    while (made < calls || depth > 0) {
        uint64_t draw = shape_random(&state);
        int may_open = made < calls && depth < SHAPE_DEPTH;
        if (may_open && (depth == 0 || draw % 16 < 8)) {
            int region = (int)(draw / 16 % SHAPE_REGIONS);
            stack[depth++] = region;
            begin(region);
            made++;
        } else {
            end(stack[--depth]);
        }
    }
}

#endif
