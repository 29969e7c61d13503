#include "backends/perf/counters.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP_HEADER = 3 }; /* words before the values of a group */

struct sp_perf_thread {
    int descriptors[SP_INSTRUMENT_VALUES]; /* by event, -1: it has none */
    const void *pages[SP_INSTRUMENT_VALUES];
    int leaders[SP_INSTRUMENT_VALUES]; /* by group, -1: it has none */
};

static bool is_hardware(const sp_perf_event *event)
{
    return event->type != SP_OS_PERF_SOFTWARE;
}

static int open_event(const sp_perf_plan *plan, uint32_t i, int leader)
{
    const sp_perf_event *event = &plan->events[i];
    sp_os_perf_event wanted = {.type = event->type, .config = event->config,
                               .with_kernel = plan->with_kernel || event->is_in_kernel};
    return plan->system->open(&wanted, leader);
}

/* ---- The plan --------------------------------------------------------------------------------*/

/* Puts an event into the group that is being filled, or the next one when it does not fit. Returns its
 * descriptor, or minus the errno. */
static int place(sp_perf_plan *plan, uint32_t i, int *leader)
{
    int descriptor = *leader < 0 ? -EINVAL : open_event(plan, i, *leader);
    if (descriptor < 0) {
        descriptor = open_event(plan, i, -1);
        if (descriptor < 0)
            return descriptor;
        plan->num_groups++;
        *leader = descriptor;
    }
    plan->takes_turns = plan->takes_turns || is_hardware(&plan->events[i]);
    plan->group_of[i] = (uint8_t)(plan->num_groups - 1);
    return descriptor;
}

/* Places the events of one kind. */
static int place_all(sp_perf_plan *plan, bool hardware, int *descriptors, sp_error *error)
{
    int leader = -1;
    for (uint32_t i = 0; i < plan->num_events; i++) {
        if (is_hardware(&plan->events[i]) != hardware)
            continue;
        descriptors[i] = place(plan, i, &leader);
        if (descriptors[i] >= 0)
            continue;
        if (plan->events[i].usage == SP_PERF_NO_USAGE)
            return sp_perf_refused(plan->system, &plan->events[i], -descriptors[i], error);
        plan->is_usage[i] = true;
        plan->num_usages++;
    }
    return SP_OK;
}

static int check_names(sp_perf_plan *plan, const char *const *names, size_t count, sp_error *error)
{
    if (count == 0 || count > SP_INSTRUMENT_VALUES)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "%zu perf events; there must be 1 to %d", count,
                       SP_INSTRUMENT_VALUES);
    for (size_t i = 0; i < count; i++)
        if (!sp_perf_event_find(names[i], &plan->events[i]))
            return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "perf_events: unknown event '%s'",
                           names[i]);
    plan->num_events = (uint32_t)count;
    return SP_OK;
}

int sp_perf_plan_make(sp_perf_plan *plan, const sp_os_perf *system, const char *const *names,
                      size_t count, bool with_kernel, sp_error *error)
{
    int descriptors[SP_INSTRUMENT_VALUES];
    *plan = (sp_perf_plan){.system = system, .with_kernel = with_kernel};
    int status = check_names(plan, names, count, error);
    if (status != SP_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        descriptors[i] = -1;
    status = place_all(plan, true, descriptors, error);
    if (status == SP_OK)
        status = place_all(plan, false, descriptors, error);
    for (size_t i = 0; i < count; i++)
        if (descriptors[i] >= 0)
            system->close(descriptors[i]);
    return status;
}

/* ---- Threads ---------------------------------------------------------------------------------*/

int sp_perf_thread_open(const sp_perf_plan *plan, sp_perf_thread **out, sp_error *error)
{
    sp_perf_thread *thread = calloc(1, sizeof *thread);
    if (thread == NULL)
        return sp_fail_memory(error, "the counters of a thread");
    for (size_t i = 0; i < SP_INSTRUMENT_VALUES; i++)
        thread->descriptors[i] = thread->leaders[i] = -1;
    for (uint32_t i = 0; i < plan->num_events; i++) {
        if (plan->is_usage[i])
            continue;
        int *leader = &thread->leaders[plan->group_of[i]];
        int descriptor = open_event(plan, i, *leader);
        if (descriptor < 0) {
            sp_perf_thread_close(plan, thread);
            return sp_perf_refused(plan->system, &plan->events[i], -descriptor, error);
        }
        thread->descriptors[i] = descriptor;
        *leader = *leader < 0 ? descriptor : *leader;
        if (is_hardware(&plan->events[i]))
            thread->pages[i] = plan->system->map(descriptor);
    }
    for (uint32_t group = 0; group < plan->num_groups; group++)
        plan->system->start(thread->leaders[group]);
    *out = thread;
    return SP_OK;
}

/* The leader of a group last, as the others would become groups of their own. */
void sp_perf_thread_close(const sp_perf_plan *plan, sp_perf_thread *thread)
{
    for (uint32_t i = plan->num_events; i-- > 0;) {
        if (thread->pages[i] != NULL)
            plan->system->unmap(thread->pages[i]);
        if (thread->descriptors[i] >= 0)
            plan->system->close(thread->descriptors[i]);
    }
    free(thread);
}

/* A whole group through its pages; false: one of its counters is not in the processor now. */
static bool read_pages(const sp_perf_plan *plan, const sp_perf_thread *thread, uint32_t group,
                       int64_t *values, int64_t *times)
{
    uint64_t out[3];
    for (uint32_t i = 0; i < plan->num_events; i++) {
        if (plan->is_usage[i] || plan->group_of[i] != group)
            continue;
        if (thread->pages[i] == NULL || !plan->system->read_page(thread->pages[i], out))
            return false;
        values[i] = (int64_t)out[0];
        times[0] = (int64_t)out[1];
        times[1] = (int64_t)out[2];
    }
    return true;
}

static void read_system(const sp_perf_plan *plan, const sp_perf_thread *thread, uint32_t group,
                        int64_t *values, int64_t *times)
{
    uint64_t words[GROUP_HEADER + SP_INSTRUMENT_VALUES];
    size_t read = plan->system->read(thread->leaders[group], words,
                                     GROUP_HEADER + plan->num_events);
    size_t at = GROUP_HEADER;
    for (uint32_t i = 0; i < plan->num_events; i++) {
        if (plan->is_usage[i] || plan->group_of[i] != group)
            continue;
        values[i] = at < read ? (int64_t)words[at] : 0;
        at++;
    }
    times[0] = read >= GROUP_HEADER ? (int64_t)words[1] : 0;
    times[1] = read >= GROUP_HEADER ? (int64_t)words[2] : 0;
}

static void read_usage(const sp_perf_plan *plan, int64_t *values)
{
    sp_os_thread_usage usage = {0};
    sp_os_thread_usage_read(&usage);
    for (uint32_t i = 0; i < plan->num_events; i++)
        if (plan->is_usage[i])
            values[i] = sp_perf_usage_of(&usage, plan->events[i].usage);
}

void sp_perf_thread_read(const sp_perf_plan *plan, const sp_perf_thread *thread, int64_t *values)
{
    int64_t unused[2], *times = plan->takes_turns ? values + plan->num_events : unused;
    for (uint32_t group = 0; group < plan->num_groups; group++) {
        times[0] = times[1] = 0;
        if (thread->leaders[group] >= 0 && !read_pages(plan, thread, group, values, times))
            read_system(plan, thread, group, values, times);
        times += plan->takes_turns ? 2 : 0;
    }
    if (plan->num_usages > 0)
        read_usage(plan, values);
}
