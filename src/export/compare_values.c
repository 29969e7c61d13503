/* compare_values.c - one number for a region of a run. */
#include "base/error.h"
#include "export/compare.h"
#include "results/model.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name, *unit;
} metrics[] = {
    [SP_METRIC_TOTAL] = {"total", "s"},       [SP_METRIC_AVERAGE] = {"avg", "s"},
    [SP_METRIC_MINIMUM] = {"min", "s"},       [SP_METRIC_MAXIMUM] = {"max", "s"},
    [SP_METRIC_P50] = {"p50", "s"},           [SP_METRIC_P95] = {"p95", "s"},
    [SP_METRIC_P99] = {"p99", "s"},           [SP_METRIC_IMBALANCE] = {"imbalance", "%"},
    [SP_METRIC_CALLS] = {"calls", ""},        [SP_METRIC_GPU_TOTAL] = {"gpu_total", "s"},
    [SP_METRIC_GPU_AVERAGE] = {"gpu_avg", "s"}, [SP_METRIC_FIRST] = {"first", "s"},
    [SP_METRIC_LAST] = {"last", "s"},
};
static const char *const reductions[] = {
    [SP_REDUCE_POOLED] = "pooled", [SP_REDUCE_MAXIMUM] = "max", [SP_REDUCE_MEAN] = "mean",
    [SP_REDUCE_MINIMUM] = "min", [SP_REDUCE_SUM] = "sum"};
static const char *const sorts[] = {[SP_COMPARE_BY_DELTA] = "delta", [SP_COMPARE_BY_PERCENT] = "pct",
                                    [SP_COMPARE_BY_NAME] = "name"};

/* ---- Names -----------------------------------------------------------------------------------*/

const char *sp_compare_metric_name(sp_metric metric)
{
    return metrics[metric].name;
}

const char *sp_compare_unit(sp_metric metric)
{
    return metrics[metric].unit;
}

typedef const char *(*name_of)(size_t i);

static const char *metric_name(size_t i)
{
    return metrics[i].name;
}

static const char *reduction_name(size_t i)
{
    return reductions[i];
}

static const char *sort_name(size_t i)
{
    return sorts[i];
}

/* Position of a name; fails with the choices. */
static int parse(const char *what, const char *name, name_of get, size_t count, size_t *out,
                 sp_error *error)
{
    sp_text choices = {0};
    for (size_t i = 0; i < count; i++) {
        if (strcmp(get(i), name) == 0) {
            sp_text_release(&choices);
            *out = i;
            return SP_OK;
        }
        sp_text_format(&choices, "%s%s", i ? ", " : "", get(i));
    }
    int status = sp_fail(error, SP_ERR_INVALID_ARGUMENT, "unknown %s '%s'; choose from %s", what,
                         name, choices.failed ? "" : choices.bytes);
    sp_text_release(&choices);
    return status;
}

int sp_compare_parse_metric(const char *name, sp_metric *out, sp_error *error)
{
    size_t found = 0;
    int status = parse("metric", name, metric_name, sizeof metrics / sizeof *metrics, &found, error);
    if (status == SP_OK)
        *out = (sp_metric)found;
    return status;
}

int sp_compare_parse_reduction(const char *name, sp_rank_reduction *out, sp_error *error)
{
    size_t found = 0;
    int status = parse("reduction", name, reduction_name, sizeof reductions / sizeof *reductions,
                       &found, error);
    if (status == SP_OK)
        *out = (sp_rank_reduction)found;
    return status;
}

int sp_compare_parse_sort(const char *name, sp_compare_sort *out, sp_error *error)
{
    size_t found = 0;
    int status = parse("sort key", name, sort_name, sizeof sorts / sizeof *sorts, &found, error);
    if (status == SP_OK)
        *out = (sp_compare_sort)found;
    return status;
}

/* ---- Values ----------------------------------------------------------------------------------*/

static double number_in(const sp_statistics *s, sp_metric metric)
{
    switch (metric) {
    case SP_METRIC_TOTAL:
        return (double)s->total / 1e9;
    case SP_METRIC_AVERAGE:
        return s->mean / 1e9;
    case SP_METRIC_MINIMUM:
        return (double)s->minimum / 1e9;
    case SP_METRIC_MAXIMUM:
        return (double)s->maximum / 1e9;
    case SP_METRIC_CALLS:
        return (double)s->calls;
    case SP_METRIC_GPU_TOTAL:
        return s->gpu_calls > 0 ? (double)s->gpu_total / 1e9 : (double)NAN;
    case SP_METRIC_GPU_AVERAGE:
        return s->gpu_calls > 0 ? (double)s->gpu_total / (double)s->gpu_calls / 1e9 : (double)NAN;
    case SP_METRIC_FIRST:
        return isnan(s->deviation) ? (double)NAN : (double)s->first / 1e9; /* not of totals */
    case SP_METRIC_LAST:
        return isnan(s->deviation) ? (double)NAN : (double)s->last / 1e9;
    default:
        return (double)NAN;
    }
}

/* Of all calls of some ranks together. */
static int pooled(sp_results *results, size_t region, sp_metric metric, const uint32_t *ranks,
                  size_t num_ranks, double *out, sp_error *error)
{
    sp_statistics s;
    double value = 0;
    int status = sp_results_region_statistics(results, region, ranks, num_ranks, &s, error);
    if (status != SP_OK)
        return status;
    if (metric == SP_METRIC_IMBALANCE) {
        status = sp_results_imbalance(results, region, ranks, num_ranks, &value, error);
        *out = value > 0 ? (value - 1) * 100 : 0;
    } else if (metric >= SP_METRIC_P50 && metric <= SP_METRIC_P99) {
        const double percent = metric == SP_METRIC_P50 ? 50 : metric == SP_METRIC_P95 ? 95 : 99;
        if (s.calls > 0)
            status = sp_results_percentiles(results, region, ranks, num_ranks, &percent, 1, &value,
                                            error);
        *out = value / 1e9;
    } else {
        *out = number_in(&s, metric);
    }
    return status;
}

static double reduce(sp_rank_reduction reduction, double sofar, double value)
{
    switch (reduction) {
    case SP_REDUCE_MAXIMUM:
        return value > sofar ? value : sofar;
    case SP_REDUCE_MINIMUM:
        return value < sofar ? value : sofar;
    default:
        return sofar + value;
    }
}

int sp_compare_value(sp_results *results, size_t region, const sp_compare_options *options,
                     double *out, sp_error *error)
{
    sp_rank_filter filter;
    double sofar = (double)NAN;
    size_t count = 0;
    if (options->reduction == SP_REDUCE_POOLED || options->metric == SP_METRIC_IMBALANCE)
        return pooled(results, region, options->metric, options->ranks, options->num_ranks, out,
                      error);
    int status = sp_rank_filter_init(&filter, options->ranks, options->num_ranks, error);
    if (status != SP_OK)
        return status;
    for (uint32_t r = results->regions.items[region].first_row; status == SP_OK && r != SP_NO_ROW;
         r = results->rows.items[r].next_in_region) {
        const sp_row *row = results->rows.items[r].row;
        uint32_t rank = row->rank;
        double value = (double)NAN;
        bool is_called = (row->has_aggregate ? row->aggregate.count : row->count) > 0;
        if (is_called && sp_rank_filter_takes(&filter, rank))
            status = pooled(results, region, options->metric, &rank, 1, &value, error);
        if (status != SP_OK || isnan(value))
            continue;
        sofar = count++ == 0 ? value : reduce(options->reduction, sofar, value);
    }
    sp_rank_filter_release(&filter);
    if (status == SP_OK)
        *out = options->reduction == SP_REDUCE_MEAN && count > 0 ? sofar / (double)count : sofar;
    return status;
}
