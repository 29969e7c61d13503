/* lane_reader.h - reads back what a recording holds: every call of every lane, with what the
 * resolver says of it. For tests of the recorder. */
#ifndef LANE_READER_H
#define LANE_READER_H

#include "log/resolver.h"
#include "log/unpack.h"
#include "recorder/drain.h"
#include "recorder/recording.h"
#include "recorder/task.h"

#include <stdlib.h>

typedef struct read_call {
    uint32_t lane, region, depth, flags;
    uint64_t start, end, number, parent;
    int64_t exclusive;
    char metadata[64];
    uint64_t awaited; /* ticks */
} read_call;

typedef struct read_run {
    SP_VECTOR(read_call) calls;
    uint64_t lost, drains;
    size_t num_threads;
    bool damaged;
} read_run;

static inline void read_event(read_run *run, sp_resolver *states, const sp_event *event)
{
    bool is_task = event->lane >= SP_RECORD_TASK_LANES;
    sp_resolver *state =
        &states[is_task ? run->num_threads + (event->lane - SP_RECORD_TASK_LANES) : event->lane];
    if (event->kind == SP_RECORD_LOST) {
        run->lost += event->lost;
        sp_resolver_lost(state, event->lost);
    } else if (event->kind == SP_RECORD_DRAIN) {
        run->drains++;
    } else if (event->kind == SP_RECORD_SIDE && event->side_kind == SP_SIDE_AWAIT) {
        memcpy(&run->calls.items[run->calls.count - 1].awaited, event->payload, sizeof(uint64_t));
    } else if (event->kind == SP_RECORD_SIDE) {
        read_call *call = &run->calls.items[run->calls.count - 1];
        snprintf(call->metadata, sizeof call->metadata, "%.*s", (int)event->payload_bytes,
                 event->payload);
    }
    if (event->kind != SP_RECORD_CALL && event->kind != SP_RECORD_CALL_MARKED)
        return;
    sp_resolved resolved;
    if (event->kind == SP_RECORD_CALL) {
        sp_resolver_call(state, event->depth, (int64_t)(event->end - event->start), &resolved);
    } else {
        sp_marked_call marked = {.flags = event->flags, .depth = event->depth,
                                 .below = event->below, .number = event->number,
                                 .parent = event->parent, .start_ns = (int64_t)event->start,
                                 .end_ns = (int64_t)event->end,
                                 .outer_from_ns = (int64_t)event->outer_from,
                                 .inner_from_ns = (int64_t)event->inner_from};
        sp_resolver_marked(state, &marked, &resolved);
    }
    if (!sp_vector_reserve(&run->calls, 1))
        return;
    run->calls.items[run->calls.count++] = (read_call){
        .lane = event->lane, .region = event->region, .depth = event->depth,
        .flags = event->flags, .start = event->start, .end = event->end, .number = resolved.number, .parent = resolved.parent,
        .exclusive = resolved.exclusive_ns};
}

static inline int read_order(const void *a, const void *b)
{
    const read_call *x = a, *y = b;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Drains everything and reads it, sorted by lane and begin number. */
static inline read_run read_recording(sp_recording *recording)
{
    read_run run = {.num_threads = recording->threads.count};
    size_t num_lanes = recording->threads.count + recording->tasks.count;
    const sp_sink_table *table = recording->sink->table;
    sp_resolver *states = calloc(num_lanes + 1, sizeof *states);
    for (size_t i = 0; i < recording->lanes.count; i++) {
        sp_lane *lane = recording->lanes.items[i];
        sp_mutex_lock(&lane->lock);
        sp_drain_other(lane);
        sp_mutex_unlock(&lane->lock);
        sp_sink_cursor cursor = {0};
        size_t size;
        for (const void *block; (block = table->next(lane->sink, &cursor, &size)) != NULL;) {
            static _Thread_local sp_unpack unpack;
            sp_event event;
            if (sp_unpack_begin(&unpack, block, size, table->wants_sums, NULL) != SP_OK)
                run.damaged = true;
            else
                while (sp_unpack_next(&unpack, &event))
                    read_event(&run, states, &event);
            run.damaged |= unpack.damaged;
        }
    }
    for (size_t i = 0; i <= num_lanes; i++)
        sp_resolver_release(&states[i]);
    free(states);
    if (run.calls.count > 0)
        qsort(run.calls.items, run.calls.count, sizeof(read_call), read_order);
    return run;
}

#endif
