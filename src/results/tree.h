/* tree.h - how a call tree is built: sources give calls sorted by start, an order merges them, a
 * link step finds parents, depths and exclusive times. */
#ifndef SP_RESULTS_TREE_H
#define SP_RESULTS_TREE_H

#include "results/model.h"

/* Calls of one row, or an ascending part of them, sorted by start. Absent columns are NULL. */
typedef struct sp_call_source {
    uint32_t row;
    uint64_t first; /* part of the row: positions first .. first + count */
    uint32_t count;
    const int64_t *start, *duration, *id, *parent, *thread, *task;
} sp_call_source;

/* The sources of one rank, in row order and inside a row by position. */
typedef struct sp_call_sources {
    SP_VECTOR(sp_call_source) list;
    size_t num_calls;
    bool has_ids, has_lanes;
} sp_call_sources;

/* Whether every row of a rank has ids. A file has the columns for all ranks or for none: where only others
 * recorded ids, they are all -1, and one look tells. */
bool sp_call_rows_have_ids(sp_results *results, uint32_t rank);

int sp_call_sources_collect(sp_results *results, uint32_t rank, bool with_ids,
                            sp_call_sources *sources, sp_error *error);
void sp_call_sources_release(sp_call_sources *sources);

/* The arrays of sp_call_tree, writable. `lane` is NULL without lanes. */
typedef struct sp_tree_arrays {
    size_t count;
    uint32_t *row;
    uint64_t *call_index;
    int64_t *start, *end;
    int32_t *depth;
    int64_t *parent;
    int64_t *exclusive;
    int64_t *lane;
} sp_tree_arrays;

static inline int64_t sp_call_lane(const sp_call_source *source, size_t at)
{
    if (source->task != NULL && source->task[at] >= 0)
        return source->task[at];
    if (source->thread != NULL && source->thread[at] >= 0)
        return -2 - source->thread[at];
    return -1;
}

/* ---- Dense ids of one lane (tree_place.c) ----------------------------------------------------*/

/* Range of the call ids of all sources. */
typedef struct sp_id_range {
    int64_t low, high;
    bool ascends; /* in every source, strictly */
} sp_id_range;

sp_id_range sp_call_id_range(const sp_call_sources *sources);
/* True when the ids are exactly low .. high and may be in time order. */
bool sp_call_ids_are_placeable(const sp_call_sources *sources, const sp_id_range *range);

/* Goes through such sources by windows of ids; each window is then placed in the arrays. */
typedef struct sp_id_windows {
    const sp_call_sources *sources;
    int64_t low;
    size_t from, to; /* places of the window */
    size_t size;     /* places a window */
    uint32_t *next;  /* of each source */
    unsigned char *seen;
} sp_id_windows;

int sp_id_windows_init(sp_id_windows *windows, const sp_call_sources *sources, int64_t low,
                       sp_error *error);
/* Moves on to the next window; false at the end. */
bool sp_id_windows_next(sp_id_windows *windows);
/* Writes the calls of the window from `tree` [at] on, with parent ids; false when a place is taken
 * twice or left empty. */
bool sp_id_windows_place(sp_id_windows *windows, sp_tree_arrays *tree, size_t at);
void sp_id_windows_release(sp_id_windows *windows);

/* Builds the tree by putting each call where its id says. Sets `*out_done` to false, and the arrays
 * to anything, when the recording is less regular than this way needs. */
int sp_tree_place(const sp_call_sources *sources, const sp_id_range *range, sp_tree_arrays *tree,
                  bool *out_done, sp_error *error);

/* ---- Order of time (tree_order.c) ------------------------------------------------------------*/

/* Merges sources by (start, later end first, row, position) window by window, so that the work of
 * each stays in cache. */
typedef struct sp_call_order sp_call_order;

int sp_call_order_create(const sp_call_sources *sources, sp_call_order **out, sp_error *error);
/* Sorts the next window; `*out_count` is 0 at the end. */
int sp_call_order_next(sp_call_order *order, size_t *out_count, sp_error *error);
/* Writes the window to the arrays from `at` on: row, call_index, start, end, lane and, when `ids`
 * is not NULL, the recorded parent ids; and to `ids` from its beginning on the ids. */
void sp_call_order_write(const sp_call_order *order, sp_tree_arrays *tree, int64_t *ids, size_t at);
void sp_call_order_free(sp_call_order *order);

/* ---- Parents (tree_link.c) -------------------------------------------------------------------*/

struct sp_open_calls;
/* From recorded ids where the recording is regular: calls [from, to) in order, `ids` those of them.
 * `tree->parent` holds parent ids and becomes positions. False when the way via all ids is needed. */
bool sp_tree_link_open(struct sp_open_calls *open, sp_tree_arrays *tree, const int64_t *ids,
                       size_t from, size_t to);

/* The same for any recording, all calls at once. A parent id that no call has makes a root; an id
 * twice or a cycle is SP_ERR_DAMAGED. */
int sp_tree_link_ids(const sp_results *results, sp_tree_arrays *tree, const int64_t *ids,
                     const sp_id_range *range, sp_error *error);

/* Numbers lanes 0, 1, ... in order of appearance. Zeroed memory is an empty map. */
typedef struct sp_lane_map {
    sp_number_map numbers;
    uint32_t count;
    int64_t last_lane;
    uint32_t last_number;
} sp_lane_map;

/* Number of a lane; SP_NUMBER_NONE when memory is short. */
uint32_t sp_lane_number(sp_lane_map *map, int64_t lane);

/* From intervals, lane by lane. */
typedef struct sp_interval_linker {
    sp_lane_map lanes;
    SP_VECTOR(int64_t) innermost; /* open call of each lane, -1 none */
} sp_interval_linker;

/* Calls [from, to) in order; SP_ERR_NESTING when intervals cross. Zeroed memory is a fresh
 * linker. */
int sp_tree_link_intervals(const sp_results *results, sp_interval_linker *linker,
                           sp_tree_arrays *tree, size_t from, size_t to, sp_error *error);
void sp_interval_linker_release(sp_interval_linker *linker);

/* ---- Trees (tree.c) --------------------------------------------------------------------------*/

/* The tree of a rank that was built before, NULL when there is none. */
const sp_run_tree *sp_run_find_tree(const sp_results *results, uint32_t rank, bool from_intervals);
/* Builds the tree for `tree->rank`; its memory is the caller's. */
int sp_run_build_tree(sp_results *results, sp_run_tree *tree, sp_error *error);

#endif
