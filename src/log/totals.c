#include "log/totals.h"

#include <string.h>

/* Ticks are converted a batch of records at a time. */
enum { BATCH = 64, TICKS_PER_RECORD = 4 };

typedef struct batch {
    size_t count, num_ticks;
    const uint64_t *words[BATCH];
    uint32_t lanes[BATCH];
    uint64_t ticks[BATCH * TICKS_PER_RECORD];
    int64_t ns[BATCH * TICKS_PER_RECORD];
} batch;

static sp_resolver *lane_state(sp_totals *totals, uint32_t lane)
{
    size_t count = totals->lanes.count;
    if (lane >= count) {
        size_t missing = (size_t)lane + 1 - count;
        if (!sp_vector_reserve(&totals->lanes, missing))
            return NULL;
        memset(totals->lanes.items + count, 0, missing * sizeof *totals->lanes.items);
        totals->lanes.count += missing;
    }
    return &totals->lanes.items[lane];
}

static sp_totals_cell *cell(sp_totals *totals, uint32_t lane, uint32_t region)
{
    uint64_t key = (uint64_t)lane << 32 | region;
    uint32_t index = sp_number_map_get(&totals->cell_of, key);
    if (index != SP_NUMBER_NONE)
        return &totals->cells.items[index];
    index = (uint32_t)totals->cells.count;
    if (!sp_vector_reserve(&totals->cells, 1) || !sp_number_map_set(&totals->cell_of, key, index))
        return NULL;
    totals->cells.count++;
    totals->cells.items[index] =
        (sp_totals_cell){.lane = lane, .region = region, .first_start_ns = INT64_MAX,
                         .sum = {.minimum = INT64_MAX, .maximum = INT64_MIN}};
    return &totals->cells.items[index];
}

static int64_t sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static bool add_call(sp_totals *totals, uint32_t lane, uint32_t region, uint32_t flags,
                     int64_t start, int64_t duration, int64_t exclusive)
{
    sp_totals_cell *into = cell(totals, lane, region);
    if (into == NULL)
        return false;
    into->sum.count++;
    into->sum.total = sum(into->sum.total, duration);
    into->sum.exclusive = sum(into->sum.exclusive, exclusive);
    if (duration < into->sum.minimum)
        into->sum.minimum = duration;
    if (duration > into->sum.maximum)
        into->sum.maximum = duration;
    if (start < into->first_start_ns)
        into->first_start_ns = start;
    into->resumptions += (flags & SP_CALL_RESUMPTION) != 0;
    return true;
}

static int64_t length_of(int64_t start, int64_t end)
{
    return end > start ? (int64_t)((uint64_t)end - (uint64_t)start) : 0;
}

static bool add_regular(sp_totals *totals, uint32_t lane, uint64_t first, const int64_t *ns)
{
    sp_resolver *state = lane_state(totals, lane);
    int64_t duration = length_of(ns[0], ns[1]);
    sp_resolved resolved;
    return state != NULL &&
           sp_resolver_call(state, sp_record_depth(first), duration, &resolved) &&
           add_call(totals, lane, sp_record_region(first), 0, ns[0], duration,
                    resolved.exclusive_ns);
}

static bool add_marked(sp_totals *totals, uint32_t lane, const uint64_t *words, const int64_t *ns)
{
    sp_resolver *state = lane_state(totals, lane);
    sp_marked_call call = {
        .flags = (uint32_t)words[SP_MARKED_FLAGS],
        .depth = (uint32_t)words[SP_MARKED_DEPTH],
        .below = (uint32_t)words[SP_MARKED_BELOW],
        .number = words[SP_MARKED_NUMBER],
        .parent = words[SP_MARKED_PARENT],
        .start_ns = ns[0],
        .end_ns = ns[1],
        .outer_from_ns = ns[2],
        .inner_from_ns = ns[3],
    };
    sp_resolved resolved;
    return state != NULL && sp_resolver_marked(state, &call, &resolved) &&
           add_call(totals, lane, sp_record_region(words[0]), call.flags, ns[0],
                    length_of(ns[0], ns[1]), resolved.exclusive_ns);
}

/* Adds what the batch holds; false when memory was short for some of it. */
static bool flush(sp_totals *totals, batch *b, const sp_tick_map *map)
{
    bool is_complete = true;
    map->to_ns(map->context, b->ticks, b->ns, b->num_ticks);
    const int64_t *ns = b->ns;
    for (size_t i = 0; i < b->count; i++) {
        const uint64_t *words = b->words[i];
        bool added = true;
        if (sp_record_kind_of(words[0]) == SP_RECORD_CALL) {
            added = add_regular(totals, b->lanes[i], words[0], ns);
            ns += 2;
        } else if (sp_record_kind_of(words[0]) == SP_RECORD_DRAIN) {
            totals->drain_ns += (uint64_t)length_of(ns[0], ns[1]);
            ns += 2;
        } else if (words[SP_MARKED_FLAGS] & SP_CALL_APPENDED) {
            int64_t given[4] = {(int64_t)words[SP_MARKED_START], (int64_t)words[SP_MARKED_END]};
            added = add_marked(totals, b->lanes[i], words, given);
        } else {
            added = add_marked(totals, b->lanes[i], words, ns);
            ns += 4;
        }
        totals->lost += !added;
        is_complete = is_complete && added;
    }
    b->count = b->num_ticks = 0;
    return is_complete;
}

static void put(batch *b, const uint64_t *words, uint32_t lane)
{
    sp_record_kind kind = sp_record_kind_of(words[0]);
    b->words[b->count] = words;
    b->lanes[b->count++] = lane;
    if (kind == SP_RECORD_CALL_MARKED && words[SP_MARKED_FLAGS] & SP_CALL_APPENDED)
        return;
    b->ticks[b->num_ticks++] = words[1];
    b->ticks[b->num_ticks++] = words[2];
    if (kind == SP_RECORD_CALL_MARKED) {
        b->ticks[b->num_ticks++] = words[SP_MARKED_OUTER_FROM];
        b->ticks[b->num_ticks++] = words[SP_MARKED_INNER_FROM];
    }
}

/* The state must be moved on even when it is new, so numbers stay right after the loss. */
static void add_lost(sp_totals *totals, uint32_t lane, uint64_t count)
{
    sp_resolver *state = lane_state(totals, lane);
    if (state != NULL)
        sp_resolver_lost(state, count);
    totals->lost += count;
}

bool sp_totals_add_words(sp_totals *totals, const uint64_t *words, size_t count, uint32_t *lane,
                         const sp_tick_map *map)
{
    batch b;
    b.count = b.num_ticks = 0;
    bool is_complete = true;
    const uint64_t *end = words + count;
    for (size_t length; words < end; words += length) {
        length = sp_record_words(words[0]);
        if (length > (size_t)(end - words)) {
            is_complete = false;
            break;
        }
        switch (sp_record_kind_of(words[0])) {
        case SP_RECORD_LANE:
            *lane = sp_record_region(words[0]);
            break;
        case SP_RECORD_SIDE:
            break;
        case SP_RECORD_LOST:
            is_complete = flush(totals, &b, map) && is_complete;
            add_lost(totals, *lane, words[1]);
            break;
        case SP_RECORD_CALL:
        case SP_RECORD_CALL_MARKED:
        case SP_RECORD_DRAIN:
            put(&b, words, *lane);
            if (b.count == BATCH)
                is_complete = flush(totals, &b, map) && is_complete;
        }
    }
    return flush(totals, &b, map) && is_complete;
}

bool sp_totals_of_region(const sp_totals *totals, uint32_t region, sp_row_aggregate *out)
{
    sp_row_aggregate all = {.minimum = INT64_MAX, .maximum = INT64_MIN};
    for (size_t i = 0; i < totals->cells.count; i++) {
        const sp_row_aggregate *one = &totals->cells.items[i].sum;
        if (totals->cells.items[i].region != region)
            continue;
        all.count += one->count;
        all.total = sum(all.total, one->total);
        all.exclusive = sum(all.exclusive, one->exclusive);
        all.minimum = one->minimum < all.minimum ? one->minimum : all.minimum;
        all.maximum = one->maximum > all.maximum ? one->maximum : all.maximum;
    }
    *out = all.count > 0 ? all : (sp_row_aggregate){0};
    return all.count > 0;
}

void sp_totals_clear(sp_totals *totals)
{
    sp_vector_release(&totals->cells);
    sp_number_map_release(&totals->cell_of);
    totals->lost = totals->drain_ns = 0;
}

void sp_totals_release(sp_totals *totals)
{
    for (size_t i = 0; i < totals->lanes.count; i++)
        sp_resolver_release(&totals->lanes.items[i]);
    sp_vector_release(&totals->lanes);
    sp_totals_clear(totals);
}
