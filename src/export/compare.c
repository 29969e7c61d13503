/* compare.c - two sides of runs, region by region. */
#include "export/compare.h"

#include "base/error.h"
#include "base/map.h"
#include "export/region_filter.h"
#include "results/model.h"
#include "results/significance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SIGNIFICANCE = 0.05;
enum { LEAST_REPEATS = 3, LARGEST_GROUP = 1000 };

/* What one region has in each run; NaN: it is not there. */
typedef struct region_values {
    const char *name;
    double *values; /* those of a, then those of b */
    bool is_in_a, is_in_b;
} region_values;

typedef struct gatherer {
    sp_comparison *comparison;
    SP_VECTOR(region_values) regions;
    sp_map ids;
} gatherer;

/* ---- Gathering -------------------------------------------------------------------------------*/

static region_values *find_region(gatherer *g, const char *name)
{
    size_t runs = g->comparison->num_a + g->comparison->num_b;
    uint32_t known = sp_map_get(&g->ids, name, strlen(name));
    if (known != SP_MAP_NONE)
        return &g->regions.items[known];
    region_values new = {.name = sp_arena_text(&g->comparison->arena, name),
                         .values = sp_arena_array(&g->comparison->arena, runs, sizeof(double))};
    if (new.name == NULL || new.values == NULL || !sp_vector_reserve(&g->regions, 1) ||
        !sp_map_add(&g->ids, new.name, strlen(new.name), (uint32_t)g->regions.count))
        return NULL;
    for (size_t i = 0; i < runs; i++)
        new.values[i] = (double)NAN;
    g->regions.items[g->regions.count] = new;
    return &g->regions.items[g->regions.count++];
}

/* A region counts as there when a selected rank called it. */
static int gather_region(gatherer *g, sp_results *run, size_t region, size_t number,
                         const sp_compare_options *options, sp_error *error)
{
    sp_statistics s;
    double value;
    int status = sp_results_region_statistics(run, region, options->ranks, options->num_ranks, &s,
                                              error);
    if (status != SP_OK || s.calls == 0)
        return status;
    status = sp_compare_value(run, region, options, &value, error);
    if (status != SP_OK || isnan(value))
        return status;
    region_values *found = find_region(g, run->regions.items[region].name);
    if (found == NULL)
        return sp_fail_memory(error, "comparing runs");
    found->values[number] = value;
    if (number < g->comparison->num_a)
        found->is_in_a = true;
    else
        found->is_in_b = true;
    return SP_OK;
}

static int gather_run(gatherer *g, sp_results *run, size_t number, const sp_compare_options *options,
                      sp_error *error)
{
    const sp_summary_options filter = {
        .size = sizeof filter,
        .include = options->include, .num_include = options->num_include,
        .exclude = options->exclude, .num_exclude = options->num_exclude,
        .include_names = options->include_names,
        .num_include_names = options->num_include_names};
    bool *selected;
    int status = sp_region_filter(run, &filter, &selected, error);
    if (status != SP_OK)
        return status;
    for (size_t i = 0; status == SP_OK && i < run->regions.count; i++)
        if (selected[i])
            status = gather_region(g, run, i, number, options, error);
    free(selected);
    return status;
}

/* ---- Rows ------------------------------------------------------------------------------------*/

static double relative_spread(const double *values, size_t count)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return count < 2 || mean <= 0 ? (double)NAN : sqrt(squares / (double)(count - 1)) / mean * 100;
}

static double median_of_copy(const double *values, size_t count)
{
    double copy[LARGEST_GROUP];
    memcpy(copy, values, count * sizeof *copy);
    return sp_median_of(copy, count);
}

/* Judges b against a that was allowed to grow by the budget. */
static int judge(const sp_comparison *comparison, const double *values, sp_compare_row *row,
                 sp_error *error)
{
    double allowed[LARGEST_GROUP];
    double budget = comparison->options.is_check ? comparison->options.max_regression : 0;
    size_t num_a = comparison->num_a, num_b = comparison->num_b;
    sp_rank_test test;
    int status = sp_rank_test_run(values, num_a, values + num_a, num_b, &test, error);
    if (status != SP_OK)
        return status;
    row->spread_a = relative_spread(values, num_a);
    row->spread_b = relative_spread(values + num_a, num_b);
    row->percent = isnan(test.effect) ? row->percent : test.effect * 100;
    row->low = test.low * 100;
    row->high = test.high * 100;
    row->confidence = test.confidence;
    for (size_t i = 0; i < num_a; i++)
        allowed[i] = values[i] * (1 + budget / 100);
    status = sp_rank_test_run(allowed, num_a, values + num_a, num_b, &test, error);
    row->p_value = test.p_greater;
    return status;
}

static int make_row(const sp_comparison *comparison, const region_values *region,
                    sp_compare_row *row, sp_error *error)
{
    size_t num_a = comparison->num_a, num_b = comparison->num_b;
    double unknown = (double)NAN;
    for (size_t i = 0; i < num_a + num_b; i++)
        if (isnan(region->values[i]))
            region->values[i] = 0;
    *row = (sp_compare_row){
        .name = region->name, .is_in_a = region->is_in_a, .is_in_b = region->is_in_b,
        .a = median_of_copy(region->values, num_a),
        .b = median_of_copy(region->values + num_a, num_b),
        .spread_a = unknown, .spread_b = unknown, .low = unknown, .high = unknown,
        .confidence = unknown, .p_value = unknown, .rate = unknown};
    row->delta = row->b - row->a;
    row->percent = row->a > 0 ? row->delta / row->a * 100 : unknown;
    row->a = row->is_in_a ? row->a : unknown;
    row->b = row->is_in_b ? row->b : unknown;
    return num_a >= LEAST_REPEATS ? judge(comparison, region->values, row, error) : SP_OK;
}

static bool is_dropped(const sp_compare_options *options, const sp_compare_row *row)
{
    return options->threshold > 0 && !isnan(row->percent) && fabs(row->percent) < options->threshold;
}

static bool is_over_budget(const sp_comparison *comparison, const sp_compare_row *row)
{
    const sp_compare_options *options = &comparison->options;
    if (!row->is_in_a)
        return options->fail_on_new;
    if (comparison->num_a >= LEAST_REPEATS)
        return row->rate <= SIGNIFICANCE;
    return row->percent > options->max_regression;
}

static int compare_magnitudes(double x, double y)
{
    double a = isnan(x) ? -1 : fabs(x), b = isnan(y) ? -1 : fabs(y);
    return a > b ? -1 : a < b;
}

static int compare_by_name(const void *a, const void *b)
{
    return strcmp(((const sp_compare_row *)a)->name, ((const sp_compare_row *)b)->name);
}

static int compare_by_delta(const void *a, const void *b)
{
    const sp_compare_row *x = a, *y = b;
    int order = compare_magnitudes(x->delta, y->delta);
    return order != 0 ? order : strcmp(x->name, y->name);
}

static int compare_by_percent(const void *a, const void *b)
{
    const sp_compare_row *x = a, *y = b;
    int order = compare_magnitudes(x->percent, y->percent);
    return order != 0 ? order : strcmp(x->name, y->name);
}

static void sort_rows(sp_comparison *comparison)
{
    static int (*const orders[])(const void *, const void *) = {
        [SP_COMPARE_BY_DELTA] = compare_by_delta,
        [SP_COMPARE_BY_PERCENT] = compare_by_percent,
        [SP_COMPARE_BY_NAME] = compare_by_name};
    if (comparison->rows.count > 0)
        qsort(comparison->rows.items, comparison->rows.count, sizeof *comparison->rows.items,
              orders[comparison->options.sort]);
}

static int set_rates(sp_comparison *comparison, sp_error *error)
{
    size_t count = comparison->rows.count;
    double *rates = malloc((count + 1) * sizeof *rates);
    if (rates == NULL)
        return sp_fail_memory(error, "comparing runs");
    for (size_t i = 0; i < count; i++)
        rates[i] = comparison->rows.items[i].is_in_a ? comparison->rows.items[i].p_value
                                                     : (double)NAN;
    int status = sp_false_discovery_rates(rates, count, error);
    for (size_t i = 0; status == SP_OK && i < count; i++)
        comparison->rows.items[i].rate = rates[i];
    free(rates);
    return status;
}

/* Names that one side alone has, in order of their names. */
static int list_only(sp_comparison *comparison, sp_error *error)
{
    for (size_t i = 0; i < comparison->rows.count; i++) {
        const sp_compare_row *row = &comparison->rows.items[i];
        if (row->is_in_a && !row->is_in_b) {
            if (!sp_vector_reserve(&comparison->only_a, 1))
                return sp_fail_memory(error, "comparing runs");
            comparison->only_a.items[comparison->only_a.count++] = row->name;
        } else if (!row->is_in_a) {
            if (!sp_vector_reserve(&comparison->only_b, 1))
                return sp_fail_memory(error, "comparing runs");
            comparison->only_b.items[comparison->only_b.count++] = row->name;
        }
    }
    return SP_OK;
}

static int make_rows(gatherer *g, sp_error *error)
{
    sp_comparison *comparison = g->comparison;
    size_t kept = 0;
    int status = SP_OK;
    if (!sp_vector_reserve(&comparison->rows, g->regions.count))
        return sp_fail_memory(error, "comparing runs");
    for (size_t i = 0; status == SP_OK && i < g->regions.count; i++)
        status = make_row(comparison, &g->regions.items[i],
                          &comparison->rows.items[comparison->rows.count++], error);
    if (status == SP_OK && comparison->num_a >= LEAST_REPEATS)
        status = set_rates(comparison, error);
    if (status != SP_OK)
        return status;
    for (size_t i = 0; i < comparison->rows.count; i++) {
        sp_compare_row *row = &comparison->rows.items[i];
        row->is_violation = comparison->options.is_check && is_over_budget(comparison, row);
        if (!is_dropped(&comparison->options, row))
            comparison->rows.items[kept++] = *row;
    }
    comparison->rows.count = kept;
    qsort(comparison->rows.items, kept, sizeof *comparison->rows.items, compare_by_name);
    status = list_only(comparison, error);
    sort_rows(comparison);
    return status;
}

/* ---- The whole -------------------------------------------------------------------------------*/

/* Seconds from first entry to last exit; of a run that kept totals only, of its longest region. */
static int whole_of(sp_results *run, double *out, sp_error *error)
{
    sp_run_times times;
    int status = sp_results_times(run, &times, error);
    if (status != SP_OK)
        return status;
    *out = times.first_entry < 0 ? 0 : (double)(times.last_exit - times.first_entry) / 1e9;
    for (size_t i = 0; times.first_entry < 0 && i < run->rows.count; i++) {
        double total = (double)run->rows.items[i].row->aggregate.total / 1e9;
        *out = total > *out ? total : *out;
    }
    return SP_OK;
}

static int compare_wholes(sp_comparison *comparison, sp_results *const *a, sp_results *const *b,
                          sp_error *error)
{
    size_t num_a = comparison->num_a, num_b = comparison->num_b;
    double *values = malloc((num_a + num_b) * sizeof *values);
    const region_values whole = {.name = "run total", .values = values, .is_in_a = true,
                                 .is_in_b = true};
    int status = values == NULL ? sp_fail_memory(error, "comparing runs") : SP_OK;
    for (size_t i = 0; status == SP_OK && i < num_a + num_b; i++)
        status = whole_of(i < num_a ? a[i] : b[i - num_a], &values[i], error);
    if (status == SP_OK)
        status = make_row(comparison, &whole, &comparison->whole, error);
    comparison->has_whole = status == SP_OK;
    comparison->whole.is_violation =
        comparison->options.is_check && comparison->whole.p_value <= SIGNIFICANCE;
    free(values);
    return status;
}

/* ---- Public ----------------------------------------------------------------------------------*/

/* Names of the files of a side. */
static char *name_files(sp_results *const *runs, size_t count)
{
    sp_text text = {0};
    for (size_t i = 0; i < count; i++) {
        const char *path = sp_results_path(runs[i]);
        sp_text_format(&text, "%s%s", i ? ", " : "", path[0] != '\0' ? path : "(in memory)");
    }
    return sp_text_take(&text);
}

static int take_label(sp_comparison *comparison, const char *given, sp_results *const *runs,
                      size_t count, const char **out, sp_error *error)
{
    char *made = given == NULL ? name_files(runs, count) : NULL;
    const char *label = given != NULL ? given : made;
    *out = label == NULL ? NULL : sp_arena_text(&comparison->arena, label);
    free(made);
    return *out == NULL ? sp_fail_memory(error, "comparing runs") : SP_OK;
}

static int check_request(size_t num_a, size_t num_b, const sp_compare_options *options,
                         sp_error *error)
{
    bool is_single = num_a == 1 && num_b == 1;
    if (!is_single && (num_a < LEAST_REPEATS || num_b < LEAST_REPEATS))
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "cannot compare %zu with %zu run(s): give one a side, or %d or more a side to "
                       "tell a change from noise", num_a, num_b, LEAST_REPEATS);
    if (num_a > LARGEST_GROUP || num_b > LARGEST_GROUP)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "more than %d runs a side", LARGEST_GROUP);
    if (!(options->max_regression >= 0))
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "the regression budget must not be negative, it is %g", options->max_regression);
    return SP_OK;
}

static void take_options(sp_compare_options *to, const sp_compare_options *from)
{
    *to = (sp_compare_options){.size = sizeof *to};
    if (from != NULL)
        memcpy(to, from, from->size < sizeof *to ? from->size : sizeof *to);
    to->size = sizeof *to;
}

static int create_empty(const sp_compare_options *options, size_t num_a, size_t num_b,
                        sp_comparison **out, sp_error *error)
{
    sp_comparison *comparison = calloc(1, sizeof *comparison);
    if (comparison == NULL)
        return sp_fail_memory(error, "comparing runs");
    comparison->options = *options;
    comparison->num_a = num_a;
    comparison->num_b = num_b;
    *out = comparison;
    return SP_OK;
}

/* Nothing of the caller's is pointed to any more. */
static void forget_filters(sp_compare_options *options)
{
    options->include = options->exclude = options->include_names = NULL;
    options->ranks = NULL;
}

static void settle(sp_comparison *comparison)
{
    forget_filters(&comparison->options);
    comparison->has_failed = comparison->has_whole && comparison->whole.is_violation;
    for (size_t i = 0; i < comparison->rows.count; i++) {
        const sp_compare_row *row = &comparison->rows.items[i];
        bool decides = !comparison->has_whole || !row->is_in_a;
        comparison->has_failed = comparison->has_failed || (row->is_violation && decides);
    }
}

int sp_comparison_create(sp_results *const *a, size_t num_a, sp_results *const *b, size_t num_b,
                         const sp_compare_options *options, sp_comparison **out, sp_error *error)
{
    sp_compare_options taken;
    sp_comparison *comparison = NULL;
    take_options(&taken, options);
    int status = check_request(num_a, num_b, &taken, error);
    if (status == SP_OK)
        status = create_empty(&taken, num_a, num_b, &comparison, error);
    if (status != SP_OK)
        return status;
    gatherer g = {.comparison = comparison};
    status = take_label(comparison, taken.label_a, a, num_a, &comparison->options.label_a, error);
    if (status == SP_OK)
        status = take_label(comparison, taken.label_b, b, num_b, &comparison->options.label_b, error);
    for (size_t i = 0; status == SP_OK && i < num_a + num_b; i++)
        status = gather_run(&g, i < num_a ? a[i] : b[i - num_a], i, &taken, error);
    if (status == SP_OK)
        status = make_rows(&g, error);
    if (status == SP_OK && num_a >= LEAST_REPEATS)
        status = compare_wholes(comparison, a, b, error);
    sp_vector_release(&g.regions);
    sp_map_release(&g.ids);
    if (status != SP_OK) {
        sp_comparison_free(comparison);
        return status;
    }
    settle(comparison);
    *out = comparison;
    return SP_OK;
}

int sp_comparison_from_rows(const sp_compare_row *rows, size_t num_rows,
                            const sp_compare_options *options, sp_comparison **out, sp_error *error)
{
    sp_compare_options taken;
    sp_comparison *comparison;
    take_options(&taken, options);
    taken.label_a = taken.label_a == NULL ? "a" : taken.label_a;
    taken.label_b = taken.label_b == NULL ? "b" : taken.label_b;
    int status = create_empty(&taken, 1, 1, &comparison, error);
    if (status != SP_OK)
        return status;
    status = take_label(comparison, taken.label_a, NULL, 0, &comparison->options.label_a, error);
    if (status == SP_OK)
        status = take_label(comparison, taken.label_b, NULL, 0, &comparison->options.label_b, error);
    if (status == SP_OK && !sp_vector_reserve(&comparison->rows, num_rows))
        status = sp_fail_memory(error, "comparing runs");
    for (size_t i = 0; status == SP_OK && i < num_rows; i++) {
        sp_compare_row row = rows[i];
        row.name = sp_arena_text(&comparison->arena, row.name);
        if (row.name == NULL)
            status = sp_fail_memory(error, "comparing runs");
        else
            comparison->rows.items[comparison->rows.count++] = row;
    }
    if (status == SP_OK)
        status = list_only(comparison, error);
    if (status != SP_OK) {
        sp_comparison_free(comparison);
        return status;
    }
    settle(comparison);
    *out = comparison;
    return SP_OK;
}

size_t sp_comparison_num_rows(const sp_comparison *comparison)
{
    return comparison->rows.count;
}

const sp_compare_row *sp_comparison_get_row(const sp_comparison *comparison, size_t i)
{
    return i < comparison->rows.count ? &comparison->rows.items[i] : NULL;
}

const sp_compare_row *sp_comparison_whole(const sp_comparison *comparison)
{
    return comparison->has_whole ? &comparison->whole : NULL;
}

bool sp_comparison_passes(const sp_comparison *comparison)
{
    return !comparison->has_failed;
}

int sp_comparison_format(const sp_comparison *comparison, sp_compare_form form, char **out_text,
                         sp_error *error)
{
    static void (*const writers[])(const sp_comparison *, sp_text *) = {
        [SP_COMPARE_TEXT] = sp_compare_write_text,
        [SP_COMPARE_MARKDOWN] = sp_compare_write_markdown,
        [SP_COMPARE_JUNIT] = sp_compare_write_junit,
        [SP_COMPARE_JSON] = sp_compare_write_json};
    sp_text out = {0};
    if ((unsigned)form >= sizeof writers / sizeof *writers)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "there is no form %d", (int)form);
    writers[form](comparison, &out);
    char *text = sp_text_take(&out);
    if (text == NULL)
        return sp_fail_memory(error, "formatting a comparison");
    *out_text = text;
    return SP_OK;
}

void sp_comparison_free(sp_comparison *comparison)
{
    if (comparison == NULL)
        return;
    sp_vector_release(&comparison->rows);
    sp_vector_release(&comparison->only_a);
    sp_vector_release(&comparison->only_b);
    sp_arena_release(&comparison->arena);
    free(comparison);
}
