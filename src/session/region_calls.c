/* The calls of one region that are not published yet, for arrays of a region object. */
#include "base/error.h"
#include "log/unpack.h"
#include "recorder/drain.h"
#include "recorder/query.h"
#include "session/profiler.h"

#include <stdlib.h>

typedef struct interval {
    int64_t start, end; /* end 0: the call is open */
} interval;

typedef struct collection {
    const sp_timeline *timeline;
    size_t segment;
    uint32_t region;
    SP_VECTOR(interval) intervals;
    int status;
} collection;

static void add(collection *c, uint32_t flags, uint64_t start, uint64_t end)
{
    if (!sp_vector_reserve(&c->intervals, 1)) {
        c->status = SP_ERR_NO_MEMORY;
        return;
    }
    interval *out = &c->intervals.items[c->intervals.count++];
    if (flags & SP_CALL_APPENDED) {
        *out = (interval){(int64_t)start, (int64_t)end};
        return;
    }
    out->start = sp_timeline_ns_near(c->timeline, start, &c->segment);
    out->end = end > start ? sp_timeline_ns_near(c->timeline, end, &c->segment) : out->start;
}

static void add_block(collection *c, const void *block, size_t size)
{
    sp_unpack unpack;
    sp_event event;
    if (sp_unpack_begin(&unpack, block, size, false, NULL) != SP_OK) {
        c->status = SP_ERR_DAMAGED;
        return;
    }
    while (c->status == SP_OK && sp_unpack_next(&unpack, &event)) {
        bool is_marked = event.kind == SP_RECORD_CALL_MARKED;
        if ((is_marked || event.kind == SP_RECORD_CALL) && event.region == c->region)
            add(c, is_marked ? event.flags : 0, event.start, event.end);
    }
}

static void add_pending(collection *c, const sp_lane *lane)
{
    size_t count;
    const uint64_t *at = sp_drain_pending(lane, &count), *end = at + count;
    for (; c->status == SP_OK && at < end; at += sp_record_words(at[0])) {
        sp_record_kind kind = sp_record_kind_of(at[0]);
        bool is_marked = kind == SP_RECORD_CALL_MARKED;
        if ((is_marked || kind == SP_RECORD_CALL) && sp_record_region(at[0]) == c->region)
            add(c, is_marked ? (uint32_t)at[SP_MARKED_FLAGS] : 0, at[1], at[2]);
    }
}

/* After the finished ones, so that a call of another thread that ends meanwhile is not here twice. */
static void add_open(collection *c, sp_lane *lane)
{
    sp_open_calls open = {0};
    if (!sp_lane_open_calls(lane, &open) || !sp_vector_reserve(&c->intervals, open.count))
        c->status = SP_ERR_NO_MEMORY;
    for (size_t i = 0; c->status == SP_OK && i < open.count; i++)
        if (open.items[i].region == c->region)
            c->intervals.items[c->intervals.count++] = (interval){
                sp_timeline_ns_near(c->timeline, open.items[i].start, &c->segment), 0};
    sp_vector_release(&open);
}

static void add_lane(collection *c, const sp_sink_table *table, sp_lane *lane)
{
    sp_sink_cursor cursor = {0};
    size_t size;
    const void *block;
    sp_mutex_lock(&lane->lock);
    while (c->status == SP_OK && (block = table->next(lane->sink, &cursor, &size)) != NULL)
        add_block(c, block, size);
    add_pending(c, lane);
    if (c->status == SP_OK)
        add_open(c, lane);
    sp_mutex_unlock(&lane->lock);
}

static int by_start(const void *a, const void *b)
{
    const interval *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static int hand_over(collection *c, int64_t **starts, int64_t **ends, size_t *count)
{
    size_t n = c->intervals.count;
    int64_t *first = malloc((n + 1) * sizeof *first), *second = malloc((n + 1) * sizeof *second);
    if (first == NULL || second == NULL) {
        free(first);
        free(second);
        return SP_ERR_NO_MEMORY;
    }
    if (n > 0)
        qsort(c->intervals.items, n, sizeof(interval), by_start);
    for (size_t i = 0; i < n; i++) {
        first[i] = c->intervals.items[i].start;
        second[i] = c->intervals.items[i].end;
    }
    *starts = first;
    *ends = second;
    *count = n;
    return SP_OK;
}

int sp_binding_region_calls(sp_profiler *profiler, int32_t region, int64_t **starts,
                            int64_t **ends, size_t *count, sp_error *error)
{
    sp_recording *recording = &profiler->recording;
    collection c = {.timeline = &recording->timeline, .region = (uint32_t)region};
    if (recording->is_aggregate)
        return sp_fail(error, SP_ERR_NO_EVENTS, "a recording of totals keeps no calls");
    sp_lane *own = sp_recording_lock(recording);
    sp_recording_anchor(recording, true);
    for (size_t i = 0; i < recording->lanes.count; i++)
        add_lane(&c, recording->sink->table, recording->lanes.items[i]);
    sp_recording_unlock(recording, own);
    if (c.status == SP_OK)
        c.status = hand_over(&c, starts, ends, count);
    sp_vector_release(&c.intervals);
    if (c.status == SP_ERR_NO_MEMORY)
        return sp_fail_memory(error, "collecting the calls of a region");
    if (c.status != SP_OK)
        return sp_fail(error, c.status, "a block of recorded calls does not read back");
    return SP_OK;
}
