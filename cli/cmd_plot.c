/* cmd_plot.c - `scope-profiler plot [KIND] FILE...`: figures, drawn by Matplotlib in Python. What is said
 * on the command line is checked here as far as it needs no file. */
#include "command.h"
#include "python.h"
#include "selection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const backends[] = {"matplotlib", NULL};
static const char *const metrics[] = {"avg", "min", "max", "total", NULL};
static const char *const orders[] = {"avg", "min", "max", "total", "name", NULL};

static const struct {
    const char *name, *what;
} kinds[] = {
    {"default", "gantt and durations"},
    {"quick", "durations, speedup, weak_scaling, rank_heatmap, scaling_efficiency"},
    {"all", "every kind that the files have data for, but those of counters"},
    {"gantt", "when each region was active"},
    {"density", "seconds of each region in each piece of time"},
    {"flame_chart", "every call over time, inner ones below (also: flame)"},
    {"flame_graph", "call paths, as wide as their time"},
    {"callgraph", "who calls whom"},
    {"durations", "time of each region, a bar a run"},
    {"timeseries", "durations over the run"},
    {"histogram", "calls by duration"},
    {"imbalance", "times of the ranks beside their mean"},
    {"rank_heatmap", "time of each region on each rank"},
    {"speedup", "how many times faster than the smallest run"},
    {"weak_scaling", "time over that of the smallest run"},
    {"weak_scaling_efficiency", "the inverse of that"},
    {"scaling_efficiency", "speed-up over the ratio of ranks"},
    {"likwid", "a LIKWID metric of each region (needs --metric)"},
    {"roofline", "performance over arithmetic intensity, from LIKWID"},
    {"perf_events", "a figure of perf events of each region"},
};

static bool is_kind(const char *word)
{
    if (strcmp(word, "flame") == 0)
        return true;
    for (size_t i = 0; i < CLI_COUNT(kinds); i++)
        if (strcmp(kinds[i].name, word) == 0)
            return true;
    return false;
}

static int list_kinds(void)
{
    for (size_t i = 0; i < CLI_COUNT(kinds); i++)
        printf("%-24s %s\n", kinds[i].name, kinds[i].what);
    return CLI_OK;
}

static int run(const cli_arguments *arguments)
{
    const char *first = arguments->words[0];
    size_t num_files = arguments->num_words - is_kind(first);
    if (strcmp(first, "list") == 0 && arguments->num_words == 1)
        return list_kinds();
    if (num_files == 0)
        return cli_usage_error(&cli_plot, "the following arguments are required: FILE");
    if (strcmp(first, "likwid") == 0 && cli_value(arguments, "metric") == NULL)
        return cli_usage_error(&cli_plot, "likwid needs --metric, the name of what is shown");
    size_t num_labels = 0;
    const char **labels = cli_values(arguments, "label", &num_labels);
    free(labels);
    if (num_labels != 0 && num_labels != num_files)
        return cli_usage_error(&cli_plot, "%zu labels for %zu files; give one for each", num_labels,
                               num_files);
    return cli_become_python(arguments, "_plot_command");
}

static const cli_option options[] = {
    {.name = "output", .letter = 'o', .kind = CLI_VALUE, .value_name = "DIR",
     .help = "folder for the figures; it is made when missing (default: the current one)"},
    CLI_FILTER_OPTIONS,
    {.name = "label", .kind = CLI_VALUE, .value_name = "NAME",
     .help = "what a profile is called; once for each"},
    {.name = "show", .kind = CLI_FLAG, .help = "show the figures in windows too"},
    {.name = "format", .kind = CLI_VALUE, .value_name = "ENDING",
     .help = "png (default), svg, pdf or what else Matplotlib writes"},
    {.name = "backend", .kind = CLI_VALUE, .value_name = "NAME", .choices = backends,
     .help = "what draws (default: matplotlib); pages for the browser are made by `report`"},
    {.name = "cmap", .kind = CLI_VALUE, .value_name = "NAME",
     .help = "colors of density and rank_heatmap, by Matplotlib's name"},
    {.name = "start-time", .kind = CLI_VALUE, .value_name = "SECONDS",
     .help = "gantt, density: where they begin, counted from the first entry"},
    {.name = "end-time", .kind = CLI_VALUE, .value_name = "SECONDS",
     .help = "gantt, density: where they end"},
    {.name = "min-duration", .kind = CLI_VALUE, .value_name = "SECONDS",
     .help = "gantt, density: leave shorter calls out"},
    {.name = "aggregate-calls", .kind = CLI_VALUE, .value_name = "N",
     .help = "gantt: so many calls of a region become one bar"},
    {.name = "collapse-depth", .kind = CLI_VALUE, .value_name = "N",
     .help = "gantt: leave out calls deeper than this"},
    {.name = "compact-callgraph", .kind = CLI_FLAG, .help = "callgraph: names alone"},
    {.name = "fluid-callgraph", .kind = CLI_FLAG,
     .help = "callgraph: lines as wide as there are calls"},
    {.name = "metrics", .kind = CLI_LIST, .value_name = "METRIC", .choices = metrics,
     .help = "durations: what is shown, a figure each (default: total)"},
    {.name = "metric", .kind = CLI_VALUE, .value_name = "METRIC",
     .help = "imbalance: avg, min, max or total (default); perf_events: an event, ipc (default) or "
             "cache-misses-per-ki; likwid: a metric or an event"},
    {.name = "flops-metric", .kind = CLI_VALUE, .value_name = "METRIC",
     .help = "roofline: rate of operations (default: the first in FLOP/s)"},
    {.name = "bandwidth-metric", .kind = CLI_VALUE, .value_name = "METRIC",
     .help = "roofline: memory bandwidth (default: the first in Bytes/s)"},
    {.name = "peak-flops", .kind = CLI_VALUE, .value_name = "GFLOPS",
     .help = "roofline: most that the machine can do (default: the most that was seen)"},
    {.name = "peak-bandwidth", .kind = CLI_VALUE, .value_name = "GBS",
     .help = "roofline: the same of its memory, in GB/s"},
    {.name = "sort-by", .kind = CLI_VALUE, .value_name = "KEY", .choices = orders,
     .help = "durations: order, largest first (default: by first entry)"},
    {.name = "top-n", .kind = CLI_VALUE, .value_name = "N", .help = "durations: so many regions"},
    {.name = "combine-regions", .kind = CLI_VALUE, .value_name = "NAME=REGEX,...",
     .help = "durations: show these regions as one; may be repeated"},
    {.name = "stack-children", .kind = CLI_FLAG,
     .help = "durations: split bars into what is called directly inside"},
    {.name = "log-scale", .kind = CLI_FLAG, .help = "logarithmic times (histogram: counts)"},
    {.name = "bins", .kind = CLI_VALUE, .value_name = "N",
     .help = "bins of histogram (default: 30) and density (default: 200)"},
    {.name = "exclusive", .kind = CLI_FLAG, .help = "rank_heatmap: time in the region itself"},
    {.name = "x", .kind = CLI_VALUE, .value_name = "FIELD",
     .help = "axis of speedup and scaling: num_ranks (default), omp_num_threads, total_cores or "
             "any metadata field"},
    {.name = "work-per-rank", .kind = CLI_LIST, .value_name = "WORK",
     .help = "weak_scaling_efficiency: work of a rank in each run; must be equal"},
    {.name = "quiet", .letter = 'q', .kind = CLI_FLAG, .help = "do not name the files written"},
};

const cli_command cli_plot = {
    .name = "plot",
    .usage = "[KIND] FILE...",
    .summary = "draw figures of profiles",
    .description = "Draws KIND (default: gantt and durations) of the profiles with Matplotlib and\n"
                   "saves <kind>_plot.png and region_statistics.json. `plot list` names the kinds.",
    .options = options,
    .num_options = CLI_COUNT(options),
    .min_words = 1,
    .run = run,
};
