#include "results/walk.h"

#include "base/error.h"
#include "base/os/pages.h"
#include "results/moments.h"
#include "results/tree.h"

#include <stdlib.h>

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

/* ---- Open calls ------------------------------------------------------------------------------*/

typedef struct walked_open {
    int64_t id, end;
    int64_t children_to; /* end of the latest child */
    uint64_t value;      /* what the visitor returned */
} walked_open;

typedef struct walked_lane {
    SP_VECTOR(walked_open) open;
} walked_lane;

typedef struct walker {
    sp_call_visitor visit;
    void *context;
    sp_lane_map lanes;
    SP_VECTOR(walked_lane) stacks; /* by number of the lane */
    walked_lane only;              /* of calls without lanes */
    int64_t before;                /* start of the call before */
    /* One window of calls. */
    sp_tree_arrays window;
    size_t room;
    int64_t *ids; /* NULL: nested by intervals */
} walker;

static walked_lane *lane_of(walker *w, int64_t lane)
{
    uint32_t number = sp_lane_number(&w->lanes, lane);
    if (number == SP_NUMBER_NONE)
        return NULL;
    if (number == w->stacks.count) {
        if (!sp_vector_reserve(&w->stacks, 1))
            return NULL;
        w->stacks.items[w->stacks.count++] = (walked_lane){.open = {0}};
    }
    return &w->stacks.items[number];
}

/* Closes the calls above the parent; false when a recorded parent is not open. */
static bool find_parent_by_id(walked_lane *lane, int64_t parent)
{
    while (lane->open.count > 0 && lane->open.items[lane->open.count - 1].id != parent)
        lane->open.count--;
    return lane->open.count > 0 || parent < 0;
}

static void find_parent_by_interval(walked_lane *lane, int64_t start, int64_t end)
{
    while (lane->open.count > 0) {
        int64_t above = lane->open.items[lane->open.count - 1].end;
        if (above > start || (above == start && end == start))
            return;
        lane->open.count--;
    }
}

/* Visits call i of the window; false when it is not regular or the visitor stops. */
static bool step(walker *w, size_t i)
{
    const sp_tree_arrays *calls = &w->window;
    sp_walked_call call = {calls->row[i], calls->call_index[i], calls->start[i], calls->end[i]};
    walked_lane *lane = calls->lane == NULL ? &w->only : lane_of(w, calls->lane[i]);
    if (lane == NULL || call.end < call.start || call.start < w->before)
        return false;
    w->before = call.start;
    if (w->ids == NULL)
        find_parent_by_interval(lane, call.start, call.end);
    else if (!find_parent_by_id(lane, calls->parent[i]))
        return false;
    uint64_t above = SP_WALK_ROOT;
    if (lane->open.count > 0) {
        walked_open *parent = &lane->open.items[lane->open.count - 1];
        if (call.end > parent->end || call.start < parent->children_to)
            return false;
        parent->children_to = call.end;
        above = parent->value;
    }
    uint64_t value = w->visit(w->context, &call, above);
    if (value == SP_WALK_STOP || !sp_vector_reserve(&lane->open, 1))
        return false;
    lane->open.items[lane->open.count++] = (walked_open){
        .id = w->ids == NULL ? 0 : w->ids[i], .end = call.end, .children_to = call.start,
        .value = value};
    return true;
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

static void release(walker *w)
{
    for (size_t i = 0; i < w->stacks.count; i++)
        sp_vector_release(&w->stacks.items[i].open);
    sp_vector_release(&w->only.open);
    sp_vector_release(&w->stacks);
    sp_number_map_release(&w->lanes.numbers);
    free(w->window.start);
}

int sp_run_walk(sp_results *results, uint32_t rank, sp_call_visitor visit, void *context,
                bool *out_done, sp_error *error)
{
    walker w = {.visit = visit, .context = context, .before = INT64_MIN};
    sp_call_sources sources;
    bool done = true;
    holdings before;
    int status = remember(results, rank, &before, error);
    if (status != SP_OK)
        return status;
    status = sp_call_sources_collect(results, rank, true, &sources, error);
    if (status == SP_OK) {
        status = walk_sources(&w, &sources, &done, error);
        sp_call_sources_release(&sources);
    }
    release(&w);
    restore(results, rank, &before);
    *out_done = done;
    return status;
}
