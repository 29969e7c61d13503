/* scope_results.h - a finished run: open it, ask it, print it. No recording.
 *
 * Link with libscope_results. Handles are opaque; a handle may be used by one thread at a time, two
 * handles by two threads. Nothing here prints unless its name says so, nothing exits.
 *
 * Units: integer nanoseconds where a name ends in _ns or a comment says ns; doubles are seconds.
 * Names and texts are borrowed from the handle and live as long as it does. Functions that can
 * fail return an sp_status and fill the caller's sp_error (may be NULL); outputs are written only
 * on success.
 *
 * A run is a set of rows, one for each (rank, region). A row has its calls as columns, sorted by
 * (start, call id). "Pooled" means: over the selected ranks of one region.
 */
#ifndef SCOPE_RESULTS_H
#define SCOPE_RESULTS_H

#include "scope_plugin.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sp_results sp_results;

/* ---- Opening and building --------------------------------------------------------------------*/

/* Opens a profile by content: HDF5, JSON (plain or compressed), a native trace (.spt), or the journal
 * of a recording, with everything that is left of it. Reads the index only; calls are read when first
 * asked for. SP_ERR_NOT_FOUND, SP_ERR_NOT_A_PROFILE, SP_ERR_DAMAGED, SP_ERR_SCHEMA,
 * SP_ERR_NO_MODULE. */
SP_API int sp_results_open(const char *path, sp_results **out, sp_error *error);

/* Opens an in-memory image made by the recorder. Takes over `image` (freed with free()), also on
 * failure. */
SP_API int sp_results_open_image(void *image, size_t size, sp_results **out, sp_error *error);

/* An empty run to fill by hand (imports, merges, tests). */
SP_API int sp_results_create(sp_results **out, sp_error *error);

/* Appends a row; strings are copied, columns too: `columns[c]` is NULL (column absent) or holds
 * `row->count` values. START and DURATION are required unless the row has an aggregate or
 * statistics only. Statistics are computed here when the row has none and has calls. */
SP_API int sp_results_add_row(sp_results *results, const sp_row *row,
                              const int64_t *const columns[SP_COLUMN_COUNT], sp_error *error);
/* Appends a row of another run (name may be changed by `region`, NULL keeps it). Copies. */
SP_API int sp_results_add_row_of(sp_results *results, sp_results *from, size_t row,
                                 const char *region, sp_error *error);
SP_API int sp_results_set_metadata(sp_results *results, const sp_metadata_entry *entry,
                                   sp_error *error);
SP_API int sp_results_add_thread(sp_results *results, const sp_thread_row *thread, sp_error *error);
SP_API int sp_results_add_task(sp_results *results, const sp_task_row *task, sp_error *error);
/* Copies an extra array. Counters and line records are texts of JSON, {"<rank>": ...} in the form of the JSON
 * profile, called json_likwid, json_likwid_environment, json_perf_events and json_line_profile. */
SP_API int sp_results_add_extra(sp_results *results, const sp_extra *extra, sp_error *error);
SP_API void sp_results_set_num_ranks(sp_results *results, uint32_t num_ranks);

/* Writes the whole run as an HDF5 profile. `options` NULL: defaults. The file appears under `path`
 * complete or not at all. SP_ERR_IO, SP_ERR_NO_MODULE, SP_ERR_NO_EVENTS (statistics only). */
SP_API int sp_results_write(sp_results *results, const char *path,
                            const sp_store_options *options, sp_error *error);

/* Reads traces (.spt) and profiles that native programs wrote, one for each rank, as one run. Nothing
 * that they hold is dropped. Metadata: that of the lowest rank's profile; `source` "native";
 * `start_time_ns` the earliest start of any rank; `label` unless NULL. SP_ERR_INVALID_ARGUMENT when
 * two files claim one rank, and the statuses of sp_results_open. */
SP_API int sp_results_import(const char *const *paths, size_t num_paths, const char *label,
                             sp_results **out, sp_error *error);

/* A new run with the rows of both and the metadata of `profile`. Where both have a rank, the nesting
 * is found from the times, and threads with the same number within the system are one.
 * SP_ERR_INVALID_ARGUMENT for a region that both have on one rank. */
SP_API int sp_results_merge(sp_results *profile, sp_results *native, sp_results **out,
                            sp_error *error);

/* ---- Parts of a run --------------------------------------------------------------------------*/

/* How many calls of a region are left out. */
typedef struct sp_region_skip {
    const char *region; /* its name */
    uint64_t calls;
} sp_region_skip;

/* What is left out: warm-up, or all outside of a window of time. Zero-initialise, set `size`. */
typedef struct sp_narrow_options {
    size_t size;
    uint64_t skip_calls;         /* the first so many calls of each region on each rank, with all calls
                                    inside them; regions with no more calls than that are spared */
    const sp_region_skip *skips; /* the same of single regions, which are not spared */
    size_t num_skips;
    const char *after_region; /* what was before the last call of this region had ended; on a rank
                                 without it before the earliest such moment of the others */
    int64_t start_ns, end_ns; /* what was before and after, in ns since the first entry of the run; 0:
                                 no limit */
    bool takes_over;          /* `from` is closed with the new run */
} sp_narrow_options;

/* A part of a run as a run of its own, for every question that can be asked of one. Calls that are in
 * progress at a limit of time are cut there. A call that is kept keeps its whole length, so that calls
 * left out inside it count as its own time. Costs one bit a call. `from` must live as long as the new
 * run, unless it takes over, and must not change. SP_ERR_NOT_FOUND for a region that the run lacks,
 * SP_ERR_NO_EVENTS for runs that kept totals. */
SP_API int sp_results_narrow(sp_results *from, const sp_narrow_options *options, sp_results **out,
                             sp_error *error);
/* What was left out, for people; "" of a whole run. */
SP_API const char *sp_results_left_out(const sp_results *results);

/* Told between pieces of work on many calls how many are done, of how many in one pass through the run.
 * Work that needs several passes begins again. On the thread of the caller; must not use the handle. */
typedef void (*sp_progress)(void *context, uint64_t done, uint64_t total);
/* NULL: nobody is told. A part of a run asks the callback of its own. */
SP_API void sp_results_set_progress(sp_results *results, sp_progress progress, void *context);

SP_API void sp_results_close(sp_results *results);

/* ---- Recovering --------------------------------------------------------------------------------
 *
 * A recording that did not end well leaves its journal: a file beside its output, and while the
 * machine runs a file of rings in shared memory. Together they hold every call that had ended and
 * those that were open. */

typedef struct sp_recovery sp_recovery;

/* What is known of one recording. Texts live as long as the sp_recovery. */
typedef struct sp_recovery_info {
    size_t size;         /* sizeof(sp_recovery_info), set by the caller */
    const char *output;  /* the profile that it was to write */
    const char *journal; /* one of its files */
    const char *host, *program;
    int64_t pid, rank;
    int64_t started_at_ns; /* since 1970 */
    bool is_running;       /* its process is alive: what is read is a snapshot */
    bool is_elsewhere;     /* of another machine: its process may be alive */
    bool has_rings;        /* false: the calls after the last flush, and open ones, are not there */
    uint64_t num_calls, num_open;
    uint64_t missing_calls; /* known to have been recorded, and not found */
    uint64_t damaged_blocks, damaged_bytes, damaged_rings;
    uint64_t torn_bytes; /* what its writer had not finished; nothing is missing that the rings had */
    int64_t first_ns, last_ns; /* begin of the run, last moment that anything tells of; CLOCK_MONOTONIC */
    const char *losses; /* what the recorder itself had lost: "kind count, kind count"; "": nothing */
} sp_recovery_info;

/* Looks for recordings: `path` is the output, a journal or file of rings, or a folder of outputs.
 * SP_ERR_NOT_FOUND when there is none. */
SP_API int sp_recovery_search(const char *path, sp_recovery **out, sp_error *error);
SP_API size_t sp_recovery_count(const sp_recovery *recovery);
/* Reads and checks everything that is left of the recording `i`. SP_ERR_DAMAGED when that is not
 * enough for a profile, SP_ERR_SCHEMA (a newer version), SP_ERR_IO. */
SP_API int sp_recovery_describe(sp_recovery *recovery, size_t i, sp_recovery_info *out,
                                sp_error *error);
/* The same as a run that can be asked, and as an HDF5 profile (`options` NULL: defaults), which
 * appears complete or not at all. Open calls end at the last moment known and are marked; nothing is
 * added that was not recorded. */
SP_API int sp_recovery_open(sp_recovery *recovery, size_t i, sp_results **out, sp_error *error);
SP_API int sp_recovery_write(sp_recovery *recovery, size_t i, const char *path,
                             const sp_store_options *options, sp_error *error);
/* Removes the files of the recording; SP_ERR_INVALID_ARGUMENT while its process may be alive. */
SP_API int sp_recovery_remove(sp_recovery *recovery, size_t i, sp_error *error);
SP_API void sp_recovery_release(sp_recovery *recovery);

/* Visits files of rings, of this user, whose process has ended. Texts live until the visitor returns. */
SP_API void sp_recovery_find_left(void (*visit)(void *context, const char *path, const char *output,
                                                int64_t pid, uint64_t bytes), void *context);

/* ---- What is in it ---------------------------------------------------------------------------*/

SP_API uint32_t sp_results_num_ranks(const sp_results *results);
SP_API int sp_results_schema(const sp_results *results); /* 0 when built by hand */
SP_API bool sp_results_is_aggregate(const sp_results *results);
SP_API uint64_t sp_results_num_calls(const sp_results *results);
SP_API uint64_t sp_results_file_bytes(const sp_results *results); /* 0 without a file */
SP_API const char *sp_results_path(const sp_results *results);    /* "" without a file */

SP_API size_t sp_results_num_metadata(const sp_results *results);
SP_API const sp_metadata_entry *sp_results_metadata(const sp_results *results, size_t i);
/* Entry of that key, NULL when absent. */
SP_API const sp_metadata_entry *sp_results_find_metadata(const sp_results *results,
                                                         const char *key);

/* Regions in table order. */
SP_API size_t sp_results_num_regions(const sp_results *results);
SP_API const char *sp_results_region_name(const sp_results *results, size_t region);
/* Index of that name, -1 when absent. */
SP_API int64_t sp_results_find_region(const sp_results *results, const char *name);

/* Rows in file order. sp_results_find_row: index of (region, rank), -1 when absent. */
SP_API size_t sp_results_num_rows(const sp_results *results);
SP_API const sp_row *sp_results_row(const sp_results *results, size_t row);
SP_API size_t sp_results_row_region(const sp_results *results, size_t row);
SP_API int64_t sp_results_find_row(const sp_results *results, size_t region, uint32_t rank);

SP_API size_t sp_results_num_threads(const sp_results *results);
SP_API const sp_thread_row *sp_results_thread(const sp_results *results, size_t i);
SP_API size_t sp_results_num_tasks(const sp_results *results);
SP_API const sp_task_row *sp_results_task(const sp_results *results, size_t i);
SP_API size_t sp_results_num_extras(const sp_results *results);
SP_API const sp_extra *sp_results_extra(const sp_results *results, size_t i);

/* ---- Calls -----------------------------------------------------------------------------------*/

/* Columns present in that row (SP_COLUMN_BIT mask). */
SP_API unsigned sp_results_row_columns(const sp_results *results, size_t row);

/* All values of one column of one row; read from the file at first use, then kept until close. The
 * pointer belongs to the handle: the Python arrays are views of it. SP_ERR_NOT_FOUND when the run
 * lacks the column. */
SP_API int sp_results_column(sp_results *results, size_t row, sp_column column,
                             const int64_t **out_values, size_t *out_count, sp_error *error);

/* Exclusive ns of every call of a row (needs the rank's call tree). Kept until close. */
SP_API int sp_results_exclusive(sp_results *results, size_t row, const int64_t **out_values,
                                size_t *out_count, sp_error *error);

/* ---- Statistics ------------------------------------------------------------------------------*/

/* Of one row, or pooled. All ns; means and deviations as doubles. An empty selection is all zero.
 * `first` and `last` pooled: the first call of the rank that started first, the last call of the
 * rank that ended last. `exclusive` is the stored total, -1 when a row came without
 * (sp_results_exclusive works it out). Of runs that kept totals only, first, last and the two times
 * are 0 and the deviation is NaN. */
typedef struct sp_statistics {
    uint64_t calls;
    int64_t total, minimum, maximum, first, last, start_minimum, end_maximum, exclusive;
    double mean, deviation; /* population standard deviation */
    uint64_t gpu_calls;
    int64_t gpu_total;
} sp_statistics;

SP_API int sp_results_row_statistics(sp_results *results, size_t row, sp_statistics *out,
                                     sp_error *error);
/* Pooled over `ranks` (NULL: all). */
SP_API int sp_results_region_statistics(sp_results *results, size_t region, const uint32_t *ranks,
                                        size_t num_ranks, sp_statistics *out, sp_error *error);

/* Percentiles (0..100, linear interpolation between order statistics) in ns, pooled over `ranks`.
 * SP_ERR_INVALID_ARGUMENT outside 0..100, SP_ERR_NO_EVENTS for totals-only runs. */
SP_API int sp_results_percentiles(sp_results *results, size_t region, const uint32_t *ranks,
                                  size_t num_ranks, const double *percents, size_t count,
                                  double *out, sp_error *error);

/* Slowest over mean of the per-rank totals that are > 0; 0 with fewer than two such ranks. */
SP_API int sp_results_imbalance(sp_results *results, size_t region, const uint32_t *ranks,
                                size_t num_ranks, double *out, sp_error *error);

/* Times of the run in ns, -1 when not known: metadata start_time_ns, first entry, last exit,
 * metadata finalize_time_ns. A start time that is not a number counts as missing. */
typedef struct sp_run_times {
    int64_t start, first_entry, last_exit, finalize;
} sp_run_times;
SP_API int sp_results_times(sp_results *results, sp_run_times *out, sp_error *error);

/* ---- Call tree -------------------------------------------------------------------------------*/

/* All calls of one rank, sorted by start ascending, then end descending, then row. Arrays of
 * `count` entries that belong to the handle and live until close. */
typedef struct sp_call_tree {
    size_t count;
    const uint32_t *row;        /* index of the row (region) the call belongs to */
    const uint64_t *call_index; /* position in that row */
    const int64_t *start_ns, *end_ns;
    const int32_t *depth;
    const int64_t *parent; /* index into these arrays, -1 root */
    const int64_t *exclusive_ns;
    const int64_t *lane; /* task id when >= 0, else -2 - thread, -1 unknown; NULL without lanes */
} sp_call_tree;

/* Exact from recorded ids when every row of the rank has them, else reconstructed lane by lane from
 * the intervals (calls that touch are siblings, calls of no length nest). SP_ERR_NESTING names both
 * calls with their intervals. `rank` without calls: count 0. */
SP_API int sp_results_call_tree(sp_results *results, uint32_t rank, sp_call_tree *out,
                                sp_error *error);
/* Always from the intervals, ids ignored. */
SP_API int sp_results_reconstruct(sp_results *results, uint32_t rank, sp_call_tree *out,
                                  sp_error *error);

/* ---- Calls of MPI ----------------------------------------------------------------------------*/

/* One rank that called MPI. Times add up over its threads. Of the time in collective operations that
 * block, `imbalance` is the wait until the last rank had come to the same operation, `transfer` the
 * rest; both are 0 for calls that were recorded without metadata. */
typedef struct sp_mpi_rank {
    uint32_t rank;
    uint64_t calls;
    int64_t time_ns, imbalance_ns, transfer_ns;
} sp_mpi_rank;

/* What one rank of the job sent to another: messages, and one-sided accesses in the direction in which
 * their data went. Collective operations are not in it. */
typedef struct sp_mpi_link {
    uint32_t from, to;
    uint64_t messages, bytes;
} sp_mpi_link;

/* One operation, over all ranks. `bytes`: of all calls, where they were noted. */
typedef struct sp_mpi_operation {
    const char *name, *kind;
    uint64_t calls, bytes;
    int64_t time_ns, imbalance_ns, transfer_ns;
} sp_mpi_operation;

/* Ranks ascending; links with messages by sender, then receiver; operations by time, largest first. */
typedef struct sp_mpi_summary {
    const sp_mpi_rank *ranks;
    size_t num_ranks;
    const sp_mpi_link *links;
    size_t num_links;
    const sp_mpi_operation *operations;
    size_t num_operations;
} sp_mpi_summary;

typedef struct sp_mpi_report sp_mpi_report;

/* Looks at the regions with the tag "mpi"; a run without any gives an empty report. Names are borrowed
 * from the run, which must live as long. SP_ERR_NO_MEMORY, and what reading columns may give. */
SP_API int sp_mpi_report_create(sp_results *results, sp_mpi_report **out, sp_error *error);
/* Belongs to the report. */
SP_API const sp_mpi_summary *sp_mpi_report_get(const sp_mpi_report *report);
/* The report as tables, UTF-8; free() it. Of many ranks only the links with most bytes are shown. */
SP_API int sp_mpi_report_format(const sp_mpi_report *report, char **out_text, sp_error *error);
/* NULL is fine. */
SP_API void sp_mpi_report_free(sp_mpi_report *report);

/* ---- Summary table ---------------------------------------------------------------------------*/

typedef enum sp_summary_sort {
    SP_SORT_START, SP_SORT_TOTAL, SP_SORT_CALLS, SP_SORT_AVERAGE, SP_SORT_MINIMUM, SP_SORT_MAXIMUM,
    SP_SORT_FIRST, SP_SORT_LAST, SP_SORT_DEVIATION, SP_SORT_P50, SP_SORT_P95, SP_SORT_P99,
    SP_SORT_IMBALANCE, SP_SORT_NAME
} sp_summary_sort;

/* What becomes of the values of several ranks. Pooled: that of all their calls together. The others
 * take the metric of each rank that has the region. */
typedef enum sp_rank_reduction {
    SP_REDUCE_POOLED, SP_REDUCE_MAXIMUM, SP_REDUCE_MEAN, SP_REDUCE_MINIMUM, SP_REDUCE_SUM
} sp_rank_reduction;

/* Filters and layout of a summary; zero-initialise and set `size`. */
typedef struct sp_summary_options {
    size_t size;
    const char *const *include; /* regular expressions anchored at the start */
    size_t num_include;
    const char *const *exclude;
    size_t num_exclude;
    const uint32_t *ranks; /* NULL: all */
    size_t num_ranks;
    sp_summary_sort sort;
    bool exclusive_percent;     /* percentage_mode "exclusive" */
    const char *const *columns; /* public keys of docs; NULL: the default set */
    size_t num_columns;
    bool suppress_notes;
    bool color;
    const char *title;     /* NULL: [label - ]<path> (N rank(s)) */
    const char *file_path; /* for the command hints; NULL: none */
    const char *const *include_names; /* exact region names; NULL: no such filter, not NULL with
                                         none in it: nothing is selected */
    size_t num_include_names;
    bool with_percentiles; /* compute them even when no column shows them; else they are NaN */
    size_t top;            /* so many rows at most: those that the sort puts first, sorted by start
                              those with the largest totals; 0: all */
    size_t max_depth;      /* so many levels of call paths; 0: all */
    sp_rank_reduction reduction; /* not pooled: each number is that of every rank on its own, then
                                    reduced over those that have the row; a mean number of calls is
                                    rounded, the imbalance stays one over ranks */
    double min_percent;          /* rows with less than this share of the largest row's total are left
                                    out, and counted below the table; 0: none are */
} sp_summary_options;

/* One row of the table: a call path pooled over the selected ranks (or one region when the calls
 * cannot be nested or were not kept). Seconds; NaN where not known. `total` is that of the calls not
 * directly below one of the same path, so that recursion counts once; `average` is per call. */
typedef struct sp_summary_row {
    const char *name;
    const char *call_path; /* names joined with " > "; of very deep ones both ends */
    size_t num_ranks;
    uint64_t calls;
    double total, coverage, exclusive, average, minimum, maximum, first, last, deviation, p50, p95,
        p99;
    double imbalance; /* percent */
    int depth;
    bool is_recursive;
    bool has_children;
    double start;
    double parent_coverage;
    double gpu_total, gpu_average;
} sp_summary_row;

typedef struct sp_summary sp_summary;

/* Builds the rows. SP_ERR_INVALID_ARGUMENT for a bad pattern or column, with the choices. */
SP_API int sp_summary_create(sp_results *results, const sp_summary_options *options,
                             sp_summary **out, sp_error *error);
/* A summary of rows made elsewhere, in the given order; a call path may be NULL. `session_total`, in
 * seconds, counts as 100 %; NaN: the total of the session row. Filters and sort are ignored. */
SP_API int sp_summary_from_rows(const sp_summary_row *rows, size_t num_rows,
                                const sp_summary_options *options, double session_total,
                                sp_summary **out, sp_error *error);
SP_API size_t sp_summary_num_rows(const sp_summary *summary);
/* NULL when there is no such row or no memory for its call path. */
SP_API const sp_summary_row *sp_summary_get_row(sp_summary *summary, size_t i);
/* The finished text of table and notes, UTF-8; belongs to the summary. */
SP_API const char *sp_summary_text(sp_summary *summary);

/* The cells of the table, line by line: num_lines x num_columns texts, each with its terminator,
 * one behind the other. Everything belongs to the summary. */
typedef struct sp_summary_cells {
    size_t num_columns, num_lines;
    const char *const *keys; /* public keys of the columns */
    const char *const *headers;
    const char *texts;
} sp_summary_cells;
SP_API int sp_summary_get_cells(sp_summary *summary, sp_summary_cells *out, sp_error *error);
SP_API void sp_summary_free(sp_summary *summary);

/* Both in one: builds, writes to `stream`, frees. */
SP_API int sp_results_print_summary(sp_results *results, const sp_summary_options *options,
                                    FILE *stream, sp_error *error);

/* Parses a public sort key ("start", "total", ...); SP_ERR_INVALID_ARGUMENT lists the choices. */
SP_API int sp_summary_parse_sort(const char *key, sp_summary_sort *out, sp_error *error);

/* ---- Inspection ------------------------------------------------------------------------------*/

/* What `inspect` shows of a run; zero-initialise and set `size`. */
typedef struct sp_inspection_options {
    size_t size;
    const sp_summary_options *summary; /* filters and layout of the region table; NULL: defaults */
    bool hide_metadata;
    bool hide_regions;
    bool full;                  /* long metadata values are not clipped */
    const char *const *sources; /* regions whose source text is shown */
    size_t num_sources;
    bool show_mpi; /* the tables of the calls of MPI */
} sp_inspection_options;

/* Title, sizes, metadata by section, region table, sources as one UTF-8 text; free() it. */
SP_API int sp_results_inspect(sp_results *results, const sp_inspection_options *options,
                              char **out_text, sp_error *error);

/* Line timings that came with the run, a table a function, with its source where that was stored: UTF-8;
 * free() it. Of `options` (NULL: defaults) the ranks count; `function`, `region`: NULL for all. */
SP_API int sp_results_line_tables(sp_results *results, const sp_summary_options *options,
                                  const char *function, const char *region, char **out_text,
                                  sp_error *error);

/* Own time by region as bars, and when regions and ranks were active as a line of block characters
 * each: UTF-8 in `width` columns (0: 80; 52 to 400); free() it. Of `options` (NULL: defaults) the
 * filters, `top` and `color` count. */
SP_API int sp_results_plot(sp_results *results, const sp_summary_options *options, size_t width,
                           char **out_text, sp_error *error);

/* An inspection of several runs as one JSON document, with the rows of their summaries; free() it. */
SP_API int sp_results_inspect_json(sp_results *const *runs, size_t num_runs,
                                   const sp_inspection_options *options, char **out_text,
                                   sp_error *error);

/* One line for each pattern and rank of the options that fits nothing in the run, with the nearest
 * names; "" when there is none. free() it. */
SP_API int sp_results_filter_hints(sp_results *results, const sp_summary_options *options,
                                   char **out_text, sp_error *error);

/* A line that no region has that name, with the nearest names; "" when there is one. free() it. */
SP_API int sp_results_name_hint(sp_results *results, const char *name, char **out_text,
                                sp_error *error);

/* JSON text {"files": [{"file_path", "num_ranks", "metadata"}]} of these runs, indented by 2, never
 * clipped; free() it. */
SP_API int sp_results_metadata_json(sp_results *const *runs, size_t num_runs, char **out_text,
                                    sp_error *error);

/* ---- Exports ---------------------------------------------------------------------------------*/

/* What an export takes and how it looks; zero-initialise and set `size`. NULL options: defaults. */
typedef struct sp_export_options {
    size_t size;
    const char *const *include; /* regular expressions anchored at the start */
    size_t num_include;
    const char *const *exclude;
    size_t num_exclude;
    const char *const *include_names; /* exact region names; NULL: no such filter */
    size_t num_include_names;
    const uint32_t *ranks; /* NULL: all */
    size_t num_ranks;
    const char *label;          /* of the run; NULL: its own, else the stem of its file */
    int indent;                 /* json: blanks a level, 0: one line */
    bool statistics_only;       /* json: the totals of each region in place of its calls */
    const char *metadata_json;  /* json: object in the place of the run's metadata; NULL: none */
    const char *more_json;      /* json: members at the end, as {"name": ...}; NULL: none */
    bool no_call_paths;         /* prof, flamegraph: one entry a region, not one a call path */
    double width;               /* flamegraph: of the picture, 0: 1200 */
    double threshold;           /* flamegraph: smallest part of the whole that is drawn, in percent;
                                   0: 0.1, negative: everything */
    bool fixed_width;           /* flamegraph: not scaled to the window */
} sp_export_options;

/* Each writes one file, which appears under `path` complete or not at all; folders that are missing
 * are made. Deep calls need no deep stack. SP_ERR_INVALID_ARGUMENT for a bad pattern, SP_ERR_IO with
 * path and reason, SP_ERR_NO_EVENTS for runs that kept totals (all but json and statistics). */

/* Trace events for Perfetto and chrome://tracing: ranks are processes, threads and tasks are lanes.
 * Times are microseconds with three decimals since the first call, so no nanosecond is lost; the
 * metadata holds that instant. */
SP_API int sp_export_chrome_trace(sp_results *results, const sp_export_options *options,
                                  const char *path, sp_error *error);

/* Evented profiles for speedscope, one a rank or lane. Where calls cross, the inner ones are closed
 * at the end of the outer one and opened again, so that the events nest and no time is lost. */
SP_API int sp_export_speedscope(sp_results *results, const sp_export_options *options,
                                const char *path, sp_error *error);

/* One line a call path, "a;b;c <own ns>", for tools that draw flame graphs. */
SP_API int sp_export_folded(sp_results *results, const sp_export_options *options, const char *path,
                            sp_error *error);

/* One line a call, with the columns that the run has. Absolute times in ns. */
SP_API int sp_export_csv(sp_results *results, const sp_export_options *options, const char *path,
                         sp_error *error);

/* The whole run as a JSON profile, without loss; compressed when the name ends in ".gz". The same
 * run gives the same bytes. SP_ERR_UNSUPPORTED: compressed, in a build without zlib. */
SP_API int sp_export_json(sp_results *results, const sp_export_options *options, const char *path,
                          sp_error *error);

/* One rank as the statistics of Python's cProfile. `path` of the file; or, with
 * sp_export_prof_bytes, in memory: free() the bytes. SP_ERR_NOT_FOUND when no region is selected,
 * there is no such rank, or it has no calls; SP_ERR_NESTING. */
SP_API int sp_export_prof(sp_results *results, const sp_export_options *options, uint32_t rank,
                          const char *path, sp_error *error);
SP_API int sp_export_prof_bytes(sp_results *results, const sp_export_options *options,
                                uint32_t rank, char **out_bytes, size_t *out_count,
                                sp_error *error);

/* One rank as a flame graph, an SVG picture that needs nothing else. Errors as of sp_export_prof. */
SP_API int sp_export_flamegraph(sp_results *results, const sp_export_options *options,
                                uint32_t rank, const char *path, sp_error *error);

/* The statistics of every region of several runs. `options->label` is ignored; `labels` are those of
 * the runs, NULL: their own. */
SP_API int sp_export_statistics(sp_results *const *runs, const char *const *labels, size_t num_runs,
                                const sp_export_options *options, const char *path,
                                sp_error *error);

/* What a report takes and shows first; zero-initialise and set `size`. NULL options: defaults. */
typedef enum sp_report_scaling {
    SP_SCALING_AUTO, SP_SCALING_STRONG, SP_SCALING_WEAK, SP_SCALING_BOTH
} sp_report_scaling;

typedef enum sp_report_axis {
    SP_AXIS_AUTO, SP_AXIS_RANKS, SP_AXIS_NODES, SP_AXIS_THREADS, SP_AXIS_CORES
} sp_report_axis;

typedef struct sp_report_options {
    size_t size;
    const char *const *include; /* regular expressions anchored at the start */
    size_t num_include;
    const char *const *exclude;
    size_t num_exclude;
    const char *const *include_names; /* exact region names; NULL: no such filter */
    size_t num_include_names;
    const uint32_t *ranks; /* NULL: all */
    size_t num_ranks;
    const char *const *labels;  /* one a run; NULL: their own, else the stems of their files */
    sp_summary_sort sort;       /* order of the table */
    const char *const *columns; /* public keys of the table's columns; NULL: the default set */
    size_t num_columns;
    bool no_charts;             /* tables and texts only */
    bool no_individual_reports; /* several runs: the comparison alone */
    sp_report_scaling scaling;  /* several runs: which scaling is meant */
    sp_report_axis x;           /* several runs: what they are scaled over */
} sp_report_options;

/* One page that needs nothing else, for a browser. Of one run: everything; of several (256 at most):
 * their comparison against the first, and beside it, linked, a page of each run named
 * `<stem>-<number>-<label>.html`. Memory and size of the page do not grow with the number of calls:
 * the longest calls are carried one by one, the others as density; the page says so. Files appear
 * complete or not at all, missing folders are made. SP_ERR_INVALID_ARGUMENT for no run, too many, a bad
 * pattern or column; SP_ERR_IO with path and reason. */
SP_API int sp_export_report(sp_results *const *runs, size_t num_runs,
                            const sp_report_options *options, const char *path, sp_error *error);

/* ---- Plot data -------------------------------------------------------------------------------*/

typedef enum sp_metric {
    SP_METRIC_TOTAL, SP_METRIC_AVERAGE, SP_METRIC_MINIMUM, SP_METRIC_MAXIMUM, SP_METRIC_P50,
    SP_METRIC_P95, SP_METRIC_P99, SP_METRIC_IMBALANCE, SP_METRIC_CALLS, SP_METRIC_GPU_TOTAL,
    SP_METRIC_GPU_AVERAGE, SP_METRIC_FIRST, SP_METRIC_LAST
} sp_metric;

/* The plots whose data can be exported. The last four compare runs and need two or more of them, the
 * call graph shows one rank of one run. */
typedef enum sp_plot_kind {
    SP_PLOT_GANTT, SP_PLOT_DENSITY, SP_PLOT_FLAME_CHART, SP_PLOT_FLAME_GRAPH, SP_PLOT_CALLGRAPH,
    SP_PLOT_DURATIONS, SP_PLOT_TIMESERIES, SP_PLOT_HISTOGRAM, SP_PLOT_IMBALANCE,
    SP_PLOT_RANK_HEATMAP, SP_PLOT_SPEEDUP, SP_PLOT_WEAK_SCALING, SP_PLOT_WEAK_SCALING_EFFICIENCY,
    SP_PLOT_SCALING_EFFICIENCY
} sp_plot_kind;

/* Parses a public name ("gantt", "flame_chart", ...); SP_ERR_INVALID_ARGUMENT lists the choices. */
SP_API int sp_plot_parse_kind(const char *name, sp_plot_kind *out, sp_error *error);
/* What the file of that kind is called: "<stem>_data.csv"; NULL when there is no such kind. */
SP_API const char *sp_plot_file_stem(sp_plot_kind kind);

/* The colour of a region in figures and reports, "#rrggbb": it follows from the name alone, so that a region
 * has it in every figure. */
enum { SP_COLOR_TEXT = 8 };
SP_API void sp_plot_region_color(const char *name, char out[SP_COLOR_TEXT]);

/* Zero-initialise and set `size`. Times are seconds since the first entry of the run. */
typedef struct sp_plot_options {
    size_t size;
    const sp_export_options *selection; /* regions and ranks; NULL: all. Flames and the call graph take
                                           rank 0 when no ranks are named */
    bool as_json;                       /* else CSV */
    sp_rank_reduction reduction;        /* durations and the plots that compare runs */
    const sp_metric *metrics;           /* durations; none: the total */
    size_t num_metrics;
    const sp_metric *sort_by; /* durations: largest first; NULL: by first entry */
    bool sort_by_name;        /* durations */
    size_t top;               /* durations: so many regions; 0: all */
    size_t bins;              /* histogram (0: 30) and density (0: 200) */
    sp_metric imbalance_metric;
    const char *x_field; /* of the plots that compare runs: num_ranks (NULL), num_nodes,
                            omp_num_threads, total_cores or any field of the metadata */
    double start_time, end_time; /* density; end 0: to the last exit */
    double min_duration;         /* density: shorter calls are left out */
    bool compact;                /* call graph: one node a region and its callers, not one a call */
} sp_plot_options;

/* Writes the data behind a plot of these runs: one line or object a bar, point or interval, durations
 * in seconds. `labels` are those of the runs, NULL: their own. Memory is that of one piece of the
 * calls, for flames and the call graph that of one rank. SP_ERR_NOT_FOUND when no region is selected or
 * a run lacks the field of the axis; SP_ERR_INVALID_ARGUMENT for a wrong number of runs; SP_ERR_NESTING
 * and SP_ERR_NO_EVENTS where calls are needed that are not there; SP_ERR_IO. */
SP_API int sp_export_plot_data(sp_results *const *runs, const char *const *labels, size_t num_runs,
                               sp_plot_kind kind, const sp_plot_options *options, const char *path,
                               sp_error *error);

/* ---- Comparison ------------------------------------------------------------------------------*/

typedef enum sp_compare_sort {
    SP_COMPARE_BY_DELTA, SP_COMPARE_BY_PERCENT, SP_COMPARE_BY_NAME
} sp_compare_sort;

/* Parse public names ("total", "avg", ...; "max", ...; "delta", ...); SP_ERR_INVALID_ARGUMENT lists the
 * choices. */
SP_API int sp_compare_parse_metric(const char *name, sp_metric *out, sp_error *error);
SP_API int sp_compare_parse_reduction(const char *name, sp_rank_reduction *out, sp_error *error);
SP_API int sp_compare_parse_sort(const char *name, sp_compare_sort *out, sp_error *error);

/* Zero-initialise and set `size`. */
typedef struct sp_compare_options {
    size_t size;
    const char *const *include; /* regular expressions anchored at the start */
    size_t num_include;
    const char *const *exclude;
    size_t num_exclude;
    const char *const *include_names; /* exact region names; NULL: no such filter */
    size_t num_include_names;
    const uint32_t *ranks; /* NULL: all */
    size_t num_ranks;
    sp_metric metric;
    sp_rank_reduction reduction;
    sp_compare_sort sort;
    double threshold;      /* percent; rows that changed less are left out, 0: none is */
    bool is_check;         /* find violations, tell a verdict */
    double max_regression; /* percent of growth that passes, not negative */
    bool fail_on_new;      /* a region that only b has is a violation */
    const char *label_a, *label_b; /* what the text calls both sides; NULL: their files */
} sp_compare_options;

/* One region. Of one run a side `a` and `b` are its values, of several their medians; in seconds, in
 * percent (imbalance) or as they are (calls). NaN where not known. */
typedef struct sp_compare_row {
    const char *name;
    bool is_in_a, is_in_b;
    double a, b, delta; /* in `delta` a missing side counts as 0 */
    double percent;     /* NaN when a is 0 or missing; -100 when b is missing */
    bool is_violation;
    /* Several runs a side. */
    double spread_a, spread_b; /* standard deviation in percent of the mean */
    double low, high, confidence; /* interval of `percent` and its certainty (0..1) */
    double p_value; /* of b being this large by chance; the exact rank test */
    double rate;    /* false discovery rate at which b counts as larger */
} sp_compare_row;

typedef struct sp_comparison sp_comparison;

/* Compares runs `a` (the baseline) with runs `b`. One a side: the change of each region, and for a
 * check each growth above the budget is a violation. Three or more a side: whether the runs as a
 * whole take longer than the budget allows is decided by an exact rank test on the time from first
 * entry to last exit, at 5 %; regions are judged at a false discovery rate of 5 %, for information.
 * SP_ERR_INVALID_ARGUMENT for other numbers of runs, a bad pattern or budget. */
SP_API int sp_comparison_create(sp_results *const *a, size_t num_a, sp_results *const *b,
                                size_t num_b, const sp_compare_options *options,
                                sp_comparison **out, sp_error *error);
/* A comparison of rows made elsewhere, in the given order; names are copied. */
SP_API int sp_comparison_from_rows(const sp_compare_row *rows, size_t num_rows,
                                   const sp_compare_options *options, sp_comparison **out,
                                   sp_error *error);
SP_API size_t sp_comparison_num_rows(const sp_comparison *comparison);
/* NULL when there is no such row. */
SP_API const sp_compare_row *sp_comparison_get_row(const sp_comparison *comparison, size_t i);
/* The runs as a whole; NULL unless there are several a side. */
SP_API const sp_compare_row *sp_comparison_whole(const sp_comparison *comparison);
SP_API bool sp_comparison_passes(const sp_comparison *comparison);

typedef enum sp_compare_form {
    SP_COMPARE_TEXT,
    SP_COMPARE_MARKDOWN, /* for pull requests */
    SP_COMPARE_JUNIT,    /* XML for CI systems, one test case a region */
    SP_COMPARE_JSON
} sp_compare_form;

/* UTF-8; free() it. */
SP_API int sp_comparison_format(const sp_comparison *comparison, sp_compare_form form,
                                char **out_text, sp_error *error);
SP_API void sp_comparison_free(sp_comparison *comparison);

/* ---- Optional parts --------------------------------------------------------------------------*/

/* A store that readers and writers load at run time. */
typedef struct sp_store_info {
    char module_folder[1024];
    char library_version[64]; /* of the library underneath, "" when the store does not say */
    bool is_thread_safe;      /* may be used while another thread of the program is inside HDF5 */
} sp_store_info;

/* About the HDF5 store, which is loaded if need be. SP_ERR_NO_MODULE says why it cannot be. */
SP_API int sp_results_hdf5_info(sp_store_info *out, sp_error *error);

#ifdef __cplusplus
}
#endif
#endif
