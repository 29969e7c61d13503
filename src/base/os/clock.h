/* clock.h - the clocks of the operating system, in nanoseconds. */
#ifndef SP_BASE_OS_CLOCK_H
#define SP_BASE_OS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* CLOCK_MONOTONIC; 0 where the system has none. */
int64_t sp_os_monotonic_ns(void);
/* The same clock including the time the machine was suspended; equal to it where that is not
 * known. */
int64_t sp_os_boottime_ns(void);
/* Since 1970, UTC. */
int64_t sp_os_realtime_ns(void);
/* CPU time of the calling thread, -1 when not known. */
int64_t sp_os_thread_cpu_ns(void);
/* That of another thread of this process by its number (sp_os_thread_id), -1 when not known. */
int64_t sp_os_thread_cpu_ns_of(int64_t native_id);

/* True when the processor's counter runs at one rate in every sleep state and the kernel itself
 * keeps time by it. Reads /sys and /proc: call once. */
bool sp_os_counter_is_trusted(void);

#endif
