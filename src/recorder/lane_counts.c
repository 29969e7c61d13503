#include "recorder/lane_counts.h"

#include <stdlib.h>
#include <string.h>

static bool grow(sp_lane *lane, uint32_t region)
{
    size_t room = (size_t)region + region / 2 + 16;
    sp_lane_counter *counters = realloc(lane->counts, room * sizeof *counters);
    if (counters == NULL)
        return false;
    memset((void *)(counters + lane->num_counts), 0, (room - lane->num_counts) * sizeof *counters);
    lane->counts = counters;
    lane->num_counts = room;
    return true;
}

bool sp_lane_count(sp_lane *lane, uint32_t region)
{
    if (region >= lane->num_counts) {
        sp_mutex_lock(&lane->lock);
        bool has_grown = grow(lane, region);
        sp_mutex_unlock(&lane->lock);
        if (!has_grown)
            return false;
    }
    sp_lane_counter *counter = &lane->counts[region];
    uint64_t count = atomic_load_explicit(&counter->count, memory_order_relaxed);
    atomic_store_explicit(&counter->count, count + 1, memory_order_relaxed);
    return true;
}

void sp_lane_collect_counts(sp_lane *lane)
{
    for (size_t region = 0; region < lane->num_counts; region++) {
        sp_lane_counter *counter = &lane->counts[region];
        uint64_t count = atomic_load_explicit(&counter->count, memory_order_relaxed);
        sp_sum *sum, *unkept;
        if (count == counter->collected || (sum = sp_sums_cell(&lane->sums, (uint32_t)region)) == NULL ||
            (unkept = sp_sums_cell(&lane->unkept, (uint32_t)region)) == NULL)
            continue;
        sum->untimed += count - counter->collected;
        unkept->untimed += count - counter->collected;
        counter->collected = count;
    }
}

void sp_lane_release_counts(sp_lane *lane)
{
    free(lane->counts);
    lane->counts = NULL;
    lane->num_counts = 0;
}

void sp_recording_count_only(sp_recording *recording, bool is_counting)
{
    sp_lane *own = sp_recording_lock(recording);
    atomic_store(&recording->is_full, false);
    sp_region_table_record_as(&recording->regions,
                              is_counting ? SP_REGION_COUNTED : SP_REGION_RECORD);
    sp_recording_unlock(recording, own);
}
