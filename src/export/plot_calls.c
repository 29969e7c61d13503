/* plot_calls.c - plot data that is about single calls: when they were, how long they took. Columns are
 * read in pieces, so that memory does not grow with the number of calls. */
#include "base/error.h"
#include "export/plot.h"
#include "results/moments.h"
#include "results/walk.h"

#include <math.h>
#include <stdlib.h>

/* One call after the other of one row. */
typedef void (*call_taker)(void *context, uint64_t index, int64_t start, int64_t duration);

static int each_call(sp_results *results, uint32_t row, call_taker take, void *context,
                     sp_error *error)
{
    int64_t start[SP_PLOT_PIECE], duration[SP_PLOT_PIECE];
    uint64_t count = results->rows.items[row].row->count;
    for (uint64_t first = 0; first < count; first += SP_PLOT_PIECE) {
        size_t size = count - first < SP_PLOT_PIECE ? (size_t)(count - first) : SP_PLOT_PIECE;
        int status = sp_plot_read_calls(results, row, first, size, start, duration, error);
        if (status != SP_OK)
            return status;
        for (size_t i = 0; i < size; i++)
            take(context, first + i, start[i], duration[i]);
    }
    return SP_OK;
}

/* The same for all selected rows of a region, ranks in order of the file. */
static int each_call_of_region(const sp_plot_run *run, size_t region, call_taker take,
                               void *context, sp_error *error)
{
    int status = SP_OK;
    for (uint32_t r = run->results->regions.items[region].first_row;
         status == SP_OK && r != SP_NO_ROW; r = run->results->rows.items[r].next_in_region)
        if (sp_plot_takes_row(run, r))
            status = each_call(run->results, r, take, context, error);
    return status;
}

static double relative(const sp_plot_run *run, int64_t time)
{
    return (double)sp_wrap_subtract(time, run->origin) / 1e9;
}

/* ---- gantt -----------------------------------------------------------------------------------*/

typedef struct gantt {
    sp_plot *plot;
    const sp_plot_run *run;
    const char *region;
    uint32_t rank;
    /* Depths of all calls of all rows; NULL: not asked for. */
    int32_t *depths;
    uint64_t *first; /* of each row in `depths` */
    uint64_t at;
} gantt;

enum { NO_DEPTH = -1 };

static void add_interval(void *context, uint64_t index, int64_t start, int64_t duration)
{
    gantt *g = context;
    int32_t depth = g->depths == NULL ? NO_DEPTH : g->depths[g->at + index];
    sp_plot_open_row(g->plot);
    sp_plot_text(g->plot, g->run->label);
    sp_plot_integer(g->plot, g->rank);
    sp_plot_text(g->plot, g->region);
    sp_plot_real(g->plot, relative(g->run, start));
    sp_plot_real(g->plot, relative(g->run, sp_wrap_add(start, duration)));
    if (depth == NO_DEPTH)
        sp_plot_none(g->plot);
    else
        sp_plot_integer(g->plot, depth);
    sp_plot_close_row(g->plot);
}

static int keep_depths(void *context, const sp_call_tree *tree, sp_error *error)
{
    gantt *g = context;
    (void)error;
    for (size_t i = 0; i < tree->count; i++)
        g->depths[g->first[tree->row[i]] + tree->call_index[i]] = tree->depth[i];
    return SP_OK;
}

/* JSON tells the depth of each call. A rank that does not nest has none. */
static int find_depths(gantt *g, sp_error *error)
{
    sp_results *results = g->run->results;
    uint64_t total = 0;
    g->first = calloc(results->rows.count + 1, sizeof *g->first);
    for (size_t i = 0; g->first != NULL && i < results->rows.count; i++) {
        g->first[i] = total;
        total += results->rows.items[i].row->count;
    }
    g->depths = g->first == NULL || total > SIZE_MAX / sizeof *g->depths - 1
                    ? NULL : malloc(((size_t)total + 1) * sizeof *g->depths);
    if (g->depths == NULL)
        return sp_fail_memory(error, "exporting plot data");
    for (uint64_t i = 0; i < total; i++)
        g->depths[i] = NO_DEPTH;
    for (size_t i = 0; i < results->ranks.count; i++) {
        sp_error reason = {0};
        int status = sp_run_walk_tree(results, results->ranks.items[i].rank, keep_depths, g, &reason);
        if (status == SP_ERR_NO_MEMORY)
            return sp_fail_memory(error, "exporting plot data");
    }
    return SP_OK;
}

static int add_run_intervals(gantt *g, sp_error *error)
{
    sp_results *results = g->run->results;
    int status = g->plot->is_json ? find_depths(g, error) : SP_OK;
    for (size_t i = 0; status == SP_OK && i < g->run->num_regions; i++) {
        size_t region = g->run->regions[i];
        g->region = results->regions.items[region].name;
        for (uint32_t r = results->regions.items[region].first_row;
             status == SP_OK && r != SP_NO_ROW; r = results->rows.items[r].next_in_region) {
            g->rank = results->rows.items[r].row->rank;
            g->at = g->first == NULL ? 0 : g->first[r];
            if (sp_plot_takes_row(g->run, r))
                status = each_call(results, r, add_interval, g, error);
        }
    }
    free(g->depths);
    free(g->first);
    return status;
}

int sp_plot_gantt(sp_plot *plot, sp_error *error)
{
    static const char *const headers[] = {"file", "rank", "region", "start_seconds", "end_seconds",
                                          "depth"};
    int status = SP_OK;
    sp_plot_open_table(plot, "intervals", headers, 6, 5);
    for (size_t i = 0; status == SP_OK && i < plot->num_runs; i++) {
        gantt g = {.plot = plot, .run = &plot->runs[i]};
        status = add_run_intervals(&g, error);
    }
    sp_plot_close_table(plot);
    if (status == SP_OK)
        status = sp_plot_add_region_colors(plot, true, error);
    sp_plot_add_file_ranks(plot);
    return status;
}

/* ---- density ---------------------------------------------------------------------------------*/

typedef struct density {
    double *busy;  /* seconds inside each bin of calls that begin or end there */
    double *whole; /* how many calls more than before cover the bin whole */
    double low, high, width, shortest;
    int64_t origin;
    size_t bins;
} density;

static size_t bin_of(const density *d, double at)
{
    double bin = floor((at - d->low) / d->width);
    return bin < 0 ? 0 : bin >= (double)d->bins ? d->bins - 1 : (size_t)bin;
}

static void spread(void *context, uint64_t index, int64_t start, int64_t duration)
{
    density *d = context;
    double from = (double)sp_wrap_subtract(start, d->origin) / 1e9;
    double to = from + (double)duration / 1e9;
    (void)index;
    if ((double)duration / 1e9 < d->shortest)
        return;
    from = from < d->low ? d->low : from;
    to = to > d->high ? d->high : to;
    if (!(to > from))
        return;
    size_t first = bin_of(d, from), last = bin_of(d, to);
    if (first == last) {
        d->busy[first] += to - from;
        return;
    }
    d->busy[first] += d->low + (double)(first + 1) * d->width - from;
    d->busy[last] += to - (d->low + (double)last * d->width);
    d->whole[first + 1] += 1;
    d->whole[last] -= 1;
}

static int add_run_density(sp_plot *plot, const sp_plot_run *run, density *d, sp_error *error)
{
    int status = SP_OK;
    for (size_t i = 0; status == SP_OK && i < run->num_regions; i++) {
        double covering = 0;
        for (size_t b = 0; b <= d->bins; b++)
            d->busy[b] = d->whole[b] = 0;
        status = each_call_of_region(run, run->regions[i], spread, d, error);
        for (size_t b = 0; status == SP_OK && b < d->bins; b++) {
            covering += d->whole[b];
            sp_plot_open_row(plot);
            sp_plot_text(plot, run->label);
            sp_plot_text(plot, run->results->regions.items[run->regions[i]].name);
            sp_plot_real(plot, d->low + (double)b * d->width);
            sp_plot_real(plot, d->low + (double)(b + 1) * d->width);
            sp_plot_real(plot, d->busy[b] + covering * d->width);
            sp_plot_close_row(plot);
        }
    }
    return status;
}

int sp_plot_density(sp_plot *plot, sp_error *error)
{
    static const char *const headers[] = {"file", "region", "bin_start_seconds", "bin_end_seconds",
                                          "occupied_seconds"};
    const sp_plot_options *options = &plot->options;
    density d = {.bins = options->bins > 0 ? options->bins : 200, .shortest = options->min_duration};
    int status = SP_OK;
    d.busy = calloc(d.bins + 1, sizeof *d.busy);
    d.whole = calloc(d.bins + 1, sizeof *d.whole);
    if (d.busy == NULL || d.whole == NULL)
        status = sp_fail_memory(error, "exporting plot data");
    sp_plot_open_table(plot, "points", headers, 5, 5);
    for (size_t i = 0; status == SP_OK && i < plot->num_runs; i++) {
        const sp_plot_run *run = &plot->runs[i];
        sp_run_times times;
        status = sp_results_times(run->results, &times, error);
        if (status != SP_OK || run->num_regions == 0)
            continue;
        d.origin = run->origin;
        d.low = options->start_time;
        d.high = options->end_time > 0 ? options->end_time : relative(run, times.last_exit);
        d.width = (d.high - d.low) / (double)d.bins;
        if (d.width > 0)
            status = add_run_density(plot, run, &d, error);
    }
    sp_plot_close_table(plot);
    free(d.busy);
    free(d.whole);
    return status;
}

/* ---- timeseries ------------------------------------------------------------------------------*/

typedef struct series_point {
    double start, duration, shortest, longest;
    uint32_t ranks;
} series_point;

typedef struct series {
    sp_plot *plot;
    const sp_plot_run *run;
    size_t region;
    series_point points[SP_PLOT_PIECE];
} series;

static void add_point(series *s, size_t i, int64_t start, int64_t duration)
{
    series_point *point = &s->points[i];
    double length = (double)duration / 1e9;
    point->shortest = point->ranks == 0 || length < point->shortest ? length : point->shortest;
    point->longest = point->ranks == 0 || length > point->longest ? length : point->longest;
    point->start += relative(s->run, start);
    point->duration += length;
    point->ranks++;
}

/* Call i of all ranks together, for i from `first` on; `*out_count` is how many there were. */
static int gather_points(series *s, uint64_t first, size_t *out_count, sp_error *error)
{
    int64_t start[SP_PLOT_PIECE], duration[SP_PLOT_PIECE];
    sp_results *results = s->run->results;
    memset(s->points, 0, sizeof s->points);
    *out_count = 0;
    for (uint32_t r = results->regions.items[s->region].first_row; r != SP_NO_ROW;
         r = results->rows.items[r].next_in_region) {
        uint64_t count = results->rows.items[r].row->count;
        if (!sp_plot_takes_row(s->run, r) || count <= first)
            continue;
        size_t size = count - first < SP_PLOT_PIECE ? (size_t)(count - first) : SP_PLOT_PIECE;
        int status = sp_plot_read_calls(results, r, first, size, start, duration, error);
        if (status != SP_OK)
            return status;
        for (size_t i = 0; i < size; i++)
            add_point(s, i, start[i], duration[i]);
        *out_count = size > *out_count ? size : *out_count;
    }
    return SP_OK;
}

static int add_series(series *s, sp_error *error)
{
    size_t count = SP_PLOT_PIECE;
    int status = SP_OK;
    for (uint64_t first = 0; status == SP_OK && count == SP_PLOT_PIECE; first += SP_PLOT_PIECE) {
        status = gather_points(s, first, &count, error);
        for (size_t i = 0; status == SP_OK && i < count; i++) {
            const series_point *point = &s->points[i];
            sp_plot_open_row(s->plot);
            sp_plot_text(s->plot, s->run->label);
            sp_plot_text(s->plot, s->run->results->regions.items[s->region].name);
            sp_plot_integer(s->plot, (int64_t)(first + i));
            sp_plot_real(s->plot, point->start / point->ranks);
            sp_plot_real(s->plot, point->duration / point->ranks);
            sp_plot_real(s->plot, point->shortest);
            sp_plot_real(s->plot, point->longest);
            sp_plot_integer(s->plot, point->ranks);
            sp_plot_close_row(s->plot);
        }
    }
    return status;
}

int sp_plot_timeseries(sp_plot *plot, sp_error *error)
{
    static const char *const headers[] = {
        "file", "region", "call_index", "time_seconds", "mean_duration_seconds",
        "min_duration_seconds", "max_duration_seconds", "num_ranks"};
    series *s = malloc(sizeof *s);
    int status = s == NULL ? sp_fail_memory(error, "exporting plot data") : SP_OK;
    sp_plot_open_table(plot, "points", headers, 8, 8);
    for (size_t i = 0; status == SP_OK && i < plot->num_runs; i++)
        for (size_t k = 0; status == SP_OK && k < plot->runs[i].num_regions; k++) {
            s->plot = plot;
            s->run = &plot->runs[i];
            s->region = s->run->regions[k];
            status = add_series(s, error);
        }
    sp_plot_close_table(plot);
    free(s);
    return status == SP_OK ? sp_plot_add_region_colors(plot, true, error) : status;
}

/* ---- histogram -------------------------------------------------------------------------------*/

typedef struct histogram {
    double low, width;
    uint64_t *counts;
    size_t bins;
} histogram;

static void count_duration(void *context, uint64_t index, int64_t start, int64_t duration)
{
    histogram *h = context;
    double bin = floor(((double)duration / 1e9 - h->low) / h->width);
    (void)index;
    (void)start;
    h->counts[bin < 0 ? 0 : bin >= (double)h->bins ? h->bins - 1 : (size_t)bin]++;
}

/* All regions of a run share their bins: from the shortest call to the longest. */
static int find_bins(const sp_plot_run *run, histogram *h, sp_error *error)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < run->num_regions; i++) {
        sp_statistics s;
        const sp_export_options *options = &run->selection.options;
        int status = sp_results_region_statistics(run->results, run->regions[i], options->ranks,
                                                  options->num_ranks, &s, error);
        if (status != SP_OK)
            return status;
        low = s.calls > 0 && (double)s.minimum / 1e9 < low ? (double)s.minimum / 1e9 : low;
        high = s.calls > 0 && (double)s.maximum / 1e9 > high ? (double)s.maximum / 1e9 : high;
    }
    bool is_point = !(high > low);
    h->low = is_point ? low - 0.5 : low;
    h->width = is_point ? 1.0 / (double)h->bins : (high - low) / (double)h->bins;
    return SP_OK;
}

static int add_run_histogram(sp_plot *plot, const sp_plot_run *run, histogram *h, sp_error *error)
{
    int status = find_bins(run, h, error);
    for (size_t i = 0; status == SP_OK && i < run->num_regions; i++) {
        memset(h->counts, 0, h->bins * sizeof *h->counts);
        status = each_call_of_region(run, run->regions[i], count_duration, h, error);
        for (size_t b = 0; status == SP_OK && b < h->bins; b++) {
            double low = h->low + (double)b * h->width, high = h->low + (double)(b + 1) * h->width;
            sp_plot_open_row(plot);
            sp_plot_text(plot, run->label);
            sp_plot_text(plot, run->results->regions.items[run->regions[i]].name);
            sp_plot_real(plot, low);
            sp_plot_real(plot, high);
            sp_plot_real(plot, (low + high) / 2);
            sp_plot_integer(plot, (int64_t)h->counts[b]);
            sp_plot_close_row(plot);
        }
    }
    return status;
}

int sp_plot_histogram(sp_plot *plot, sp_error *error)
{
    static const char *const headers[] = {"file", "region", "bin_low_seconds", "bin_high_seconds",
                                          "bin_center_seconds", "count"};
    histogram h = {.bins = plot->options.bins > 0 ? plot->options.bins : 30};
    h.counts = calloc(h.bins, sizeof *h.counts);
    int status = h.counts == NULL ? sp_fail_memory(error, "exporting plot data") : SP_OK;
    sp_plot_open_table(plot, "bins", headers, 6, 6);
    for (size_t i = 0; status == SP_OK && i < plot->num_runs; i++)
        status = add_run_histogram(plot, &plot->runs[i], &h, error);
    sp_plot_close_table(plot);
    free(h.counts);
    return status == SP_OK ? sp_plot_add_region_colors(plot, true, error) : status;
}
