/* plot_trees.c - plot data that is about nesting: every call with its path, call paths summed up, and
 * who called whom. */
#include "base/error.h"
#include "export/call_paths.h"
#include "export/plot.h"
#include "export/rank_paths.h"
#include "results/moments.h"
#include "results/walk.h"

#include <stdlib.h>

typedef struct tree_job {
    sp_plot *plot;
    const sp_plot_run *run;
    uint32_t rank;
    sp_text path;
    SP_VECTOR(const char *) names; /* of the path, innermost first */
} tree_job;

/* ---- Selected calls of a tree ----------------------------------------------------------------*/

/* What each call of a tree is among the selected ones. */
typedef struct shown_calls {
    int64_t *number;  /* in their order, -1: not selected */
    int64_t *nearest; /* the call itself or the nearest selected one above, -1: none */
    int32_t *depth;
} shown_calls;

static bool is_shown(const sp_plot_run *run, const sp_call_tree *tree, size_t i)
{
    return run->selection.regions[run->results->rows.items[tree->row[i]].region];
}

/* The nearest selected call above, -1: none. */
static int64_t shown_parent(const shown_calls *shown, const sp_call_tree *tree, size_t i)
{
    return tree->parent[i] < 0 ? -1 : shown->nearest[tree->parent[i]];
}

static void release_shown(shown_calls *shown)
{
    free(shown->number);
    free(shown->nearest);
    free(shown->depth);
}

/* Calls come after those around them. */
static int find_shown(const sp_plot_run *run, const sp_call_tree *tree, shown_calls *out,
                      sp_error *error)
{
    int64_t next = 0;
    *out = (shown_calls){malloc((tree->count + 1) * sizeof *out->number),
                         malloc((tree->count + 1) * sizeof *out->nearest),
                         malloc((tree->count + 1) * sizeof *out->depth)};
    if (out->number == NULL || out->nearest == NULL || out->depth == NULL) {
        release_shown(out);
        return sp_fail_memory(error, "exporting plot data");
    }
    for (size_t i = 0; i < tree->count; i++) {
        bool shows = is_shown(run, tree, i);
        int64_t above = shown_parent(out, tree, i);
        out->number[i] = shows ? next++ : -1;
        out->nearest[i] = shows ? (int64_t)i : above;
        out->depth[i] = above < 0 ? 0 : out->depth[above] + 1;
    }
    return SP_OK;
}

/* ---- Call paths ------------------------------------------------------------------------------*/

/* Names at the start and at the end of a path that are written; what lies between is left out. */
enum { PATH_HEAD = 128, PATH_TAIL = 128 };

static bool add_name(tree_job *job, const char *name)
{
    if (!sp_vector_reserve(&job->names, 1))
        return false;
    job->names.items[job->names.count++] = name;
    return true;
}

/* Joins the names, outermost first. */
static bool join_names(tree_job *job)
{
    size_t count = job->names.count;
    job->path.length = 0;
    for (size_t n = count; n-- > 0;) {
        bool is_cut = count > PATH_HEAD + PATH_TAIL && n == count - PATH_HEAD - 1;
        sp_text_add(&job->path, is_cut ? "..." : job->names.items[n]);
        n = is_cut ? PATH_TAIL : n;
        sp_text_add(&job->path, n > 0 ? " > " : "");
    }
    return !job->path.failed;
}

static bool make_path(tree_job *job, const shown_calls *shown, const sp_call_tree *tree, size_t i)
{
    bool done = true;
    job->names.count = 0;
    for (int64_t at = (int64_t)i; done && at >= 0; at = shown_parent(shown, tree, (size_t)at))
        done = add_name(job, job->run->results->rows.items[tree->row[at]].row->region);
    return done && join_names(job);
}

static void release_job(tree_job *job)
{
    sp_text_release(&job->path);
    sp_vector_release(&job->names);
}

static void add_number(sp_plot *plot, int64_t number)
{
    if (number < 0)
        sp_plot_none(plot);
    else
        sp_plot_integer(plot, number);
}

/* Visits the tree of each rank of each run. */
static int each_tree(sp_plot *plot, sp_tree_visitor visit, sp_error *error)
{
    int status = SP_OK;
    for (size_t i = 0; status == SP_OK && i < plot->num_runs; i++)
        for (size_t k = 0; status == SP_OK && k < sp_plot_num_ranks(plot); k++) {
            tree_job job = {.plot = plot, .run = &plot->runs[i], .rank = sp_plot_rank(plot, k)};
            if (sp_run_first_row_of_rank(job.run->results, job.rank) != SP_NO_ROW)
                status = sp_run_walk_tree(job.run->results, job.rank, visit, &job, error);
            release_job(&job);
        }
    return status;
}

/* ---- flame_chart -----------------------------------------------------------------------------*/

static void add_source(sp_plot *plot, const sp_row *row)
{
    sp_plot_text(plot, row->source_file[0] != '\0' ? row->source_file : NULL);
    add_number(plot, row->source_line);
}

static int add_calls(void *context, const sp_call_tree *tree, sp_error *error)
{
    tree_job *job = context;
    sp_plot *plot = job->plot;
    shown_calls shown;
    bool failed = false;
    int status = find_shown(job->run, tree, &shown, error);
    if (status != SP_OK)
        return status;
    for (size_t i = 0; !failed && i < tree->count; i++) {
        if (shown.number[i] < 0)
            continue;
        failed = !make_path(job, &shown, tree, i);
        int64_t parent = shown_parent(&shown, tree, i);
        const sp_row *row = job->run->results->rows.items[tree->row[i]].row;
        sp_plot_open_row(plot);
        sp_plot_text(plot, job->run->label);
        sp_plot_integer(plot, job->rank);
        sp_plot_integer(plot, shown.number[i]);
        add_number(plot, parent < 0 ? -1 : shown.number[parent]);
        sp_plot_text(plot, row->region);
        sp_plot_text(plot, failed ? "" : job->path.bytes);
        add_source(plot, row);
        sp_plot_integer(plot, shown.depth[i]);
        sp_plot_seconds(plot, tree->start_ns[i]);
        sp_plot_seconds(plot, tree->end_ns[i]);
        sp_plot_seconds(plot, sp_wrap_subtract(tree->end_ns[i], tree->start_ns[i]));
        sp_plot_seconds(plot, tree->exclusive_ns[i]);
        sp_plot_close_row(plot);
    }
    release_shown(&shown);
    return failed ? sp_fail_memory(error, "exporting plot data") : SP_OK;
}

int sp_plot_flame_chart(sp_plot *plot, sp_error *error)
{
    static const char *const headers[] = {
        "file", "rank", "call_id", "parent_call_id", "region", "call_path", "source_file",
        "source_lineno", "depth", "start_seconds", "end_seconds", "inclusive_duration_seconds",
        "exclusive_duration_seconds"};
    sp_plot_open_table(plot, "calls", headers, 13, 13);
    int status = each_tree(plot, add_calls, error);
    sp_plot_close_table(plot);
    sp_plot_add_file_ranks(plot);
    return status == SP_OK ? sp_plot_add_region_colors(plot, true, error) : status;
}

/* ---- flame_graph -----------------------------------------------------------------------------*/

static void add_path_row(tree_job *job, const sp_call_paths *paths, uint32_t node, uint32_t level,
                         const int64_t *starts)
{
    const sp_path_node *of = &paths->nodes.items[node];
    sp_plot *plot = job->plot;
    sp_plot_open_row(plot);
    sp_plot_text(plot, job->run->label);
    sp_plot_integer(plot, job->rank);
    sp_plot_integer(plot, (int64_t)node - 1);
    add_number(plot, (int64_t)of->parent - 1);
    sp_plot_text(plot, job->run->results->regions.items[of->region].name);
    sp_plot_text(plot, job->path.bytes);
    sp_plot_integer(plot, (int64_t)level - 1);
    sp_plot_seconds(plot, starts[node]);
    sp_plot_seconds(plot, sp_wrap_add(starts[node], of->total));
    sp_plot_seconds(plot, of->total);
    sp_plot_seconds(plot, of->remaining);
    sp_plot_close_row(plot);
}

/* Siblings lie one behind the other from the start of what is above them. */
static int add_path_rows(tree_job *job, const sp_call_paths *paths, sp_error *error)
{
    int64_t *starts = calloc(paths->nodes.count, sizeof *starts);
    int64_t *filled = calloc(paths->nodes.count, sizeof *filled);
    uint32_t level = 0, node = SP_PATH_ROOT;
    bool failed = starts == NULL || filled == NULL;
    while (!failed && (node = sp_call_paths_next(paths, node, &level)) != SP_PATH_ROOT) {
        const sp_path_node *of = &paths->nodes.items[node];
        starts[node] = filled[node] = filled[of->parent];
        filled[of->parent] = sp_wrap_add(filled[of->parent], of->total);
        job->names.count = 0;
        for (uint32_t at = node; !failed && at != SP_PATH_ROOT; at = paths->nodes.items[at].parent)
            failed = !add_name(job,
                               job->run->results->regions.items[paths->nodes.items[at].region].name);
        failed = failed || !join_names(job);
        if (!failed)
            add_path_row(job, paths, node, level, starts);
    }
    free(starts);
    free(filled);
    return failed ? sp_fail_memory(error, "exporting plot data") : SP_OK;
}

int sp_plot_flame_graph(sp_plot *plot, sp_error *error)
{
    static const char *const headers[] = {
        "file", "rank", "call_id", "parent_call_id", "region", "call_path", "depth",
        "start_seconds", "end_seconds", "inclusive_duration_seconds", "exclusive_duration_seconds"};
    int status = SP_OK;
    sp_plot_open_table(plot, "calls", headers, 11, 11);
    for (size_t i = 0; status == SP_OK && i < plot->num_runs; i++)
        for (size_t k = 0; status == SP_OK && k < sp_plot_num_ranks(plot); k++) {
            tree_job job = {.plot = plot, .run = &plot->runs[i], .rank = sp_plot_rank(plot, k)};
            sp_call_paths paths;
            status = sp_call_paths_init(&paths, job.run->results, job.run->selection.regions,
                                        job.rank, error);
            if (status != SP_OK)
                break;
            status = add_path_rows(&job, &paths, error);
            sp_call_paths_release(&paths);
            release_job(&job);
        }
    sp_plot_close_table(plot);
    return status == SP_OK ? sp_plot_add_region_colors(plot, true, error) : status;
}

/* ---- callgraph -------------------------------------------------------------------------------*/

static int add_nodes(void *context, const sp_call_tree *tree, sp_error *error)
{
    tree_job *job = context;
    shown_calls shown;
    int status = find_shown(job->run, tree, &shown, error);
    if (status != SP_OK)
        return status;
    for (size_t i = 0; i < tree->count; i++) {
        if (shown.number[i] < 0)
            continue;
        int64_t parent = shown_parent(&shown, tree, i);
        sp_plot_open_row(job->plot);
        sp_plot_integer(job->plot, shown.number[i]);
        add_number(job->plot, parent < 0 ? -1 : shown.number[parent]);
        sp_plot_text(job->plot, job->run->results->rows.items[tree->row[i]].row->region);
        sp_plot_integer(job->plot, shown.depth[i]);
        sp_plot_close_row(job->plot);
    }
    release_shown(&shown);
    return SP_OK;
}

/* One node a region: its first depth, its calls and times. */
typedef struct graph_node {
    int32_t depth;
    uint64_t calls;
    int64_t total, exclusive;
} graph_node;

typedef struct graph_edge {
    uint32_t parent, child;
} graph_edge;

typedef struct region_graph {
    const sp_plot_run *run;
    graph_node *nodes; /* of each region */
    SP_VECTOR(uint32_t) order;
    SP_VECTOR(graph_edge) edges;
    sp_number_map known; /* parent << 32 | child */
} region_graph;

static bool add_edge(region_graph *graph, uint32_t parent, uint32_t child)
{
    uint64_t key = (uint64_t)parent << 32 | child;
    if (sp_number_map_get(&graph->known, key) != SP_NUMBER_NONE)
        return true;
    if (!sp_vector_reserve(&graph->edges, 1) || !sp_number_map_set(&graph->known, key, 0))
        return false;
    graph->edges.items[graph->edges.count++] = (graph_edge){parent, child};
    return true;
}

static int gather_call(region_graph *graph, const shown_calls *shown, const sp_call_tree *tree,
                       size_t i, sp_error *error)
{
    uint32_t region = graph->run->results->rows.items[tree->row[i]].region;
    int64_t parent = shown_parent(shown, tree, i);
    graph_node *node = &graph->nodes[region];
    if (node->calls++ == 0) {
        node->depth = shown->depth[i];
        if (!sp_vector_reserve(&graph->order, 1))
            return sp_fail_memory(error, "exporting plot data");
        graph->order.items[graph->order.count++] = region;
    }
    node->total =
        sp_wrap_add(node->total, sp_wrap_subtract(tree->end_ns[i], tree->start_ns[i]));
    node->exclusive = sp_wrap_add(node->exclusive, tree->exclusive_ns[i]);
    if (parent >= 0 &&
        !add_edge(graph, graph->run->results->rows.items[tree->row[parent]].region, region))
        return sp_fail_memory(error, "exporting plot data");
    return SP_OK;
}

static int gather_graph(void *context, const sp_call_tree *tree, sp_error *error)
{
    region_graph *graph = context;
    shown_calls shown;
    int status = find_shown(graph->run, tree, &shown, error);
    if (status != SP_OK)
        return status;
    for (size_t i = 0; status == SP_OK && i < tree->count; i++)
        if (shown.number[i] >= 0)
            status = gather_call(graph, &shown, tree, i, error);
    release_shown(&shown);
    return status;
}

/* The table of regions is there in JSON alone; a CSV file holds the edges. */
static void write_graph(sp_plot *plot, const region_graph *graph)
{
    static const char *const node_headers[] = {"name", "depth", "calls", "total_duration",
                                               "exclusive_duration", "average_duration"};
    static const char *const edge_headers[] = {"parent", "child"};
    const sp_run_region *regions = graph->run->results->regions.items;
    if (plot->is_json)
        sp_plot_open_table(plot, "regions", node_headers, 6, 0);
    for (size_t i = 0; plot->is_json && i < graph->order.count; i++) {
        const graph_node *node = &graph->nodes[graph->order.items[i]];
        sp_plot_open_row(plot);
        sp_plot_text(plot, regions[graph->order.items[i]].name);
        sp_plot_integer(plot, node->depth);
        sp_plot_integer(plot, (int64_t)node->calls);
        sp_plot_seconds(plot, node->total);
        sp_plot_seconds(plot, node->exclusive);
        sp_plot_real(plot, (double)node->total / 1e9 / (double)node->calls);
        sp_plot_close_row(plot);
    }
    sp_plot_close_table(plot);
    sp_plot_open_table(plot, "edges", edge_headers, 2, 2);
    for (size_t i = 0; i < graph->edges.count; i++) {
        sp_plot_open_row(plot);
        sp_plot_text(plot, regions[graph->edges.items[i].parent].name);
        sp_plot_text(plot, regions[graph->edges.items[i].child].name);
        sp_plot_close_row(plot);
    }
    sp_plot_close_table(plot);
}

static int add_region_graph(sp_plot *plot, sp_error *error)
{
    region_graph graph = {.run = &plot->runs[0]};
    int status;
    graph.nodes = calloc(graph.run->results->regions.count + 1, sizeof *graph.nodes);
    if (graph.nodes == NULL)
        return sp_fail_memory(error, "exporting plot data");
    status = sp_run_walk_tree(graph.run->results, sp_plot_rank(plot, 0), gather_graph, &graph,
                              error);
    if (status == SP_OK)
        write_graph(plot, &graph);
    free(graph.nodes);
    sp_vector_release(&graph.order);
    sp_vector_release(&graph.edges);
    sp_number_map_release(&graph.known);
    return status;
}

int sp_plot_callgraph(sp_plot *plot, sp_error *error)
{
    static const char *const headers[] = {"call_id", "parent_id", "name", "depth"};
    if (plot->num_runs != 1 || sp_plot_num_ranks(plot) != 1)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "a call graph shows one rank of one run; name one profile and one rank");
    if (plot->options.compact)
        return add_region_graph(plot, error);
    sp_plot_open_table(plot, "calls", headers, 4, 4);
    int status = each_tree(plot, add_nodes, error);
    sp_plot_close_table(plot);
    return status;
}
