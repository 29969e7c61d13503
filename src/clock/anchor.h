/* anchor.h - one moment on both clocks. */
#ifndef SP_CLOCK_ANCHOR_H
#define SP_CLOCK_ANCHOR_H

#include <stdint.h>

typedef struct sp_anchor {
    uint64_t tick;
    int64_t ns;           /* CLOCK_MONOTONIC at that tick */
    int64_t suspended_ns; /* CLOCK_BOOTTIME minus CLOCK_MONOTONIC: grows while the machine sleeps */
} sp_anchor;

/* Reads both clocks several times and keeps the tightest pair, so a preemption in the middle does
 * not count. Takes about half a microsecond. */
void sp_anchor_take(sp_anchor *out);

#endif
