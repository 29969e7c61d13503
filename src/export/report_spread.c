/* report_spread.c - how long the calls of a region take: distribution, longest calls, drift. */
#include "base/error.h"
#include "export/report.h"
#include "results/moments.h"

#include <stdlib.h>

int sp_report_spreads_init(sp_report_spreads *spreads, size_t num_regions, int64_t origin,
                           int64_t span, sp_error *error)
{
    *spreads = (sp_report_spreads){.origin = origin, .span = sp_report_span(span),
                                   .num_regions = num_regions};
    spreads->of_region = calloc(num_regions + 1, sizeof *spreads->of_region);
    return spreads->of_region == NULL ? sp_fail_memory(error, "gathering durations") : SP_OK;
}

void sp_report_spreads_release(sp_report_spreads *spreads)
{
    for (size_t i = 0; spreads->of_region != NULL && i < spreads->num_regions; i++)
        free(spreads->of_region[i]);
    free(spreads->of_region);
}

/* Eight bins for each power of two; below 8 ns one for each ns. */
static size_t bin_of(int64_t duration)
{
    if (duration < 8)
        return (size_t)duration;
    int power = 63 - __builtin_clzll((unsigned long long)duration);
    return (size_t)power * 8 + (size_t)(duration >> (power - 3) & 7);
}

static void keep_longest(sp_spread *spread, sp_spread_call call)
{
    size_t at = spread->num_longest;
    if (at == SP_SPREAD_LONGEST && call.duration <= spread->longest[at - 1].duration)
        return;
    at = at < SP_SPREAD_LONGEST ? spread->num_longest++ : at - 1;
    for (; at > 0 && spread->longest[at - 1].duration < call.duration; at--)
        spread->longest[at] = spread->longest[at - 1];
    spread->longest[at] = call;
}

static size_t step_of(const sp_report_spreads *spreads, int64_t since)
{
    int64_t step = since / (spreads->span / SP_SPREAD_STEPS + 1);
    return step < 0 ? 0 : step >= SP_SPREAD_STEPS ? SP_SPREAD_STEPS - 1 : (size_t)step;
}

bool sp_report_spreads_add(sp_report_spreads *spreads, uint32_t region, uint32_t rank,
                           int64_t start, int64_t end)
{
    sp_spread *spread = spreads->of_region[region];
    int64_t since = sp_report_since(start, spreads->origin, spreads->span);
    int64_t until = sp_report_since(end, spreads->origin, spreads->span);
    int64_t duration = until > since ? until - since : 0;
    if (spread == NULL)
        spread = spreads->of_region[region] = calloc(1, sizeof *spread);
    if (spread == NULL)
        return false;
    spread->calls++;
    spread->total = sp_wrap_add(spread->total, duration);
    spread->bins[bin_of(duration)]++;
    size_t step = step_of(spreads, since);
    spread->steps[step].calls++;
    spread->steps[step].total = sp_wrap_add(spread->steps[step].total, duration);
    if (duration > spread->steps[step].maximum)
        spread->steps[step].maximum = duration;
    keep_longest(spread, (sp_spread_call){since, duration, rank});
    return true;
}

/* ---- Writing ---------------------------------------------------------------------------------*/

static int64_t total_of(const sp_report_spreads *spreads, size_t region)
{
    return spreads->of_region[region] == NULL ? -1 : spreads->of_region[region]->total;
}

static int compare_totals(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left < right) - (left > right);
}

/* Smallest total that is among the largest ones. */
static int64_t smallest_total(const sp_report_spreads *spreads)
{
    int64_t *totals = malloc((spreads->num_regions + 1) * sizeof *totals), smallest = 0;
    if (totals == NULL)
        return 0;
    for (size_t i = 0; i < spreads->num_regions; i++)
        totals[i] = total_of(spreads, i);
    qsort(totals, spreads->num_regions, sizeof *totals, compare_totals);
    if (spreads->num_regions > SP_SPREAD_REGIONS)
        smallest = totals[SP_SPREAD_REGIONS - 1];
    free(totals);
    return smallest < 0 ? 0 : smallest;
}

static void write_bins(const sp_spread *spread, sp_json_layout *layout)
{
    sp_layout_key(layout, "bins"); /* number of the bin, calls, ... */
    sp_layout_open(layout, '[');
    for (size_t i = 0; i < SP_SPREAD_BINS; i++)
        if (spread->bins[i] > 0) {
            sp_layout_integer(layout, (int64_t)i);
            sp_layout_integer(layout, (int64_t)spread->bins[i]);
        }
    sp_layout_close(layout, ']');
}

static void write_steps(const sp_spread *spread, sp_json_layout *layout)
{
    sp_layout_key(layout, "drift"); /* number of the step, calls, mean, maximum, ... */
    sp_layout_open(layout, '[');
    for (size_t i = 0; i < SP_SPREAD_STEPS; i++)
        if (spread->steps[i].calls > 0) {
            sp_layout_integer(layout, (int64_t)i);
            sp_layout_integer(layout, (int64_t)spread->steps[i].calls);
            sp_layout_integer(layout, spread->steps[i].total / (int64_t)spread->steps[i].calls);
            sp_layout_integer(layout, spread->steps[i].maximum);
        }
    sp_layout_close(layout, ']');
}

static void write_longest(const sp_spread *spread, sp_json_layout *layout)
{
    sp_layout_key(layout, "longest"); /* rank, start, duration, ... */
    sp_layout_open(layout, '[');
    for (size_t i = 0; i < spread->num_longest; i++) {
        sp_layout_integer(layout, spread->longest[i].rank);
        sp_layout_integer(layout, spread->longest[i].start);
        sp_layout_integer(layout, spread->longest[i].duration);
    }
    sp_layout_close(layout, ']');
}

static int write_percentiles(sp_results *results, const sp_selection *selection, size_t region,
                             sp_json_layout *layout, sp_error *error)
{
    static const double percents[] = {5, 25, 50, 75, 95, 99};
    enum { COUNT = sizeof percents / sizeof *percents };
    double values[COUNT];
    int status = sp_results_percentiles(results, region, selection->options.ranks,
                                        selection->options.num_ranks, percents, COUNT, values,
                                        error);
    if (status != SP_OK)
        return status;
    sp_layout_key(layout, "percentiles"); /* 5, 25, 50, 75, 95, 99 */
    sp_layout_open(layout, '[');
    for (size_t i = 0; i < COUNT; i++)
        sp_report_add_ns(layout, values[i] / 1e9, 1);
    sp_layout_close(layout, ']');
    return SP_OK;
}

int sp_report_spreads_write(const sp_report_spreads *spreads, sp_results *results,
                            const sp_selection *selection, bool with_percentiles,
                            sp_json_layout *layout, sp_error *error)
{
    int64_t smallest = smallest_total(spreads);
    int status = SP_OK;
    size_t written = 0;
    sp_layout_open(layout, '[');
    for (size_t i = 0; status == SP_OK && i < spreads->num_regions; i++) {
        const sp_spread *spread = spreads->of_region[i];
        if (spread == NULL || spread->total < smallest || written == SP_SPREAD_REGIONS)
            continue;
        written++;
        sp_layout_open(layout, '{');
        sp_layout_key(layout, "region");
        sp_layout_integer(layout, (int64_t)i);
        write_bins(spread, layout);
        write_steps(spread, layout);
        write_longest(spread, layout);
        if (with_percentiles)
            status = write_percentiles(results, selection, i, layout, error);
        sp_layout_close(layout, '}');
    }
    sp_layout_close(layout, ']');
    return status;
}
