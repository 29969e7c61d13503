#include "export/call_paths.h"

#include "base/error.h"
#include "base/os/pages.h"
#include "results/moments.h"
#include "results/walk.h"

#include <stdlib.h>

static bool add_node(sp_call_paths *paths, uint32_t parent, uint32_t region)
{
    if (paths->nodes.count == SP_NO_ROW || !sp_vector_reserve(&paths->nodes, 1))
        return false;
    uint32_t number = (uint32_t)paths->nodes.count++;
    paths->nodes.items[number] = (sp_path_node){.parent = parent, .region = region};
    if (number == SP_PATH_ROOT)
        return true;
    sp_path_node *above = &paths->nodes.items[parent];
    if (above->first_child == SP_PATH_ROOT)
        above->first_child = number;
    else
        paths->nodes.items[above->last_child].next_sibling = number;
    above->last_child = number;
    return true;
}

/* Node of a region below another node; SP_NO_ROW when memory is short. */
static uint32_t child_of(sp_call_paths *paths, uint32_t parent, uint32_t region)
{
    uint32_t latest = paths->nodes.items[parent].last_child;
    if (latest != SP_PATH_ROOT && paths->nodes.items[latest].region == region)
        return latest;
    uint64_t key = (uint64_t)parent << 32 | region;
    uint32_t known = sp_number_map_get(&paths->children, key);
    if (known != SP_NUMBER_NONE)
        return known;
    uint32_t number = (uint32_t)paths->nodes.count;
    bool added = add_node(paths, parent, region) &&
                 sp_number_map_set(&paths->children, key, number);
    paths->failed = paths->failed || !added;
    return added ? number : SP_NO_ROW;
}

static void count_call(sp_path_node *node, int64_t duration, int64_t exclusive)
{
    node->calls++;
    node->total = sp_wrap_add(node->total, duration);
    node->exclusive = sp_wrap_add(node->exclusive, exclusive);
}

/* ---- Without call trees ----------------------------------------------------------------------*/

/* What a visited call is for those inside it: its node, and whether the node's exclusive time is
 * its own, from which theirs is taken. */
static uint64_t visit_call(void *context, const sp_walked_call *call, uint64_t above)
{
    sp_call_paths *paths = context;
    uint32_t region = paths->results->rows.items[call->row].region;
    uint32_t node = above == SP_WALK_ROOT ? SP_PATH_ROOT : (uint32_t)(above >> 1);
    int64_t duration = call->end - call->start;
    if (above != SP_WALK_ROOT && (above & 1))
        paths->nodes.items[node].exclusive =
            sp_wrap_subtract(paths->nodes.items[node].exclusive, duration);
    if (!paths->regions[region])
        return (uint64_t)node << 1;
    node = child_of(paths, node, region);
    if (node == SP_NO_ROW)
        return SP_WALK_STOP;
    count_call(&paths->nodes.items[node], duration, duration);
    return (uint64_t)node << 1 | 1;
}

/* ---- With call trees -------------------------------------------------------------------------*/

/* Node of a call whose parent's node is known. */
static bool place(sp_call_paths *paths, const sp_call_tree *tree, int64_t call)
{
    int64_t parent = tree->parent[call];
    uint32_t above = parent < 0 ? SP_PATH_ROOT : paths->node_of[parent] - 1;
    uint32_t region = paths->results->rows.items[tree->row[call]].region;
    uint32_t node = paths->regions[region] ? child_of(paths, above, region) : above;
    paths->node_of[call] = node + 1;
    return node != SP_NO_ROW;
}

/* The same when parents may come later in the order, as those of crossing calls can. */
static bool place_with_parents(sp_call_paths *paths, const sp_call_tree *tree, size_t call)
{
    paths->unknown.count = 0;
    for (int64_t at = (int64_t)call; at >= 0 && paths->node_of[at] == 0; at = tree->parent[at]) {
        if (!sp_vector_reserve(&paths->unknown, 1))
            return false;
        paths->unknown.items[paths->unknown.count++] = at;
    }
    while (paths->unknown.count > 0)
        if (!place(paths, tree, paths->unknown.items[--paths->unknown.count]))
            return false;
    return true;
}

static bool count_tree(sp_call_paths *paths, const sp_call_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        if (!place_with_parents(paths, tree, i))
            return false;
        if (paths->regions[paths->results->rows.items[tree->row[i]].region])
            count_call(&paths->nodes.items[paths->node_of[i] - 1],
                       sp_wrap_subtract(tree->end_ns[i], tree->start_ns[i]),
                       tree->exclusive_ns[i]);
    }
    return true;
}

static int visit_tree(void *context, const sp_call_tree *tree, sp_error *error)
{
    sp_call_paths *paths = context;
    size_t size = tree->count * sizeof *paths->node_of;
    if (tree->count == 0)
        return SP_OK;
    paths->node_of = sp_os_pages_alloc(size);
    bool done = paths->node_of != NULL && count_tree(paths, tree);
    sp_os_pages_free(paths->node_of, size);
    return done ? SP_OK : sp_fail_memory(error, "summing up call paths");
}

/* ---- Paths -----------------------------------------------------------------------------------*/

static void finish(sp_call_paths *paths)
{
    for (size_t i = 0; i < paths->nodes.count; i++)
        paths->nodes.items[i].remaining = paths->nodes.items[i].total;
    for (size_t i = 1; i < paths->nodes.count; i++) {
        const sp_path_node *node = &paths->nodes.items[i];
        sp_path_node *above = &paths->nodes.items[node->parent];
        above->remaining = sp_wrap_subtract(above->remaining, node->total);
        if (node->parent == SP_PATH_ROOT)
            above->total = sp_wrap_add(above->total, node->total);
    }
    paths->nodes.items[SP_PATH_ROOT].remaining = 0;
}

int sp_call_paths_init(sp_call_paths *paths, sp_results *results, const bool *regions,
                       uint32_t rank, sp_error *error)
{
    bool done = false;
    int status = SP_OK;
    *paths = (sp_call_paths){.results = results, .regions = regions};
    if (!add_node(paths, SP_PATH_ROOT, 0))
        return sp_fail_memory(error, "summing up call paths");
    status = sp_run_walk(results, rank, visit_call, paths, &done, error);
    if (status == SP_OK && !done && !paths->failed) {
        sp_call_paths_release(paths);
        *paths = (sp_call_paths){.results = results, .regions = regions};
        paths->failed = !add_node(paths, SP_PATH_ROOT, 0);
        if (!paths->failed)
            status = sp_run_walk_tree(results, rank, visit_tree, paths, error);
    }
    if (status == SP_OK && paths->failed)
        status = sp_fail_memory(error, "summing up call paths");
    if (status == SP_OK)
        finish(paths);
    else
        sp_call_paths_release(paths);
    return status;
}

void sp_call_paths_release(sp_call_paths *paths)
{
    sp_vector_release(&paths->nodes);
    sp_vector_release(&paths->unknown);
    sp_number_map_release(&paths->children);
}

uint32_t sp_call_paths_next(const sp_call_paths *paths, uint32_t node, uint32_t *level)
{
    const sp_path_node *nodes = paths->nodes.items;
    if (nodes[node].first_child != SP_PATH_ROOT) {
        ++*level;
        return nodes[node].first_child;
    }
    while (node != SP_PATH_ROOT && nodes[node].next_sibling == SP_PATH_ROOT) {
        node = nodes[node].parent;
        --*level;
    }
    return node == SP_PATH_ROOT ? SP_PATH_ROOT : nodes[node].next_sibling;
}
