/* call_paths.h - the calls of one rank summed up by call path, for what draws or lists them. */
#ifndef SP_EXPORT_CALL_PATHS_H
#define SP_EXPORT_CALL_PATHS_H

#include "export/selection.h"

enum { SP_PATH_ROOT = 0 };

/* A region below another path. Nodes come after those above them; siblings in order of their first
 * calls. Node 0 is the root: its calls and times are 0 but for `total`, the sum of those below it. */
typedef struct sp_path_node {
    uint32_t parent, region;
    uint32_t first_child, last_child, next_sibling; /* SP_PATH_ROOT: none */
    uint64_t calls;
    int64_t total;     /* ns */
    int64_t exclusive; /* outside of any call inside, also of regions that are not selected */
    int64_t remaining; /* outside of the nodes below */
} sp_path_node;

typedef struct sp_call_paths {
    sp_results *results;
    const bool *regions;
    SP_VECTOR(sp_path_node) nodes;
    sp_number_map children; /* parent << 32 | region to the node */
    uint32_t *node_of;      /* of each call of a tree, plus 1; 0: not known */
    SP_VECTOR(int64_t) unknown;
    bool failed;
} sp_call_paths;

/* Walks through the calls of the rank. Regions that are not selected leave their calls to the path
 * above. SP_ERR_NESTING, SP_ERR_NO_EVENTS, ... */
int sp_call_paths_init(sp_call_paths *paths, sp_results *results, const bool *regions,
                       uint32_t rank, sp_error *error);
void sp_call_paths_release(sp_call_paths *paths);

/* The node that follows in pre-order, SP_PATH_ROOT at the end. `*level` is kept (0: the root). */
uint32_t sp_call_paths_next(const sp_call_paths *paths, uint32_t node, uint32_t *level);

#endif
