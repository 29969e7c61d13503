/* export_plots.h - `export plot-data`: the data behind plots, a file a plot. */
#ifndef CLI_EXPORT_PLOTS_H
#define CLI_EXPORT_PLOTS_H

#include "command.h"
#include "selection.h"

#include "scope_results.h"

extern const char *const cli_plot_kinds[];
extern const char *const cli_plot_metrics[];
extern const char *const cli_plot_sort_keys[];
extern const char *const cli_imbalance_metrics[];
extern const char *const cli_plot_formats[];
extern const char *const cli_plot_companions[];

/* Rows of the option table of `export`. */
#define CLI_PLOT_OPTIONS                                                                           \
    {.name = "plots", .letter = 'p', .kind = CLI_LIST, .value_name = "PLOT",                       \
     .choices = cli_plot_kinds, .help = "plot-data: which plots (default: durations and gantt)"},  \
    {.name = "format", .kind = CLI_VALUE, .value_name = "FORMAT", .choices = cli_plot_formats,     \
     .help = "plot-data: form of the files (default: csv)"},                                       \
    {.name = "metrics", .kind = CLI_LIST, .value_name = "METRIC", .choices = cli_plot_metrics,     \
     .help = "plot-data: what durations shows (default: total)"},                                  \
    {.name = "reduce", .kind = CLI_VALUE, .value_name = "HOW", .choices = cli_reductions,          \
     .help = "plot-data: what becomes of several ranks (default: pooled, all calls together)"},    \
    {.name = "sort-by", .kind = CLI_VALUE, .value_name = "KEY", .choices = cli_plot_sort_keys,     \
     .help = "plot-data: order of durations, largest first (default: by first entry)"},            \
    {.name = "top-n", .kind = CLI_VALUE, .value_name = "N",                                        \
     .help = "plot-data: so many regions of durations"},                                           \
    {.name = "bins", .kind = CLI_VALUE, .value_name = "N",                                         \
     .help = "plot-data: bins of histogram (default: 30) and density (default: 200)"},             \
    {.name = "imbalance-metric", .kind = CLI_VALUE, .value_name = "METRIC",                        \
     .choices = cli_imbalance_metrics, .help = "plot-data: what imbalance shows (default: total)"}, \
    {.name = "x", .kind = CLI_VALUE, .value_name = "FIELD",                                        \
     .help = "plot-data: axis of speedup and scaling: num_ranks (default), num_nodes, "            \
             "omp_num_threads, total_cores or any metadata field"},                                \
    {.name = "start-time", .kind = CLI_VALUE, .value_name = "SECONDS",                             \
     .help = "plot-data: where density begins, counted from the first entry"},                     \
    {.name = "end-time", .kind = CLI_VALUE, .value_name = "SECONDS",                               \
     .help = "plot-data: where density ends"},                                                     \
    {.name = "min-duration", .kind = CLI_VALUE, .value_name = "SECONDS",                           \
     .help = "plot-data: density leaves shorter calls out"},                                       \
    {.name = "compact-callgraph", .kind = CLI_FLAG,                                                \
     .help = "plot-data: callgraph has a node for each region, not for each call"},                \
    {.name = "label", .kind = CLI_VALUE, .value_name = "NAME",                                     \
     .help = "plot-data, statistics: what a profile is called there; once for each"},              \
    {.name = "with", .kind = CLI_LIST, .value_name = "KIND", .choices = cli_plot_companions,       \
     .help = "plot-data: also write prof, speedscope, flamegraph or all of them"}

/* Reads the options above; arrays are in `out` and given back by cli_release_plots. */
typedef struct cli_plots {
    sp_plot_kind *kinds;
    size_t num_kinds;
    sp_metric *metrics, sort_by;
    sp_plot_options options;
} cli_plots;

/* CLI_OK, or CLI_USAGE after an error line. `selection` must outlive `out`. */
int cli_read_plots(const cli_arguments *arguments, const sp_export_options *selection,
                   cli_plots *out);
void cli_release_plots(cli_plots *plots);

/* A number of the command line between two bounds, left alone when it is not given; CLI_USAGE after an
 * error line. */
int cli_read_number(const cli_arguments *arguments, const char *name, double least, double most,
                    double *out);

#endif
