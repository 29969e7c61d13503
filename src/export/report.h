/* report.h - the parts of a report. A run is gone through once, in order of time; what a page can
 * show of it is gathered in memory of a fixed size, whatever the number of calls, and written as one
 * JSON document behind the page that displays it.
 *
 * Times of the document are ns; those of calls count from the first entry of the run. */
#ifndef SP_EXPORT_REPORT_H
#define SP_EXPORT_REPORT_H

#include "base/number_map.h"
#include "base/vector.h"
#include "export/json_layout.h"
#include "export/selection.h"
#include "results/tree.h"

#define SP_REPORT_FORMAT_VERSION 1

enum { SP_REPORT_RUNS = 256 }; /* of one comparison, at most */

/* The page as it was built from viewer/, up to and behind the places of title and data. */
typedef struct sp_report_page {
    const char *bytes;
    size_t size;
} sp_report_page;
extern const sp_report_page sp_report_page_built;

/* Length of a time axis: at least 1 ns, small enough to be added up, whatever a file claims. */
static inline int64_t sp_report_span(int64_t span)
{
    return span < 1 ? 1 : span > INT64_MAX / 4 ? INT64_MAX / 4 : span;
}

/* A moment on that axis. */
static inline int64_t sp_report_since(int64_t at, int64_t origin, int64_t span)
{
    int64_t since = at < origin ? 0 : (int64_t)((uint64_t)at - (uint64_t)origin);
    return since < 0 || since > span ? span : since;
}

/* ---- Call paths ------------------------------------------------------------------------------*/

/* A region below another path, over all ranks; those above come first. Node 0 is the root. */
typedef struct sp_report_node {
    uint32_t parent, region;
    uint64_t calls;
    int64_t total, exclusive; /* ns */
} sp_report_node;

typedef struct sp_report_tree {
    SP_VECTOR(sp_report_node) nodes; /* only the root when the calls cannot be nested */
    sp_number_map children;          /* parent << 32 | region to the node */
    int64_t *row_exclusive;          /* ns of each row of the run, -1 unknown */
    char reason[1008];               /* why there are no paths, "" when there are */
} sp_report_tree;

int sp_report_tree_init(sp_report_tree *tree, sp_results *results, const sp_selection *selection,
                        sp_error *error);
void sp_report_tree_release(sp_report_tree *tree);
void sp_report_tree_write(const sp_report_tree *tree, sp_json_layout *layout);

/* ---- Timeline --------------------------------------------------------------------------------*/

enum {
    SP_REPORT_LANES = 256,    /* drawn ones */
    SP_REPORT_LEVELS = 64,    /* drawn ones */
    SP_REPORT_CALLS = 40000,  /* drawn one by one */
    SP_REPORT_CELLS = 20000,  /* of density, not empty */
    SP_REPORT_BINS = 2048,    /* of density at first, halved until the cells are few enough */
    SP_REPORT_LEAST_BINS = 64 /* with fewer, deep levels are left out instead */
};

typedef struct sp_drawn_call {
    int64_t start, duration;
    uint32_t region;
    uint16_t lane, level;
} sp_drawn_call;

/* What short calls did in one bin of one level of a lane. */
typedef struct sp_density_cell {
    int64_t busy;    /* ns */
    uint64_t count;  /* calls that begin in it */
    uint32_t region; /* that of most of the time, if one has more than half */
    int64_t weight;  /* how far it leads */
} sp_density_cell;

typedef struct sp_density_track {
    uint16_t lane, level;
    sp_density_cell *cells;
} sp_density_track;

/* The longest calls exactly, all others as density: the threshold rises as calls come. */
typedef struct sp_report_timeline {
    int64_t origin, span;
    int64_t threshold; /* calls that do not take longer are density; -1: none is */
    size_t bins;
    int64_t bin_ns;
    SP_VECTOR(sp_drawn_call) calls;
    SP_VECTOR(sp_density_track) tracks;
    sp_number_map track_ids;
    uint64_t num_dense, num_deep, num_undrawn; /* calls: density, too deep, on lanes not drawn */
} sp_report_timeline;

void sp_report_timeline_init(sp_report_timeline *timeline, int64_t origin, int64_t span);
/* False when memory is short. */
bool sp_report_timeline_add(sp_report_timeline *timeline, uint32_t lane, size_t level,
                            uint32_t region, int64_t start, int64_t end);
/* To be called once after the last call. */
void sp_report_timeline_settle(sp_report_timeline *timeline);
void sp_report_timeline_write(const sp_report_timeline *timeline, size_t num_lanes,
                              sp_json_layout *layout);
void sp_report_timeline_release(sp_report_timeline *timeline);

/* ---- Durations of a region's calls -----------------------------------------------------------*/

enum {
    SP_SPREAD_BINS = 512,   /* eight for each power of two: 9 % wide */
    SP_SPREAD_STEPS = 48,   /* of the time of the run */
    SP_SPREAD_LONGEST = 8,
    SP_SPREAD_REGIONS = 150 /* written ones: those with the largest totals */
};

typedef struct sp_spread_call {
    int64_t start, duration;
    uint32_t rank;
} sp_spread_call;

typedef struct sp_spread {
    uint64_t calls;
    int64_t total;
    uint64_t bins[SP_SPREAD_BINS];
    struct {
        uint64_t calls;
        int64_t total, maximum;
    } steps[SP_SPREAD_STEPS];
    sp_spread_call longest[SP_SPREAD_LONGEST]; /* longest first */
    size_t num_longest;
} sp_spread;

typedef struct sp_report_spreads {
    int64_t origin, span;
    sp_spread **of_region; /* NULL: no calls */
    size_t num_regions;
} sp_report_spreads;

int sp_report_spreads_init(sp_report_spreads *spreads, size_t num_regions, int64_t origin,
                           int64_t span, sp_error *error);
/* False when memory is short. */
bool sp_report_spreads_add(sp_report_spreads *spreads, uint32_t region, uint32_t rank,
                           int64_t start, int64_t end);
/* `with_percentiles`: exact ones, from all calls. */
int sp_report_spreads_write(const sp_report_spreads *spreads, sp_results *results,
                            const sp_selection *selection, bool with_percentiles,
                            sp_json_layout *layout, sp_error *error);
void sp_report_spreads_release(sp_report_spreads *spreads);

/* ---- The walk --------------------------------------------------------------------------------*/

typedef struct sp_report_lane {
    uint32_t rank;
    uint16_t drawn; /* number on the timeline; UINT16_MAX: not drawn */
    int64_t lane;   /* as in sp_call_tree */
    uint64_t calls;
    int64_t first, last;         /* ns */
    int64_t covered, covered_to; /* time inside regions other than the session */
} sp_report_lane;

typedef struct sp_report_calls {
    SP_VECTOR(sp_report_lane) lanes;
    size_t num_drawn;
    sp_report_timeline timeline;
    sp_report_spreads spreads;
} sp_report_calls;

int sp_report_calls_init(sp_report_calls *calls, sp_results *results,
                         const sp_selection *selection, sp_error *error);
void sp_report_calls_release(sp_report_calls *calls);

/* ---- Documents -------------------------------------------------------------------------------*/

/* Options of the caller, never NULL ones. */
typedef struct sp_report_request {
    sp_report_options options;
    sp_export_options selection; /* the filters among them */
} sp_report_request;

/* What one run has come to, for findings and headline. */
typedef struct sp_report_run {
    sp_results *results;
    const sp_selection *selection;
    const sp_report_request *request;
    sp_report_tree tree;
    sp_report_calls calls;
    sp_run_times times;
    bool with_percentiles;
} sp_report_run;

/* The members of a run, its label as `label`. */
int sp_report_write_run(sp_json_layout *layout, sp_results *results,
                        const sp_report_request *request, const char *label, sp_error *error);
/* The rows of the summary. */
int sp_report_write_table(const sp_report_run *run, sp_json_layout *layout, sp_error *error);
/* What is worth acting on. */
int sp_report_write_findings(const sp_report_run *run, sp_json_layout *layout, sp_error *error);
/* Calls of MPI, of all ranks. */
int sp_report_write_mpi(sp_results *results, sp_json_layout *layout, sp_error *error);
/* Several runs against the first; `links` are the files of their own reports, NULL: none. */
int sp_report_write_comparison(sp_json_layout *layout, sp_results *const *runs,
                               const char *const *labels, const char *const *links,
                               size_t num_runs, const sp_report_request *request,
                               sp_error *error);

/* Nanoseconds from seconds, null where not known; `decimals` is 0 or 1. */
void sp_report_add_ns(sp_json_layout *layout, double seconds, int decimals);
/* Three decimals, null where not known. */
void sp_report_add_share(sp_json_layout *layout, double value);
/* False when some rows have totals only. */
bool sp_report_has_calls(const sp_results *results);
/* Wall time: first entry to last exit in ns, of totals the longest total; 0: not known. */
int64_t sp_report_wall(sp_results *results, const sp_run_times *times);
double sp_report_number_of(const sp_results *results, const char *key, double otherwise);

#endif
