#include "results/tree.h"

#include "base/error.h"
#include "base/json.h"
#include "base/os/pages.h"
#include "results/moments.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 160 };

/* A name short enough for an error text, cut between characters. */
static const char *clip(const char *name, char out[NAME_BYTES])
{
    size_t length = strlen(name), kept = 0;
    if (length < NAME_BYTES)
        return name;
    while (kept < NAME_BYTES - 8) {
        size_t sequence = sp_utf8_sequence((const unsigned char *)name + kept, length - kept);
        kept += sequence == 0 ? 1 : sequence;
    }
    memcpy(out, name, kept);
    strcpy(out + kept, "...");
    return out;
}

static const char *name_of(const sp_results *results, const sp_tree_arrays *tree, size_t i,
                           char out[NAME_BYTES])
{
    return clip(results->rows.items[tree->row[i]].row->region, out);
}

/* ---- Recorded ids ----------------------------------------------------------------------------*/

/* Position of each call by its id: a table where the ids lie close together, else a map. */
typedef struct id_index {
    int64_t low;
    uint64_t span;
    uint32_t *table;
    sp_number_map map;
} id_index;

static uint32_t look_up(const id_index *index, int64_t id)
{
    uint64_t offset = (uint64_t)id - (uint64_t)index->low;
    if (index->table == NULL)
        return sp_number_map_get(&index->map, (uint64_t)id);
    /* The table holds positions plus one, because fresh memory is zero. */
    return offset <= index->span ? index->table[offset] - 1 : SP_NUMBER_NONE;
}

static bool insert(id_index *index, int64_t id, uint32_t position)
{
    if (index->table == NULL)
        return sp_number_map_set(&index->map, (uint64_t)id, position);
    index->table[(uint64_t)id - (uint64_t)index->low] = position + 1;
    return true;
}

static int fail_twice(const sp_results *results, const sp_tree_arrays *tree, int64_t id,
                      size_t first, size_t second, sp_error *error)
{
    char a[NAME_BYTES], b[NAME_BYTES];
    return sp_fail(error, SP_ERR_DAMAGED,
                   "call id %" PRId64 " belongs to two calls: '%s' call %" PRIu64 " and '%s' call %"
                   PRIu64, id, name_of(results, tree, first, a), tree->call_index[first],
                   name_of(results, tree, second, b), tree->call_index[second]);
}

static int fill_index(const sp_results *results, const sp_tree_arrays *tree, const int64_t *ids,
                      id_index *index, sp_error *error)
{
    for (size_t i = 0; i < tree->count; i++) {
        uint32_t known = look_up(index, ids[i]);
        if (known != SP_NUMBER_NONE)
            return fail_twice(results, tree, ids[i], known, i, error);
        if (!insert(index, ids[i], (uint32_t)i))
            return sp_fail_memory(error, "building a call tree");
    }
    return SP_OK;
}

enum { DEPTH_UNKNOWN = -1, DEPTH_ON_PATH = -2 };

/* Depth of call i, whose ancestors may come later in the order: walks up to one whose depth is
 * known, marking the way, then up the marked way again. */
static bool find_depth(sp_tree_arrays *tree, size_t i)
{
    int32_t steps = 0;
    int64_t at = (int64_t)i;
    while (at >= 0 && tree->depth[at] == DEPTH_UNKNOWN) {
        tree->depth[at] = DEPTH_ON_PATH;
        at = tree->parent[at];
        steps++;
    }
    if (at >= 0 && tree->depth[at] == DEPTH_ON_PATH)
        return false;
    int32_t depth = (at < 0 ? -1 : tree->depth[at]) + steps;
    for (at = (int64_t)i; at >= 0 && tree->depth[at] == DEPTH_ON_PATH; at = tree->parent[at])
        tree->depth[at] = depth--;
    return true;
}

static int find_depths(const sp_results *results, sp_tree_arrays *tree, sp_error *error)
{
    for (size_t i = 0; i < tree->count; i++)
        tree->depth[i] = DEPTH_UNKNOWN;
    for (size_t i = 0; i < tree->count; i++) {
        char name[NAME_BYTES];
        if (!find_depth(tree, i))
            return sp_fail(error, SP_ERR_DAMAGED,
                           "the parents of '%s' call %" PRIu64 " form a circle",
                           name_of(results, tree, i, name), tree->call_index[i]);
    }
    return SP_OK;
}

/* Exclusive is the time of a call that none of its children covers. Children come in order of
 * their starts, so it is enough to know how far the earlier ones reach. */
static void subtract_children(sp_tree_arrays *tree, int64_t *covered)
{
    for (size_t i = 0; i < tree->count; i++) {
        tree->exclusive[i] = sp_wrap_subtract(tree->end[i], tree->start[i]);
        covered[i] = tree->start[i];
    }
    for (size_t i = 0; i < tree->count; i++) {
        int64_t parent = tree->parent[i];
        if (parent < 0)
            continue;
        int64_t from = tree->start[i] > covered[parent] ? tree->start[i] : covered[parent];
        int64_t to = tree->end[i] < tree->end[parent] ? tree->end[i] : tree->end[parent];
        if (to <= from)
            continue;
        tree->exclusive[parent] =
            sp_wrap_subtract(tree->exclusive[parent], sp_wrap_subtract(to, from));
        covered[parent] = to;
    }
}

static int link_with(const sp_results *results, sp_tree_arrays *tree, const int64_t *ids,
                     id_index *index, int64_t *covered, sp_error *error)
{
    int status = fill_index(results, tree, ids, index, error);
    if (status != SP_OK)
        return status;
    for (size_t i = 0; i < tree->count; i++) {
        uint32_t parent = tree->parent[i] < 0 ? SP_NUMBER_NONE : look_up(index, tree->parent[i]);
        tree->parent[i] = parent == SP_NUMBER_NONE ? -1 : (int64_t)parent;
    }
    status = find_depths(results, tree, error);
    if (status == SP_OK)
        subtract_children(tree, covered);
    return status;
}

int sp_tree_link_ids(const sp_results *results, sp_tree_arrays *tree, const int64_t *ids,
                     const sp_id_range *range, sp_error *error)
{
    id_index index = {.low = range->low, .span = (uint64_t)range->high - (uint64_t)range->low};
    size_t covered_size = tree->count * sizeof(int64_t), table_size = 0;
    if (tree->count == 0)
        return SP_OK;
    int64_t *covered = sp_os_pages_alloc(covered_size);
    if (index.span / 4 <= tree->count) {
        table_size = ((size_t)index.span + 1) * sizeof *index.table;
        index.table = sp_os_pages_alloc(table_size);
    }
    int status = SP_OK;
    if (covered == NULL || (table_size > 0 && index.table == NULL))
        status = sp_fail_memory(error, "building a call tree");
    else
        status = link_with(results, tree, ids, &index, covered, error);
    sp_os_pages_free(covered, covered_size);
    sp_os_pages_free(index.table, table_size);
    sp_number_map_release(&index.map);
    return status;
}

/* ---- Intervals -------------------------------------------------------------------------------*/

uint32_t sp_lane_number(sp_lane_map *map, int64_t lane)
{
    if (map->count > 0 && map->last_lane == lane)
        return map->last_number;
    uint32_t number = sp_number_map_get(&map->numbers, (uint64_t)lane);
    if (number == SP_NUMBER_NONE) {
        number = map->count;
        if (!sp_number_map_set(&map->numbers, (uint64_t)lane, number))
            return SP_NUMBER_NONE;
        map->count++;
    }
    map->last_lane = lane;
    map->last_number = number;
    return number;
}

/* Where the innermost open call of a lane is kept; NULL when memory is short. */
static int64_t *innermost_of(sp_interval_linker *linker, int64_t lane)
{
    uint32_t number = sp_lane_number(&linker->lanes, lane);
    if (number == SP_NUMBER_NONE)
        return NULL;
    if (number == linker->innermost.count) {
        if (!sp_vector_reserve(&linker->innermost, 1))
            return NULL;
        linker->innermost.items[linker->innermost.count++] = -1;
    }
    return &linker->innermost.items[number];
}

static int fail_nesting(const sp_results *results, const sp_tree_arrays *tree, size_t outer,
                        size_t inner, sp_error *error)
{
    char a[NAME_BYTES], b[NAME_BYTES];
    const sp_row *row = results->rows.items[tree->row[outer]].row;
    return sp_fail(error, SP_ERR_NESTING,
                   "recorded calls are not properly nested on rank %u: '%s' call %" PRIu64
                   " [%" PRId64 ", %" PRId64 "] ns and '%s' call %" PRIu64 " [%" PRId64 ", %" PRId64
                   "] ns overlap, yet neither lies inside the other", row->rank,
                   name_of(results, tree, outer, a), tree->call_index[outer], tree->start[outer],
                   tree->end[outer], name_of(results, tree, inner, b), tree->call_index[inner],
                   tree->start[inner], tree->end[inner]);
}

static int fail_backwards(const sp_results *results, const sp_tree_arrays *tree, size_t i,
                          sp_error *error)
{
    char name[NAME_BYTES];
    return sp_fail(error, SP_ERR_NESTING,
                   "a recorded call ends before it starts: '%s' call %" PRIu64 " on rank %u [%"
                   PRId64 ", %" PRId64 "] ns", name_of(results, tree, i, name),
                   tree->call_index[i], results->rows.items[tree->row[i]].row->rank,
                   tree->start[i], tree->end[i]);
}

int sp_tree_link_intervals(const sp_results *results, sp_interval_linker *linker,
                           sp_tree_arrays *tree, size_t from, size_t to, sp_error *error)
{
    for (size_t i = from; i < to; i++) {
        int64_t start = tree->start[i], end = tree->end[i];
        int64_t *innermost = innermost_of(linker, tree->lane == NULL ? -1 : tree->lane[i]);
        if (innermost == NULL)
            return sp_fail_memory(error, "building a call tree");
        if (end < start)
            return fail_backwards(results, tree, i, error);
        int64_t parent = *innermost;
        /* A call that ended when this one begins is a sibling, unless this one has no length and
         * so lies inside it. */
        while (parent >= 0 &&
               (tree->end[parent] < start || (tree->end[parent] == start && end > start)))
            parent = tree->parent[parent];
        if (parent >= 0 && end > tree->end[parent])
            return fail_nesting(results, tree, (size_t)parent, i, error);
        int64_t length = sp_wrap_subtract(end, start);
        if (parent >= 0)
            tree->exclusive[parent] = sp_wrap_subtract(tree->exclusive[parent], length);
        tree->parent[i] = parent;
        tree->depth[i] = parent < 0 ? 0 : tree->depth[parent] + 1;
        tree->exclusive[i] = length;
        *innermost = (int64_t)i;
    }
    return SP_OK;
}

void sp_interval_linker_release(sp_interval_linker *linker)
{
    sp_number_map_release(&linker->lanes.numbers);
    sp_vector_release(&linker->innermost);
}
