/* open_calls.h - the calls that are open while a run is gone through in order of time, by lane. Made
 * for regular recordings: calls lie inside their parents and beside their siblings. */
#ifndef SP_RESULTS_OPEN_CALLS_H
#define SP_RESULTS_OPEN_CALLS_H

#include "results/tree.h"

typedef struct sp_open_call {
    int64_t id; /* 0 where calls have none */
    int64_t end;
    int64_t children_to; /* end of the latest child */
    uint64_t value;      /* whatever the user keeps of an open call */
} sp_open_call;

/* The open calls of one lane, innermost last. */
typedef struct sp_open_stack {
    SP_VECTOR(sp_open_call) calls;
} sp_open_stack;

/* Zeroed memory holds no calls. */
typedef struct sp_open_calls {
    sp_lane_map lanes;
    SP_VECTOR(sp_open_stack) stacks; /* by number of the lane */
    sp_open_stack only;              /* of calls without lanes */
} sp_open_calls;

/* The stack of a lane; NULL when memory is short. */
sp_open_stack *sp_open_calls_of_lane(sp_open_calls *open, int64_t lane);
void sp_open_calls_release(sp_open_calls *open);

/* Closes the calls that are not around the next one, by its parent's id (below 0: none). False when
 * the parent is not open. */
static inline bool sp_open_stack_close_by_id(sp_open_stack *stack, int64_t parent)
{
    size_t count = stack->calls.count;
    while (count > 0 && stack->calls.items[count - 1].id != parent)
        count--;
    stack->calls.count = count;
    return count > 0 || parent < 0;
}

/* The same by its interval: touching calls are siblings, calls of no length nest. */
static inline void sp_open_stack_close_by_interval(sp_open_stack *stack, int64_t start, int64_t end)
{
    size_t count = stack->calls.count;
    for (; count > 0; count--) {
        int64_t above = stack->calls.items[count - 1].end;
        if (above > start || (above == start && end == start))
            break;
    }
    stack->calls.count = count;
}

/* The call around the next one, NULL for none; `*out_regular` is false when the next one does not
 * lie inside it and behind its children. */
static inline sp_open_call *sp_open_stack_enter(sp_open_stack *stack, int64_t start, int64_t end,
                                                bool *out_regular)
{
    *out_regular = end >= start;
    if (stack->calls.count == 0)
        return NULL;
    sp_open_call *parent = &stack->calls.items[stack->calls.count - 1];
    if (end > parent->end || start < parent->children_to)
        *out_regular = false;
    parent->children_to = end;
    return parent;
}

/* False when memory is short. */
static inline bool sp_open_stack_push(sp_open_stack *stack, int64_t id, int64_t start, int64_t end,
                                      uint64_t value)
{
    if (!sp_vector_reserve(&stack->calls, 1))
        return false;
    stack->calls.items[stack->calls.count++] =
        (sp_open_call){.id = id, .end = end, .children_to = start, .value = value};
    return true;
}

#endif
