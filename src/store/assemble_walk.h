/* assemble_walk.h - one pass over all records of an assembly, in order: decoded, in ns, with number,
 * parent and exclusive time. Private to assembling. */
#ifndef SP_STORE_ASSEMBLE_WALK_H
#define SP_STORE_ASSEMBLE_WALK_H

#include "store/assemble.h"

typedef struct sp_walk_call {
    uint32_t lane, region, flags;
    bool is_clamped; /* its end was before its start */
    int64_t start, duration, exclusive;
    uint64_t number, parent; /* begin numbers; SP_RECORD_NO_PARENT: none */
} sp_walk_call;

/* What a side record says of the call with that number. */
typedef struct sp_walk_side {
    uint32_t kind; /* sp_side_kind */
    uint32_t lane, region, bytes;
    uint64_t number;
    const char *payload; /* inside its block */
} sp_walk_side;

/* What a pass does with the records. `calls` gets batches; the others may be NULL. `side` gets
 * metadata, `measured` what came from instruments. Each returns an sp_status; anything but SP_OK ends the walk. */
typedef struct sp_walk_visitor {
    void *context;
    int (*calls)(void *context, const sp_walk_call *calls, size_t count, sp_error *error);
    int (*side)(void *context, const sp_walk_side *side, sp_error *error);
    int (*measured)(void *context, const sp_walk_side *side, sp_error *error);
    int (*await)(void *context, uint32_t lane, uint64_t number, int64_t ns, sp_error *error);
    int (*drain)(void *context, uint32_t lane, int64_t duration, sp_error *error);
    int (*lost)(void *context, uint32_t lane, uint64_t count, sp_error *error);
    bool check_sums; /* of every block; once is enough */
} sp_walk_visitor;

/* Walks the blocks, then (when the assembly wants them) the open calls, which end now.
 * `out_states`, may be NULL: num_lanes zeroed resolvers that become the states after the blocks,
 * before the open calls. */
int sp_walk(const sp_assembly *assembly, const sp_walk_visitor *visitor, sp_resolver *out_states,
            sp_error *error);

#endif
