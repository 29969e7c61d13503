#include "backends/likwid/region.h"

#include <stdlib.h>
#include <string.h>

/* NULL: memory is short. */
static likwid_region *region_of(likwid_thread *thread, const sp_instrument_call *call)
{
    size_t at = (size_t)call->region;
    if (at >= thread->regions.count) {
        size_t missing = at + 1 - thread->regions.count;
        if (!sp_vector_reserve(&thread->regions, missing))
            return NULL;
        memset(thread->regions.items + thread->regions.count, 0,
               missing * sizeof *thread->regions.items);
        thread->regions.count += missing;
    }
    likwid_region *region = &thread->regions.items[at];
    region->name = call->name;
    return region;
}

void sp_likwid_begin(const likwid_functions *likwid, likwid_thread *thread,
                     const sp_instrument_call *call)
{
    sp_mutex_lock(&thread->lock);
    likwid_region *region = region_of(thread, call);
    if (region != NULL && region->depth++ == 0) {
        region->is_started = likwid->start(call->name) >= 0;
        region->missed += region->is_started ? 0 : 1;
    }
    sp_mutex_unlock(&thread->lock);
}

/* What LIKWID knows of the region: totals since its markers were started. */
static void take(const likwid_functions *likwid, likwid_region *region)
{
    double values[LIKWID_EVENTS_MOST] = {0};
    int count = LIKWID_EVENTS_MOST;
    likwid->get(region->name, &count, values, &region->seconds, &region->count);
    count = count < 0 ? 0 : count > LIKWID_EVENTS_MOST ? LIKWID_EVENTS_MOST : count;
    if (region->events == NULL)
        region->events = calloc(LIKWID_EVENTS_MOST, sizeof *region->events);
    if (region->events == NULL)
        return;
    memcpy(region->events, values, (size_t)count * sizeof *values);
    region->num_events = count;
    region->processor = likwid->processor();
    region->group = likwid->active_group();
}

static void stop(const likwid_functions *likwid, likwid_region *region)
{
    if (region->is_started && likwid->stop(region->name) >= 0)
        take(likwid, region);
    region->is_started = false;
}

void sp_likwid_end(const likwid_functions *likwid, likwid_thread *thread,
                   const sp_instrument_call *call)
{
    sp_mutex_lock(&thread->lock);
    likwid_region *region = region_of(thread, call);
    if (region != NULL && region->depth > 0 && --region->depth == 0)
        stop(likwid, region);
    sp_mutex_unlock(&thread->lock);
}

void sp_likwid_stop_open(const likwid_functions *likwid, likwid_thread *thread)
{
    sp_mutex_lock(&thread->lock);
    for (size_t i = 0; i < thread->regions.count; i++) {
        likwid_region *region = &thread->regions.items[i];
        if (region->depth > 0)
            stop(likwid, region);
        region->depth = 0;
    }
    sp_mutex_unlock(&thread->lock);
}
