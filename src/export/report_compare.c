/* report_compare.c - several runs beside each other: what changed against the first, and the numbers
 * behind durations and scaling.
 *
 * Runs of one label are repetitions. With three or more of them on both sides the comparison is that
 * of groups, with intervals; else each run is compared with the first. */
#include "base/error.h"
#include "export/report.h"
#include "export/summary.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_REPEATS = 3, WRITTEN_REGIONS = 400 };

typedef struct comparer {
    sp_json_layout *layout;
    sp_results *const *runs;
    const char *const *labels, *const *links;
    size_t num_runs;
    const sp_report_request *request;
    sp_selection *selections; /* of each run */
    SP_VECTOR(const char *) names; /* regions of all runs, in order of appearance */
    sp_map name_ids;
} comparer;

static void add_integer(sp_json_layout *layout, const char *key, int64_t value)
{
    sp_layout_key(layout, key);
    sp_layout_integer(layout, value);
}

static void add_text(sp_json_layout *layout, const char *key, const char *text)
{
    sp_layout_key(layout, key);
    if (text == NULL)
        sp_layout_word(layout, "null");
    else
        sp_layout_text(layout, text);
}

/* ---- Runs ------------------------------------------------------------------------------------*/

static int write_run(const comparer *c, size_t i, sp_error *error)
{
    sp_results *results = c->runs[i];
    sp_run_times times;
    int status = sp_results_times(results, &times, error);
    if (status != SP_OK)
        return status;
    double threads = sp_report_number_of(results, "omp_num_threads", 1);
    double nodes = sp_report_number_of(results, "num_nodes", 0);
    nodes = nodes > 0 ? nodes : sp_report_number_of(results, "SLURM_JOB_NUM_NODES", 1);
    uint64_t calls = 0;
    for (size_t r = 0; r < results->rows.count; r++) {
        const sp_row *row = results->rows.items[r].row;
        calls += row->has_aggregate ? row->aggregate.count : row->count;
    }
    sp_layout_open(c->layout, '{');
    add_text(c->layout, "label", c->labels[i]);
    add_text(c->layout, "path", results->path);
    add_text(c->layout, "link", c->links == NULL ? NULL : c->links[i]);
    add_integer(c->layout, "ranks", results->num_ranks);
    add_integer(c->layout, "nodes", (int64_t)nodes);
    add_integer(c->layout, "threads", (int64_t)threads);
    add_integer(c->layout, "cores", (int64_t)(threads * results->num_ranks));
    add_integer(c->layout, "calls", (int64_t)calls);
    add_integer(c->layout, "wall", sp_report_wall(results, &times));
    const sp_metadata_entry *stamp = sp_results_find_metadata(results, "timestamp");
    add_text(c->layout, "timestamp",
             stamp != NULL && stamp->kind == SP_VALUE_TEXT ? stamp->text : NULL);
    sp_layout_close(c->layout, '}');
    return SP_OK;
}

static int write_runs(const comparer *c, sp_error *error)
{
    int status = SP_OK;
    sp_layout_key(c->layout, "runs");
    sp_layout_open(c->layout, '[');
    for (size_t i = 0; status == SP_OK && i < c->num_runs; i++)
        status = write_run(c, i, error);
    sp_layout_close(c->layout, ']');
    return status;
}

/* ---- Regions ---------------------------------------------------------------------------------*/

static int gather_names(comparer *c, sp_error *error)
{
    for (size_t i = 0; i < c->num_runs; i++)
        for (size_t r = 0; r < c->runs[i]->regions.count; r++) {
            const char *name = c->runs[i]->regions.items[r].name;
            size_t length = strlen(name);
            if (!c->selections[i].regions[r] ||
                sp_map_get(&c->name_ids, name, length) != SP_MAP_NONE)
                continue;
            if (!sp_vector_reserve(&c->names, 1) ||
                !sp_map_add(&c->name_ids, name, length, (uint32_t)c->names.count))
                return sp_fail_memory(error, "comparing runs");
            c->names.items[c->names.count++] = name;
        }
    return SP_OK;
}

/* Mean over the ranks that have it: total, the longest total of a rank, calls of all ranks. */
static int write_value(const comparer *c, size_t run, const char *name, sp_error *error)
{
    sp_results *results = c->runs[run];
    int64_t region = sp_results_find_region(results, name);
    double total = 0;
    int64_t slowest = 0;
    uint64_t calls = 0;
    size_t ranks = 0;
    for (uint32_t r = region < 0 ? SP_NO_ROW : results->regions.items[region].first_row;
         r != SP_NO_ROW; r = results->rows.items[r].next_in_region) {
        sp_statistics row;
        if (!sp_rank_filter_takes(&c->selections[run].ranks, results->rows.items[r].row->rank))
            continue;
        int status = sp_results_row_statistics(results, r, &row, error);
        if (status != SP_OK)
            return status;
        ranks += row.calls > 0;
        total += (double)row.total;
        calls += row.calls;
        slowest = row.total > slowest ? row.total : slowest;
    }
    if (ranks == 0) {
        sp_layout_word(c->layout, "null");
        return SP_OK;
    }
    sp_layout_open(c->layout, '[');
    sp_report_add_ns(c->layout, total / (double)ranks / 1e9, 0);
    sp_layout_integer(c->layout, slowest);
    sp_layout_integer(c->layout, (int64_t)calls);
    sp_layout_close(c->layout, ']');
    return SP_OK;
}

static int write_regions(const comparer *c, sp_error *error)
{
    int status = SP_OK;
    size_t count = c->names.count < WRITTEN_REGIONS ? c->names.count : WRITTEN_REGIONS;
    sp_layout_key(c->layout, "regions");
    sp_layout_open(c->layout, '[');
    for (size_t i = 0; status == SP_OK && i < count; i++) {
        sp_layout_open(c->layout, '{');
        add_text(c->layout, "name", c->names.items[i]);
        sp_layout_key(c->layout, "values");
        sp_layout_open(c->layout, '[');
        for (size_t run = 0; status == SP_OK && run < c->num_runs; run++)
            status = write_value(c, run, c->names.items[i], error);
        sp_layout_close(c->layout, ']');
        sp_layout_close(c->layout, '}');
    }
    sp_layout_close(c->layout, ']');
    add_integer(c->layout, "regions_left_out", (int64_t)(c->names.count - count));
    return status;
}

/* ---- Changes ---------------------------------------------------------------------------------*/

static void add_percent(sp_json_layout *layout, const char *key, double value)
{
    sp_layout_key(layout, key);
    sp_report_add_share(layout, value);
}

static void write_change(const sp_compare_row *row, sp_json_layout *layout)
{
    sp_layout_open(layout, '{');
    add_text(layout, "name", row->name);
    sp_layout_key(layout, "a");
    sp_report_add_ns(layout, row->is_in_a ? row->a : (double)NAN, 0);
    sp_layout_key(layout, "b");
    sp_report_add_ns(layout, row->is_in_b ? row->b : (double)NAN, 0);
    sp_layout_key(layout, "delta");
    sp_report_add_ns(layout, row->delta, 0);
    add_percent(layout, "percent", row->percent);
    add_percent(layout, "low", row->low);
    add_percent(layout, "high", row->high);
    add_percent(layout, "confidence", row->confidence);
    add_percent(layout, "p", row->p_value);
    add_percent(layout, "rate", row->rate);
    sp_layout_close(layout, '}');
}

static void write_indexes(sp_json_layout *layout, const char *key, const size_t *list, size_t count)
{
    sp_layout_key(layout, key);
    sp_layout_open(layout, '[');
    for (size_t i = 0; i < count; i++)
        sp_layout_integer(layout, (int64_t)list[i]);
    sp_layout_close(layout, ']');
}

/* Compares runs of the lists `a` and `b`: of one run or of three and more each. */
static int write_changes_of(const comparer *c, const size_t *a, size_t num_a, const size_t *b,
                            size_t num_b, sp_error *error)
{
    const sp_report_options *from = &c->request->options;
    bool is_same_size = c->runs[a[0]]->num_ranks == c->runs[b[0]]->num_ranks;
    const sp_compare_options options = {
        .size = sizeof options,
        .include = from->include, .num_include = from->num_include,
        .exclude = from->exclude, .num_exclude = from->num_exclude,
        .include_names = from->include_names, .num_include_names = from->num_include_names,
        .ranks = from->ranks, .num_ranks = from->num_ranks,
        .reduction = is_same_size ? SP_REDUCE_POOLED : SP_REDUCE_MEAN};
    sp_results *side_a[SP_REPORT_RUNS], *side_b[SP_REPORT_RUNS];
    sp_comparison *comparison;
    for (size_t i = 0; i < num_a; i++)
        side_a[i] = c->runs[a[i]];
    for (size_t i = 0; i < num_b; i++)
        side_b[i] = c->runs[b[i]];
    int status = sp_comparison_create(side_a, num_a, side_b, num_b, &options, &comparison, error);
    if (status != SP_OK)
        return status;
    sp_layout_open(c->layout, '{');
    write_indexes(c->layout, "baseline", a, num_a);
    write_indexes(c->layout, "runs", b, num_b);
    sp_layout_key(c->layout, "per_rank");
    sp_layout_word(c->layout, is_same_size ? "false" : "true");
    sp_layout_key(c->layout, "rows");
    sp_layout_open(c->layout, '[');
    for (size_t i = 0; i < sp_comparison_num_rows(comparison) && i < WRITTEN_REGIONS; i++)
        write_change(sp_comparison_get_row(comparison, i), c->layout);
    sp_layout_close(c->layout, ']');
    sp_layout_key(c->layout, "whole");
    if (sp_comparison_whole(comparison) == NULL)
        sp_layout_word(c->layout, "null");
    else
        write_change(sp_comparison_whole(comparison), c->layout);
    sp_layout_close(c->layout, '}');
    sp_comparison_free(comparison);
    return SP_OK;
}

static bool is_same_group(const comparer *c, size_t i, size_t k)
{
    return strcmp(c->labels[i], c->labels[k]) == 0 && c->runs[i]->num_ranks == c->runs[k]->num_ranks;
}

/* Runs that repeat run `of`, itself first. */
static size_t group_of(const comparer *c, size_t of, size_t out[SP_REPORT_RUNS])
{
    size_t count = 0;
    for (size_t i = of; i < c->num_runs; i++)
        if (is_same_group(c, of, i))
            out[count++] = i;
    return count;
}

static int write_changes(const comparer *c, sp_error *error)
{
    size_t first[SP_REPORT_RUNS], other[SP_REPORT_RUNS];
    bool done[SP_REPORT_RUNS] = {false};
    size_t num_first = group_of(c, 0, first);
    int status = SP_OK;
    sp_layout_key(c->layout, "changes");
    sp_layout_open(c->layout, '[');
    for (size_t i = 0; num_first >= LEAST_REPEATS && i < num_first; i++)
        done[first[i]] = true;
    for (size_t i = 1; status == SP_OK && i < c->num_runs; i++) {
        size_t count = group_of(c, i, other);
        bool are_groups = num_first >= LEAST_REPEATS && count >= LEAST_REPEATS;
        if (done[i])
            continue;
        count = are_groups ? count : 1;
        for (size_t k = 0; k < count; k++)
            done[other[k]] = true;
        status = write_changes_of(c, first, are_groups ? num_first : 1, other, count, error);
    }
    sp_layout_close(c->layout, ']');
    return status;
}

/* ---- All of it -------------------------------------------------------------------------------*/

static int write_all(comparer *c, sp_error *error)
{
    int status = gather_names(c, error);
    if (status == SP_OK)
        status = write_runs(c, error);
    if (status == SP_OK)
        status = write_regions(c, error);
    if (status == SP_OK)
        status = write_changes(c, error);
    sp_layout_key(c->layout, "scaling");
    sp_layout_integer(c->layout, c->request->options.scaling);
    sp_layout_key(c->layout, "x");
    sp_layout_integer(c->layout, c->request->options.x);
    return status;
}

int sp_report_write_comparison(sp_json_layout *layout, sp_results *const *runs,
                               const char *const *labels, const char *const *links,
                               size_t num_runs, const sp_report_request *request, sp_error *error)
{
    comparer c = {.layout = layout, .runs = runs, .labels = labels, .links = links,
                  .num_runs = num_runs, .request = request};
    size_t made = 0;
    int status = SP_OK;
    c.selections = calloc(num_runs, sizeof *c.selections);
    if (c.selections == NULL)
        return sp_fail_memory(error, "comparing runs");
    while (status == SP_OK && made < num_runs) {
        status = sp_selection_init(&c.selections[made], runs[made], &request->selection, error);
        made += status == SP_OK;
    }
    if (status == SP_OK)
        status = write_all(&c, error);
    for (size_t i = 0; i < made; i++)
        sp_selection_release(&c.selections[i]);
    free(c.selections);
    sp_vector_release(&c.names);
    sp_map_release(&c.name_ids);
    return status;
}
