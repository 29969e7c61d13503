#include "log/resolver.h"

#include <stdlib.h>
#include <string.h>

bool sp_resolver_grow(sp_resolver *resolver, size_t depth)
{
    if (depth > SP_RESOLVER_MAX_DEPTH)
        return false;
    size_t room = resolver->room < 16 ? 16 : resolver->room;
    while (room < depth + 2)
        room *= 2;
    /* calloc: memory of a suddenly deep stack costs nothing until its levels are used. */
    sp_resolver_level *levels = calloc(room, sizeof *levels);
    if (levels == NULL)
        return false;
    if (resolver->room > 0)
        memcpy(levels, resolver->levels, resolver->room * sizeof *levels);
    free(resolver->levels);
    resolver->levels = levels;
    resolver->room = room;
    return true;
}

/* Sums wrap instead of being undefined when a damaged log claims 292 years. */
static int64_t sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* Length of [from, end], 0 when an inconsistent record turns it round. */
static int64_t stretch(int64_t end, int64_t from)
{
    return end > from ? (int64_t)((uint64_t)end - (uint64_t)from) : 0;
}

bool sp_resolver_marked(sp_resolver *resolver, const sp_marked_call *call, sp_resolved *out)
{
    size_t deepest = call->depth > call->below ? call->depth : call->below;
    if (deepest + 2 > resolver->room && !sp_resolver_grow(resolver, deepest))
        return false;
    sp_resolver_level *below = &resolver->levels[call->below];
    int64_t duration = stretch(call->end_ns, call->start_ns);
    out->number = call->number;
    out->parent = call->parent;
    out->exclusive_ns = duration;
    resolver->ended++;
    below->pending++;
    if (call->flags & SP_CALL_APPENDED)
        return true;

    sp_resolver_level *inner = &resolver->levels[call->depth + 1];
    int64_t covered = sum(inner->child_ns, stretch(call->end_ns, call->inner_from_ns));
    out->exclusive_ns = covered < duration ? duration - covered : 0;
    below->child_ns = sum(below->child_ns, stretch(call->end_ns, call->outer_from_ns));
    below->pending += inner->pending;
    inner->pending = 0;
    inner->child_ns = 0;
    return true;
}

int64_t sp_resolver_child_ns(const sp_resolver *resolver, size_t depth)
{
    return depth + 1 < resolver->room ? resolver->levels[depth + 1].child_ns : 0;
}

bool sp_resolver_copy(sp_resolver *to, const sp_resolver *from)
{
    size_t used = from->room;
    while (used > 0 && from->levels[used - 1].pending == 0 && from->levels[used - 1].child_ns == 0)
        used--;
    if (used > to->room && !sp_resolver_grow(to, used - 1))
        return false;
    if (used > 0)
        memcpy(to->levels, from->levels, used * sizeof *to->levels);
    if (to->room > used)
        memset(to->levels + used, 0, (to->room - used) * sizeof *to->levels);
    to->ended = from->ended;
    return true;
}

void sp_resolver_release(sp_resolver *resolver)
{
    free(resolver->levels);
    *resolver = (sp_resolver){0};
}

void sp_resolver_forget(sp_resolver *resolver, uint64_t count)
{
    resolver->ended += count;
    for (size_t i = 0; i < resolver->room; i++)
        resolver->levels[i] = (sp_resolver_level){.pending = 0};
}
