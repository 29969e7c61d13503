/* report_walk.c - one pass through the calls of a run that feeds everything drawn from single calls.
 * The level of a call is how many calls of its lane are open around it by their intervals, so that
 * crossing calls are drawn too. */
#include "base/error.h"
#include "export/report.h"
#include "export/summary.h"
#include "results/moments.h"
#include "results/open_calls.h"
#include "results/walk.h"

#include <stdlib.h>

typedef struct walker {
    sp_report_calls *calls;
    const sp_results *results;
    const sp_selection *selection;
    int64_t session; /* region, -1: none */
    uint32_t rank;
    size_t lanes_a_rank; /* drawn ones */
    /* Of the rank at hand. */
    sp_lane_map numbers;
    SP_VECTOR(sp_open_stack) stacks; /* by number of the lane */
    size_t first_lane, drawn_here;
} walker;

/* The lane of a call, added when it is new; NULL when memory is short. */
static sp_report_lane *find_lane(walker *w, int64_t lane, sp_open_stack **out_stack)
{
    sp_report_calls *calls = w->calls;
    uint32_t number = sp_lane_number(&w->numbers, lane);
    if (number == SP_NUMBER_NONE)
        return NULL;
    if (number == w->stacks.count) {
        if (!sp_vector_reserve(&w->stacks, 1) || !sp_vector_reserve(&calls->lanes, 1))
            return NULL;
        bool is_drawn = w->drawn_here < w->lanes_a_rank && calls->num_drawn < SP_REPORT_LANES;
        w->stacks.items[w->stacks.count++] = (sp_open_stack){0};
        calls->lanes.items[calls->lanes.count++] = (sp_report_lane){
            .rank = w->rank, .lane = lane, .first = INT64_MAX, .last = INT64_MIN,
            .covered_to = INT64_MIN, .drawn = is_drawn ? (uint16_t)calls->num_drawn : UINT16_MAX};
        w->drawn_here += is_drawn;
        calls->num_drawn += is_drawn;
    }
    *out_stack = &w->stacks.items[number];
    return &calls->lanes.items[w->first_lane + number];
}

static void cover(sp_report_lane *lane, int64_t start, int64_t end)
{
    int64_t from = start > lane->covered_to ? start : lane->covered_to;
    if (end <= from)
        return;
    lane->covered = sp_wrap_add(lane->covered, sp_wrap_subtract(end, from));
    lane->covered_to = end;
}

static bool add_call(walker *w, uint32_t region, int64_t lane_id, int64_t start, int64_t end)
{
    sp_open_stack *stack = NULL;
    sp_report_lane *lane = find_lane(w, lane_id, &stack);
    if (lane == NULL)
        return false;
    sp_open_stack_close_by_interval(stack, start, end);
    size_t level = stack->calls.count;
    lane->calls++;
    lane->first = start < lane->first ? start : lane->first;
    lane->last = end > lane->last ? end : lane->last;
    if ((int64_t)region != w->session)
        cover(lane, start, end);
    return sp_open_stack_push(stack, 0, start, end, 0) &&
           sp_report_timeline_add(&w->calls->timeline, lane->drawn, level, region, start, end) &&
           sp_report_spreads_add(&w->calls->spreads, region, w->rank, start, end);
}

static int visit(void *context, const sp_call_window *window, sp_error *error)
{
    walker *w = context;
    for (size_t i = 0; i < window->count; i++) {
        uint32_t region = w->results->rows.items[window->row[i]].region;
        int64_t lane = window->lane == NULL ? -1 : window->lane[i];
        if (w->selection->regions[region] &&
            !add_call(w, region, lane, window->start[i], window->end[i]))
            return sp_fail_memory(error, "gathering a report");
    }
    return SP_OK;
}

static void release_rank(walker *w)
{
    for (size_t i = 0; i < w->stacks.count; i++)
        sp_vector_release(&w->stacks.items[i].calls);
    sp_vector_release(&w->stacks);
    sp_number_map_release(&w->numbers.numbers);
    w->numbers = (sp_lane_map){0};
    w->drawn_here = 0;
}

int sp_report_calls_init(sp_report_calls *calls, sp_results *results,
                         const sp_selection *selection, sp_error *error)
{
    sp_run_times times;
    uint32_t *ranks;
    size_t count;
    *calls = (sp_report_calls){0};
    int status = sp_results_times(results, &times, error);
    if (status != SP_OK)
        return status;
    int64_t span =
        times.first_entry < 0 ? 0 : sp_wrap_subtract(times.last_exit, times.first_entry);
    sp_report_timeline_init(&calls->timeline, times.first_entry, span);
    status = sp_report_spreads_init(&calls->spreads, results->regions.count, times.first_entry,
                                    span, error);
    if (status != SP_OK || !sp_report_has_calls(results))
        return status;
    status = sp_selection_ranks(selection, results, &ranks, &count, error);
    if (status != SP_OK)
        return status;
    walker w = {.calls = calls, .results = results, .selection = selection,
                .session = sp_results_find_region(results, SP_SESSION_REGION),
                .lanes_a_rank = count >= SP_REPORT_LANES ? 1 : SP_REPORT_LANES / (count + !count)};
    for (size_t i = 0; status == SP_OK && i < count; i++) {
        w.rank = ranks[i];
        w.first_lane = calls->lanes.count;
        status = sp_run_walk_windows(results, ranks[i], 0, visit, &w, error);
        release_rank(&w);
    }
    free(ranks);
    sp_report_timeline_settle(&calls->timeline);
    return status;
}

void sp_report_calls_release(sp_report_calls *calls)
{
    sp_vector_release(&calls->lanes);
    sp_report_timeline_release(&calls->timeline);
    sp_report_spreads_release(&calls->spreads);
}
