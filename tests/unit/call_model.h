/* call_model.h - a naive model of lanes that nest calls: explicit stacks, no cleverness. It writes
 * the ring words that a recorder writes and knows, by counting, what must come out.
 *
 * Exclusive time is found by the clock alone: whenever something happens on a lane, the time since
 * the last event goes to the call that is innermost. */
#ifndef CALL_MODEL_H
#define CALL_MODEL_H

#include "base/vector.h"
#include "log/record.h"
#include "log/tick_map.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct model_frame {
    uint32_t region, depth, flags;
    uint64_t number, parent, start, outer_from;
    uint64_t own; /* time as the innermost call */
    bool must_mark, is_own_known;
} model_frame;

/* A call that ended, as it must come out. */
typedef struct model_call {
    uint32_t lane, region, depth, flags;
    uint64_t number, parent, start, end;
    int64_t exclusive; /* -1: a loss took it */
    char metadata[40]; /* "" none */
} model_call;

typedef struct model_lane {
    SP_VECTOR(model_frame) stack;
    uint64_t next_number, last_event;
} model_lane;

enum { MODEL_LANES = 3 };

typedef struct model {
    uint64_t random, now;
    uint32_t lane; /* of the last record written */
    model_lane lanes[MODEL_LANES];
    SP_VECTOR(uint64_t) words;
    SP_VECTOR(size_t) records; /* position in `words` of each record */
    SP_VECTOR(model_call) calls;
    uint64_t lost;
} model;

#define MODEL_PUSH(vector, item)                                                                   \
    do {                                                                                           \
        if (!sp_vector_reserve(&(vector), 1))                                                      \
            abort();                                                                               \
        (vector).items[(vector).count++] = (item);                                                 \
    } while (0)

/* Ticks of the model are ns shifted by 2^63, so that every 64-bit tick has a time. */
static inline int64_t model_ns(uint64_t tick)
{
    return (int64_t)(tick ^ UINT64_C(1) << 63);
}

static inline void model_to_ns(const void *context, const uint64_t *ticks, int64_t *out,
                               size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++)
        out[i] = model_ns(ticks[i]);
}

static const sp_tick_map model_ticks = {.to_ns = model_to_ns};

static inline uint64_t model_random(model *m, uint64_t below)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return m->random % below;
}

/* Seeds it and sets the clock. */
static inline void model_begin(model *m, uint64_t seed, uint64_t now)
{
    memset(m, 0, sizeof *m);
    m->random = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    m->now = now;
    for (int i = 0; i < MODEL_LANES; i++)
        m->lanes[i].last_event = now;
}

static inline void model_release(model *m)
{
    for (int i = 0; i < MODEL_LANES; i++)
        sp_vector_release(&m->lanes[i].stack);
    sp_vector_release(&m->words);
    sp_vector_release(&m->records);
    sp_vector_release(&m->calls);
}

/* Forgets what was recorded, as after a publication; what is open stays open. */
static inline void model_forget(model *m)
{
    m->words.count = m->records.count = m->calls.count = 0;
}

static inline void model_record(model *m, uint32_t lane, const uint64_t *words, size_t count)
{
    if (lane != m->lane) {
        MODEL_PUSH(m->records, m->words.count);
        MODEL_PUSH(m->words, sp_record_first(SP_RECORD_LANE, lane, 0));
        m->lane = lane;
    }
    MODEL_PUSH(m->records, m->words.count);
    for (size_t i = 0; i < count; i++)
        MODEL_PUSH(m->words, words[i]);
}

static inline model_frame *model_top(model_lane *lane)
{
    return lane->stack.count > 0 ? &lane->stack.items[lane->stack.count - 1] : NULL;
}

static inline void model_charge(model *m, uint32_t lane)
{
    model_lane *l = &m->lanes[lane];
    model_frame *top = model_top(l);
    if (top != NULL)
        top->own += m->now - l->last_event;
    l->last_event = m->now;
}

static inline void model_open(model *m, uint32_t lane, uint32_t region)
{
    model_lane *l = &m->lanes[lane];
    model_charge(m, lane);
    const model_frame *top = model_top(l);
    model_frame frame = {.region = region,
                         .depth = top != NULL ? top->depth + 1 : 0,
                         .number = l->next_number++,
                         .parent = top != NULL ? top->number : SP_RECORD_NO_PARENT,
                         .start = m->now,
                         .outer_from = m->now,
                         .is_own_known = true};
    MODEL_PUSH(l->stack, frame);
}

static inline bool model_is_irregular(const model_lane *lane)
{
    bool is_irregular = false;
    for (size_t i = 0; i < lane->stack.count; i++)
        is_irregular = is_irregular || lane->stack.items[i].must_mark;
    return is_irregular;
}

static inline void model_side(model *m, uint32_t lane, const char *text)
{
    uint64_t words[16] = {0};
    size_t length = strlen(text);
    words[0] = sp_record_first(SP_RECORD_SIDE, (uint32_t)length, SP_SIDE_METADATA);
    memcpy(words + 1, text, length);
    model_record(m, lane, words, 1 + (length + 7) / 8);
}

/* Ends the call at stack position `at` of the lane, with these flags besides the ones it gets. */
static inline void model_close(model *m, uint32_t lane, size_t at, uint32_t flags)
{
    model_lane *l = &m->lanes[lane];
    model_charge(m, lane);
    bool is_irregular = model_is_irregular(l);
    model_frame f = l->stack.items[at];
    const model_frame *above = at + 1 < l->stack.count ? &l->stack.items[at + 1] : NULL;
    f.flags |= flags | (above != NULL ? SP_CALL_CROSSING : 0);
    if ((f.flags & ~(uint32_t)SP_CALL_RESUMPTION) != 0 || is_irregular) {
        uint64_t words[SP_RECORD_MARKED_WORDS] = {
            [SP_MARKED_FIRST] = sp_record_first(SP_RECORD_CALL_MARKED, f.region, 0),
            [SP_MARKED_START] = f.start,
            [SP_MARKED_END] = m->now,
            [SP_MARKED_FLAGS] = f.flags,
            [SP_MARKED_NUMBER] = f.number,
            [SP_MARKED_PARENT] = f.parent,
            [SP_MARKED_DEPTH] = f.depth,
            [SP_MARKED_BELOW] = at > 0 ? l->stack.items[at - 1].depth + 1 : 0,
            [SP_MARKED_OUTER_FROM] = f.outer_from,
            [SP_MARKED_INNER_FROM] = above != NULL ? above->outer_from : m->now};
        model_record(m, lane, words, SP_RECORD_MARKED_WORDS);
    } else {
        uint64_t words[3] = {sp_record_first(SP_RECORD_CALL, f.region, f.depth), f.start, m->now};
        if (f.flags != 0)
            words[0] |= SP_RECORD_RESUMPTION;
        model_record(m, lane, words, 3);
    }
    model_call call = {.lane = lane, .region = f.region, .depth = f.depth, .flags = f.flags,
                       .number = f.number, .parent = f.parent, .start = f.start, .end = m->now,
                       .exclusive = f.is_own_known ? (int64_t)f.own : -1};
    MODEL_PUSH(m->calls, call);
    for (size_t i = at + 1; i < l->stack.count; i++) {
        l->stack.items[i].flags |= SP_CALL_OUTLIVED;
        l->stack.items[i].must_mark = true;
    }
    if (above != NULL)
        l->stack.items[at + 1].outer_from = m->now;
    memmove(&l->stack.items[at], &l->stack.items[at + 1],
            (l->stack.count - at - 1) * sizeof *l->stack.items);
    l->stack.count--;
}

/* A call given as finished, in ns. */
static inline void model_append(model *m, uint32_t lane, uint32_t region, int64_t start,
                                int64_t end)
{
    model_lane *l = &m->lanes[lane];
    const model_frame *top = model_top(l);
    uint64_t number = l->next_number++;
    uint64_t words[SP_RECORD_MARKED_WORDS] = {
        [SP_MARKED_FIRST] = sp_record_first(SP_RECORD_CALL_MARKED, region, 0),
        [SP_MARKED_START] = (uint64_t)start,
        [SP_MARKED_END] = (uint64_t)end,
        [SP_MARKED_FLAGS] = SP_CALL_APPENDED,
        [SP_MARKED_NUMBER] = number,
        [SP_MARKED_PARENT] = SP_RECORD_NO_PARENT,
        [SP_MARKED_BELOW] = top != NULL ? top->depth + 1 : 0,
        [SP_MARKED_OUTER_FROM] = (uint64_t)start,
        [SP_MARKED_INNER_FROM] = (uint64_t)end};
    model_record(m, lane, words, SP_RECORD_MARKED_WORDS);
    model_call call = {.lane = lane, .region = region, .flags = SP_CALL_APPENDED, .number = number,
                       .parent = SP_RECORD_NO_PARENT,
                       .start = (uint64_t)start ^ UINT64_C(1) << 63,
                       .end = (uint64_t)end ^ UINT64_C(1) << 63, .exclusive = end - start};
    MODEL_PUSH(m->calls, call);
}

/* `count` calls begin and end on the lane and their records are lost. */
static inline void model_lose(model *m, uint32_t lane, uint64_t count)
{
    model_lane *l = &m->lanes[lane];
    model_charge(m, lane);
    l->next_number += count;
    m->lost += count;
    uint64_t words[2] = {sp_record_first(SP_RECORD_LOST, 0, 0), count};
    model_record(m, lane, words, 2);
    for (size_t i = 0; i < l->stack.count; i++)
        l->stack.items[i].must_mark = true;
}

/* How a random program behaves; each a weight. */
typedef struct model_habits {
    unsigned open, close, crossing, resumption, append, lose, switch_lane, drain, metadata;
    uint32_t regions;
    size_t depth;       /* above it nothing is opened */
    uint64_t time_step; /* between two events, less than that */
} model_habits;

static inline void model_wait(model *m, const model_habits *h)
{
    m->now += model_random(m, h->time_step);
}

static inline void model_step(model *m, uint32_t *lane, const model_habits *h)
{
    model_lane *l = &m->lanes[*lane];
    unsigned weights[] = {h->open,   h->close, h->crossing,    h->resumption,
                          h->append, h->lose,  h->switch_lane, h->drain};
    unsigned sum = 0, kind = 0;
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
        sum += weights[i];
    for (unsigned pick = (unsigned)model_random(m, sum); pick >= weights[kind]; kind++)
        pick -= weights[kind];
    uint32_t region = (uint32_t)model_random(m, h->regions);
    size_t count = l->stack.count;
    model_wait(m, h);
    if (kind == 0 && count < h->depth) {
        model_open(m, *lane, region);
    } else if (kind >= 1 && kind <= 3 && count > 0) {
        size_t at = kind == 2 ? (size_t)model_random(m, count) : count - 1;
        model_close(m, *lane, at, kind == 3 ? SP_CALL_RESUMPTION : 0);
        if (model_random(m, 100) < h->metadata) {
            char *text = m->calls.items[m->calls.count - 1].metadata;
            snprintf(text, 40, "{\"i\": %u}", (unsigned)model_random(m, 1000));
            model_side(m, *lane, text);
        }
    } else if (kind == 4) {
        int64_t start = model_ns(m->now) - (int64_t)model_random(m, 1000);
        model_append(m, *lane, region, start, start + (int64_t)model_random(m, 500));
    } else if (kind == 5) {
        model_lose(m, *lane, 1 + model_random(m, 5));
    } else if (kind == 6) {
        *lane = (uint32_t)model_random(m, MODEL_LANES);
    } else if (kind == 7) {
        uint64_t words[3] = {sp_record_first(SP_RECORD_DRAIN, 0, 0), m->now};
        model_wait(m, h);
        words[2] = m->now;
        model_record(m, *lane, words, 3);
    }
}

static inline void model_run(model *m, size_t steps, const model_habits *h)
{
    uint32_t lane = m->lane;
    for (size_t i = 0; i < steps; i++)
        model_step(m, &lane, h);
}

#endif
