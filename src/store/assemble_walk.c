#include "store/assemble_walk.h"

#include "base/error.h"
#include "log/bytes.h"
#include "log/unpack.h"

#include <stdlib.h>
#include <string.h>

enum { TICKS_PER_MARKED = 4 };

typedef struct walk {
    const sp_assembly *assembly;
    const sp_walk_visitor *visitor;
    sp_error *error;
    sp_resolver *states; /* by lane */
    bool has_call;       /* `last` is a call of this block */
    sp_walk_call last;   /* the call that a side record belongs to */
    uint64_t last_tick;  /* at which it began */
    sp_call_batch batch;
    int64_t ns[2 * SP_CALL_BATCH];
    sp_walk_call calls[SP_CALL_BATCH];
    sp_unpack unpack;
} walk;

static int64_t stretch(int64_t start, int64_t end)
{
    if (end <= start)
        return 0;
    uint64_t length = (uint64_t)end - (uint64_t)start;
    return length > INT64_MAX ? INT64_MAX : (int64_t)length;
}

/* From the lane of a record to that of the assembly. */
static int find_lane(const walk *w, uint32_t *lane)
{
    const sp_assembly *a = w->assembly;
    size_t num_threads = a->num_lanes - a->num_task_lanes;
    if (*lane < num_threads)
        return SP_OK;
    if (*lane >= SP_RECORD_TASK_LANES && *lane - SP_RECORD_TASK_LANES < a->num_task_lanes) {
        *lane = (uint32_t)num_threads + (*lane - SP_RECORD_TASK_LANES);
        return SP_OK;
    }
    return sp_fail(w->error, SP_ERR_DAMAGED,
                   "log block of ring %u: lane %u; the run has %zu of threads and %zu of tasks",
                   w->unpack.header.ring, *lane, num_threads, a->num_task_lanes);
}

static int cannot_follow(const walk *w, uint64_t depth)
{
    if (depth > SP_RESOLVER_MAX_DEPTH)
        return sp_fail(w->error, SP_ERR_DAMAGED, "log block: a call at depth %llu",
                       (unsigned long long)depth);
    return sp_fail_memory(w->error, "following the nesting of calls");
}

/* `start`: tick of the last one. */
static int hand_on(walk *w, size_t count, uint64_t start)
{
    w->last = w->calls[count - 1];
    w->last_tick = start;
    w->has_call = true;
    return w->visitor->calls(w->visitor->context, w->calls, count, w->error);
}

/* The regular calls of the batch. */
static int take_batch(walk *w)
{
    const sp_call_batch *batch = &w->batch;
    const sp_tick_map *map = &w->assembly->ticks;
    map->to_ns(map->context, batch->ticks, w->ns, 2 * batch->count);
    sp_resolver *state = &w->states[batch->lane];
    for (size_t i = 0; i < batch->count; i++) {
        sp_walk_call *call = &w->calls[i];
        int64_t start = w->ns[2 * i], end = w->ns[2 * i + 1];
        sp_resolved resolved;
        uint64_t first = batch->firsts[i];
        call->lane = batch->lane;
        call->region = sp_record_region(first);
        call->flags = sp_record_flags(first);
        call->is_clamped = end < start;
        call->start = start;
        call->duration = stretch(start, end);
        if (!sp_resolver_call(state, sp_record_depth(first), call->duration, &resolved))
            return cannot_follow(w, sp_record_depth(first));
        call->number = resolved.number;
        call->parent = resolved.parent;
        call->exclusive = resolved.exclusive_ns;
    }
    return hand_on(w, batch->count, batch->ticks[2 * (batch->count - 1)]);
}

static int take_next_batch(walk *w)
{
    int status = find_lane(w, &w->batch.lane);
    return status == SP_OK ? take_batch(w) : status;
}

static int take_regular(walk *w, const sp_event *event)
{
    w->batch.lane = event->lane;
    w->batch.firsts[0] = sp_record_first(SP_RECORD_CALL, event->region, event->depth) |
                         (event->flags != 0 ? SP_RECORD_RESUMPTION : 0);
    w->batch.ticks[0] = event->start;
    w->batch.ticks[1] = event->end;
    w->batch.count = 1;
    return take_batch(w);
}

static int take_marked(walk *w, const sp_event *event)
{
    const sp_tick_map *map = &w->assembly->ticks;
    uint64_t ticks[TICKS_PER_MARKED] = {event->start, event->end, event->outer_from,
                                        event->inner_from};
    int64_t ns[TICKS_PER_MARKED] = {(int64_t)event->start, (int64_t)event->end};
    if (!(event->flags & SP_CALL_APPENDED))
        map->to_ns(map->context, ticks, ns, TICKS_PER_MARKED);
    sp_marked_call marked = {
        .flags = event->flags, .depth = event->depth, .below = event->below,
        .number = event->number, .parent = event->parent, .start_ns = ns[0], .end_ns = ns[1],
        .outer_from_ns = ns[2], .inner_from_ns = ns[3]};
    sp_resolved resolved;
    if (!sp_resolver_marked(&w->states[event->lane], &marked, &resolved))
        return cannot_follow(w, event->depth > event->below ? event->depth : event->below);
    w->calls[0] = (sp_walk_call){
        .lane = event->lane, .region = event->region, .flags = event->flags,
        .is_clamped = ns[1] < ns[0], .start = ns[0], .duration = stretch(ns[0], ns[1]),
        .exclusive = resolved.exclusive_ns, .number = resolved.number, .parent = resolved.parent};
    return hand_on(w, 1, event->start);
}

/* As long as it takes from the start of the call, so that it never exceeds it. */
static int64_t await_ns(const walk *w, uint64_t start, uint64_t awaited)
{
    const sp_tick_map *map = &w->assembly->ticks;
    uint64_t ticks[2] = {start, start + awaited};
    int64_t ns[2];
    map->to_ns(map->context, ticks, ns, 2);
    return stretch(ns[0], ns[1]);
}

static int give_await(walk *w, uint64_t start, uint64_t awaited)
{
    const sp_walk_call *call = &w->last;
    if (w->visitor->await == NULL)
        return SP_OK;
    int64_t ns = await_ns(w, start, awaited);
    return w->visitor->await(w->visitor->context, call->lane, call->number,
                             ns < call->duration ? ns : call->duration, w->error);
}

static bool is_measured(uint32_t kind)
{
    return kind == SP_SIDE_COUNTERS || kind == SP_SIDE_PAYLOAD || kind == SP_SIDE_DEVICE;
}

static int take_side(walk *w, const sp_event *event)
{
    if (event->side_kind == SP_SIDE_AWAIT && w->has_call &&
        event->payload_bytes == sizeof(uint64_t))
        return give_await(w, w->last_tick, sp_load_u64((const uint8_t *)event->payload));
    bool is_metadata = event->side_kind == SP_SIDE_METADATA;
    int (*take)(void *, const sp_walk_side *, sp_error *) =
        is_metadata ? w->visitor->side : is_measured(event->side_kind) ? w->visitor->measured : NULL;
    if (take == NULL)
        return SP_OK;
    if (!w->has_call)
        return sp_fail(w->error, SP_ERR_DAMAGED,
                       "log block of ring %u: a side record before any call",
                       w->unpack.header.ring);
    sp_walk_side side = {.kind = event->side_kind, .lane = w->last.lane, .region = w->last.region,
                         .bytes = event->payload_bytes, .number = w->last.number,
                         .payload = event->payload};
    return take(w->visitor->context, &side, w->error);
}

static int take_drain(walk *w, const sp_event *event)
{
    if (w->visitor->drain == NULL)
        return SP_OK;
    const sp_tick_map *map = &w->assembly->ticks;
    uint64_t ticks[2] = {event->start, event->end};
    int64_t ns[2];
    map->to_ns(map->context, ticks, ns, 2);
    return w->visitor->drain(w->visitor->context, event->lane, stretch(ns[0], ns[1]), w->error);
}

static int take_lost(walk *w, const sp_event *event)
{
    sp_resolver_lost(&w->states[event->lane], event->lost);
    if (w->visitor->lost == NULL)
        return SP_OK;
    return w->visitor->lost(w->visitor->context, event->lane, event->lost, w->error);
}

static int take(walk *w, sp_event *event)
{
    if (event->kind == SP_RECORD_LANE)
        return SP_OK;
    int status = find_lane(w, &event->lane);
    if (status != SP_OK)
        return status;
    switch (event->kind) {
    case SP_RECORD_CALL:
        return take_regular(w, event);
    case SP_RECORD_CALL_MARKED:
        return take_marked(w, event);
    case SP_RECORD_SIDE:
        return take_side(w, event);
    case SP_RECORD_DRAIN:
        return take_drain(w, event);
    case SP_RECORD_LOST:
        return take_lost(w, event);
    case SP_RECORD_LANE:
        break;
    }
    return SP_OK;
}

/* Calls of a ring are missing: of its thread, or of any of its tasks. */
static void forget(walk *w, uint32_t lane, uint64_t missing)
{
    const sp_assembly *a = w->assembly;
    for (size_t i = 0; i < a->num_lanes; i++)
        if (i == lane || (a->num_task_lanes > 0 && a->lanes[i].thread == a->lanes[lane].thread))
            sp_resolver_forget(&w->states[i], missing);
}

static int walk_block(walk *w, const sp_assemble_block *block)
{
    sp_event event;
    bool checks_sums = w->visitor->check_sums && !w->assembly->blocks_are_unsummed;
    int status =
        sp_unpack_begin(&w->unpack, block->bytes, block->size, checks_sums, w->error);
    w->has_call = false;
    if (status == SP_OK && block->missing > 0) {
        uint32_t lane = w->unpack.header.lane;
        status = find_lane(w, &lane);
        if (status == SP_OK)
            forget(w, lane, block->missing);
    }
    while (status == SP_OK) {
        sp_unpack_calls(&w->unpack, &w->batch);
        if (w->batch.count > 0)
            status = take_next_batch(w);
        else if (sp_unpack_next(&w->unpack, &event))
            status = take(w, &event);
        else
            break;
    }
    if (status == SP_OK && w->unpack.damaged)
        return sp_fail(w->error, SP_ERR_DAMAGED, "log block of ring %u: its records do not add up",
                       w->unpack.header.ring);
    return status;
}

/* Ends the open calls now, innermost first. */
static int walk_open_calls(walk *w)
{
    const sp_assembly *a = w->assembly;
    int status = SP_OK;
    for (size_t i = a->num_open_calls; i-- > 0 && status == SP_OK;) {
        const sp_assemble_open_call *open = &a->open_calls[i];
        bool has_below = i > 0 && open[-1].lane == open->lane;
        sp_event event = {
            .kind = SP_RECORD_CALL_MARKED, .lane = open->lane, .region = open->region,
            .depth = open->depth, .below = has_below ? open[-1].depth + 1 : 0,
            .flags = open->flags | SP_CALL_OPEN, .number = open->number, .parent = open->parent,
            .start = open->start_tick, .end = a->now_tick, .outer_from = open->outer_from_tick,
            .inner_from = a->now_tick};
        status = take_marked(w, &event);
        if (status == SP_OK && open->awaited > 0)
            status = give_await(w, open->start_tick, open->awaited);
    }
    return status;
}

static bool copy_states(sp_resolver *to, const sp_assembly *a)
{
    for (size_t i = 0; i < a->num_lanes; i++)
        if (a->lanes[i].state != NULL && !sp_resolver_copy(&to[i], a->lanes[i].state))
            return false;
    return true;
}

static int walk_all(walk *w, sp_resolver *out_states)
{
    const sp_assembly *a = w->assembly;
    int status = copy_states(w->states, a) ? SP_OK : sp_fail_memory(w->error, "lane states");
    for (size_t i = 0; i < a->num_blocks && status == SP_OK; i++)
        status = walk_block(w, &a->blocks[i]);
    for (size_t i = 0; out_states != NULL && i < a->num_lanes && status == SP_OK; i++)
        if (!sp_resolver_copy(&out_states[i], &w->states[i]))
            status = sp_fail_memory(w->error, "lane states");
    if (status == SP_OK && a->with_open_calls)
        status = walk_open_calls(w);
    return status;
}

int sp_walk(const sp_assembly *assembly, const sp_walk_visitor *visitor, sp_resolver *out_states,
            sp_error *error)
{
    size_t num_lanes = assembly->num_lanes;
    walk *w = malloc(sizeof *w);
    sp_resolver *states = calloc(num_lanes > 0 ? num_lanes : 1, sizeof *states);
    int status;
    if (w == NULL || states == NULL) {
        status = sp_fail_memory(error, "decoding calls");
    } else {
        w->assembly = assembly;
        w->visitor = visitor;
        w->error = error;
        w->states = states;
        status = walk_all(w, out_states);
    }
    for (size_t i = 0; states != NULL && i < num_lanes; i++)
        sp_resolver_release(&states[i]);
    free(states);
    free(w);
    return status;
}
