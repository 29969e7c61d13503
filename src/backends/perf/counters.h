/* counters.h - perf events of threads: which groups they are counted in, and reading them.
 *
 * Hardware events go into as few groups as the processor's counters allow: those of a group are counted
 * at the same time, and groups take turns. Software events never wait and have a group of their own. Each
 * group is opened once a thread and read through its counters' pages where the kernel allows it, else with
 * one read of the system.
 */
#ifndef SP_BACKENDS_PERF_COUNTERS_H
#define SP_BACKENDS_PERF_COUNTERS_H

#include "backends/perf/events.h"
#include "scope_plugin.h"

typedef struct sp_perf_plan {
    const sp_os_perf *system;
    bool with_kernel;
    bool takes_turns; /* there are hardware events: the times of groups matter */
    uint32_t num_events, num_groups;
    sp_perf_event events[SP_INSTRUMENT_VALUES];
    bool is_usage[SP_INSTRUMENT_VALUES]; /* not counted, read from the usage of the thread */
    uint8_t group_of[SP_INSTRUMENT_VALUES];
    uint32_t num_usages;
} sp_perf_plan;

/* Finds out, on the calling thread, which groups there can be. SP_ERR_UNSUPPORTED with what to do where an
 * event cannot be counted here; SP_ERR_INVALID_ARGUMENT for a name that is none. Names are borrowed. */
int sp_perf_plan_make(sp_perf_plan *plan, const sp_os_perf *system, const char *const *names,
                      size_t count, bool with_kernel, sp_error *error);

typedef struct sp_perf_thread sp_perf_thread;

/* Counts the calling thread. */
int sp_perf_thread_open(const sp_perf_plan *plan, sp_perf_thread **out, sp_error *error);
void sp_perf_thread_close(const sp_perf_plan *plan, sp_perf_thread *thread);
/* num_events values, then if groups take turns the time enabled and the time counted of each. */
void sp_perf_thread_read(const sp_perf_plan *plan, const sp_perf_thread *thread, int64_t *values);

/* The error of an event that did not open, for people. Returns SP_ERR_UNSUPPORTED. */
int sp_perf_refused(const sp_os_perf *system, const sp_perf_event *event, int errno_value,
                    sp_error *error);

#endif
