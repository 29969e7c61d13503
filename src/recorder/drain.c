#include "recorder/drain.h"

#include "clock/clock.h"
#include "log/pack.h"
#include "recorder/lane_counters.h"
#include "recorder/lane_counts.h"
#include "recorder/lane_sums.h"
#include "recorder/stack.h"
#include "recorder/task.h"

#include <errno.h>
#include <stddef.h>

/* Contiguous whole records. */
typedef struct span {
    const uint64_t *words;
    size_t count;
} span;

static void add_sums(sp_lane *lane, span records)
{
    sp_recording *recording = lane->recording;
    uint64_t lost = sp_sums_add_words(&lane->sums, records.words, records.count,
                                      &recording->timeline,
                                      recording->is_aggregate ? &lane->nesting : NULL);
    if (lost > 0)
        sp_recording_lose(recording, SP_LOSS_OUT_OF_MEMORY, lost);
    if (recording->instruments != NULL)
        sp_lane_add_counters(lane, records.words, records.count);
}

/* Follows the lane that records belong to. */
static void follow(sp_lane *lane, uint64_t first)
{
    lane->packed = sp_record_region(first);
    lane->packed_slot = sp_record_depth(first);
}

/* They will be in no block, so they are added up now. Each lane counts its own: its later numbers
 * depend on it. */
static void lose(sp_lane *lane, const span *records, size_t count, sp_sink_refusal why)
{
    size_t calls = 0;
    sp_strand *strand = sp_lane_strand(lane, lane->packed, lane->packed_slot);
    for (size_t i = 0; i < count; i++) {
        add_sums(lane, records[i]);
        uint64_t failed = sp_sums_add_words(&lane->unkept, records[i].words, records[i].count,
                                            &lane->recording->timeline, NULL);
        if (failed > 0)
            sp_recording_lose(lane->recording, SP_LOSS_OUT_OF_MEMORY, failed);
        const uint64_t *end = records[i].words + records[i].count;
        for (const uint64_t *at = records[i].words; at < end; at += sp_record_words(at[0])) {
            sp_record_kind kind = sp_record_kind_of(at[0]);
            bool is_call = kind == SP_RECORD_CALL || kind == SP_RECORD_CALL_MARKED;
            if (kind == SP_RECORD_LANE) {
                follow(lane, at[0]);
                strand = sp_lane_strand(lane, lane->packed, lane->packed_slot);
            }
            if (strand != NULL) /* what a record says was counted when it was lost */
                strand->lost += kind == SP_RECORD_LOST ? at[1] : is_call;
            calls += is_call;
        }
    }
    lane->is_losing = true;
    sp_recording_lose(lane->recording,
                      why == SP_SINK_FULL ? SP_LOSS_MEMORY_FULL : SP_LOSS_OUT_OF_MEMORY, calls);
}

/* Room for a block, if need be in the place of the oldest. NULL with the reason. */
static void *reserve(sp_lane *lane, size_t size, sp_sink_refusal *out_why)
{
    sp_recording *recording = lane->recording;
    sp_memory_sink *memory = &recording->memory;
    const sp_sink_table *table = recording->sink->table;
    void *block = table->reserve(lane->sink, size, out_why);
    bool is_pushing = block == NULL && *out_why == SP_SINK_FULL && recording->sink == &memory->sink &&
                      atomic_load_explicit(&memory->on_full, memory_order_relaxed) ==
                          SP_ON_FULL_RING &&
                      atomic_load(&memory->held) == 0;
    if (!is_pushing)
        return block;
    sp_lane_forget_oldest(lane);
    return table->reserve(lane->sink, size, out_why);
}

/* Slots matter to who loses calls alone, so they are looked up only where lanes have changed. */
static void follow_last(sp_lane *lane, const span *records, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t *end = records[i].words + records[i].count;
        for (const uint64_t *at = records[i].words; at < end; at += sp_record_words(at[0]))
            if (sp_record_kind_of(at[0]) == SP_RECORD_LANE)
                follow(lane, at[0]);
    }
}

/* After a loss nothing more is packed until the owner has marked what is open (resume_packing):
 * without that the numbers of later calls would not come out right. */
static void pack(sp_lane *lane, const span *records, size_t count, const sp_sink_span *place)
{
    size_t words = 0;
    for (size_t i = 0; i < count; i++)
        words += records[i].count;
    const sp_sink_table *table = lane->recording->sink->table;
    size_t size = sp_pack_bound(words);
    sp_sink_refusal why = SP_SINK_FULL;
    void *block = lane->is_losing ? NULL : reserve(lane, size, &why);
    if (block == NULL) {
        lose(lane, records, count, why);
        bool is_stopping = why == SP_SINK_FULL &&
                           atomic_load_explicit(&lane->recording->memory.on_full,
                                                memory_order_relaxed) == SP_ON_FULL_STOP;
        if (is_stopping)
            atomic_store_explicit(&lane->recording->is_full, true, memory_order_relaxed);
        return;
    }
    sp_pack_begin(&lane->pack, block, size, lane->ring, lane->packed, lane->num_calls);
    for (size_t i = 0; i < count; i++)
        sp_pack_words(&lane->pack, records[i].words, records[i].count);
    size_t bytes = table->wants_sums ? sp_pack_end(&lane->pack) : sp_pack_end_unsummed(&lane->pack);
    if (!table->commit(lane->sink, bytes, place)) {
        lose(lane, records, count, SP_SINK_FULL);
        return;
    }
    lane->num_calls += lane->pack.header.calls;
    if (lane->pack.lane != lane->packed)
        follow_last(lane, records, count);
}

/* Under the drain lock. */
static void hand_on(sp_lane *lane, const span *extra)
{
    span records[2] = {{0}};
    records[0].words = sp_drain_pending(lane, &records[0].count);
    size_t count = 1;
    if (extra != NULL)
        records[count++] = *extra;
    sp_sink_span place = {
        .epoch = atomic_load_explicit(&lane->state.epoch, memory_order_relaxed),
        .from = (uint32_t)(lane->published - lane->words),
        .to = (uint32_t)(lane->published - lane->words + (ptrdiff_t)records[0].count)};
    /* Up to the head just seen: the owner may have gone on meanwhile. */
    lane->published += records[0].count;
    if (lane->generation == 0 || (records[0].count == 0 && extra == NULL))
        return; /* of a configuration that is gone, or nothing */
    sp_recording_anchor(lane->recording, false);
    if (!lane->recording->is_aggregate)
        pack(lane, records, count, &place);
    else
        for (size_t i = 0; i < count; i++)
            add_sums(lane, records[i]);
}

void sp_drain_other(sp_lane *lane)
{
    hand_on(lane, NULL);
}

/* Says in the emptied ring what was lost, if there is room for blocks again. */
static bool resume_packing(sp_lane *lane, uint64_t **head)
{
    sp_sink_refusal why;
    if (!lane->is_losing || lane->generation == 0 || lane->recording->is_aggregate ||
        reserve(lane, sp_pack_bound(lane->num_words), &why) == NULL)
        return false;
    lane->is_losing = false;
    if (lane->told != lane->index || lane->strand->lost == 0)
        return false; /* it is said when the lane is told */
    *(*head)++ = sp_record_first(SP_RECORD_LOST, 0, 0);
    *(*head)++ = lane->strand->lost;
    lane->strand->lost = 0;
    return true;
}

static void drain_own(sp_lane *lane, sp_frame *top, const span *extra)
{
    int saved_errno = errno;
    uint64_t started = sp_tick_now();
    sp_mutex_lock(&lane->lock);
    hand_on(lane, extra);
    sp_ring_empty_begin(lane);
    uint64_t *head = lane->words;
    lane->published = head;
    lane->state.lane = lane->told;
    bool resumed = resume_packing(lane, &head);
    head[0] = sp_record_first(SP_RECORD_DRAIN, 0, 0);
    head[1] = started;
    head[2] = sp_tick_now();
    atomic_store_explicit(&lane->head, head + SP_RECORD_CALL_WORDS, memory_order_release);
    sp_ring_empty_end(lane);
    sp_mutex_unlock(&lane->lock);
    if (resumed)
        sp_stack_mark_all(lane, top);
    if (atomic_load_explicit(&lane->recording->is_full, memory_order_relaxed))
        sp_recording_count_only(lane->recording, true);
    errno = saved_errno;
}

void sp_drain_own(sp_lane *lane, sp_frame *top)
{
    drain_own(lane, top, NULL);
}

void sp_drain_own_with(sp_lane *lane, sp_frame *top, const uint64_t *words, size_t count)
{
    drain_own(lane, top, &(span){.words = words, .count = count});
}
