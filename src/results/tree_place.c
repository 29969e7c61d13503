/* tree_place.c - the call tree of a regular recording of one lane. Its ids number the calls in the
 * order of their begins, so that a call's place is its id less the lowest; the tree is then made in
 * one pass, window by window of ids, in which each row is read forwards. */
#include "results/tree.h"

#include "base/error.h"
#include "results/moments.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW_CALLS = 4096 };

sp_id_range sp_call_id_range(const sp_call_sources *sources)
{
    sp_id_range range = {INT64_MAX, INT64_MIN, true};
    for (size_t s = 0; s < sources->list.count; s++) {
        const sp_call_source *source = &sources->list.items[s];
        int64_t before = INT64_MIN;
        bool ascends = true;
        for (uint32_t i = 0; i < source->count; i++) {
            int64_t id = source->id[i];
            ascends &= id > before;
            before = id;
            range.low = id < range.low ? id : range.low;
            range.high = id > range.high ? id : range.high;
        }
        range.ascends = range.ascends && ascends;
    }
    return range;
}

/* Ids go through one lane after the other, so that with several of them their order is not that of
 * time. */
static bool has_one_lane(const sp_call_sources *sources)
{
    int64_t lane = 0;
    for (size_t s = 0; s < sources->list.count; s++) {
        const sp_call_source *source = &sources->list.items[s];
        if (s == 0)
            lane = sp_call_lane(source, 0);
        if (source->thread == NULL && source->task == NULL && lane != -1)
            return false;
        for (uint32_t i = 0; (source->thread != NULL || source->task != NULL) && i < source->count;
             i++)
            if (sp_call_lane(source, i) != lane)
                return false;
    }
    return true;
}

bool sp_call_ids_are_placeable(const sp_call_sources *sources, const sp_id_range *range)
{
    return range->ascends && sources->num_calls > 0 &&
           (uint64_t)range->high - (uint64_t)range->low == sources->num_calls - 1 &&
           (!sources->has_lanes || has_one_lane(sources));
}

/* ---- Windows ---------------------------------------------------------------------------------*/

int sp_id_windows_init(sp_id_windows *windows, const sp_call_sources *sources, int64_t low,
                       sp_error *error)
{
    size_t count = sources->list.count;
    size_t size = count < WINDOW_CALLS / 4 ? WINDOW_CALLS : count * 4;
    *windows = (sp_id_windows){.sources = sources, .low = low, .size = size,
                               .next = calloc(count + 1, sizeof *windows->next),
                               .seen = malloc(size)};
    if (windows->next != NULL && windows->seen != NULL)
        return SP_OK;
    sp_id_windows_release(windows);
    return sp_fail_memory(error, "building a call tree");
}

void sp_id_windows_release(sp_id_windows *windows)
{
    free(windows->next);
    free(windows->seen);
}

bool sp_id_windows_next(sp_id_windows *windows)
{
    size_t left = windows->sources->num_calls - windows->to;
    windows->from = windows->to;
    windows->to += left < windows->size ? left : windows->size;
    return left > 0;
}

bool sp_id_windows_place(sp_id_windows *windows, sp_tree_arrays *tree, size_t at)
{
    size_t placed = 0, size = windows->to - windows->from;
    int64_t first = windows->low + (int64_t)windows->from;
    memset(windows->seen, 0, size);
    for (size_t s = 0; s < windows->sources->list.count; s++) {
        const sp_call_source *source = &windows->sources->list.items[s];
        uint32_t i = windows->next[s];
        for (; i < source->count; i++) {
            size_t place = (size_t)(source->id[i] - first);
            if (place >= size)
                break;
            if (windows->seen[place]++ != 0)
                return false;
            place += at;
            tree->row[place] = source->row;
            tree->call_index[place] = source->first + (uint64_t)i;
            tree->start[place] = source->start[i];
            tree->end[place] = sp_wrap_add(source->start[i], source->duration[i]);
            tree->parent[place] = source->parent[i];
            if (tree->lane != NULL)
                tree->lane[place] = sp_call_lane(source, i);
        }
        placed += i - windows->next[s];
        windows->next[s] = i;
    }
    return placed == size;
}

/* ---- Linking ---------------------------------------------------------------------------------*/

/* The open calls of the lane, by depth. */
typedef struct open_call {
    int64_t at;          /* position of the latest call of this depth */
    int64_t children_to; /* end of its latest child */
} open_call;

typedef struct placer {
    sp_tree_arrays *tree;
    int64_t low;
    SP_VECTOR(open_call) open;
} placer;

static bool is_after(const sp_tree_arrays *tree, size_t i, size_t before)
{
    if (tree->start[i] != tree->start[before])
        return tree->start[i] > tree->start[before];
    if (tree->end[i] != tree->end[before])
        return tree->end[i] < tree->end[before];
    return tree->row[i] > tree->row[before] ||
           (tree->row[i] == tree->row[before] && tree->call_index[i] > tree->call_index[before]);
}

/* Links one call; false when it is out of order, crosses its parent or follows another lane. */
static bool link_call(placer *p, size_t i)
{
    sp_tree_arrays *tree = p->tree;
    open_call *open = p->open.items;
    int64_t length = sp_wrap_subtract(tree->end[i], tree->start[i]);
    int64_t parent = tree->parent[i];
    size_t depth = 0;
    parent = parent < p->low || parent - p->low >= (int64_t)tree->count ? -1 : parent - p->low;
    if (parent >= (int64_t)i || (i > 0 && !is_after(tree, i, i - 1)))
        return false;
    if (parent >= 0) {
        size_t parent_depth = (size_t)tree->depth[parent];
        open_call *above = &open[parent_depth];
        if (above->at != parent || tree->start[i] < above->children_to ||
            tree->end[i] > tree->end[parent])
            return false;
        above->children_to = tree->end[i];
        tree->exclusive[parent] -= length;
        depth = parent_depth + 1;
    }
    open[depth] = (open_call){(int64_t)i, tree->start[i]};
    tree->parent[i] = parent;
    tree->depth[i] = (int32_t)depth;
    tree->exclusive[i] = length;
    return true;
}

static bool link_window(placer *p, size_t from, size_t to, int *status, sp_error *error)
{
    size_t deepest = from == 0 ? 0 : (size_t)p->tree->depth[from - 1];
    for (size_t i = from; i < to; i++) {
        /* A call is at most one deeper than the one before it. */
        if (deepest + 2 > p->open.room) {
            p->open.count = p->open.room;
            if (!sp_vector_reserve(&p->open, 1)) {
                *status = sp_fail_memory(error, "building a call tree");
                return false;
            }
        }
        if (p->tree->end[i] < p->tree->start[i] || !link_call(p, i))
            return false;
        deepest = (size_t)p->tree->depth[i];
    }
    return true;
}

int sp_tree_place(const sp_call_sources *sources, const sp_id_range *range, sp_tree_arrays *tree,
                  bool *out_done, sp_error *error)
{
    placer p = {.tree = tree, .low = range->low};
    sp_id_windows windows;
    bool done = true;
    int status = sp_id_windows_init(&windows, sources, range->low, error);
    if (status != SP_OK)
        return status;
    while (status == SP_OK && done && sp_id_windows_next(&windows))
        done = sp_id_windows_place(&windows, tree, windows.from) &&
               link_window(&p, windows.from, windows.to, &status, error);
    sp_id_windows_release(&windows);
    sp_vector_release(&p.open);
    *out_done = done;
    return status;
}
