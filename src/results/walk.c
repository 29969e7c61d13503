#include "results/walk.h"

#include "base/error.h"
#include "base/os/pages.h"
#include "results/chunks.h"
#include "results/open_calls.h"

#include <stdlib.h>
#include <string.h>

/* ---- What a walk reads -----------------------------------------------------------------------*/

static unsigned cached_columns(const sp_row_cache *cache)
{
    unsigned mask = 0;
    for (int c = 0; cache != NULL && c < SP_COLUMN_COUNT; c++)
        if (cache->values[c] != NULL)
            mask |= SP_COLUMN_BIT(c);
    return mask;
}

/* What the run held before a walk. */
typedef struct holdings {
    unsigned *columns; /* of the rank's rows, in order of the chain */
    size_t num_blocks;
} holdings;

static int remember(const sp_results *results, uint32_t rank, holdings *out, sp_error *error)
{
    size_t count = 0;
    uint32_t first = sp_run_first_row_of_rank(results, rank);
    for (uint32_t r = first; r != SP_NO_ROW; r = results->rows.items[r].next_in_rank)
        count++;
    *out = (holdings){malloc((count + 1) * sizeof *out->columns), results->blocks.count};
    if (out->columns == NULL)
        return sp_fail_memory(error, "walking through calls");
    count = 0;
    for (uint32_t r = first; r != SP_NO_ROW; r = results->rows.items[r].next_in_rank)
        out->columns[count++] = cached_columns(results->rows.items[r].cache);
    return SP_OK;
}

/* Gives back what has come since. */
static void restore(sp_results *results, uint32_t rank, holdings *before)
{
    const unsigned *columns = before->columns;
    for (uint32_t r = sp_run_first_row_of_rank(results, rank); r != SP_NO_ROW;
         r = results->rows.items[r].next_in_rank) {
        sp_row_cache *cache = results->rows.items[r].cache;
        unsigned drop = cached_columns(cache) & ~*columns++;
        for (int c = 0; c < SP_COLUMN_COUNT; c++)
            if (drop & SP_COLUMN_BIT(c)) {
                free(cache->owned[c]);
                cache->owned[c] = NULL;
                cache->values[c] = NULL;
            }
    }
    sp_run_release_blocks(results, before->num_blocks);
    free(before->columns);
}

int sp_run_walk_tree(sp_results *results, uint32_t rank, sp_tree_visitor visit, void *context,
                     sp_error *error)
{
    const sp_run_tree *known = sp_run_find_tree(results, rank, false);
    sp_run_tree tree = {.rank = rank};
    holdings before;
    int status = remember(results, rank, &before, error);
    if (status != SP_OK)
        return status;
    status = known == NULL ? sp_run_build_tree(results, &tree, error) : SP_OK;
    if (status == SP_OK) {
        status = visit(context, known == NULL ? &tree.tree : &known->tree, error);
        sp_os_pages_free(tree.memory, tree.memory_size);
    }
    restore(results, rank, &before);
    return status;
}

/* ---- Steps -----------------------------------------------------------------------------------*/

typedef struct walker {
    sp_results *results;
    sp_call_visitor visit;
    void *context;
    sp_open_calls open;
    int64_t before; /* start of the call before */
    /* One window of calls. */
    sp_tree_arrays window;
    size_t room;
    int64_t *ids; /* NULL: nested by intervals */
} walker;

/* Visits call i of the window; false when it is not regular or the visitor stops. */
static bool step(walker *w, size_t i)
{
    const sp_tree_arrays *calls = &w->window;
    sp_walked_call call = {calls->row[i], calls->call_index[i], calls->start[i], calls->end[i]};
    sp_open_stack *stack =
        calls->lane == NULL ? &w->open.only : sp_open_calls_of_lane(&w->open, calls->lane[i]);
    bool is_regular;
    if (stack == NULL || call.start < w->before)
        return false;
    w->before = call.start;
    if (w->ids == NULL)
        sp_open_stack_close_by_interval(stack, call.start, call.end);
    else if (!sp_open_stack_close_by_id(stack, calls->parent[i]))
        return false;
    const sp_open_call *parent = sp_open_stack_enter(stack, call.start, call.end, &is_regular);
    if (!is_regular)
        return false;
    uint64_t value = w->visit(w->context, &call, parent == NULL ? SP_WALK_ROOT : parent->value);
    return value != SP_WALK_STOP && sp_open_stack_push(stack, w->ids == NULL ? 0 : w->ids[i],
                                                       call.start, call.end, value);
}

/* ---- Windows ---------------------------------------------------------------------------------*/

/* Makes room for a window of that many calls. */
static bool make_room(walker *w, size_t count, bool has_lanes, bool has_ids)
{
    sp_tree_arrays *window = &w->window;
    if (count <= w->room)
        return true;
    size_t per_call = 5 * sizeof(int64_t) + sizeof(uint32_t) + (has_lanes ? sizeof(int64_t) : 0);
    char *memory = malloc(count * per_call);
    if (memory == NULL)
        return false;
    free(window->start);
    window->start = (int64_t *)(void *)memory;
    window->end = window->start + count;
    window->parent = window->end + count;
    window->call_index = (uint64_t *)(window->parent + count);
    w->ids = has_ids ? (int64_t *)window->call_index + count : NULL;
    int64_t *next = (int64_t *)window->call_index + 2 * count;
    window->lane = has_lanes ? next : NULL;
    window->row = (uint32_t *)(next + (has_lanes ? count : 0));
    w->room = count;
    return true;
}

static bool step_through(walker *w, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!step(w, i))
            return false;
    sp_run_advance(w->results, count);
    return true;
}

static int walk_by_place(walker *w, const sp_call_sources *sources, int64_t low, bool *done,
                         sp_error *error)
{
    sp_id_windows windows;
    int status = sp_id_windows_init(&windows, sources, low, error);
    if (status != SP_OK)
        return status;
    while (*done && sp_id_windows_next(&windows)) {
        size_t count = windows.to - windows.from;
        *done = make_room(w, count, sources->has_lanes, true) &&
                sp_id_windows_place(&windows, &w->window, 0);
        for (size_t i = 0; *done && i < count; i++)
            w->ids[i] = low + (int64_t)(windows.from + i);
        *done = *done && step_through(w, count);
    }
    sp_id_windows_release(&windows);
    return SP_OK;
}

/* Swaps calls a and b of the window, which start together. */
static void swap_calls(walker *w, size_t a, size_t b)
{
    sp_tree_arrays *calls = &w->window;
    uint32_t row = calls->row[a];
    uint64_t index = calls->call_index[a];
    int64_t end = calls->end[a];
    int64_t id = w->ids[a], parent = calls->parent[a];
    calls->row[a] = calls->row[b];
    calls->end[a] = calls->end[b];
    calls->call_index[a] = calls->call_index[b];
    w->ids[a] = w->ids[b];
    calls->parent[a] = calls->parent[b];
    calls->row[b] = row;
    calls->end[b] = end;
    calls->call_index[b] = index;
    w->ids[b] = id;
    calls->parent[b] = parent;
    if (calls->lane != NULL) {
        int64_t lane = calls->lane[a];
        calls->lane[a] = calls->lane[b];
        calls->lane[b] = lane;
    }
}

/* Lets the call at `root` sink in the heap of `count` calls from `first` on, largest id on top. */
static void sink(walker *w, size_t first, size_t root, size_t count)
{
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && w->ids[first + child] < w->ids[first + child + 1])
            child++;
        if (w->ids[first + root] >= w->ids[first + child])
            return;
        swap_calls(w, first + root, first + child);
    }
}

static void sort_by_id(walker *w, size_t first, size_t count)
{
    size_t sorted = 1;
    while (sorted < count && w->ids[first + sorted - 1] <= w->ids[first + sorted])
        sorted++;
    if (sorted >= count)
        return;
    for (size_t root = count / 2; root-- > 0;)
        sink(w, first, root, count);
    for (size_t left = count; left-- > 1;) {
        swap_calls(w, first, first + left);
        sink(w, first, 0, left);
    }
}

/* Calls of one interval stand in order of rows; their ids tell which began first. Of calls that only
 * start together (`whole_intervals` false) the same, whatever their ends: a call of no length may come
 * before the one that follows it. */
static void order_equal_calls(walker *w, size_t count, bool whole_intervals)
{
    const sp_tree_arrays *calls = &w->window;
    for (size_t i = 0, to; i < count; i = to) {
        for (to = i + 1; to < count && calls->start[to] == calls->start[i] &&
                         (!whole_intervals || calls->end[to] == calls->end[i]);)
            to++;
        sort_by_id(w, i, to - i);
    }
}

static int walk_by_time(walker *w, const sp_call_sources *sources, bool with_ids, bool *done,
                        sp_error *error)
{
    sp_call_order *order;
    size_t count = 0;
    int status = sp_call_order_create(sources, &order, error);
    if (status != SP_OK)
        return status;
    do {
        status = sp_call_order_next(order, &count, error);
        if (status != SP_OK || count == 0)
            break;
        *done = make_room(w, count, sources->has_lanes, with_ids);
        if (*done) {
            sp_call_order_write(order, &w->window, w->ids, 0);
            if (with_ids)
                order_equal_calls(w, count, false);
            *done = step_through(w, count);
        }
    } while (*done);
    sp_call_order_free(order);
    return status;
}

static int walk_sources(walker *w, const sp_call_sources *sources, bool *done, sp_error *error)
{
    sp_id_range range = {.low = -1};
    if (sources->has_ids && sources->num_calls > 0)
        range = sp_call_id_range(sources);
    if (range.low >= 0 && sp_call_ids_are_placeable(sources, &range))
        return walk_by_place(w, sources, range.low, done, error);
    return walk_by_time(w, sources, range.low >= 0, done, error);
}

/* Chunk by chunk: what is open at the end of one is still open in the next. */
static int walk_chunks(walker *w, sp_call_chunks *chunks, bool *done, sp_error *error)
{
    const sp_call_sources *sources;
    bool is_first = true, with_ids = false;
    int status = sp_call_chunks_next(chunks, &sources, error);
    while (status == SP_OK && sources != NULL && *done) {
        bool has_ids = sources->has_ids && sp_call_id_range(sources).low >= 0;
        with_ids = is_first ? has_ids : with_ids;
        *done = has_ids == with_ids;
        if (*done)
            status = walk_by_time(w, sources, with_ids, done, error);
        if (status == SP_OK && *done)
            status = sp_call_chunks_next(chunks, &sources, error);
        is_first = false;
    }
    return status;
}

static int walk_whole(walker *w, uint32_t rank, bool *done, sp_error *error)
{
    sp_call_sources sources;
    int status = sp_call_sources_collect(w->results, rank, true, &sources, error);
    if (status != SP_OK)
        return status;
    status = walk_sources(w, &sources, done, error);
    sp_call_sources_release(&sources);
    return status;
}

int sp_run_walk(sp_results *results, uint32_t rank, sp_call_visitor visit, void *context,
                bool *out_done, sp_error *error)
{
    walker w = {.results = results, .visit = visit, .context = context, .before = INT64_MIN};
    sp_call_chunks *chunks = NULL;
    bool done = true;
    holdings before;
    int status = remember(results, rank, &before, error);
    if (status != SP_OK)
        return status;
    status = sp_call_chunks_open(results, rank, true, 0, &chunks, error);
    if (status == SP_OK)
        status = chunks == NULL ? walk_whole(&w, rank, &done, error)
                                : walk_chunks(&w, chunks, &done, error);
    sp_call_chunks_close(chunks);
    sp_open_calls_release(&w.open);
    free(w.window.start);
    restore(results, rank, &before);
    *out_done = done;
    return status;
}

/* ---- All calls -------------------------------------------------------------------------------*/

static int visit_windows(walker *w, const sp_call_sources *sources, const sp_row_part *parts,
                         sp_window_visitor visit, sp_error *error)
{
    sp_call_order *order;
    size_t count = 0;
    int status = sp_call_order_create(sources, &order, error);
    if (status != SP_OK)
        return status;
    for (;;) {
        status = sp_call_order_next(order, &count, error);
        if (status != SP_OK || count == 0)
            break;
        if (!make_room(w, count, sources->has_lanes, sources->has_ids)) {
            status = sp_fail_memory(error, "walking through calls");
            break;
        }
        sp_call_order_write(order, &w->window, w->ids, 0);
        if (w->ids != NULL)
            order_equal_calls(w, count, true);
        sp_call_window window = {count,           w->window.row, w->window.call_index,
                                 w->window.start, w->window.end, w->ids,
                                 w->window.lane,  parts};
        status = visit(w->context, &window, error);
        if (status != SP_OK)
            break;
        sp_run_advance(w->results, count);
    }
    sp_call_order_free(order);
    return status;
}

static int load_columns(sp_results *results, uint32_t row, unsigned columns, sp_error *error)
{
    int status = SP_OK;
    for (int c = 0; status == SP_OK && c < SP_COLUMN_COUNT; c++) {
        const int64_t *values;
        size_t count;
        if (columns & SP_COLUMN_BIT(c))
            status = sp_results_column(results, row, (sp_column)c, &values, &count, error);
    }
    return status;
}

/* The whole rank at once. */
static int visit_whole(walker *w, uint32_t rank, unsigned columns, sp_window_visitor visit,
                       sp_error *error)
{
    sp_results *results = w->results;
    sp_call_sources sources;
    sp_row_part *parts = calloc(results->rows.count + 1, sizeof *parts);
    int status = parts == NULL ? sp_fail_memory(error, "walking through calls")
                               : sp_run_load_rank(results, rank, columns, error);
    for (uint32_t r = sp_run_first_row_of_rank(results, rank); status == SP_OK && r != SP_NO_ROW;
         r = results->rows.items[r].next_in_rank) {
        status = load_columns(results, r, columns & results->rows.items[r].columns, error);
        if (results->rows.items[r].cache != NULL)
            memcpy(parts[r].values, results->rows.items[r].cache->values, sizeof parts[r].values);
    }
    if (status == SP_OK)
        status = sp_call_sources_collect(results, rank, true, &sources, error);
    if (status == SP_OK) {
        status = visit_windows(w, &sources, parts, visit, error);
        sp_call_sources_release(&sources);
    }
    free(parts);
    return status;
}

static int visit_chunks(walker *w, sp_call_chunks *chunks, sp_window_visitor visit, sp_error *error)
{
    const sp_call_sources *sources;
    int status = sp_call_chunks_next(chunks, &sources, error);
    while (status == SP_OK && sources != NULL) {
        status = visit_windows(w, sources, sp_call_chunks_parts(chunks), visit, error);
        if (status == SP_OK)
            status = sp_call_chunks_next(chunks, &sources, error);
    }
    return status;
}

int sp_run_walk_windows(sp_results *results, uint32_t rank, unsigned columns,
                        sp_window_visitor visit, void *context, sp_error *error)
{
    walker w = {.results = results, .context = context};
    sp_call_chunks *chunks = NULL;
    holdings before;
    int status = remember(results, rank, &before, error);
    if (status != SP_OK)
        return status;
    status = sp_call_chunks_open(results, rank, true, columns, &chunks, error);
    if (status == SP_OK)
        status = chunks == NULL ? visit_whole(&w, rank, columns, visit, error)
                                : visit_chunks(&w, chunks, visit, error);
    sp_call_chunks_close(chunks);
    free(w.window.start);
    restore(results, rank, &before);
    return status;
}
