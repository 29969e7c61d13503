/* resolver.h - number, parent and exclusive time of the calls of one lane, in one forward pass over
 * their records. Every begin on a lane takes the next number (0, 1, 2, ...); records come in order
 * of the ends.
 *
 * With  ended      calls that ended before this one,
 *       pending[d] calls that ended since the open call at depth d - 1 began, as far as they are
 *                  not inside an open call at depth d,
 * a call v at depth d has
 *       number(v) = ended - pending[d + 1] + d          (ended before it began + open around it)
 *       parent(v) = number(v) - 1 - pending[d]
 * and the child time of open calls is kept the same way. Marked calls say their number and parent
 * themselves and only keep the levels right for later ones.
 *
 * The state is what is known of the calls still open; it goes on from one publication to the next.
 */
#ifndef SP_LOG_RESOLVER_H
#define SP_LOG_RESOLVER_H

#include "log/record.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct sp_resolver_level {
    uint64_t pending;
    int64_t child_ns; /* of the open call at this level's depth - 1 */
} sp_resolver_level;

/* Zeroed memory is the state of a lane that has recorded nothing. */
typedef struct sp_resolver {
    uint64_t ended;
    sp_resolver_level *levels;
    size_t room;
} sp_resolver;

typedef struct sp_resolved {
    uint64_t number;
    uint64_t parent; /* SP_RECORD_NO_PARENT: none */
    int64_t exclusive_ns;
} sp_resolved;

/* Deeper than any stack can be: a record that claims more is damaged. */
enum { SP_RESOLVER_MAX_DEPTH = 1 << 26 };

/* A marked call, times already in ns (appended: all of them as given). */
typedef struct sp_marked_call {
    uint32_t flags, depth, below;
    uint64_t number, parent;
    int64_t start_ns, end_ns, outer_from_ns, inner_from_ns;
} sp_marked_call;

/* Makes room for calls up to that depth; false when memory is short or the depth is impossible. */
bool sp_resolver_grow(sp_resolver *resolver, size_t depth);

/* Feeds a marked call. False: as sp_resolver_grow, nothing changed. */
bool sp_resolver_marked(sp_resolver *resolver, const sp_marked_call *call, sp_resolved *out);

/* So many calls of the lane ended and are not known. */
static inline void sp_resolver_lost(sp_resolver *resolver, uint64_t count)
{
    resolver->ended += count;
}

/* At least so many calls of the lane are missing, and with them what they would have told of the calls
 * that were open around them. Later calls get numbers of their own; one that began before gets the
 * number of a call that begins here, so that those inside it find it. */
void sp_resolver_forget(sp_resolver *resolver, uint64_t count);

/* Child time so far of the call open at that depth. */
int64_t sp_resolver_child_ns(const sp_resolver *resolver, size_t depth);

/* `to` must be zeroed or a resolver (its memory is reused). False: memory is short. */
bool sp_resolver_copy(sp_resolver *to, const sp_resolver *from);
void sp_resolver_release(sp_resolver *resolver);

/* Feeds a regular call. False: as sp_resolver_grow, nothing changed. */
static inline bool sp_resolver_call(sp_resolver *resolver, uint32_t depth, int64_t duration_ns,
                                    sp_resolved *out)
{
    if ((size_t)depth + 2 > resolver->room && !sp_resolver_grow(resolver, depth))
        return false;
    sp_resolver_level *outer = &resolver->levels[depth], *inner = outer + 1;
    uint64_t number = resolver->ended - inner->pending + depth;
    int64_t exclusive = (int64_t)((uint64_t)duration_ns - (uint64_t)inner->child_ns);
    out->number = number;
    out->parent = depth == 0 ? SP_RECORD_NO_PARENT : number - 1 - outer->pending;
    out->exclusive_ns = exclusive < 0 ? 0 : exclusive;
    resolver->ended++;
    outer->pending += 1 + inner->pending;
    outer->child_ns = (int64_t)((uint64_t)outer->child_ns + (uint64_t)duration_ns);
    inner->pending = 0;
    inner->child_ns = 0;
    return true;
}

#endif
