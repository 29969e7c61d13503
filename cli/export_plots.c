/* export_plots.c - the options of `export plot-data`. */
#include "export_plots.h"

#include <stdlib.h>
#include <string.h>

const char *const cli_plot_kinds[] = {
    "gantt", "density", "flame_chart", "flame_graph", "callgraph", "durations", "timeseries",
    "histogram", "imbalance", "rank_heatmap", "speedup", "weak_scaling", "weak_scaling_efficiency",
    "scaling_efficiency", NULL};
const char *const cli_plot_metrics[] = {"avg", "min", "max", "total", "first", "last",
                                        "p50", "p95", "p99",   NULL};
const char *const cli_plot_sort_keys[] = {"name", "avg", "min", "max", "total", NULL};
const char *const cli_imbalance_metrics[] = {"avg", "min", "max", "total", NULL};
const char *const cli_plot_formats[] = {"csv", "json", "parquet", NULL};
const char *const cli_plot_companions[] = {"prof", "speedscope", "flamegraph", "all", NULL};

int cli_read_number(const cli_arguments *arguments, const char *name, double least, double most,
                    double *out)
{
    const char *word = cli_value(arguments, name);
    char *end;
    double value;
    if (!word)
        return CLI_OK;
    value = strtod(word, &end);
    if (*end || end == word || !(value >= least && value <= most))
        return cli_usage_error(arguments->command,
                               "argument --%s: '%s' is not a number between %g and %g", name, word,
                               least, most);
    *out = value;
    return CLI_OK;
}

static int read_size(const cli_arguments *arguments, const char *name, double most, size_t *out)
{
    double value = 0;
    int code = cli_read_number(arguments, name, 1, most, &value);
    if (code == CLI_OK && value != (double)(size_t)value)
        return cli_usage_error(arguments->command, "argument --%s: '%s' is not a whole number", name,
                               cli_value(arguments, name));
    if (code == CLI_OK && value > 0)
        *out = (size_t)value;
    return code;
}

/* The choices of the option table are the names that the library knows. */
static void read_kinds(const cli_arguments *arguments, cli_plots *out)
{
    static const char *const usual[] = {"durations", "gantt"};
    size_t count;
    const char **given = cli_values(arguments, "plots", &count);
    const char *const *names = count > 0 ? given : usual;
    count = count > 0 ? count : CLI_COUNT(usual);
    out->kinds = cli_allocate(count * sizeof *out->kinds);
    for (size_t i = 0; i < count; i++)
        if (sp_plot_parse_kind(names[i], &out->kinds[out->num_kinds], NULL) == SP_OK)
            out->num_kinds++;
    free(given);
}

static void read_metrics(const cli_arguments *arguments, cli_plots *out)
{
    const char *sort = cli_value(arguments, "sort-by");
    const char *imbalance = cli_value(arguments, "imbalance-metric");
    const char *reduction = cli_value(arguments, "reduce");
    size_t count;
    const char **given = cli_values(arguments, "metrics", &count);
    out->metrics = cli_allocate((count + 1) * sizeof *out->metrics);
    for (size_t i = 0; i < count; i++)
        if (sp_compare_parse_metric(given[i], &out->metrics[out->options.num_metrics], NULL) == SP_OK)
            out->options.num_metrics++;
    free(given);
    out->options.metrics = out->metrics;
    out->options.sort_by_name = sort && strcmp(sort, "name") == 0;
    if (sort && !out->options.sort_by_name &&
        sp_compare_parse_metric(sort, &out->sort_by, NULL) == SP_OK)
        out->options.sort_by = &out->sort_by;
    if (reduction)
        (void)sp_compare_parse_reduction(reduction, &out->options.reduction, NULL);
    if (imbalance)
        (void)sp_compare_parse_metric(imbalance, &out->options.imbalance_metric, NULL);
}

static int read_numbers(const cli_arguments *arguments, sp_plot_options *options)
{
    int code = read_size(arguments, "top-n", 1e9, &options->top);
    if (code == CLI_OK)
        code = read_size(arguments, "bins", 1e6, &options->bins);
    if (code == CLI_OK)
        code = cli_read_number(arguments, "start-time", 0, 1e9, &options->start_time);
    if (code == CLI_OK)
        code = cli_read_number(arguments, "end-time", 0, 1e9, &options->end_time);
    if (code == CLI_OK)
        code = cli_read_number(arguments, "min-duration", 0, 1e9, &options->min_duration);
    if (code == CLI_OK && options->end_time > 0 && options->end_time <= options->start_time)
        return cli_usage_error(arguments->command, "argument --end-time: must lie behind --start-time");
    return code;
}

int cli_read_plots(const cli_arguments *arguments, const sp_export_options *selection,
                   cli_plots *out)
{
    const char *format = cli_value(arguments, "format");
    *out = (cli_plots){.options = {.size = sizeof out->options, .selection = selection,
                                   .as_json = format && strcmp(format, "json") == 0,
                                   .x_field = cli_value(arguments, "x"),
                                   .compact = cli_has(arguments, "compact-callgraph")}};
    if (format && strcmp(format, "parquet") == 0)
        return cli_usage_error(arguments->command, "argument --format: parquet is written by the Python "
                               "package, which needs pyarrow for it: "
                               "scope_profiler.export_plot_data(run, kind, path, data_format='parquet')");
    read_kinds(arguments, out);
    read_metrics(arguments, out);
    return read_numbers(arguments, &out->options);
}

void cli_release_plots(cli_plots *plots)
{
    free(plots->kinds);
    free(plots->metrics);
}
