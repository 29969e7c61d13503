#include "recorder/lane_counters.h"

#include "log/record.h"
#include "recorder/query.h"

static size_t width_of(const sp_recording *recording, uint32_t instrument)
{
    return sp_instrument_width(&recording->instruments->items[instrument]);
}

static bool add(sp_lane *lane, uint32_t region, const uint64_t *words)
{
    const sp_instruments *set = lane->recording->instruments;
    const char *payload = (const char *)(words + 1);
    size_t bytes = sp_record_region(words[0]), used;
    int64_t values[SP_COUNTERS_MOST];
    uint32_t instrument;
    if (!sp_counters_instrument(payload, bytes, &instrument, &used) || instrument >= set->count)
        return true;
    size_t width = width_of(lane->recording, instrument);
    return !sp_counters_get(payload, bytes, values, width) ||
           sp_counter_sums_add(&lane->counters, instrument, lane->index, region, 1, values, width);
}

void sp_lane_add_counters(sp_lane *lane, const uint64_t *words, size_t count)
{
    const uint64_t *end = words + count;
    uint32_t region = 0;
    size_t lost = 0;
    for (; words < end; words += sp_record_words(words[0])) {
        if (sp_record_is_call(words[0]))
            region = sp_record_region(words[0]);
        else if (sp_record_kind_of(words[0]) == SP_RECORD_SIDE &&
                 sp_record_depth(words[0]) == SP_SIDE_COUNTERS)
            lost += !add(lane, region, words);
    }
    if (lost > 0)
        sp_recording_lose(lane->recording, SP_LOSS_COUNTERS, lost);
}

static void move(sp_recording *recording, sp_counter_sums *to, sp_counter_sums *from)
{
    size_t lost = 0;
    for (size_t i = 0; i < from->items.count; i++) {
        const sp_counter_sum *sum = &from->items.items[i];
        lost += !sp_counter_sums_add(to, sum->instrument, sum->lane, sum->region, sum->calls,
                                     &from->values.items[sum->first],
                                     width_of(recording, sum->instrument));
    }
    sp_counter_sums_release(from);
    if (lost > 0)
        sp_recording_lose(recording, SP_LOSS_COUNTERS, lost);
}

void sp_lane_move_counters(sp_lane *lane, sp_counter_sums *to)
{
    if (lane->counters.items.count > 0)
        move(lane->recording, to, &lane->counters);
}

void sp_recording_take_counters(sp_recording *recording, sp_counter_sums *out)
{
    sp_lane *own = sp_recording_lock(recording);
    move(recording, out, &recording->past_counters);
    for (size_t i = 0; i < recording->lanes.count; i++) {
        sp_lane *lane = recording->lanes.items[i];
        sp_mutex_lock(&lane->lock);
        sp_lane_move_counters(lane, out);
        sp_mutex_unlock(&lane->lock);
    }
    sp_recording_unlock(recording, own);
}

void sp_recording_put_counters(sp_recording *recording, sp_counter_sums *sums)
{
    sp_lane *own = sp_recording_lock(recording);
    move(recording, &recording->past_counters, sums);
    sp_recording_unlock(recording, own);
}
