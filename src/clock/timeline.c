#include "clock/timeline.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum {
    FIRST_ROOM = 64,
    JUMP_PPM = 500,
    /* Deviations below this are doubt of the two readings, not a change of rate. */
    JUMP_FLOOR_NS = 20 * 1000,
    /* A rate from a span shorter than this is not taken over for later times. */
    RATE_SPAN_NS = 100 * 1000 * 1000,
    /* Doubt of one anchor, for judging the rates of short spans. */
    ANCHOR_DOUBT_NS = 200,
    SUSPEND_FLOOR_NS = 5 * 1000 * 1000
};

/* An anchor as it is kept. Nothing of it changes once it is counted. */
typedef struct item {
    sp_anchor at;
    uint64_t rate_before; /* inside the segment that ends here */
    uint64_t rate_after;  /* for what comes later, until the next anchor */
    int64_t rate_span_ns; /* length of the span that rate_after comes from */
    /* Sums over the regular segments up to here. */
    uint64_t regular_ticks;
    int64_t regular_ns;
} item;

/* Grows by copying: a reader goes on in the table it has, so old ones live until release. */
struct sp_timeline_table {
    sp_timeline_table *older;
    size_t room;
    atomic_size_t count;
    item items[];
};

static sp_timeline_table *table_of(const sp_timeline *timeline)
{
    return atomic_load_explicit(&timeline->table, memory_order_acquire);
}

static size_t count_of(const sp_timeline_table *table)
{
    return table == NULL ? 0 : atomic_load_explicit(&table->count, memory_order_acquire);
}

static uint64_t rate_of(uint64_t ticks, int64_t ns)
{
    return ns <= 0 || ticks == 0
               ? 0
               : (uint64_t)((((wide)(uint64_t)ns << SP_TIMELINE_RATE_BITS) + ticks / 2) / ticks);
}

static int64_t scale(uint64_t ticks, uint64_t rate)
{
    return sp_timeline_scale(&(sp_timeline_rate){.rate = rate}, ticks);
}

static bool make_room(sp_timeline *timeline, sp_timeline_table **table)
{
    size_t count = count_of(*table);
    if (*table != NULL && count < (*table)->room)
        return true;
    size_t room = *table == NULL ? FIRST_ROOM : (*table)->room * 2;
    sp_timeline_table *grown = malloc(sizeof *grown + room * sizeof grown->items[0]);
    if (grown == NULL)
        return false;
    grown->older = *table;
    grown->room = room;
    atomic_init(&grown->count, count);
    if (count > 0)
        memcpy(grown->items, (*table)->items, count * sizeof grown->items[0]);
    atomic_store_explicit(&timeline->table, grown, memory_order_release);
    *table = grown;
    return true;
}

/* The machine slept, or the rate is not the one that was known. */
static bool is_discontinuity(const item *last, const sp_anchor *anchor)
{
    if (anchor->suspended_ns - last->at.suspended_ns > SUSPEND_FLOOR_NS)
        return true;
    if (last->rate_after == 0)
        return false;
    int64_t ns = anchor->ns - last->at.ns;
    int64_t off = ns - scale(anchor->tick - last->at.tick, last->rate_after);
    if (off < 0)
        off = -off;
    int64_t doubt = (int64_t)((double)ns * ANCHOR_DOUBT_NS / (double)last->rate_span_ns);
    return off > JUMP_FLOOR_NS + doubt && off > ns / (1000000 / JUMP_PPM);
}

/* The rate to go on with after a regular segment. */
static void set_rate_after(item *fresh, uint64_t ticks, int64_t ns)
{
    if (ns < RATE_SPAN_NS) {
        ticks = fresh->regular_ticks;
        ns = fresh->regular_ns;
    }
    fresh->rate_after = rate_of(ticks, ns);
    fresh->rate_span_ns = ns;
}

static item make_item(const item *last, const sp_anchor *anchor, bool is_jump)
{
    item fresh = {.at = *anchor};
    uint64_t ticks = anchor->tick - last->at.tick;
    int64_t ns = anchor->ns - last->at.ns;
    fresh.regular_ticks = last->regular_ticks;
    fresh.regular_ns = last->regular_ns;
    if (!is_jump) {
        fresh.regular_ticks += ticks;
        fresh.regular_ns += ns;
        fresh.rate_before = rate_of(ticks, ns);
        set_rate_after(&fresh, ticks, ns);
        return fresh;
    }
    bool suspended = anchor->suspended_ns - last->at.suspended_ns > SUSPEND_FLOOR_NS;
    fresh.rate_before = last->rate_after != 0 ? last->rate_after : rate_of(ticks, ns);
    /* After a suspend the old rate goes on; otherwise it is the rate itself that has changed. */
    fresh.rate_after = suspended && last->rate_after != 0 ? last->rate_after : rate_of(ticks, ns);
    fresh.rate_span_ns = suspended ? last->rate_span_ns : ns;
    return fresh;
}

bool sp_timeline_add(sp_timeline *timeline, const sp_anchor *anchor)
{
    sp_timeline_table *table = table_of(timeline);
    size_t count = count_of(table);
    const item *last = count == 0 ? NULL : &table->items[count - 1];
    if (last != NULL && (anchor->tick <= last->at.tick || anchor->ns < last->at.ns))
        return true;
    if (!make_room(timeline, &table))
        return false;

    bool is_jump = last != NULL && is_discontinuity(last, anchor);
    item fresh = last == NULL ? (item){.at = *anchor} : make_item(last, anchor, is_jump);
    if (is_jump) {
        atomic_fetch_add_explicit(&timeline->discontinuities, 1, memory_order_relaxed);
        atomic_store_explicit(&timeline->discontinuity_tick, anchor->tick, memory_order_relaxed);
    }
    table->items[count] = fresh;
    atomic_store_explicit(&table->count, count + 1, memory_order_release);
    return true;
}

size_t sp_timeline_num_anchors(const sp_timeline *timeline)
{
    return count_of(table_of(timeline));
}

bool sp_timeline_first(const sp_timeline *timeline, sp_anchor *out)
{
    const sp_timeline_table *table = table_of(timeline);
    if (count_of(table) == 0)
        return false;
    *out = table->items[0].at;
    return true;
}

bool sp_timeline_last(const sp_timeline *timeline, sp_anchor *out)
{
    const sp_timeline_table *table = table_of(timeline);
    size_t count = count_of(table);
    if (count == 0)
        return false;
    *out = table->items[count - 1].at;
    return true;
}

/* Index of the last anchor at or before the tick; 0 also for ticks before the first. */
static size_t find_segment(const sp_timeline_table *table, size_t count, uint64_t tick)
{
    size_t low = 0, high = count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (table->items[middle].at.tick <= tick)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int64_t convert(const sp_timeline_table *table, size_t count, size_t i, uint64_t tick)
{
    const item *from = &table->items[i];
    bool is_open = i + 1 == count;
    uint64_t rate = is_open ? from->rate_after : table->items[i + 1].rate_before;
    if (tick < from->at.tick)
        return from->at.ns - scale(from->at.tick - tick, rate);
    int64_t ns = from->at.ns + scale(tick - from->at.tick, rate);
    return is_open || ns <= table->items[i + 1].at.ns ? ns : table->items[i + 1].at.ns;
}

int64_t sp_timeline_ns_near(const sp_timeline *timeline, uint64_t tick, size_t *segment)
{
    const sp_timeline_table *table = table_of(timeline);
    size_t count = count_of(table);
    if (count == 0)
        return 0;
    size_t i = *segment < count ? *segment : count - 1;
    bool is_in = (i == 0 || table->items[i].at.tick <= tick) &&
                 (i + 1 == count || tick < table->items[i + 1].at.tick);
    if (!is_in) {
        i = find_segment(table, count, tick);
        *segment = i;
    }
    return convert(table, count, i, tick);
}

int64_t sp_timeline_ns(const sp_timeline *timeline, uint64_t tick)
{
    const sp_timeline_table *table = table_of(timeline);
    size_t count = count_of(table);
    return count == 0 ? 0 : convert(table, count, find_segment(table, count, tick), tick);
}

sp_timeline_rate sp_timeline_current_rate(const sp_timeline *timeline)
{
    const sp_timeline_table *table = table_of(timeline);
    size_t count = count_of(table);
    return (sp_timeline_rate){
        .timeline = timeline,
        .rate = count == 0 ? 0 : table->items[count - 1].rate_after,
        .since = atomic_load_explicit(&timeline->discontinuity_tick, memory_order_relaxed)};
}

int64_t sp_timeline_odd_span_ns(const sp_timeline_rate *rate, uint64_t start, uint64_t end)
{
    if (end <= start)
        return 0;
    return sp_timeline_ns(rate->timeline, end) - sp_timeline_ns(rate->timeline, start);
}

/* A segment with what its conversion needs. */
typedef struct segment {
    uint64_t from, length; /* ticks */
    int64_t ns, most;
    sp_timeline_rate rate;
} segment;

static segment segment_at(const sp_timeline_table *table, size_t count, uint64_t tick)
{
    size_t i = find_segment(table, count, tick);
    const item *from = &table->items[i], *to = i + 1 == count ? NULL : from + 1;
    return (segment){
        .from = from->at.tick,
        .length = to == NULL ? UINT64_MAX - from->at.tick : to->at.tick - from->at.tick,
        .ns = from->at.ns,
        .most = to == NULL ? INT64_MAX : to->at.ns,
        .rate = {.rate = to == NULL ? from->rate_after : to->rate_before},
    };
}

void sp_timeline_ns_many(const sp_timeline *timeline, const uint64_t *ticks, int64_t *out_ns,
                         size_t count)
{
    const sp_timeline_table *table = table_of(timeline);
    size_t anchors = count_of(table);
    segment at = {.length = 0};
    for (size_t i = 0; i < count; i++) {
        uint64_t since = ticks[i] - at.from; /* huge when before it */
        if (since >= at.length) {
            if (anchors == 0 || ticks[i] < table->items[0].at.tick) {
                out_ns[i] = anchors == 0 ? 0 : convert(table, anchors, 0, ticks[i]);
                continue;
            }
            at = segment_at(table, anchors, ticks[i]);
            since = ticks[i] - at.from;
        }
        int64_t ns = at.ns + sp_timeline_scale(&at.rate, since);
        out_ns[i] = ns < at.most ? ns : at.most;
    }
}

uint64_t sp_timeline_tick(const sp_timeline *timeline, int64_t ns)
{
    const sp_timeline_table *table = table_of(timeline);
    size_t count = count_of(table);
    if (count == 0)
        return 0;
    size_t low = 0, high = count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (table->items[middle].at.ns <= ns)
            low = middle;
        else
            high = middle;
    }
    const item *from = &table->items[low];
    uint64_t rate = low + 1 == count ? from->rate_after : table->items[low + 1].rate_before;
    if (rate == 0)
        return from->at.tick;
    if (ns < from->at.ns)
        return from->at.tick -
               (uint64_t)(((wide)(uint64_t)(from->at.ns - ns) << SP_TIMELINE_RATE_BITS) / rate);
    return from->at.tick +
           (uint64_t)(((wide)(uint64_t)(ns - from->at.ns) << SP_TIMELINE_RATE_BITS) / rate);
}

void sp_timeline_release(sp_timeline *timeline)
{
    sp_timeline_table *table = table_of(timeline);
    while (table != NULL) {
        sp_timeline_table *older = table->older;
        free(table);
        table = older;
    }
    atomic_store_explicit(&timeline->table, NULL, memory_order_relaxed);
    atomic_store_explicit(&timeline->discontinuities, 0, memory_order_relaxed);
    atomic_store_explicit(&timeline->discontinuity_tick, 0, memory_order_relaxed);
}
