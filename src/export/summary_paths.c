/* summary_paths.c - one row a call path. A node is a region below another node; a region directly
 * below itself stays at the same node. One pass over the calls of each rank in order of their
 * starts; no call tree is built unless some rank is irregular. */
#include "base/error.h"
#include "base/os/pages.h"
#include "export/summary.h"
#include "results/select.h"
#include "results/walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROOT = 0 };

typedef struct path_node {
    uint32_t parent, region;
    uint32_t latest_child; /* ROOT: none; the next call is often of the same path */
    uint32_t rank_stamp;   /* number of the rank walked last */
    bool is_recursive;
    sp_moments moments;
    int64_t outermost; /* total of the calls that are not directly below one of the same node */
    int64_t exclusive, coverage;
    int64_t first_start, first; /* of the rank that began first */
    int64_t last_end, last;     /* of the rank that ended last */
    /* Of the rank that is being walked. */
    int64_t rank_end, rank_last, covered_to;
    uint64_t total_before;
    /* Over ranks. */
    uint32_t num_ranks, num_busy_ranks;
    double busy_total, busiest;
    SP_VECTOR(int64_t) durations; /* for percentiles */
    uint32_t entry;
} path_node;

typedef struct path_builder {
    sp_summary *summary;
    SP_VECTOR(path_node) nodes;
    sp_number_map children; /* parent << 32 | region to node */
    uint32_t stamp;
    bool failed; /* no memory */
    /* With a call tree. */
    uint32_t *node_of;          /* of each call: node plus one, 0 when not known yet */
    SP_VECTOR(int64_t) unknown; /* calls on the way up to a known one */
} path_builder;

/* ---- Nodes -----------------------------------------------------------------------------------*/

static bool add_node(path_builder *b, uint32_t parent, uint32_t region)
{
    if (b->nodes.count >= SP_NO_ROW - 1 || !sp_vector_reserve(&b->nodes, 1))
        return false;
    b->nodes.items[b->nodes.count++] = (path_node){.parent = parent, .region = region};
    return true;
}

/* The node of a region below another; SP_NO_ROW when memory is short. */
static uint32_t child_of(path_builder *b, uint32_t parent, uint32_t region)
{
    path_node *above = &b->nodes.items[parent];
    if (parent != ROOT && above->region == region) {
        above->is_recursive = true;
        return parent;
    }
    uint32_t latest = above->latest_child;
    if (latest != ROOT && b->nodes.items[latest].region == region)
        return latest;
    uint64_t key = (uint64_t)parent << 32 | region;
    uint32_t child = sp_number_map_get(&b->children, key);
    if (child == SP_NUMBER_NONE) {
        child = (uint32_t)b->nodes.count;
        if (!add_node(b, parent, region) || !sp_number_map_set(&b->children, key, child))
            return SP_NO_ROW;
    }
    b->nodes.items[parent].latest_child = child;
    return child;
}

/* ---- Calls -----------------------------------------------------------------------------------*/

static void enter_rank(path_node *node, uint32_t stamp, int64_t start, int64_t duration)
{
    if (node->num_ranks == 0 || start < node->first_start) {
        node->first_start = start;
        node->first = duration;
    }
    node->rank_stamp = stamp;
    node->num_ranks++;
    node->total_before = node->moments.total;
    node->rank_end = INT64_MIN;
    node->covered_to = start;
}

/* Calls come in order of their starts, so what earlier ones cover ends at one point. */
static void count_call(path_node *node, uint32_t stamp, int64_t start, int64_t end,
                       int64_t exclusive)
{
    int64_t duration = sp_wrap_subtract(end, start);
    if (node->rank_stamp != stamp)
        enter_rank(node, stamp, start, duration);
    sp_moments_add(&node->moments, start, duration);
    node->exclusive = sp_wrap_add(node->exclusive, exclusive);
    int64_t from = start > node->covered_to ? start : node->covered_to;
    if (end > from) {
        node->coverage = sp_wrap_add(node->coverage, sp_wrap_subtract(end, from));
        node->covered_to = end;
    }
    if (end > node->rank_end) {
        node->rank_end = end;
        node->rank_last = duration;
    }
}

/* Device time of a call, -1 when there is none. */
static int64_t gpu_time(const path_builder *b, uint32_t row, uint64_t call_index)
{
    const sp_row_cache *cache = b->summary->results->rows.items[row].cache;
    const int64_t *gpu = cache == NULL ? NULL : cache->values[SP_COLUMN_GPU_DURATION];
    return gpu == NULL ? -1 : gpu[call_index];
}

/* Counts one call of a selected region at its node; `above` is that of its parent. */
static void count(path_builder *b, uint32_t above, uint32_t at, const sp_walked_call *call,
                  int64_t exclusive)
{
    path_node *node = &b->nodes.items[at];
    count_call(node, b->stamp, call->start, call->end, exclusive);
    if (above != at)
        node->outermost =
            sp_wrap_add(node->outermost, sp_wrap_subtract(call->end, call->start));
    int64_t gpu = b->summary->has_gpu ? gpu_time(b, call->row, call->call_index) : -1;
    if (gpu >= 0) {
        node->moments.gpu_count++;
        node->moments.gpu_total += (uint64_t)gpu;
    }
    if (!b->summary->request.wants_percentiles)
        return;
    if (sp_vector_reserve(&node->durations, 1))
        node->durations.items[node->durations.count++] = sp_wrap_subtract(call->end, call->start);
    else
        b->failed = true;
}

static void leave_rank(path_builder *b)
{
    for (size_t i = 1; i < b->nodes.count; i++) {
        path_node *node = &b->nodes.items[i];
        if (node->rank_stamp != b->stamp)
            continue;
        if (node->num_ranks == 1 || node->rank_end > node->last_end) {
            node->last_end = node->rank_end;
            node->last = node->rank_last;
        }
        double total = (double)(int64_t)(node->moments.total - node->total_before);
        if (total > 0) {
            node->num_busy_ranks++;
            node->busy_total += total;
            node->busiest = total > node->busiest ? total : node->busiest;
        }
    }
}

/* Device times are read beforehand, so that they are found in the cache. */
static int load_gpu(sp_results *results, uint32_t rank, sp_error *error)
{
    for (uint32_t r = sp_run_first_row_of_rank(results, rank); r != SP_NO_ROW;
         r = results->rows.items[r].next_in_rank) {
        const int64_t *values;
        size_t count;
        if (!(results->rows.items[r].columns & SP_COLUMN_BIT(SP_COLUMN_GPU_DURATION)))
            continue;
        int status = sp_results_column(results, r, SP_COLUMN_GPU_DURATION, &values, &count, error);
        if (status != SP_OK)
            return status;
    }
    return SP_OK;
}

/* ---- Without call trees ----------------------------------------------------------------------*/

/* What a visited call is for those inside it: its node, and whether the node's exclusive time is
 * its own, from which theirs is taken. */
#define VALUE_OF(node, is_own) ((uint64_t)(node) << 1 | (is_own))

static uint64_t visit_call(void *context, const sp_walked_call *call, uint64_t above)
{
    path_builder *b = context;
    uint32_t region = b->summary->results->rows.items[call->row].region;
    uint32_t node = above == SP_WALK_ROOT ? ROOT : (uint32_t)(above >> 1);
    int64_t duration = call->end - call->start;
    if (above != SP_WALK_ROOT && (above & 1))
        b->nodes.items[node].exclusive = sp_wrap_subtract(b->nodes.items[node].exclusive, duration);
    if (!b->summary->request.regions[region])
        return VALUE_OF(node, 0);
    uint32_t own = child_of(b, node, region);
    b->failed = b->failed || own == SP_NO_ROW;
    if (!b->failed)
        count(b, node, own, call, duration);
    return b->failed ? SP_WALK_STOP : VALUE_OF(own, 1);
}

static int walk_rank(path_builder *b, uint32_t rank, bool *done, sp_error *error)
{
    int status = b->summary->has_gpu ? load_gpu(b->summary->results, rank, error) : SP_OK;
    b->stamp++;
    if (status == SP_OK)
        status = sp_run_walk(b->summary->results, rank, visit_call, b, done, error);
    if (b->failed)
        status = sp_fail_memory(error, "summing up a run");
    leave_rank(b);
    return status;
}

/* ---- With call trees -------------------------------------------------------------------------*/

static uint32_t node_above(const path_builder *b, const sp_call_tree *tree, size_t call)
{
    int64_t parent = tree->parent[call];
    return parent < 0 ? ROOT : b->node_of[parent] - 1;
}

/* Node of a call whose parent's node is known. A region that is not selected leaves its calls to
 * the path above. */
static bool place(path_builder *b, const sp_call_tree *tree, int64_t call)
{
    uint32_t above = node_above(b, tree, (size_t)call);
    uint32_t region = b->summary->results->rows.items[tree->row[call]].region;
    uint32_t node =
        b->summary->request.regions[region] ? child_of(b, above, region) : above;
    b->node_of[call] = node + 1;
    return node != SP_NO_ROW;
}

/* The same when parents may come later in the order, as those of crossing calls can. */
static bool place_with_parents(path_builder *b, const sp_call_tree *tree, size_t call)
{
    if (b->node_of[call] != 0)
        return true;
    b->unknown.count = 0;
    for (int64_t at = (int64_t)call; at >= 0 && b->node_of[at] == 0; at = tree->parent[at]) {
        if (!sp_vector_reserve(&b->unknown, 1))
            return false;
        b->unknown.items[b->unknown.count++] = at;
    }
    while (b->unknown.count > 0)
        if (!place(b, tree, b->unknown.items[--b->unknown.count]))
            return false;
    return true;
}

static bool count_tree(path_builder *b, const sp_call_tree *tree)
{
    for (size_t i = 0; i < tree->count && !b->failed; i++) {
        sp_walked_call call = {tree->row[i], tree->call_index[i], tree->start_ns[i],
                               tree->end_ns[i]};
        if (!place_with_parents(b, tree, i))
            return false;
        if (b->summary->request.regions[b->summary->results->rows.items[call.row].region])
            count(b, node_above(b, tree, i), b->node_of[i] - 1, &call, tree->exclusive_ns[i]);
    }
    return !b->failed;
}

static int visit_tree(void *context, const sp_call_tree *tree, sp_error *error)
{
    path_builder *b = context;
    size_t size = tree->count * sizeof *b->node_of;
    if (tree->count == 0)
        return SP_OK;
    b->node_of = sp_os_pages_alloc(size);
    bool done = b->node_of != NULL && count_tree(b, tree);
    sp_os_pages_free(b->node_of, size);
    return done ? SP_OK : sp_fail_memory(error, "summing up a run");
}

static int walk_rank_tree(path_builder *b, uint32_t rank, sp_error *error)
{
    int status = b->summary->has_gpu ? load_gpu(b->summary->results, rank, error) : SP_OK;
    b->stamp++;
    if (status == SP_OK)
        status = sp_run_walk_tree(b->summary->results, rank, visit_tree, b, error);
    leave_rank(b);
    return status;
}

/* ---- Rows ------------------------------------------------------------------------------------*/

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

static int set_percentiles(const path_node *node, sp_summary_row *row, sp_error *error)
{
    const sp_values values = {node->durations.items, node->durations.count};
    double *const outs[] = {&row->p50, &row->p95, &row->p99};
    const double percents[] = {50, 95, 99};
    for (int i = 0; i < 3; i++) {
        double value;
        int status = sp_select_percentile(&values, 1, percents[i], &value, error);
        if (status != SP_OK)
            return status;
        *outs[i] = value / 1e9;
    }
    return SP_OK;
}

static int fill_row(const path_builder *b, const path_node *node, sp_summary_row *row,
                    sp_error *error)
{
    const path_node *above = &b->nodes.items[node->parent];
    bool is_top = node->parent == ROOT;
    row->name = b->summary->results->regions.items[node->region].name;
    sp_summary_set_moments(row, &node->moments);
    row->num_ranks = node->num_ranks;
    row->total = seconds(node->outermost);
    row->coverage = seconds(node->coverage);
    row->exclusive = seconds(node->exclusive);
    row->first = seconds(node->first);
    row->last = seconds(node->last);
    row->start = seconds(node->first_start);
    row->imbalance = node->num_busy_ranks < 2
                         ? 0.0
                         : (node->busiest * node->num_busy_ranks / node->busy_total - 1.0) * 100.0;
    row->is_recursive = node->is_recursive;
    row->parent_coverage = is_top ? (double)NAN : seconds(above->coverage);
    row->depth = is_top ? 0 : b->summary->entries.items[above->entry].row.depth + 1;
    return b->summary->request.wants_percentiles ? set_percentiles(node, row, error) : SP_OK;
}

typedef struct sibling {
    int64_t start;
    const char *name;
    uint32_t node;
} sibling;

static int compare_siblings(const void *a, const void *b)
{
    const sibling *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    int by_name = strcmp(x->name, y->name);
    return by_name != 0 ? by_name : (x->node > y->node) - (x->node < y->node);
}

/* First child and next sibling of each node, siblings by their first start; 0: none. */
typedef struct path_links {
    uint32_t *first, *next;
} path_links;

static bool link_nodes(const path_builder *b, path_links *links)
{
    size_t count = b->nodes.count;
    sibling *order = malloc(count * sizeof *order);
    links->first = calloc(count, sizeof *links->first);
    links->next = calloc(count, sizeof *links->next);
    if (order == NULL || links->first == NULL || links->next == NULL) {
        free(order);
        return false;
    }
    for (size_t i = 1; i < count; i++)
        order[i] = (sibling){b->nodes.items[i].first_start,
                             b->summary->results->regions.items[b->nodes.items[i].region].name,
                             (uint32_t)i};
    qsort(order + 1, count - 1, sizeof *order, compare_siblings);
    for (size_t i = count - 1; i > 0; i--) {
        uint32_t node = order[i].node, parent = b->nodes.items[node].parent;
        links->next[node] = links->first[parent];
        links->first[parent] = node;
    }
    free(order);
    return true;
}

/* Rows in pre-order. */
static int add_rows(path_builder *b, const path_links *links, sp_error *error)
{
    sp_summary *summary = b->summary;
    if (!sp_vector_reserve(&summary->entries, b->nodes.count))
        return sp_fail_memory(error, "summing up a run");
    for (uint32_t at = links->first[ROOT]; at != ROOT;) {
        path_node *node = &b->nodes.items[at];
        sp_summary_entry *entry = &summary->entries.items[summary->entries.count];
        *entry = (sp_summary_entry){
            .parent = node->parent == ROOT ? SP_NO_ROW : b->nodes.items[node->parent].entry};
        node->entry = (uint32_t)summary->entries.count;
        int status = fill_row(b, node, &entry->row, error);
        if (status != SP_OK)
            return status;
        entry->row.has_children = links->first[at] != ROOT;
        summary->entries.count++;
        uint32_t next = links->first[at];
        while (next == ROOT && at != ROOT) {
            next = links->next[at];
            at = b->nodes.items[at].parent;
        }
        at = next;
    }
    return SP_OK;
}

static int add_uncalled(path_builder *b, sp_error *error)
{
    bool *called = calloc(b->summary->results->regions.count + 1, sizeof *called);
    if (called == NULL)
        return sp_fail_memory(error, "summing up a run");
    for (size_t i = 1; i < b->nodes.count; i++)
        called[b->nodes.items[i].region] = true;
    int status = sp_summary_add_uncalled(b->summary, called, error);
    free(called);
    return status;
}

static int finish(path_builder *b, sp_error *error)
{
    path_links links = {NULL, NULL};
    int status = link_nodes(b, &links) ? add_rows(b, &links, error)
                                       : sp_fail_memory(error, "summing up a run");
    free(links.first);
    free(links.next);
    return status == SP_OK ? add_uncalled(b, error) : status;
}

/* What keeps a call tree from being built, but not a table by region. */
static bool is_no_tree(int status)
{
    return status == SP_ERR_NESTING || status == SP_ERR_NO_EVENTS || status == SP_ERR_DAMAGED ||
           status == SP_ERR_UNSUPPORTED;
}

static void release(path_builder *b)
{
    for (size_t i = 0; i < b->nodes.count; i++)
        sp_vector_release(&b->nodes.items[i].durations);
    sp_vector_release(&b->nodes);
    sp_vector_release(&b->unknown);
    sp_number_map_release(&b->children);
}

/* Counts all selected ranks, with or without call trees; `*done` is false when the latter does not
 * do. */
static int count_ranks(path_builder *b, bool with_trees, bool *done, sp_error *error)
{
    const sp_results *results = b->summary->results;
    int status = add_node(b, ROOT, 0) ? SP_OK : sp_fail_memory(error, "summing up a run");
    *done = true;
    for (size_t i = 0; status == SP_OK && *done && i < results->ranks.count; i++) {
        uint32_t rank = results->ranks.items[i].rank;
        if (!sp_rank_filter_takes(&b->summary->request.ranks, rank))
            continue;
        status = with_trees ? walk_rank_tree(b, rank, error) : walk_rank(b, rank, done, error);
    }
    return status;
}

int sp_summary_add_paths(sp_summary *summary, bool *out_done, sp_error *error)
{
    path_builder b = {.summary = summary};
    sp_error reason = {0};
    int status = count_ranks(&b, false, out_done, &reason);
    if (status == SP_OK && !*out_done) {
        release(&b);
        b = (path_builder){.summary = summary};
        status = count_ranks(&b, true, out_done, &reason);
    }
    *out_done = status == SP_OK;
    if (status == SP_OK)
        status = finish(&b, &reason);
    release(&b);
    if (!*out_done && is_no_tree(status)) {
        memcpy(summary->reason, reason.text, sizeof reason.text);
        return SP_OK;
    }
    if (status != SP_OK && error != NULL)
        *error = reason;
    return status;
}
