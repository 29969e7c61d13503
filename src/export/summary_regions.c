/* summary_regions.c - one row a region, for runs without call trees. */
#include "base/error.h"
#include "export/summary.h"

#include <math.h>
#include <stdlib.h>

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

/* The time of a row that any of its calls covers, from calls sorted by start. `*out_known` is false
 * when they are not. */
static int cover_calls(sp_results *results, size_t row, bool *out_known, int64_t *out,
                       sp_error *error)
{
    enum { PIECE = 4096 };
    int64_t start[PIECE], duration[PIECE], covered = 0, covered_to = INT64_MIN, before = INT64_MIN;
    uint64_t count = results->rows.items[row].row->count;
    *out_known = true;
    for (uint64_t first = 0; *out_known && first < count; first += PIECE) {
        size_t size = count - first < PIECE ? (size_t)(count - first) : PIECE;
        int status = sp_run_read_piece(results, row, SP_COLUMN_START, first, size, start, error);
        if (status == SP_OK)
            status = sp_run_read_piece(results, row, SP_COLUMN_DURATION, first, size, duration,
                                       error);
        if (status != SP_OK)
            return status;
        for (size_t i = 0; i < size; i++) {
            int64_t end = sp_wrap_add(start[i], duration[i]);
            int64_t from = start[i] > covered_to ? start[i] : covered_to;
            *out_known = *out_known && start[i] >= before;
            before = start[i];
            if (end > from) {
                covered = sp_wrap_add(covered, sp_wrap_subtract(end, from));
                covered_to = end;
            }
        }
    }
    *out = covered;
    return SP_OK;
}

/* Coverage of one row: exact from its calls; without them no more than its total and no more than
 * the time between its first start and its last end. */
static int cover_row(sp_results *results, size_t row, int64_t *out, sp_error *error)
{
    bool known = false;
    sp_statistics of_row;
    int status = SP_OK;
    if (results->rows.items[row].columns != 0)
        status = cover_calls(results, row, &known, out, error);
    if (status == SP_OK && !known)
        status = sp_results_row_statistics(results, row, &of_row, error);
    if (status != SP_OK || known)
        return status;
    int64_t span = sp_wrap_subtract(of_row.end_maximum, of_row.start_minimum);
    bool has_times = !results->rows.items[row].row->has_aggregate;
    *out = has_times && span < of_row.total ? span : of_row.total;
    return SP_OK;
}

static int cover_region(sp_summary *summary, uint32_t region, sp_summary_row *row, sp_error *error)
{
    sp_results *results = summary->results;
    for (uint32_t r = results->regions.items[region].first_row; r != SP_NO_ROW;
         r = results->rows.items[r].next_in_region) {
        int64_t covered = 0;
        sp_statistics of_row;
        if (!sp_rank_filter_takes(&summary->request.ranks, results->rows.items[r].row->rank))
            continue;
        int status = sp_results_row_statistics(results, r, &of_row, error);
        if (status == SP_OK && of_row.calls > 0)
            status = cover_row(results, r, &covered, error);
        if (status != SP_OK)
            return status;
        row->coverage += seconds(covered);
        row->num_ranks += of_row.calls > 0;
    }
    return SP_OK;
}

static int set_percentiles(sp_summary *summary, uint32_t region, sp_summary_row *row,
                           sp_error *error)
{
    static const double percents[] = {50, 95, 99};
    double values[3];
    const sp_summary_options *options = &summary->request.options;
    int status = sp_results_percentiles(summary->results, region, options->ranks,
                                        options->num_ranks, percents, 3, values, error);
    if (status == SP_ERR_NO_EVENTS)
        return SP_OK;
    if (status == SP_OK) {
        row->p50 = values[0] / 1e9;
        row->p95 = values[1] / 1e9;
        row->p99 = values[2] / 1e9;
    }
    return status;
}

static int fill_row(sp_summary *summary, uint32_t region, sp_summary_row *row, sp_error *error)
{
    sp_statistics all;
    const sp_summary_options *options = &summary->request.options;
    sp_results *results = summary->results;
    double imbalance = 0;
    int status = sp_results_region_statistics(results, region, options->ranks, options->num_ranks,
                                              &all, error);
    if (status == SP_OK)
        status = sp_results_imbalance(results, region, options->ranks, options->num_ranks,
                                      &imbalance, error);
    if (status != SP_OK)
        return status;
    bool has_times = !results->is_aggregate && all.calls > 0;
    *row = (sp_summary_row){
        .name = results->regions.items[region].name, .calls = all.calls,
        .total = seconds(all.total), .exclusive = all.exclusive < 0 ? NAN : seconds(all.exclusive),
        .average = all.mean / 1e9, .minimum = seconds(all.minimum),
        .maximum = seconds(all.maximum), .first = has_times ? seconds(all.first) : NAN,
        .last = has_times ? seconds(all.last) : NAN, .deviation = all.deviation / 1e9,
        .p50 = NAN, .p95 = NAN, .p99 = NAN,
        .imbalance = imbalance > 0 ? (imbalance - 1.0) * 100.0 : 0.0,
        .start = has_times ? seconds(all.start_minimum) : NAN, .parent_coverage = NAN,
        .gpu_total = all.gpu_calls == 0 ? NAN : seconds(all.gpu_total),
        .gpu_average =
            all.gpu_calls == 0 ? NAN : seconds(all.gpu_total) / (double)all.gpu_calls};
    status = cover_region(summary, region, row, error);
    if (status == SP_OK && summary->request.wants_percentiles && all.calls > 0)
        status = set_percentiles(summary, region, row, error);
    return status;
}

int sp_summary_add_regions(sp_summary *summary, sp_error *error)
{
    size_t count = summary->results->regions.count;
    bool *called = calloc(count + 1, sizeof *called);
    if (called == NULL || !sp_vector_reserve(&summary->entries, count)) {
        free(called);
        return sp_fail_memory(error, "summing up a run");
    }
    int status = SP_OK;
    for (uint32_t i = 0; status == SP_OK && i < count; i++) {
        sp_summary_entry entry = {.parent = SP_NO_ROW};
        if (!summary->request.regions[i])
            continue;
        status = fill_row(summary, i, &entry.row, error);
        called[i] = entry.row.calls > 0;
        if (status == SP_OK && called[i])
            summary->entries.items[summary->entries.count++] = entry;
    }
    if (status == SP_OK)
        status = sp_summary_add_uncalled(summary, called, error);
    free(called);
    return status;
}

int sp_summary_add_uncalled(sp_summary *summary, const bool *called, sp_error *error)
{
    const sp_results *results = summary->results;
    if (!sp_vector_reserve(&summary->entries, results->regions.count))
        return sp_fail_memory(error, "summing up a run");
    for (size_t i = 0; i < results->regions.count; i++)
        if (summary->request.regions[i] && !called[i])
            summary->entries.items[summary->entries.count++] = (sp_summary_entry){
                .parent = SP_NO_ROW,
                .row = {.name = results->regions.items[i].name, .total = NAN, .coverage = NAN,
                        .exclusive = NAN, .average = NAN, .minimum = NAN, .maximum = NAN,
                        .first = NAN, .last = NAN, .deviation = NAN, .p50 = NAN, .p95 = NAN,
                        .p99 = NAN, .start = NAN, .parent_coverage = NAN, .gpu_total = NAN,
                        .gpu_average = NAN}};
    return SP_OK;
}
