/* plot.h - the data behind plots: rows in a CSV or JSON file, made from one or several runs. */
#ifndef SP_EXPORT_PLOT_H
#define SP_EXPORT_PLOT_H

#include "export/json_layout.h"
#include "export/selection.h"

typedef struct sp_plot_run {
    sp_results *results;
    sp_selection selection;
    size_t *regions; /* selected ones with calls, by their first entry */
    size_t num_regions;
    char *label;    /* unique among the runs */
    int64_t origin; /* first entry of any region, ns */
} sp_plot_run;

/* One export at work: its runs, its options, the file, and the table that is being written. */
typedef struct sp_plot {
    sp_plot_options options;
    sp_export_options selection;
    sp_plot_run *runs;
    size_t num_runs;
    sp_output out;
    sp_json_layout layout;
    bool is_json;
    const char *const *headers;
    size_t num_headers, num_csv_headers, column; /* of the table and the row at hand */
} sp_plot;

/* ---- The table (plot_table.c) ----------------------------------------------------------------*/

/* `key`: what the list of rows is called in JSON. The first `num_csv` of the `count` headers are the
 * columns of a CSV file; cells of the others appear in JSON alone. */
void sp_plot_open_table(sp_plot *plot, const char *key, const char *const *headers, size_t count,
                        size_t num_csv);
void sp_plot_close_table(sp_plot *plot);
void sp_plot_open_row(sp_plot *plot);
void sp_plot_close_row(sp_plot *plot);
void sp_plot_text(sp_plot *plot, const char *text); /* NULL: none */
void sp_plot_integer(sp_plot *plot, int64_t value);
void sp_plot_real(sp_plot *plot, double value); /* NaN: none */
void sp_plot_seconds(sp_plot *plot, int64_t ns);
void sp_plot_none(sp_plot *plot);

/* The colour of each name (base/colour.h); JSON only. */
void sp_plot_add_colors(sp_plot *plot, const char *const *names, size_t count);
/* The same for all regions of the runs: by name, or in the order in which they come. */
int sp_plot_add_region_colors(sp_plot *plot, bool by_name, sp_error *error);
/* How many ranks each run has, for axes; JSON only. */
void sp_plot_add_file_ranks(sp_plot *plot);

/* ---- The kinds -------------------------------------------------------------------------------*/

typedef int (*sp_plot_writer)(sp_plot *plot, sp_error *error);

/* plot_calls.c */
int sp_plot_gantt(sp_plot *plot, sp_error *error);
int sp_plot_density(sp_plot *plot, sp_error *error);
int sp_plot_timeseries(sp_plot *plot, sp_error *error);
int sp_plot_histogram(sp_plot *plot, sp_error *error);
/* plot_trees.c */
int sp_plot_flame_chart(sp_plot *plot, sp_error *error);
int sp_plot_flame_graph(sp_plot *plot, sp_error *error);
int sp_plot_callgraph(sp_plot *plot, sp_error *error);
/* plot_values.c */
int sp_plot_durations(sp_plot *plot, sp_error *error);
int sp_plot_imbalance(sp_plot *plot, sp_error *error);
int sp_plot_rank_heatmap(sp_plot *plot, sp_error *error);
int sp_plot_speedup(sp_plot *plot, sp_error *error);
int sp_plot_weak_scaling(sp_plot *plot, sp_error *error);
int sp_plot_weak_scaling_efficiency(sp_plot *plot, sp_error *error);
int sp_plot_scaling_efficiency(sp_plot *plot, sp_error *error);

/* ---- What the kinds share (plot_data.c) ------------------------------------------------------*/

/* Whether the rank of a row is selected. */
bool sp_plot_takes_row(const sp_plot_run *run, uint32_t row);
/* Ranks of exports that are about single ranks: those of the options, else 0. */
size_t sp_plot_num_ranks(const sp_plot *plot);
uint32_t sp_plot_rank(const sp_plot *plot, size_t i);
/* Index of that region in a run, if it is selected there and has calls; SIZE_MAX when not. */
size_t sp_plot_find_region(const sp_plot_run *run, const char *name);
/* Whether every run has it. */
bool sp_plot_is_common(const sp_plot *plot, const char *name);
/* Start and duration of calls [first, first + count) of a row. */
int sp_plot_read_calls(sp_results *results, uint32_t row, uint64_t first, size_t count,
                       int64_t *start, int64_t *duration, sp_error *error);

enum { SP_PLOT_PIECE = 8192 };

#endif
