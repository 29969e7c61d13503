/* plot_values.c - plot data that is one number for a region: durations of runs, ranks against each
 * other, runs against each other. */
#include "base/error.h"
#include "export/compare.h"
#include "export/plot.h"

#include <math.h>
#include <stdlib.h>

/* A metric of a region of a run, in seconds. */
static int value_of(const sp_plot *plot, const sp_plot_run *run, size_t region, sp_metric metric,
                    double *out, sp_error *error)
{
    const sp_compare_options how = {
        .size = sizeof how, .metric = metric, .reduction = plot->options.reduction,
        .ranks = run->selection.options.ranks, .num_ranks = run->selection.options.num_ranks};
    return sp_compare_value(run->results, region, &how, out, error);
}

static int value_of_rank(const sp_plot_run *run, size_t region, uint32_t rank, sp_metric metric,
                         double *out, sp_error *error)
{
    const sp_compare_options how = {
        .size = sizeof how, .metric = metric, .ranks = &rank, .num_ranks = 1};
    return sp_compare_value(run->results, region, &how, out, error);
}

/* ---- durations -------------------------------------------------------------------------------*/

typedef struct ordered_name {
    const char *name;
    double value;
    size_t position;
} ordered_name;

/* Largest value first; equal ones stay as they are. */
static int compare_values(const void *a, const void *b)
{
    const ordered_name *x = a, *y = b;
    if (x->value != y->value && !(isnan(x->value) && isnan(y->value)))
        return isnan(y->value) || x->value > y->value ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

static int compare_by_name(const void *a, const void *b)
{
    return strcmp(((const ordered_name *)a)->name, ((const ordered_name *)b)->name);
}

/* Regions that every run has, in the wanted order, no more than wanted. By a metric, the largest
 * value in any of the runs counts. free() them. */
static int choose_regions(sp_plot *plot, ordered_name **out, size_t *out_count, sp_error *error)
{
    const sp_plot_run *first = &plot->runs[0];
    const sp_plot_options *options = &plot->options;
    ordered_name *names = malloc((first->num_regions + 1) * sizeof *names);
    size_t count = 0;
    int status = names == NULL ? sp_fail_memory(error, "exporting plot data") : SP_OK;
    for (size_t i = 0; status == SP_OK && i < first->num_regions; i++) {
        const char *name = first->results->regions.items[first->regions[i]].name;
        ordered_name next = {name, (double)NAN, i};
        if (!sp_plot_is_common(plot, name))
            continue;
        for (size_t r = 0; status == SP_OK && options->sort_by != NULL && r < plot->num_runs; r++) {
            double value = (double)NAN;
            status = value_of(plot, &plot->runs[r], sp_plot_find_region(&plot->runs[r], name),
                              *options->sort_by, &value, error);
            next.value = isnan(next.value) || value > next.value ? value : next.value;
        }
        names[count++] = next;
    }
    if (status != SP_OK) {
        free(names);
        return status;
    }
    if (options->sort_by_name || options->sort_by != NULL)
        qsort(names, count, sizeof *names, options->sort_by_name ? compare_by_name : compare_values);
    *out = names;
    *out_count = options->top > 0 && options->top < count ? options->top : count;
    return SP_OK;
}

static int add_bars(sp_plot *plot, sp_metric metric, const ordered_name *names, size_t count,
                    sp_error *error)
{
    int status = SP_OK;
    for (size_t r = 0; status == SP_OK && r < plot->num_runs; r++)
        for (size_t i = 0; status == SP_OK && i < count; i++) {
            const sp_plot_run *run = &plot->runs[r];
            double value = (double)NAN;
            status = value_of(plot, run, sp_plot_find_region(run, names[i].name), metric, &value,
                              error);
            sp_plot_open_row(plot);
            sp_plot_text(plot, run->label);
            sp_plot_text(plot, names[i].name);
            sp_plot_text(plot, sp_compare_metric_name(metric));
            sp_plot_real(plot, value);
            sp_plot_close_row(plot);
        }
    return status;
}

/* Which metrics were taken, and that bars are not split; JSON only. */
static void add_bar_options(sp_plot *plot, const sp_metric *metrics, size_t count)
{
    const char *labels[64];
    size_t num_labels = 0;
    if (!plot->is_json)
        return;
    for (; num_labels < plot->num_runs && num_labels < sizeof labels / sizeof *labels; num_labels++)
        labels[num_labels] = plot->runs[num_labels].label;
    sp_plot_add_colors(plot, labels, num_labels);
    sp_layout_key(&plot->layout, "metrics");
    sp_layout_open(&plot->layout, '[');
    for (size_t m = 0; m < count; m++)
        sp_layout_text(&plot->layout, sp_compare_metric_name(metrics[m]));
    sp_layout_close(&plot->layout, ']');
    sp_layout_key(&plot->layout, "options");
    sp_layout_open(&plot->layout, '{');
    sp_layout_key(&plot->layout, "stack_children");
    sp_layout_word(&plot->layout, "false");
    sp_layout_close(&plot->layout, '}');
}

int sp_plot_durations(sp_plot *plot, sp_error *error)
{
    static const char *const headers[] = {"file", "region", "metric", "value_seconds"};
    static const sp_metric total = SP_METRIC_TOTAL;
    const sp_metric *metrics = plot->options.num_metrics > 0 ? plot->options.metrics : &total;
    size_t num_metrics = plot->options.num_metrics > 0 ? plot->options.num_metrics : 1;
    ordered_name *names;
    size_t count;
    int status = choose_regions(plot, &names, &count, error);
    if (status != SP_OK)
        return status;
    sp_plot_open_table(plot, "bars", headers, 4, 4);
    for (size_t m = 0; status == SP_OK && m < num_metrics; m++)
        status = add_bars(plot, metrics[m], names, count, error);
    sp_plot_close_table(plot);
    add_bar_options(plot, metrics, num_metrics);
    free(names);
    return status;
}

/* ---- imbalance, rank_heatmap -----------------------------------------------------------------*/

/* Mean of a metric over the selected ranks that have calls. */
static int mean_over_ranks(const sp_plot_run *run, size_t region, sp_metric metric, double *out,
                           sp_error *error)
{
    const sp_compare_options how = {
        .size = sizeof how, .metric = metric, .reduction = SP_REDUCE_MEAN,
        .ranks = run->selection.options.ranks, .num_ranks = run->selection.options.num_ranks};
    return sp_compare_value(run->results, region, &how, out, error);
}

/* One row for each selected rank of a region that has calls. `mean` NULL: no column of that kind. */
static int add_ranks(sp_plot *plot, const sp_plot_run *run, size_t region, sp_metric metric,
                     const double *mean, sp_error *error)
{
    const sp_run_region *of = &run->results->regions.items[region];
    for (uint32_t r = of->first_row; r != SP_NO_ROW;
         r = run->results->rows.items[r].next_in_region) {
        uint32_t rank = run->results->rows.items[r].row->rank;
        double value = (double)NAN;
        if (!sp_plot_takes_row(run, r))
            continue;
        int status = value_of_rank(run, region, rank, metric, &value, error);
        if (status != SP_OK)
            return status;
        sp_plot_open_row(plot);
        sp_plot_text(plot, run->label);
        if (mean != NULL)
            sp_plot_text(plot, of->name);
        sp_plot_integer(plot, rank);
        if (mean == NULL)
            sp_plot_text(plot, of->name);
        sp_plot_real(plot, value);
        if (mean != NULL)
            sp_plot_real(plot, *mean);
        sp_plot_close_row(plot);
    }
    return SP_OK;
}

int sp_plot_imbalance(sp_plot *plot, sp_error *error)
{
    static const char *const headers[] = {"file", "region", "rank", "value_seconds",
                                          "mean_over_ranks_seconds"};
    sp_metric metric = plot->options.imbalance_metric;
    int status = SP_OK;
    if (plot->is_json) {
        sp_layout_key(&plot->layout, "metric");
        sp_layout_text(&plot->layout, sp_compare_metric_name(metric));
    }
    sp_plot_open_table(plot, "points", headers, 5, 5);
    for (size_t i = 0; status == SP_OK && i < plot->num_runs; i++)
        for (size_t k = 0; status == SP_OK && k < plot->runs[i].num_regions; k++) {
            const sp_plot_run *run = &plot->runs[i];
            double mean = (double)NAN;
            status = mean_over_ranks(run, run->regions[k], metric, &mean, error);
            if (status == SP_OK)
                status = add_ranks(plot, run, run->regions[k], metric, &mean, error);
        }
    sp_plot_close_table(plot);
    return status == SP_OK ? sp_plot_add_region_colors(plot, true, error) : status;
}

int sp_plot_rank_heatmap(sp_plot *plot, sp_error *error)
{
    static const char *const headers[] = {"file", "rank", "region", "total_duration_seconds"};
    int status = SP_OK;
    sp_plot_open_table(plot, "points", headers, 4, 4);
    for (size_t i = 0; status == SP_OK && i < plot->num_runs; i++)
        for (size_t k = 0; status == SP_OK && k < plot->runs[i].num_regions; k++)
            status = add_ranks(plot, &plot->runs[i], plot->runs[i].regions[k], SP_METRIC_TOTAL, NULL,
                               error);
    sp_plot_close_table(plot);
    return status;
}

/* ---- Runs against each other -----------------------------------------------------------------*/

typedef enum scaling_kind {
    SPEEDUP,         /* mean of the baseline over mean of the run */
    NORMALIZED,      /* the inverse */
    SPEEDUP_BY_SIZE  /* the speedup over the growth of the run */
} scaling_kind;

/* A run at its place on the axis. */
typedef struct scaling_point {
    const sp_plot_run *run;
    double x;         /* of a number */
    const char *text; /* of anything else; NULL: a number */
    size_t position;
} scaling_point;

static const struct {
    const char *name, *label;
} axes[] = {
    {"num_ranks", "MPI ranks"},
    {"num_nodes", "nodes"},
    {"omp_num_threads", "OpenMP threads"},
    {"total_cores", "MPI ranks × OpenMP threads"},
};
enum { NUM_AXES = sizeof axes / sizeof *axes };

static const char *axis_label(const char *field)
{
    for (size_t i = 0; i < NUM_AXES; i++)
        if (strcmp(axes[i].name, field) == 0)
            return axes[i].label;
    return field;
}

static bool is_number_axis(const char *field)
{
    return axis_label(field) != field;
}

static int fail_axis(const sp_plot_run *run, const char *field, sp_error *error)
{
    sp_text fields = {0};
    for (size_t i = 0; i < run->results->metadata.count; i++)
        sp_text_format(&fields, "%s%s", i == 0 ? "" : ", ", run->results->metadata.items[i]->key);
    int status = sp_fail(error, SP_ERR_NOT_FOUND,
                         "the metadata of '%s' has no '%s' for the axis; it has %.600s", run->label,
                         field, fields.failed || fields.length == 0 ? "nothing" : fields.bytes);
    sp_text_release(&fields);
    return status;
}

static int find_x(scaling_point *point, const char *field, sp_error *error)
{
    const sp_results *results = point->run->results;
    const sp_metadata_entry *entry = sp_results_find_metadata(results, field);
    if (strcmp(field, "num_ranks") == 0) {
        point->x = results->num_ranks;
        return SP_OK;
    }
    if (entry == NULL && strcmp(field, "num_nodes") == 0 && results->num_ranks <= 1) {
        point->x = 1;
        return SP_OK;
    }
    if (entry == NULL || entry->kind == SP_VALUE_TEXT_LIST)
        return fail_axis(point->run, field, error);
    if (entry->kind == SP_VALUE_TEXT) {
        point->text = entry->text;
        return is_number_axis(field) ? fail_axis(point->run, field, error) : SP_OK;
    }
    point->x = entry->kind == SP_VALUE_INTEGER ? (double)entry->integer : entry->real;
    return SP_OK;
}

/* Numbers ascend; texts stay in the order of the runs. */
static int compare_points(const void *a, const void *b)
{
    const scaling_point *p = a, *q = b;
    if (p->text == NULL && q->text == NULL && p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return (p->position > q->position) - (p->position < q->position);
}

static bool is_same_place(const scaling_point *a, const scaling_point *b)
{
    if (a->text != NULL && b->text != NULL)
        return strcmp(a->text, b->text) == 0;
    return a->text == b->text && a->x == b->x;
}

static int place_runs(sp_plot *plot, scaling_kind kind, scaling_point *points, sp_error *error)
{
    const char *field = plot->options.x_field;
    if (plot->num_runs < 2)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "this plot requires at least two profiling files, got %zu", plot->num_runs);
    if (kind == SPEEDUP_BY_SIZE && !is_number_axis(field))
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "Scaling efficiency requires x_field to be "
                       "one of: num_nodes, num_ranks, omp_num_threads, total_cores; not '%s'", field);
    for (size_t i = 0; i < plot->num_runs; i++) {
        points[i] = (scaling_point){.run = &plot->runs[i], .position = i};
        int status = find_x(&points[i], field, error);
        if (status != SP_OK)
            return status;
    }
    qsort(points, plot->num_runs, sizeof *points, compare_points);
    return SP_OK;
}

static void add_place(sp_plot *plot, const scaling_point *point)
{
    if (point->text != NULL)
        sp_plot_text(plot, point->text);
    else if (point->x == floor(point->x) && fabs(point->x) < 1e15)
        sp_plot_integer(plot, (int64_t)point->x);
    else
        sp_plot_real(plot, point->x);
}

/* Mean of a call, over the runs at one place: points [first, *end). */
static int mean_at(sp_plot *plot, const scaling_point *points, size_t first, size_t *end,
                   const char *name, double *out, sp_error *error)
{
    double sum = 0;
    size_t at = first;
    for (; at < plot->num_runs && is_same_place(&points[at], &points[first]); at++) {
        double value = (double)NAN;
        int status = value_of(plot, points[at].run, sp_plot_find_region(points[at].run, name),
                              SP_METRIC_AVERAGE, &value, error);
        if (status != SP_OK)
            return status;
        sum += value;
    }
    *end = at;
    *out = sum / (double)(at - first);
    return SP_OK;
}

static double scale(scaling_kind kind, double baseline, double mean, double growth)
{
    if (kind == NORMALIZED)
        return baseline != 0 ? mean / baseline : (double)NAN;
    double speedup = mean != 0 ? baseline / mean : (double)NAN;
    return kind == SPEEDUP_BY_SIZE ? speedup / growth : speedup;
}

static int add_region_scaling(sp_plot *plot, scaling_kind kind, const scaling_point *points,
                              const char *name, sp_error *error)
{
    double baseline = 0;
    for (size_t i = 0, end; i < plot->num_runs; i = end) {
        double mean;
        int status = mean_at(plot, points, i, &end, name, &mean, error);
        if (status != SP_OK)
            return status;
        baseline = i == 0 ? mean : baseline;
        sp_plot_open_row(plot);
        sp_plot_text(plot, name);
        add_place(plot, &points[i]);
        sp_plot_real(plot, scale(kind, baseline, mean, points[i].x / points[0].x));
        sp_plot_close_row(plot);
    }
    return SP_OK;
}

static void add_axis(sp_plot *plot, const scaling_point *baseline)
{
    static const char *const headers[] = {"baseline"};
    const char *field = plot->options.x_field;
    if (!plot->is_json)
        return;
    sp_layout_key(&plot->layout, "options");
    sp_layout_open(&plot->layout, '{');
    sp_layout_key(&plot->layout, "x_field");
    sp_layout_text(&plot->layout, field);
    sp_layout_key(&plot->layout, "x_label");
    sp_layout_text(&plot->layout, axis_label(field));
    plot->headers = headers;
    plot->column = 0;
    add_place(plot, baseline);
    sp_layout_close(&plot->layout, '}');
}

static int add_scaling(sp_plot *plot, scaling_kind kind, const char *what, sp_error *error)
{
    const char *headers[] = {"region", plot->options.x_field, what};
    const sp_plot_run *first = &plot->runs[0];
    scaling_point *points = malloc(plot->num_runs * sizeof *points);
    const char **names = malloc((first->num_regions + 1) * sizeof *names);
    size_t count = 0;
    int status = points == NULL || names == NULL ? sp_fail_memory(error, "exporting plot data")
                                                 : place_runs(plot, kind, points, error);
    sp_plot_open_table(plot, "points", headers, 3, 3);
    for (size_t i = 0; status == SP_OK && i < first->num_regions; i++) {
        names[count] = first->results->regions.items[first->regions[i]].name;
        if (sp_plot_is_common(plot, names[count]))
            status = add_region_scaling(plot, kind, points, names[count++], error);
    }
    sp_plot_close_table(plot);
    if (status == SP_OK) {
        sp_plot_add_colors(plot, names, count);
        add_axis(plot, &points[0]);
    }
    free(points);
    free(names);
    return status;
}

int sp_plot_speedup(sp_plot *plot, sp_error *error)
{
    return add_scaling(plot, SPEEDUP, "speedup", error);
}

int sp_plot_weak_scaling(sp_plot *plot, sp_error *error)
{
    return add_scaling(plot, NORMALIZED, "normalized_runtime", error);
}

int sp_plot_weak_scaling_efficiency(sp_plot *plot, sp_error *error)
{
    return add_scaling(plot, SPEEDUP, "efficiency", error);
}

int sp_plot_scaling_efficiency(sp_plot *plot, sp_error *error)
{
    return add_scaling(plot, SPEEDUP_BY_SIZE, "efficiency", error);
}
