/* model.h - a run in memory, as the files of this layer and the exporters see it.
 *
 * Rows, texts and tables of a file stay where its reader keeps them; rows added by hand live in the
 * arena. Chains of row numbers lead from a region and from a rank to their rows. */
#ifndef SP_RESULTS_MODEL_H
#define SP_RESULTS_MODEL_H

#include "base/arena.h"
#include "base/map.h"
#include "base/number_map.h"
#include "base/vector.h"
#include "scope_results.h"

#define SP_NO_ROW UINT32_MAX

/* What was read or computed of one row so far. */
typedef struct sp_row_cache {
    const int64_t *values[SP_COLUMN_COUNT]; /* NULL: not read */
    int64_t *owned[SP_COLUMN_COUNT];        /* the same; NULL: the reader's or in a block */
    int64_t *exclusive;                     /* in the arena */
    bool has_statistics;
    sp_row_statistics statistics; /* of a row that came without */
} sp_row_cache;

typedef struct sp_run_row {
    const sp_row *row;
    uint32_t region;
    uint32_t next_in_region, next_in_rank; /* SP_NO_ROW: last */
    unsigned columns;                      /* SP_COLUMN_BIT mask */
    sp_row_cache *cache;                   /* NULL until it is needed */
} sp_run_row;

typedef struct sp_run_region {
    const char *name;
    uint32_t first_row, last_row; /* SP_NO_ROW: none */
} sp_run_region;

typedef struct sp_run_rank {
    uint32_t rank, first_row, last_row;
} sp_run_rank;

/* A call tree once built. One that later rows made obsolete is kept, because its arrays were
 * promised to live until close. */
typedef struct sp_run_tree {
    uint32_t rank;
    bool from_intervals, is_obsolete;
    sp_call_tree tree;
    void *memory; /* all arrays of the tree */
    size_t memory_size;
} sp_run_tree;

/* Columns of many rows, read at once into one piece of memory. */
typedef struct sp_column_block {
    void *memory;
    size_t size;
} sp_column_block;

struct sp_results {
    sp_arena arena;
    const sp_store_table *store; /* NULL: built by hand */
    sp_store_reader *reader;
    const char *path;
    sp_progress progress; /* NULL: nobody is told */
    void *progress_context;
    uint64_t progress_done;
    const char *left_out; /* of a part of a run, what is not in it; "" */
    uint64_t file_bytes;
    int schema;
    bool is_aggregate;
    uint32_t num_ranks;
    uint64_t num_calls;
    SP_VECTOR(sp_run_row) rows;
    SP_VECTOR(sp_run_region) regions;
    SP_VECTOR(sp_run_rank) ranks;
    SP_VECTOR(const sp_metadata_entry *) metadata;
    SP_VECTOR(const sp_thread_row *) threads;
    SP_VECTOR(const sp_task_row *) tasks;
    SP_VECTOR(const sp_extra *) extras;
    SP_VECTOR(sp_run_tree) trees;
    SP_VECTOR(sp_column_block) blocks;
    sp_map region_ids;
    sp_number_map rank_ids; /* rank to position in `ranks` */
    sp_number_map row_ids;  /* region << 32 | rank to the first such row */
};

/* Region of that name, added when it is new; SP_NO_ROW when memory is short. `name` is borrowed. */
uint32_t sp_run_intern_region(sp_results *results, const char *name, uint32_t hint);
/* Appends a row that lives at least as long as the run. */
int sp_run_append_row(sp_results *results, const sp_row *row, uint32_t region, unsigned columns,
                      sp_error *error);
/* The row's cache, made when there is none; NULL when memory is short. */
sp_row_cache *sp_run_row_cache(sp_run_row *row);

/* First row of a rank, SP_NO_ROW when it has none. */
uint32_t sp_run_first_row_of_rank(const sp_results *results, uint32_t rank);

/* Reads columns of all rows of a rank that has many calls, for a walk through all of them. They are
 * kept like others, in one block that is added to `blocks`. */
int sp_run_load_rank(sp_results *results, uint32_t rank, unsigned columns, sp_error *error);
/* Whether the times of a rank's calls are in memory anyway: built by hand, or held by the store. */
bool sp_run_holds_rank(sp_results *results, uint32_t rank);
/* Frees the blocks after the first `keep`. No row may point into them any more. */
void sp_run_release_blocks(sp_results *results, size_t keep);

/* Frees all call trees. */
void sp_run_release_trees(sp_results *results);

/* Tells whoever wants to know that so many more calls are done. */
void sp_run_advance(sp_results *results, uint64_t calls);

/* Fails unless `row` is a row of the run. */
int sp_run_check_row(const sp_results *results, size_t row, sp_error *error);
int sp_run_check_region(const sp_results *results, size_t region, sp_error *error);

/* A selection of ranks: all of them, or those of a list. */
typedef struct sp_rank_filter {
    bool takes_all;
    sp_number_map ranks;
} sp_rank_filter;

int sp_rank_filter_init(sp_rank_filter *filter, const uint32_t *ranks, size_t num_ranks,
                        sp_error *error);
void sp_rank_filter_release(sp_rank_filter *filter);

static inline bool sp_rank_filter_takes(const sp_rank_filter *filter, uint32_t rank)
{
    return filter->takes_all || sp_number_map_get(&filter->ranks, rank) != SP_NUMBER_NONE;
}

/* Fails unless the row has that column. */
int sp_run_check_column(const sp_results *results, size_t row, sp_column column, sp_error *error);
/* All values of a column that are in memory anyway; NULL: they are not. */
const int64_t *sp_run_held_column(sp_results *results, size_t row, sp_column column);
/* Values up to which a percentile reads a file once; beyond, it reads it for each round. For tests. */
extern size_t sp_percentiles_most;

/* Calls [first, first + count) of one column: from the cache, or from the file without keeping
 * them. */
int sp_run_read_piece(sp_results *results, size_t row, sp_column column, uint64_t first,
                      size_t count, int64_t *out, sp_error *error);

#endif
