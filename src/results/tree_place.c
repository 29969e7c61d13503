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

bool sp_call_ids_are_placeable(const sp_call_sources *sources, const sp_id_range *range)
{
    return range->ascends && sources->num_calls > 0 &&
           (uint64_t)range->high - (uint64_t)range->low == sources->num_calls - 1;
}

/* The open calls of the lane, by depth. */
typedef struct open_call {
    int64_t at;          /* position of the latest call of this depth */
    int64_t children_to; /* end of its latest child */
} open_call;

typedef struct placer {
    const sp_call_sources *sources;
    sp_tree_arrays *tree;
    int64_t low;
    uint32_t *next; /* of each source */
    unsigned char *seen;
    size_t window;
    SP_VECTOR(open_call) open;
} placer;

/* Writes the calls with places [from, to); false when a place is taken twice or left empty. */
static bool place_window(placer *p, size_t from, size_t to)
{
    sp_tree_arrays *tree = p->tree;
    size_t placed = 0;
    memset(p->seen, 0, to - from);
    for (size_t s = 0; s < p->sources->list.count; s++) {
        const sp_call_source *source = &p->sources->list.items[s];
        uint32_t i = p->next[s];
        for (; i < source->count; i++) {
            size_t at = (size_t)(source->id[i] - p->low);
            if (at >= to)
                break;
            if (p->seen[at - from]++ != 0)
                return false;
            tree->row[at] = source->row;
            tree->call_index[at] = source->first + (uint64_t)i;
            tree->start[at] = source->start[i];
            tree->end[at] = sp_wrap_add(source->start[i], source->duration[i]);
            tree->parent[at] = source->parent[i];
            if (tree->lane != NULL)
                tree->lane[at] = sp_call_lane(source, i);
        }
        placed += i - p->next[s];
        p->next[s] = i;
    }
    return placed == to - from;
}

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
    size_t num_sources = sources->list.count;
    size_t window = num_sources < WINDOW_CALLS / 4 ? WINDOW_CALLS : num_sources * 4;
    placer p = {.sources = sources, .tree = tree, .low = range->low, .window = window,
                .next = calloc(num_sources + 1, sizeof *p.next), .seen = malloc(window)};
    int status = SP_OK;
    bool done = true;
    if (p.next == NULL || p.seen == NULL)
        status = sp_fail_memory(error, "building a call tree");
    for (size_t from = 0; status == SP_OK && done && from < tree->count; from += window) {
        size_t to = tree->count - from < window ? tree->count : from + window;
        done = place_window(&p, from, to) && link_window(&p, from, to, &status, error);
    }
    free(p.next);
    free(p.seen);
    sp_vector_release(&p.open);
    *out_done = done;
    return status;
}
