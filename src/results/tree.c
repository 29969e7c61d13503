#include "results/open_calls.h"

#include "base/error.h"
#include "base/os/pages.h"

enum { MAX_CALLS = INT32_MAX - 1 };

/* ---- Sources ---------------------------------------------------------------------------------*/

static int read_column(sp_results *results, size_t row, sp_column column, const int64_t **out,
                       sp_error *error)
{
    size_t count;
    *out = NULL;
    if (!(results->rows.items[row].columns & SP_COLUMN_BIT(column)))
        return SP_OK;
    return sp_results_column(results, row, column, out, &count, error);
}

static int read_source(sp_results *results, uint32_t row, bool with_ids, sp_call_source *out,
                       sp_error *error)
{
    size_t count;
    *out = (sp_call_source){.row = row, .count = (uint32_t)results->rows.items[row].row->count};
    int status = sp_results_column(results, row, SP_COLUMN_START, &out->start, &count, error);
    if (status == SP_OK)
        status = read_column(results, row, SP_COLUMN_DURATION, &out->duration, error);
    if (status == SP_OK && with_ids)
        status = read_column(results, row, SP_COLUMN_CALL_ID, &out->id, error);
    if (status == SP_OK && with_ids)
        status = read_column(results, row, SP_COLUMN_PARENT_ID, &out->parent, error);
    if (status == SP_OK)
        status = read_column(results, row, SP_COLUMN_THREAD_ID, &out->thread, error);
    if (status == SP_OK)
        status = read_column(results, row, SP_COLUMN_TASK_ID, &out->task, error);
    return status;
}

static const int64_t *advance(const int64_t *column, uint32_t by)
{
    return column == NULL ? NULL : column + by;
}

/* Splits a row where its starts step back, so that every source ascends. */
static bool add_sources(sp_call_sources *sources, const sp_call_source *row)
{
    uint32_t from = 0;
    for (uint32_t to = 1; to <= row->count; to++) {
        if (to < row->count && row->start[to] >= row->start[to - 1])
            continue;
        if (!sp_vector_reserve(&sources->list, 1))
            return false;
        sources->list.items[sources->list.count++] = (sp_call_source){
            .row = row->row, .first = from, .count = to - from,
            .start = row->start + from, .duration = row->duration + from,
            .id = advance(row->id, from), .parent = advance(row->parent, from),
            .thread = advance(row->thread, from), .task = advance(row->task, from)};
        from = to;
    }
    return true;
}

bool sp_call_rows_have_ids(sp_results *results, uint32_t rank)
{
    unsigned ids = SP_COLUMN_BIT(SP_COLUMN_CALL_ID) | SP_COLUMN_BIT(SP_COLUMN_PARENT_ID);
    bool has_looked = false;
    for (uint32_t r = sp_run_first_row_of_rank(results, rank); r != SP_NO_ROW;
         r = results->rows.items[r].next_in_rank) {
        int64_t id = 0;
        if (results->rows.items[r].row->count == 0)
            continue;
        if ((results->rows.items[r].columns & ids) != ids)
            return false;
        if (!has_looked &&
            sp_run_read_piece(results, r, SP_COLUMN_CALL_ID, 0, 1, &id, NULL) == SP_OK && id < 0)
            return false;
        has_looked = true;
    }
    return true;
}

static int count_calls(const sp_results *results, uint32_t rank, sp_error *error)
{
    uint64_t sum = 0;
    for (uint32_t r = sp_run_first_row_of_rank(results, rank); r != SP_NO_ROW;
         r = results->rows.items[r].next_in_rank) {
        uint64_t count = results->rows.items[r].row->count;
        if (count > MAX_CALLS - sum)
            return sp_fail(error, SP_ERR_UNSUPPORTED,
                           "rank %u has more than %d calls, too many for one call tree", rank,
                           MAX_CALLS);
        sum += count;
    }
    return SP_OK;
}

int sp_call_sources_collect(sp_results *results, uint32_t rank, bool with_ids,
                            sp_call_sources *sources, sp_error *error)
{
    *sources = (sp_call_sources){.has_ids = with_ids && sp_call_rows_have_ids(results, rank)};
    unsigned columns = SP_COLUMN_BIT(SP_COLUMN_START) | SP_COLUMN_BIT(SP_COLUMN_DURATION) |
                       SP_COLUMN_BIT(SP_COLUMN_THREAD_ID) | SP_COLUMN_BIT(SP_COLUMN_TASK_ID);
    if (sources->has_ids)
        columns |= SP_COLUMN_BIT(SP_COLUMN_CALL_ID) | SP_COLUMN_BIT(SP_COLUMN_PARENT_ID);
    int status = count_calls(results, rank, error);
    if (status == SP_OK)
        status = sp_run_load_rank(results, rank, columns, error);
    for (uint32_t r = sp_run_first_row_of_rank(results, rank); status == SP_OK && r != SP_NO_ROW;
         r = results->rows.items[r].next_in_rank) {
        sp_call_source row;
        const sp_row *of = results->rows.items[r].row;
        if (of->has_aggregate ? of->aggregate.count == 0 : of->count == 0)
            continue;
        status = read_source(results, r, sources->has_ids, &row, error);
        if (status == SP_OK && !add_sources(sources, &row))
            status = sp_fail_memory(error, "building a call tree");
        sources->num_calls += row.count;
        sources->has_lanes = sources->has_lanes || row.thread != NULL || row.task != NULL;
    }
    if (status != SP_OK)
        sp_call_sources_release(sources);
    return status;
}

void sp_call_sources_release(sp_call_sources *sources)
{
    sp_vector_release(&sources->list);
}

/* ---- Building --------------------------------------------------------------------------------*/

/* All arrays in one block of memory, widest items first. */
static int allocate(const sp_call_sources *sources, sp_tree_arrays *tree, void **out_memory,
                    size_t *out_size, sp_error *error)
{
    size_t count = sources->num_calls;
    size_t per_call = 5 * sizeof(int64_t) + sizeof(int32_t) + sizeof(uint32_t) +
                      (sources->has_lanes ? sizeof(int64_t) : 0);
    char *memory = sp_os_pages_alloc(count * per_call);
    if (memory == NULL)
        return sp_fail_memory(error, "building a call tree");
    *out_memory = memory;
    *out_size = count * per_call;
    int64_t *words = (int64_t *)(void *)memory;
    tree->count = count;
    tree->start = words;
    tree->end = words + count;
    tree->parent = words + 2 * count;
    tree->exclusive = words + 3 * count;
    tree->call_index = (uint64_t *)(words + 4 * count);
    words += 5 * count;
    tree->lane = sources->has_lanes ? words : NULL;
    words += sources->has_lanes ? count : 0;
    tree->depth = (int32_t *)words;
    tree->row = (uint32_t *)words + count;
    return SP_OK;
}

/* How the calls of a window are linked once they are in order. */
typedef enum link_mode {
    LINK_BY_INTERVALS,
    LINK_BY_OPEN_CALLS, /* recorded ids, of a regular recording */
    LINK_LATER          /* recorded ids, kept for all calls */
} link_mode;

typedef struct linking {
    link_mode mode;
    int64_t *ids; /* of all calls, to link later */
    SP_VECTOR(int64_t) window_ids;
    sp_interval_linker intervals;
    sp_open_calls open;
    bool is_regular;
} linking;

static int link_window(const sp_results *results, linking *how, const sp_call_order *order,
                       sp_tree_arrays *tree, size_t at, size_t count, sp_error *error)
{
    how->window_ids.count = 0;
    switch (how->mode) {
    case LINK_BY_INTERVALS:
        sp_call_order_write(order, tree, NULL, at);
        return sp_tree_link_intervals(results, &how->intervals, tree, at, at + count, error);
    case LINK_BY_OPEN_CALLS:
        if (!sp_vector_reserve(&how->window_ids, count))
            return sp_fail_memory(error, "building a call tree");
        sp_call_order_write(order, tree, how->window_ids.items, at);
        how->is_regular =
            sp_tree_link_open(&how->open, tree, how->window_ids.items, at, at + count);
        break;
    case LINK_LATER:
        sp_call_order_write(order, tree, how->ids + at, at);
        break;
    }
    return SP_OK;
}

/* Orders all calls, and links them window by window; stops at what is not regular. */
static int order_calls(const sp_results *results, const sp_call_sources *sources, linking *how,
                       sp_tree_arrays *tree, sp_error *error)
{
    sp_call_order *order;
    size_t at = 0, count = 0;
    int status = sp_call_order_create(sources, &order, error);
    if (status != SP_OK)
        return status;
    how->is_regular = true;
    do {
        status = sp_call_order_next(order, &count, error);
        if (status == SP_OK)
            status = link_window(results, how, order, tree, at, count, error);
        at += count;
    } while (status == SP_OK && count > 0 && how->is_regular);
    sp_call_order_free(order);
    sp_interval_linker_release(&how->intervals);
    sp_open_calls_release(&how->open);
    sp_vector_release(&how->window_ids);
    return status;
}

/* Any recording with ids: all calls are ordered, then linked by looking their ids up. */
static int build_by_lookup(const sp_results *results, const sp_call_sources *sources,
                           const sp_id_range *range, sp_tree_arrays *tree, sp_error *error)
{
    size_t size = tree->count * sizeof(int64_t);
    linking later = {.mode = LINK_LATER, .ids = sp_os_pages_alloc(size)};
    if (later.ids == NULL)
        return sp_fail_memory(error, "building a call tree");
    int status = order_calls(results, sources, &later, tree, error);
    if (status == SP_OK)
        status = sp_tree_link_ids(results, tree, later.ids, range, error);
    sp_os_pages_free(later.ids, size);
    return status;
}

/* From the fastest way, which asks most of the recording, to the one that takes any. */
static int build_by_ids(const sp_results *results, const sp_call_sources *sources,
                        const sp_id_range *range, sp_tree_arrays *tree, sp_error *error)
{
    bool done = false;
    int status = SP_OK;
    linking open = {.mode = LINK_BY_OPEN_CALLS};
    if (sp_call_ids_are_placeable(sources, range)) {
        status = sp_tree_place(sources, range, tree, &done, error);
    } else {
        status = order_calls(results, sources, &open, tree, error);
        done = open.is_regular;
    }
    return status == SP_OK && !done ? build_by_lookup(results, sources, range, tree, error)
                                    : status;
}

static int fill(const sp_results *results, const sp_call_sources *sources, sp_tree_arrays *tree,
                sp_error *error)
{
    if (sources->has_ids) {
        sp_id_range range = sp_call_id_range(sources);
        /* -1 stands for an id that was not recorded. */
        if (range.low >= 0)
            return build_by_ids(results, sources, &range, tree, error);
    }
    linking intervals = {.mode = LINK_BY_INTERVALS};
    return order_calls(results, sources, &intervals, tree, error);
}

int sp_run_build_tree(sp_results *results, sp_run_tree *tree, sp_error *error)
{
    sp_call_sources sources;
    sp_tree_arrays arrays = {0};
    int status = sp_call_sources_collect(results, tree->rank, !tree->from_intervals, &sources,
                                         error);
    if (status != SP_OK)
        return status;
    if (sources.num_calls > 0)
        status = allocate(&sources, &arrays, &tree->memory, &tree->memory_size, error);
    if (status == SP_OK && sources.num_calls > 0)
        status = fill(results, &sources, &arrays, error);
    sp_call_sources_release(&sources);
    if (status != SP_OK) {
        sp_os_pages_free(tree->memory, tree->memory_size);
        return status;
    }
    tree->tree = (sp_call_tree){
        .count = arrays.count, .row = arrays.row, .call_index = arrays.call_index,
        .start_ns = arrays.start, .end_ns = arrays.end, .depth = arrays.depth,
        .parent = arrays.parent, .exclusive_ns = arrays.exclusive, .lane = arrays.lane};
    return SP_OK;
}

const sp_run_tree *sp_run_find_tree(const sp_results *results, uint32_t rank, bool from_intervals)
{
    for (size_t i = 0; i < results->trees.count; i++) {
        const sp_run_tree *known = &results->trees.items[i];
        if (known->rank == rank && known->from_intervals == from_intervals && !known->is_obsolete)
            return known;
    }
    return NULL;
}

static int find_or_build(sp_results *results, uint32_t rank, bool from_intervals,
                         sp_call_tree *out, sp_error *error)
{
    const sp_run_tree *known = sp_run_find_tree(results, rank, from_intervals);
    if (known != NULL) {
        *out = known->tree;
        return SP_OK;
    }
    if (!sp_vector_reserve(&results->trees, 1))
        return sp_fail_memory(error, "building a call tree");
    sp_run_tree tree = {.rank = rank, .from_intervals = from_intervals};
    int status = sp_run_build_tree(results, &tree, error);
    if (status == SP_OK) {
        results->trees.items[results->trees.count++] = tree;
        *out = tree.tree;
    }
    return status;
}

int sp_results_call_tree(sp_results *results, uint32_t rank, sp_call_tree *out, sp_error *error)
{
    return find_or_build(results, rank, false, out, error);
}

int sp_results_reconstruct(sp_results *results, uint32_t rank, sp_call_tree *out, sp_error *error)
{
    return find_or_build(results, rank, true, out, error);
}
