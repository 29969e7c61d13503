/* report_tree.c - the call paths of all ranks in one tree. */
#include "base/error.h"
#include "export/call_paths.h"
#include "export/report.h"
#include "results/moments.h"

#include <stdlib.h>

enum { WRITTEN_NODES = 4000 };

static uint32_t find_or_add(sp_report_tree *tree, uint32_t parent, uint32_t region)
{
    uint64_t key = (uint64_t)parent << 32 | region;
    uint32_t node = sp_number_map_get(&tree->children, key);
    if (node != SP_NUMBER_NONE)
        return node;
    node = (uint32_t)tree->nodes.count;
    if (!sp_vector_reserve(&tree->nodes, 1) || !sp_number_map_set(&tree->children, key, node))
        return SP_NUMBER_NONE;
    tree->nodes.items[tree->nodes.count++] = (sp_report_node){.parent = parent, .region = region};
    return node;
}

static void add_to_row(sp_report_tree *tree, const sp_results *results, uint32_t rank,
                       const sp_path_node *node)
{
    int64_t row = sp_results_find_row(results, node->region, rank);
    if (row < 0)
        return;
    int64_t *sum = &tree->row_exclusive[row];
    *sum = sp_wrap_add(*sum < 0 ? 0 : *sum, node->exclusive);
}

static int add_paths(sp_report_tree *tree, const sp_results *results, uint32_t rank,
                     const sp_call_paths *paths, sp_error *error)
{
    uint32_t *place = malloc((paths->nodes.count + 1) * sizeof *place);
    if (place == NULL)
        return sp_fail_memory(error, "summing up call paths");
    place[SP_PATH_ROOT] = 0;
    for (size_t i = 1; i < paths->nodes.count; i++) {
        const sp_path_node *from = &paths->nodes.items[i];
        place[i] = find_or_add(tree, place[from->parent], from->region);
        if (place[i] == SP_NUMBER_NONE) {
            free(place);
            return sp_fail_memory(error, "summing up call paths");
        }
        sp_report_node *to = &tree->nodes.items[place[i]];
        to->calls += from->calls;
        to->total = sp_wrap_add(to->total, from->total);
        to->exclusive = sp_wrap_add(to->exclusive, from->exclusive);
        if (from->parent == SP_PATH_ROOT)
            tree->nodes.items[0].total = sp_wrap_add(tree->nodes.items[0].total, from->total);
        add_to_row(tree, results, rank, from);
    }
    free(place);
    return SP_OK;
}

static int add_rank(sp_report_tree *tree, sp_results *results, const sp_selection *selection,
                    uint32_t rank, sp_error *error)
{
    sp_call_paths paths;
    int status = sp_call_paths_init(&paths, results, selection->regions, rank, error);
    if (status != SP_OK)
        return status;
    status = add_paths(tree, results, rank, &paths, error);
    sp_call_paths_release(&paths);
    return status;
}

/* Totals of a row that came without calls; unknown where there is no such total. */
static void take_stored(sp_report_tree *tree, const sp_results *results)
{
    for (size_t i = 0; i < results->rows.count; i++) {
        const sp_row *row = results->rows.items[i].row;
        tree->row_exclusive[i] = row->has_aggregate ? row->aggregate.exclusive : -1;
    }
}

/* Without nesting there are no own times, and a half tree would be a wrong one. */
static void drop_paths(sp_report_tree *tree, const sp_results *results, const char *reason)
{
    tree->nodes.count = 1;
    tree->nodes.items[0] = (sp_report_node){0};
    take_stored(tree, results);
    snprintf(tree->reason, sizeof tree->reason, "%s", reason);
}

int sp_report_tree_init(sp_report_tree *tree, sp_results *results, const sp_selection *selection,
                        sp_error *error)
{
    uint32_t *ranks = NULL;
    size_t count = 0;
    sp_error trouble = {0};
    *tree = (sp_report_tree){0};
    tree->row_exclusive = malloc((results->rows.count + 1) * sizeof *tree->row_exclusive);
    if (tree->row_exclusive == NULL || !sp_vector_reserve(&tree->nodes, 1))
        return sp_fail_memory(error, "summing up call paths");
    tree->nodes.items[tree->nodes.count++] = (sp_report_node){0};
    take_stored(tree, results);
    if (!sp_report_has_calls(results)) {
        drop_paths(tree, results, "the run kept totals, no calls");
        return SP_OK;
    }
    int status = sp_selection_ranks(selection, results, &ranks, &count, error);
    for (size_t i = 0; status == SP_OK && i < count; i++)
        status = add_rank(tree, results, selection, ranks[i], &trouble);
    free(ranks);
    if (status == SP_ERR_NESTING || status == SP_ERR_NO_EVENTS) {
        drop_paths(tree, results, trouble.text);
        return SP_OK;
    }
    if (status != SP_OK && error != NULL && trouble.status != 0)
        *error = trouble;
    return status;
}

void sp_report_tree_release(sp_report_tree *tree)
{
    sp_vector_release(&tree->nodes);
    sp_number_map_release(&tree->children);
    free(tree->row_exclusive);
}

/* ---- Writing ---------------------------------------------------------------------------------*/

static int compare_totals(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left < right) - (left > right);
}

/* Smallest total that is written, so that not too many nodes are. */
static int64_t smallest_total(const sp_report_tree *tree)
{
    size_t count = tree->nodes.count;
    if (count <= WRITTEN_NODES)
        return INT64_MIN;
    int64_t *totals = malloc(count * sizeof *totals);
    if (totals == NULL)
        return INT64_MAX;
    for (size_t i = 0; i < count; i++)
        totals[i] = tree->nodes.items[i].total;
    qsort(totals, count, sizeof *totals, compare_totals);
    int64_t smallest = totals[WRITTEN_NODES];
    free(totals);
    return smallest + 1;
}

void sp_report_tree_write(const sp_report_tree *tree, sp_json_layout *layout)
{
    int64_t smallest = smallest_total(tree);
    size_t count = tree->nodes.count, written = 1;
    uint32_t *place = calloc(count, sizeof *place);
    sp_layout_open(layout, '[');
    for (size_t i = 1; place != NULL && i < count; i++) {
        const sp_report_node *node = &tree->nodes.items[i];
        bool has_parent = node->parent == 0 || place[node->parent] != 0;
        if (!has_parent || node->total < smallest)
            continue;
        place[i] = (uint32_t)written++;
        sp_layout_integer(layout, place[node->parent]);
        sp_layout_integer(layout, node->region);
        sp_layout_integer(layout, (int64_t)node->calls);
        sp_layout_integer(layout, node->total);
        sp_layout_integer(layout, node->exclusive);
    }
    sp_layout_close(layout, ']');
    free(place);
    sp_layout_key(layout, "tree_left_out");
    sp_layout_integer(layout, (int64_t)(count - written));
    sp_layout_key(layout, "tree_reason");
    sp_layout_text(layout, tree->reason);
}
