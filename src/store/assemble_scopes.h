/* assemble_scopes.h - which metadata scopes hold a call. A search costs the logarithm of the number
 * of scopes for each scope found. Private to assembling. */
#ifndef SP_STORE_ASSEMBLE_SCOPES_H
#define SP_STORE_ASSEMBLE_SCOPES_H

#include "base/vector.h"
#include "store/assemble.h"
#include "store/json_object.h"

/* Scopes of one thread (or of all threads), in merging order. */
typedef struct sp_scope_set {
    int64_t thread;
    uint32_t *positions; /* in the merging order of all scopes */
    size_t count;
    int64_t *latest; /* tree over them: largest end below each node; leaves from `leaves` on */
    size_t leaves;   /* a power of two */
} sp_scope_set;

/* Zeroed memory holds no scopes. */
typedef struct sp_scopes {
    const sp_assemble_scope **order; /* merging order: outer before inner */
    size_t count;
    sp_scope_set *sets; /* by thread */
    size_t num_sets;
    int64_t first_start, last_end;
} sp_scopes;

typedef SP_VECTOR(uint32_t) sp_scope_list;

/* Adds to `*out_bad` the scopes whose json is no object; they are left out. The scopes are borrowed.
 * False when memory is short (release it all the same). */
bool sp_scopes_build(sp_scopes *scopes, const sp_assemble_scope *given, size_t count,
                     uint64_t *out_bad);
/* Positions in `order` of the scopes that hold [start, end] on that thread, ascending; false when
 * memory is short. */
bool sp_scopes_find(const sp_scopes *scopes, int64_t start, int64_t end, int64_t thread,
                    sp_scope_list *out);
void sp_scopes_release(sp_scopes *scopes);

#endif
