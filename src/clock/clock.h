/* clock.h - which clock this process records with. */
#ifndef SP_CLOCK_CLOCK_H
#define SP_CLOCK_CLOCK_H

#include "clock/tick.h"

#include <stdbool.h>
#include <stdint.h>

/* Chooses the clock; the first call decides for the life of the process. Any thread. False when
 * the system has no monotonic clock. */
bool sp_clock_prepare(void);

/* True when ticks are steps of the processor's counter; false (and before sp_clock_prepare): ticks
 * are nanoseconds of CLOCK_MONOTONIC. */
bool sp_clock_uses_counter(void);

/* "tsc", "cntvct" or "monotonic". */
const char *sp_clock_name(void);

int64_t sp_clock_monotonic_ns(void);
int64_t sp_clock_boottime_ns(void);

#endif
