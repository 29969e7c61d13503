#include "backends/perf/instrument.h"

#include "backends/perf/counters.h"
#include "base/arena.h"
#include "base/error.h"

#include <stdlib.h>

typedef struct perf {
    sp_perf_plan plan;
    sp_arena texts;
    const char *names[SP_INSTRUMENT_VALUES];
} perf;

static bool attach(void *context, void **out_state, sp_error *error)
{
    const perf *own = context;
    sp_perf_thread *thread;
    if (sp_perf_thread_open(&own->plan, &thread, error) != SP_OK)
        return false;
    *out_state = thread;
    return true;
}

static void detach(void *context, void *state)
{
    const perf *own = context;
    sp_perf_thread_close(&own->plan, state);
}

static void read_values(void *context, void *state, int64_t *values)
{
    const perf *own = context;
    sp_perf_thread_read(&own->plan, state, values);
}

static void release(void *context)
{
    perf *own = context;
    sp_arena_release(&own->texts);
    free(own);
}

static int prepare(perf *own, const sp_os_perf *system, const sp_instrument_request *request,
                   sp_error *error)
{
    if (request->num_items > SP_INSTRUMENT_VALUES)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "%zu perf events; at most %d",
                       request->num_items, SP_INSTRUMENT_VALUES);
    for (size_t i = 0; i < request->num_items; i++) {
        own->names[i] = sp_arena_text(&own->texts, request->items[i]);
        if (own->names[i] == NULL)
            return sp_fail_memory(error, "preparing perf events");
    }
    return sp_perf_plan_make(&own->plan, system, own->names, request->num_items,
                             request->with_kernel, error);
}

int sp_perf_instrument(const sp_os_perf *system, const sp_instrument_request *request,
                       sp_instrument *out, sp_error *error)
{
    perf *own = calloc(1, sizeof *own);
    if (own == NULL)
        return sp_fail_memory(error, "preparing perf events");
    int status = prepare(own, system, request, error);
    if (status != SP_OK) {
        release(own);
        return status;
    }
    *out = (sp_instrument){
        .size = sizeof *out,
        .version = SP_INSTRUMENT_VERSION,
        .name = "perf_events",
        .context = own,
        .num_values = own->plan.num_events,
        .value_names = own->names,
        .num_groups = own->plan.takes_turns ? own->plan.num_groups : 0,
        .group_of = own->plan.group_of,
        .keeps_calls = request->keeps_calls,
        .attach_thread = attach,
        .detach_thread = detach,
        .read = read_values,
        .release = release,
    };
    return SP_OK;
}
