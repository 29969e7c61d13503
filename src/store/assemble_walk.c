#include "store/assemble_walk.h"

#include "base/error.h"
#include "log/unpack.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 128, TICKS_PER_CALL = 4 };

/* Records wait here until their ticks are converted in one go. */
typedef struct walk {
    const sp_assembly *assembly;
    const sp_walk_visitor *visitor;
    sp_error *error;
    sp_resolver *states; /* by lane */
    bool has_call;       /* `last` is a call of this block */
    sp_walk_call last;   /* the call that a side record belongs to */
    size_t count, num_ticks;
    sp_event events[BATCH];
    uint64_t ticks[BATCH * TICKS_PER_CALL];
    int64_t ns[BATCH * TICKS_PER_CALL];
    sp_walk_call calls[BATCH];
    sp_unpack unpack;
} walk;

static int64_t stretch(int64_t start, int64_t end)
{
    if (end <= start)
        return 0;
    uint64_t length = (uint64_t)end - (uint64_t)start;
    return length > INT64_MAX ? INT64_MAX : (int64_t)length;
}

static bool resolve(walk *w, const sp_event *event, const int64_t *ns, sp_walk_call *call)
{
    sp_resolver *state = &w->states[event->lane];
    sp_resolved resolved;
    call->lane = event->lane;
    call->region = event->region;
    call->start = ns[0];
    call->is_clamped = ns[1] < ns[0];
    call->duration = stretch(ns[0], ns[1]);
    if (event->kind == SP_RECORD_CALL) {
        call->flags = 0;
        if (!sp_resolver_call(state, event->depth, call->duration, &resolved))
            return false;
    } else {
        sp_marked_call marked = {
            .flags = event->flags, .depth = event->depth, .below = event->below,
            .number = event->number, .parent = event->parent, .start_ns = ns[0], .end_ns = ns[1],
            .outer_from_ns = ns[2], .inner_from_ns = ns[3]};
        call->flags = event->flags;
        if (!sp_resolver_marked(state, &marked, &resolved))
            return false;
    }
    call->number = resolved.number;
    call->parent = resolved.parent;
    call->exclusive = resolved.exclusive_ns;
    return true;
}

static bool is_appended(const sp_event *event)
{
    return event->kind == SP_RECORD_CALL_MARKED && event->flags & SP_CALL_APPENDED;
}

static int no_state(const sp_event *event, sp_error *error)
{
    uint64_t deepest = event->depth;
    if (event->kind == SP_RECORD_CALL_MARKED && event->below > deepest)
        deepest = event->below;
    if (deepest > SP_RESOLVER_MAX_DEPTH)
        return sp_fail(error, SP_ERR_DAMAGED, "log block: a call at depth %llu",
                       (unsigned long long)deepest);
    return sp_fail_memory(error, "following the nesting of calls");
}

/* Hands the waiting calls on. */
static int flush(walk *w)
{
    if (w->count == 0)
        return SP_OK;
    const sp_tick_map *map = &w->assembly->ticks;
    map->to_ns(map->context, w->ticks, w->ns, w->num_ticks);
    const int64_t *ns = w->ns;
    for (size_t i = 0; i < w->count; i++) {
        const sp_event *event = &w->events[i];
        int64_t given[TICKS_PER_CALL] = {0};
        const int64_t *times = ns;
        if (is_appended(event)) {
            given[0] = (int64_t)event->start;
            given[1] = (int64_t)event->end;
            times = given;
        } else {
            ns += event->kind == SP_RECORD_CALL ? 2 : TICKS_PER_CALL;
        }
        if (!resolve(w, event, times, &w->calls[i]))
            return no_state(event, w->error);
    }
    size_t count = w->count;
    w->last = w->calls[count - 1];
    w->has_call = true;
    w->count = w->num_ticks = 0;
    return w->visitor->calls(w->visitor->context, w->calls, count, w->error);
}

/* The event at events[count] is a call: it waits for the next flush. */
static int take_call(walk *w)
{
    const sp_event *event = &w->events[w->count++];
    if (!is_appended(event)) {
        w->ticks[w->num_ticks++] = event->start;
        w->ticks[w->num_ticks++] = event->end;
        if (event->kind == SP_RECORD_CALL_MARKED) {
            w->ticks[w->num_ticks++] = event->outer_from;
            w->ticks[w->num_ticks++] = event->inner_from;
        }
    }
    return w->count == BATCH ? flush(w) : SP_OK;
}

static int take_side(walk *w, const sp_event *event)
{
    if (w->visitor->side == NULL || event->side_kind != SP_SIDE_METADATA)
        return SP_OK;
    int status = flush(w);
    if (status != SP_OK)
        return status;
    if (!w->has_call)
        return sp_fail(w->error, SP_ERR_DAMAGED,
                       "log block of ring %u: a side record before any call",
                       w->unpack.header.ring);
    sp_walk_side side = {.lane = w->last.lane, .region = w->last.region,
                         .bytes = event->payload_bytes, .number = w->last.number,
                         .payload = event->payload};
    return w->visitor->side(w->visitor->context, &side, w->error);
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
    int status = flush(w);
    if (status != SP_OK)
        return status;
    sp_resolver_lost(&w->states[event->lane], event->lost);
    if (w->visitor->lost == NULL)
        return SP_OK;
    return w->visitor->lost(w->visitor->context, event->lane, event->lost, w->error);
}

/* The event at events[count], which is in no batch yet. */
static int take(walk *w)
{
    const sp_event *event = &w->events[w->count];
    if (event->lane >= w->assembly->num_lanes)
        return sp_fail(w->error, SP_ERR_DAMAGED, "log block of ring %u: lane %u, the run has %zu",
                       w->unpack.header.ring, event->lane, w->assembly->num_lanes);
    switch (event->kind) {
    case SP_RECORD_CALL:
    case SP_RECORD_CALL_MARKED:
        return take_call(w);
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

static int walk_block(walk *w, const sp_assemble_block *block)
{
    int status =
        sp_unpack_begin(&w->unpack, block->bytes, block->size, w->visitor->check_sums, w->error);
    w->has_call = false;
    while (status == SP_OK && sp_unpack_next(&w->unpack, &w->events[w->count]))
        status = take(w);
    if (status == SP_OK && w->unpack.damaged)
        return sp_fail(w->error, SP_ERR_DAMAGED, "log block of ring %u: its records do not add up",
                       w->unpack.header.ring);
    return status == SP_OK ? flush(w) : status;
}

/* Ends the open calls now, innermost first. */
static int walk_open_calls(walk *w)
{
    const sp_assembly *a = w->assembly;
    int status = SP_OK;
    for (size_t i = a->num_open_calls; i-- > 0 && status == SP_OK;) {
        const sp_assemble_open_call *open = &a->open_calls[i];
        bool has_below = i > 0 && open[-1].lane == open->lane;
        w->events[w->count] = (sp_event){
            .kind = SP_RECORD_CALL_MARKED, .lane = open->lane, .region = open->region,
            .depth = open->depth, .below = has_below ? open[-1].depth + 1 : 0,
            .flags = open->flags | SP_CALL_OPEN, .number = open->number, .parent = open->parent,
            .start = open->start_tick, .end = a->now_tick, .outer_from = open->outer_from_tick,
            .inner_from = a->now_tick};
        status = take_call(w);
    }
    return status == SP_OK ? flush(w) : status;
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
        w->count = w->num_ticks = 0;
        status = walk_all(w, out_states);
    }
    for (size_t i = 0; states != NULL && i < num_lanes; i++)
        sp_resolver_release(&states[i]);
    free(states);
    free(w);
    return status;
}
