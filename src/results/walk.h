/* walk.h - through the calls of a rank, for those who need them once. What was read and built for a
 * walk alone is given back after it, so that a walk over many ranks needs memory for one. A large rank
 * is read chunk by chunk, so that not even that is needed, as long as no tree is. */
#ifndef SP_RESULTS_WALK_H
#define SP_RESULTS_WALK_H

#include "results/model.h"

typedef struct sp_walked_call {
    uint32_t row;
    uint64_t call_index;
    int64_t start, end;
} sp_walked_call;

#define SP_WALK_ROOT UINT64_MAX       /* no call encloses this one */
#define SP_WALK_STOP (UINT64_MAX - 1) /* returned by a visitor that cannot go on */

/* Is told each call, and what it had returned for the call that encloses it. */
typedef uint64_t (*sp_call_visitor)(void *context, const sp_walked_call *call, uint64_t above);

/* Walks in order of starts; an enclosing call comes before those inside it, and where ids are recorded
 * they tell the order of calls that start together. No tree is built: only
 * the open calls are kept. This needs calls that lie inside their parents and beside their
 * siblings; at the first that does not, or when the visitor stops, the walk ends with `*out_done`
 * false, and sp_run_walk_tree must be asked, which also knows what is wrong. */
int sp_run_walk(sp_results *results, uint32_t rank, sp_call_visitor visit, void *context,
                bool *out_done, sp_error *error);

/* A stretch of the columns of one row: values[c][i] is that of call `first` + i. NULL: absent, or not
 * asked for. */
typedef struct sp_row_part {
    uint64_t first;
    const int64_t *values[SP_COLUMN_COUNT];
} sp_row_part;

/* One window of the calls of a rank: arrays of `count` entries that live until the next one.
 * `ids` and `lane` are NULL where the run has none. `parts`: by row of the run, the columns that the walk
 * was asked for. */
typedef struct sp_call_window {
    size_t count;
    const uint32_t *row;
    const uint64_t *call_index;
    const int64_t *start, *end, *ids, *lane;
    const sp_row_part *parts;
} sp_call_window;

typedef int (*sp_window_visitor)(void *context, const sp_call_window *window, sp_error *error);

/* Shows all calls of a rank in order of starts, nested or not, window by window; of calls that start
 * together the one that ends later comes first, and of equal ones the one that began first. `columns`:
 * what the parts of a window hold. */
int sp_run_walk_windows(sp_results *results, uint32_t rank, unsigned columns,
                        sp_window_visitor visit, void *context, sp_error *error);

/* Shows the call tree of a rank to `visit`. */
typedef int (*sp_tree_visitor)(void *context, const sp_call_tree *tree, sp_error *error);
int sp_run_walk_tree(sp_results *results, uint32_t rank, sp_tree_visitor visit, void *context,
                     sp_error *error);

#endif
