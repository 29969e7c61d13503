/* summary.h - the parts of a summary: rows are built from call paths or from regions, then sorted,
 * then written as a table. */
#ifndef SP_EXPORT_SUMMARY_H
#define SP_EXPORT_SUMMARY_H

#include "base/arena.h"
#include "base/number_map.h"
#include "base/text.h"
#include "base/vector.h"
#include "export/frame.h"
#include "results/model.h"
#include "results/moments.h"
#include "scope_results.h"

#define SP_SESSION_REGION "scope_profiler.session"

typedef enum sp_summary_column {
    SP_SUMMARY_REGION, SP_SUMMARY_RANKS, SP_SUMMARY_CALLS, SP_SUMMARY_TOTAL, SP_SUMMARY_PERCENT,
    SP_SUMMARY_PARENT_PERCENT, SP_SUMMARY_AVERAGE, SP_SUMMARY_MINIMUM, SP_SUMMARY_MAXIMUM,
    SP_SUMMARY_FIRST, SP_SUMMARY_LAST, SP_SUMMARY_DEVIATION, SP_SUMMARY_P50, SP_SUMMARY_P95,
    SP_SUMMARY_P99, SP_SUMMARY_IMBALANCE, SP_SUMMARY_GPU_TOTAL, SP_SUMMARY_GPU_AVERAGE,
    SP_SUMMARY_NUM_COLUMNS
} sp_summary_column;

/* The options, checked, with what they select. */
typedef struct sp_summary_request {
    sp_summary_options options;
    sp_rank_filter ranks;
    bool *regions; /* selected ones */
    sp_summary_column *columns;
    size_t num_columns; /* 0: the default set */
    bool wants_percentiles;
} sp_summary_request;

/* Rows are linked to the row above them so that call paths need not be stored. */
typedef struct sp_summary_entry {
    sp_summary_row row;
    uint32_t parent; /* entry, SP_NO_ROW for a root */
} sp_summary_entry;

struct sp_summary {
    sp_results *results;
    sp_summary_request request;
    SP_VECTOR(sp_summary_entry) entries;
    SP_VECTOR(uint32_t) sorted; /* entries in order of the table */
    sp_arena arena;             /* titles, names of columns, call paths */
    double session_total;       /* seconds; NaN without a session */
    bool has_gpu;
    size_t num_small;  /* rows left out because of their share */
    bool is_flat;      /* one row a region */
    char reason[1008]; /* why, when there are calls */
    char *text;
    sp_table cells; /* filled when the cells are asked for */
};

/* Copies title, path and columns of the options and checks them. */
int sp_summary_take_layout(sp_summary *summary, const sp_summary_options *options,
                           sp_error *error);

/* Adds the rows, one a call path. `*out_done` is false when some rank has no call tree: then
 * `reason` says why and nothing was added. */
int sp_summary_add_paths(sp_summary *summary, bool *out_done, sp_error *error);
/* Adds the rows, one a region. */
int sp_summary_add_regions(sp_summary *summary, sp_error *error);
/* The rows of each selected rank, reduced as the options say; sets the total of the session too. */
int sp_summary_add_reduced(sp_summary *summary, sp_error *error);
/* Rows and total of the session in the order in which they are built; `flat`: one row a region. */
int sp_summary_create_rows(sp_results *results, const sp_summary_options *options, bool flat,
                           sp_summary **out, sp_error *error);
/* Adds a row without calls for each selected region that was not called. */
int sp_summary_add_uncalled(sp_summary *summary, const bool *called, sp_error *error);

/* Drops the rows that the options do not want any more, after sorting. */
int sp_summary_limit(sp_summary *summary, sp_error *error);

/* Fills the columns of one summary from moments; percentiles NaN. */
void sp_summary_set_moments(sp_summary_row *row, const sp_moments *moments);

/* Copies and checks columns; SP_ERR_INVALID_ARGUMENT lists the choices. */
int sp_summary_parse_columns(const char *const *keys, size_t count, sp_summary_column *out,
                             sp_error *error);
const char *sp_summary_header(sp_summary_column column);
const char *sp_summary_key(sp_summary_column column);

/* Whether the table has a column of shares of the session. */
bool sp_summary_shows_percent(const sp_summary *summary);

/* The table and the box below it. */
void sp_summary_write_table(const sp_summary *summary, sp_text *out);
void sp_summary_write_notes(const sp_summary *summary, sp_text *out);
/* A sentence on what the recording lost, and one on what it cost; nothing when there is nothing to
 * tell. */
void sp_summary_write_totals(const sp_summary *summary, sp_text *out);
void sp_summary_write_losses(const sp_summary *summary, sp_text *out);
void sp_summary_write_open_calls(const sp_summary *summary, sp_text *out);
void sp_summary_write_costs(const sp_summary *summary, sp_text *out);
/* Title of the options, or made from label, path and number of ranks. */
void sp_summary_write_title(const sp_summary *summary, sp_text *out);

#endif
