/* plot_data.c - one plot's data as a file: runs and regions chosen, envelope written, the rows left to
 * the kind. */
#include "base/error.h"
#include "export/plot.h"

#include <stdlib.h>

static const struct {
    const char *name; /* on command lines */
    const char *stem; /* of the file: "<stem>_data.csv" */
    const char *plot; /* in the document */
    sp_plot_writer write;
} kinds[] = {
    [SP_PLOT_GANTT] = {"gantt", "gantt", "gantt", sp_plot_gantt},
    [SP_PLOT_DENSITY] = {"density", "timeline_density", "density", sp_plot_density},
    [SP_PLOT_FLAME_CHART] = {"flame_chart", "flame_chart", "flame", sp_plot_flame_chart},
    [SP_PLOT_FLAME_GRAPH] = {"flame_graph", "flame_graph", "flame_graph", sp_plot_flame_graph},
    [SP_PLOT_CALLGRAPH] = {"callgraph", "callgraph", "callgraph", sp_plot_callgraph},
    [SP_PLOT_DURATIONS] = {"durations", "durations", "durations", sp_plot_durations},
    [SP_PLOT_TIMESERIES] = {"timeseries", "duration_timeseries", "timeseries", sp_plot_timeseries},
    [SP_PLOT_HISTOGRAM] = {"histogram", "histogram", "histogram", sp_plot_histogram},
    [SP_PLOT_IMBALANCE] = {"imbalance", "imbalance", "imbalance", sp_plot_imbalance},
    [SP_PLOT_RANK_HEATMAP] = {"rank_heatmap", "rank_heatmap", "rank_heatmap", sp_plot_rank_heatmap},
    [SP_PLOT_SPEEDUP] = {"speedup", "speedup", "speedup", sp_plot_speedup},
    [SP_PLOT_WEAK_SCALING] = {"weak_scaling", "weak_scaling", "weak_scaling", sp_plot_weak_scaling},
    [SP_PLOT_WEAK_SCALING_EFFICIENCY] = {"weak_scaling_efficiency", "weak_scaling_efficiency",
                                         "weak_scaling_efficiency",
                                         sp_plot_weak_scaling_efficiency},
    [SP_PLOT_SCALING_EFFICIENCY] = {"scaling_efficiency", "scaling_efficiency",
                                    "scaling_efficiency", sp_plot_scaling_efficiency},
};
enum { NUM_KINDS = sizeof kinds / sizeof *kinds };

int sp_plot_parse_kind(const char *name, sp_plot_kind *out, sp_error *error)
{
    sp_text choices = {0};
    for (int i = 0; i < NUM_KINDS; i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            sp_text_release(&choices);
            *out = (sp_plot_kind)i;
            return SP_OK;
        }
        sp_text_format(&choices, "%s%s", i == 0 ? "" : ", ", kinds[i].name);
    }
    int status = sp_fail(error, SP_ERR_INVALID_ARGUMENT, "unknown plot '%s'; choose from %s", name,
                         choices.failed ? "" : choices.bytes);
    sp_text_release(&choices);
    return status;
}

const char *sp_plot_file_stem(sp_plot_kind kind)
{
    return (unsigned)kind < NUM_KINDS ? kinds[kind].stem : NULL;
}

/* ---- What the kinds share --------------------------------------------------------------------*/

bool sp_plot_takes_row(const sp_plot_run *run, uint32_t row)
{
    const sp_row *of = run->results->rows.items[row].row;
    return sp_rank_filter_takes(&run->selection.ranks, of->rank) &&
           (of->has_aggregate ? of->aggregate.count : of->count) > 0;
}

size_t sp_plot_num_ranks(const sp_plot *plot)
{
    return plot->selection.ranks == NULL ? 1 : plot->selection.num_ranks;
}

uint32_t sp_plot_rank(const sp_plot *plot, size_t i)
{
    return plot->selection.ranks == NULL ? 0 : plot->selection.ranks[i];
}

size_t sp_plot_find_region(const sp_plot_run *run, const char *name)
{
    int64_t region = sp_results_find_region(run->results, name);
    for (size_t i = 0; region >= 0 && i < run->num_regions; i++)
        if (run->regions[i] == (size_t)region)
            return run->regions[i];
    return SIZE_MAX;
}

bool sp_plot_is_common(const sp_plot *plot, const char *name)
{
    for (size_t i = 0; i < plot->num_runs; i++)
        if (sp_plot_find_region(&plot->runs[i], name) == SIZE_MAX)
            return false;
    return true;
}

int sp_plot_read_calls(sp_results *results, uint32_t row, uint64_t first, size_t count,
                       int64_t *start, int64_t *duration, sp_error *error)
{
    const sp_run_row *of = &results->rows.items[row];
    if (of->columns == 0)
        return sp_fail(error, SP_ERR_NO_EVENTS,
                       "region '%s' on rank %u holds totals only, no calls to export",
                       of->row->region, of->row->rank);
    int status = sp_run_read_piece(results, row, SP_COLUMN_START, first, count, start, error);
    if (status == SP_OK)
        status = sp_run_read_piece(results, row, SP_COLUMN_DURATION, first, count, duration, error);
    return status;
}

/* ---- Runs ------------------------------------------------------------------------------------*/

/* Leaves regions without a call on the selected ranks out. */
static int drop_uncalled(sp_plot_run *run, sp_error *error)
{
    size_t kept = 0;
    for (size_t i = 0; i < run->num_regions; i++) {
        sp_statistics s;
        const sp_export_options *options = &run->selection.options;
        int status = sp_results_region_statistics(run->results, run->regions[i], options->ranks,
                                                  options->num_ranks, &s, error);
        if (status != SP_OK)
            return status;
        if (s.calls > 0)
            run->regions[kept++] = run->regions[i];
    }
    run->num_regions = kept;
    return SP_OK;
}

static bool is_label_taken(const sp_plot *plot, size_t before, const char *label)
{
    for (size_t i = 0; i < before; i++)
        if (strcmp(plot->runs[i].label, label) == 0)
            return true;
    return false;
}

/* The label that is given, else the run's own; a number behind makes it unique. */
static int choose_label(sp_plot *plot, size_t i, const char *given, sp_error *error)
{
    sp_plot_run *run = &plot->runs[i];
    sp_text own = {0}, label = {0};
    if (given != NULL)
        sp_text_add(&own, given);
    else
        sp_selection_add_label(&run->selection, run->results, &own);
    sp_text_add(&own, "");
    bool failed = own.failed;
    for (int number = 1; !failed; number++) {
        label.length = 0;
        sp_text_add(&label, own.bytes);
        if (number > 1)
            sp_text_format(&label, " (%d)", number);
        failed = label.failed;
        if (!failed && !is_label_taken(plot, i, label.bytes))
            break;
    }
    run->label = failed ? NULL : sp_text_take(&label);
    sp_text_release(&own);
    sp_text_release(&label);
    return run->label == NULL ? sp_fail_memory(error, "exporting plot data") : SP_OK;
}

static int take_run(sp_plot *plot, size_t i, sp_results *results, const char *label,
                    sp_error *error)
{
    sp_plot_run *run = &plot->runs[i];
    sp_run_times times;
    run->results = results;
    int status = sp_selection_init(&run->selection, results, &plot->selection, error);
    if (status != SP_OK)
        return status;
    plot->num_runs = i + 1;
    if (run->selection.num_regions == 0)
        return sp_fail(error, SP_ERR_NOT_FOUND, "No regions matched the selected filters.");
    status = sp_selection_order(&run->selection, results, &run->regions, &run->num_regions, error);
    if (status == SP_OK)
        status = drop_uncalled(run, error);
    if (status == SP_OK)
        status = choose_label(plot, i, label, error);
    if (status == SP_OK)
        status = sp_results_times(results, &times, error);
    if (status == SP_OK)
        run->origin = times.first_entry;
    return status;
}

static void release(sp_plot *plot)
{
    for (size_t i = 0; i < plot->num_runs; i++) {
        sp_selection_release(&plot->runs[i].selection);
        free(plot->runs[i].regions);
        free(plot->runs[i].label);
    }
    free(plot->runs);
}

/* ---- The file --------------------------------------------------------------------------------*/

static int write_document(sp_plot *plot, sp_plot_kind kind, sp_error *error)
{
    if (!plot->is_json)
        return kinds[kind].write(plot, error);
    sp_layout_open(&plot->layout, '{');
    sp_layout_key(&plot->layout, "format");
    sp_layout_text(&plot->layout, "scope-profiler-plot-data");
    sp_layout_key(&plot->layout, "format_version");
    sp_layout_integer(&plot->layout, 1);
    sp_layout_key(&plot->layout, "plot");
    sp_layout_text(&plot->layout, kinds[kind].plot);
    int status = kinds[kind].write(plot, error);
    sp_layout_close(&plot->layout, '}');
    sp_output_add(&plot->out, "\n");
    return status;
}

static int take_options(sp_plot *plot, const sp_plot_options *options, sp_error *error)
{
    plot->options = (sp_plot_options){.size = sizeof plot->options};
    if (options != NULL && options->size == 0)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "sp_plot_options.size is not set");
    if (options != NULL)
        memcpy(&plot->options, options,
               options->size < sizeof plot->options ? options->size : sizeof plot->options);
    if (plot->options.selection != NULL)
        plot->selection = *plot->options.selection;
    else
        plot->selection = (sp_export_options){.size = sizeof plot->selection};
    if (plot->options.x_field == NULL)
        plot->options.x_field = "num_ranks";
    plot->is_json = plot->options.as_json;
    return SP_OK;
}

int sp_export_plot_data(sp_results *const *runs, const char *const *labels, size_t num_runs,
                        sp_plot_kind kind, const sp_plot_options *options, const char *path,
                        sp_error *error)
{
    sp_plot plot = {0};
    if ((unsigned)kind >= NUM_KINDS)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "there is no plot %d", (int)kind);
    if (num_runs == 0)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "plot data of no run were asked for");
    int status = take_options(&plot, options, error);
    if (status == SP_OK) {
        plot.runs = calloc(num_runs, sizeof *plot.runs);
        status = plot.runs == NULL ? sp_fail_memory(error, "exporting plot data") : SP_OK;
    }
    for (size_t i = 0; status == SP_OK && i < num_runs; i++)
        status = take_run(&plot, i, runs[i], labels == NULL ? NULL : labels[i], error);
    if (status == SP_OK)
        status = sp_output_open_file(&plot.out, path, false, error);
    if (status == SP_OK) {
        plot.layout = (sp_json_layout){.out = &plot.out, .indent = 2};
        status = sp_output_finish(&plot.out, write_document(&plot, kind, error), error);
    }
    release(&plot);
    return status;
}
