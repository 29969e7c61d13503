/* report_timeline.c - the calls of a run reduced to what a screen can show, in one pass and in memory
 * of a fixed size. Calls are kept one by one until there are too many; then the shorter half of them
 * turns into density, and so do all calls from then on that are not longer than those. */
#include "export/report.h"

#include "results/moments.h"

#include <stdlib.h>

void sp_report_timeline_init(sp_report_timeline *timeline, int64_t origin, int64_t span)
{
    *timeline = (sp_report_timeline){.origin = origin, .span = sp_report_span(span), .threshold = -1,
                                     .bins = SP_REPORT_BINS};
    timeline->bin_ns = timeline->span / SP_REPORT_BINS + 1;
}

/* ---- Density ---------------------------------------------------------------------------------*/

/* The majority of what was added stays in front, whatever the order; `region` leads by `weight`. */
static void vote(sp_density_cell *cell, uint32_t region, int64_t weight)
{
    if (cell->region == region || cell->weight == 0) {
        cell->region = region;
        cell->weight = sp_wrap_add(cell->weight, weight);
    } else if (cell->weight >= weight) {
        cell->weight -= weight;
    } else {
        cell->region = region;
        cell->weight = weight - cell->weight;
    }
}

static void halve(sp_report_timeline *timeline)
{
    timeline->bins /= 2;
    timeline->bin_ns *= 2;
    for (size_t t = 0; t < timeline->tracks.count; t++) {
        sp_density_cell *cells = timeline->tracks.items[t].cells;
        for (size_t i = 0; i < timeline->bins; i++) {
            sp_density_cell merged = cells[2 * i];
            const sp_density_cell *other = &cells[2 * i + 1];
            merged.busy = sp_wrap_add(merged.busy, other->busy);
            merged.count += other->count;
            vote(&merged, other->region, other->weight);
            cells[i] = merged;
        }
    }
}

enum { MOST_CELLS = 1 << 19 }; /* in memory, empty ones too */

static sp_density_track *find_track(sp_report_timeline *timeline, uint16_t lane, uint16_t level)
{
    uint64_t key = (uint64_t)lane << 16 | level;
    uint32_t place = sp_number_map_get(&timeline->track_ids, key);
    if (place != SP_NUMBER_NONE)
        return &timeline->tracks.items[place];
    while (timeline->bins > SP_REPORT_LEAST_BINS &&
           (timeline->tracks.count + 1) * timeline->bins > MOST_CELLS)
        halve(timeline);
    place = (uint32_t)timeline->tracks.count;
    sp_density_cell *cells = calloc(timeline->bins, sizeof *cells);
    if (cells == NULL || !sp_vector_reserve(&timeline->tracks, 1) ||
        !sp_number_map_set(&timeline->track_ids, key, place)) {
        free(cells);
        return NULL;
    }
    timeline->tracks.items[place] = (sp_density_track){lane, level, cells};
    timeline->tracks.count++;
    return &timeline->tracks.items[place];
}

static size_t bin_of(const sp_report_timeline *timeline, int64_t at)
{
    int64_t bin = at / timeline->bin_ns;
    return bin < 0 ? 0 : (size_t)bin >= timeline->bins ? timeline->bins - 1 : (size_t)bin;
}

static bool add_density(sp_report_timeline *timeline, const sp_drawn_call *call)
{
    sp_density_track *track = find_track(timeline, call->lane, call->level);
    if (track == NULL)
        return false;
    int64_t end = call->start + call->duration;
    size_t first = bin_of(timeline, call->start), last = bin_of(timeline, end);
    timeline->num_dense++;
    track->cells[first].count++;
    for (size_t bin = first; bin <= last; bin++) {
        int64_t from = (int64_t)bin * timeline->bin_ns, to = from + timeline->bin_ns;
        int64_t begin = call->start > from ? call->start : from, stop = end < to ? end : to;
        int64_t inside = stop > begin ? stop - begin : 0;
        track->cells[bin].busy = sp_wrap_add(track->cells[bin].busy, inside);
        vote(&track->cells[bin], call->region, inside + 1);
    }
    return true;
}

/* ---- Calls -----------------------------------------------------------------------------------*/

static int compare_durations(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* Makes the shorter half of the calls density. */
static bool raise_threshold(sp_report_timeline *timeline)
{
    size_t count = timeline->calls.count, kept = 0;
    sp_drawn_call *calls = timeline->calls.items;
    int64_t *durations = malloc(count * sizeof *durations);
    if (durations == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        durations[i] = calls[i].duration;
    qsort(durations, count, sizeof *durations, compare_durations);
    timeline->threshold = durations[count - SP_REPORT_CALLS];
    free(durations);
    for (size_t i = 0; i < count; i++) {
        if (calls[i].duration > timeline->threshold)
            calls[kept++] = calls[i];
        else if (!add_density(timeline, &calls[i]))
            return false;
    }
    timeline->calls.count = kept;
    return true;
}

bool sp_report_timeline_add(sp_report_timeline *timeline, uint32_t lane, size_t level,
                            uint32_t region, int64_t start, int64_t end)
{
    if (lane >= SP_REPORT_LANES) {
        timeline->num_undrawn++;
        return true;
    }
    if (level >= SP_REPORT_LEVELS) {
        timeline->num_deep++;
        return true;
    }
    int64_t since = sp_report_since(start, timeline->origin, timeline->span);
    int64_t until = sp_report_since(end, timeline->origin, timeline->span);
    sp_drawn_call call = {since, until > since ? until - since : 0, region, (uint16_t)lane,
                          (uint16_t)level};
    if (call.duration <= timeline->threshold)
        return add_density(timeline, &call);
    if (timeline->calls.count == (size_t)2 * SP_REPORT_CALLS && !raise_threshold(timeline))
        return false;
    if (call.duration <= timeline->threshold)
        return add_density(timeline, &call);
    if (!sp_vector_reserve(&timeline->calls, 1))
        return false;
    timeline->calls.items[timeline->calls.count++] = call;
    return true;
}

static size_t count_cells(const sp_report_timeline *timeline)
{
    size_t used = 0;
    for (size_t t = 0; t < timeline->tracks.count; t++)
        for (size_t i = 0; i < timeline->bins; i++)
            used += timeline->tracks.items[t].cells[i].busy > 0 ||
                    timeline->tracks.items[t].cells[i].count > 0;
    return used;
}

/* Leaves out the deepest level; false when there is one level only. */
static bool drop_level(sp_report_timeline *timeline)
{
    uint16_t deepest = 0;
    size_t kept = 0;
    for (size_t t = 0; t < timeline->tracks.count; t++)
        deepest = timeline->tracks.items[t].level > deepest ? timeline->tracks.items[t].level
                                                           : deepest;
    for (size_t t = 0; deepest > 0 && t < timeline->tracks.count; t++) {
        sp_density_track *track = &timeline->tracks.items[t];
        if (track->level < deepest) {
            timeline->tracks.items[kept++] = *track;
            continue;
        }
        for (size_t i = 0; i < timeline->bins; i++) {
            timeline->num_deep += track->cells[i].count;
            timeline->num_dense -= track->cells[i].count;
        }
        free(track->cells);
    }
    if (deepest > 0)
        timeline->tracks.count = kept;
    return deepest > 0;
}

static int compare_calls(const void *a, const void *b)
{
    const sp_drawn_call *left = a, *right = b;
    if (left->lane != right->lane)
        return left->lane < right->lane ? -1 : 1;
    if (left->start != right->start)
        return left->start < right->start ? -1 : 1;
    return (left->level > right->level) - (left->level < right->level);
}

static int compare_tracks(const void *a, const void *b)
{
    const sp_density_track *left = a, *right = b;
    if (left->lane != right->lane)
        return left->lane < right->lane ? -1 : 1;
    return (left->level > right->level) - (left->level < right->level);
}

void sp_report_timeline_settle(sp_report_timeline *timeline)
{
    /* The room of a second half is only there to find the threshold rarely. */
    if (timeline->calls.count > SP_REPORT_CALLS)
        raise_threshold(timeline);
    while (count_cells(timeline) > SP_REPORT_CELLS) {
        if (timeline->bins > SP_REPORT_LEAST_BINS)
            halve(timeline);
        else if (!drop_level(timeline))
            break;
    }
    if (timeline->calls.count > 0)
        qsort(timeline->calls.items, timeline->calls.count, sizeof *timeline->calls.items,
              compare_calls);
    if (timeline->tracks.count > 0)
        qsort(timeline->tracks.items, timeline->tracks.count, sizeof *timeline->tracks.items,
              compare_tracks);
}

void sp_report_timeline_release(sp_report_timeline *timeline)
{
    for (size_t t = 0; t < timeline->tracks.count; t++)
        free(timeline->tracks.items[t].cells);
    sp_vector_release(&timeline->calls);
    sp_vector_release(&timeline->tracks);
    sp_number_map_release(&timeline->track_ids);
}

/* ---- Writing ---------------------------------------------------------------------------------*/

/* For each lane a list of start since the call before, duration, region, level. */
static void write_calls(const sp_report_timeline *timeline, size_t num_lanes, sp_json_layout *layout)
{
    size_t at = 0;
    sp_layout_key(layout, "calls");
    sp_layout_open(layout, '[');
    for (size_t lane = 0; lane < num_lanes; lane++) {
        int64_t before = 0;
        sp_layout_open(layout, '[');
        for (; at < timeline->calls.count && timeline->calls.items[at].lane == lane; at++) {
            const sp_drawn_call *call = &timeline->calls.items[at];
            sp_layout_integer(layout, call->start - before);
            sp_layout_integer(layout, call->duration);
            sp_layout_integer(layout, call->region);
            sp_layout_integer(layout, call->level);
            before = call->start;
        }
        sp_layout_close(layout, ']');
    }
    sp_layout_close(layout, ']');
}

/* For each lane a list of level, bin, calls, busy ns, region. */
static void write_cells(const sp_report_timeline *timeline, size_t num_lanes, sp_json_layout *layout)
{
    size_t at = 0;
    sp_layout_key(layout, "cells");
    sp_layout_open(layout, '[');
    for (size_t lane = 0; lane < num_lanes; lane++) {
        sp_layout_open(layout, '[');
        for (; at < timeline->tracks.count && timeline->tracks.items[at].lane == lane; at++) {
            const sp_density_track *track = &timeline->tracks.items[at];
            for (size_t bin = 0; bin < timeline->bins; bin++) {
                const sp_density_cell *cell = &track->cells[bin];
                if (cell->busy <= 0 && cell->count == 0)
                    continue;
                sp_layout_integer(layout, track->level);
                sp_layout_integer(layout, (int64_t)bin);
                sp_layout_integer(layout, (int64_t)cell->count);
                sp_layout_integer(layout, cell->busy);
                sp_layout_integer(layout, cell->region);
            }
        }
        sp_layout_close(layout, ']');
    }
    sp_layout_close(layout, ']');
}

void sp_report_timeline_write(const sp_report_timeline *timeline, size_t num_lanes,
                              sp_json_layout *layout)
{
    const struct {
        const char *key;
        int64_t value;
    } numbers[] = {
        {"span", timeline->span},
        {"threshold", timeline->threshold},
        {"bin", timeline->bin_ns},
        {"exact", (int64_t)timeline->calls.count},
        {"dense", (int64_t)timeline->num_dense},
        {"deep", (int64_t)timeline->num_deep},
        {"undrawn", (int64_t)timeline->num_undrawn},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        sp_layout_key(layout, numbers[i].key);
        sp_layout_integer(layout, numbers[i].value);
    }
    write_calls(timeline, num_lanes, layout);
    write_cells(timeline, num_lanes, layout);
}
