/* events.h - the names of perf events, and where each is counted. */
#ifndef SP_BACKENDS_PERF_EVENTS_H
#define SP_BACKENDS_PERF_EVENTS_H

#include "base/os/perf.h"

/* What the system accounts for every thread serves where counting the event is not allowed. */
typedef enum sp_perf_usage {
    SP_PERF_NO_USAGE,
    SP_PERF_CPU_TIME,
    SP_PERF_SWITCHES,
    SP_PERF_FAULTS,
    SP_PERF_MINOR_FAULTS,
    SP_PERF_MAJOR_FAULTS
} sp_perf_usage;

typedef struct sp_perf_event {
    const char *name;
    sp_os_perf_type type;
    uint64_t config;
    bool is_in_kernel; /* it happens there: counted there whatever was asked for */
    sp_perf_usage usage; /* what stands for it where that is not allowed */
} sp_perf_event;

/* False: no event is called so. Raw events are "r" and the number of the processor's manual in
 * hexadecimal; `name` is borrowed. */
bool sp_perf_event_find(const char *name, sp_perf_event *out);

int64_t sp_perf_usage_of(const sp_os_thread_usage *usage, sp_perf_usage what);

#endif
