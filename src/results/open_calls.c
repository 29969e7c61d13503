#include "results/open_calls.h"

#include "results/moments.h"

sp_open_stack *sp_open_calls_of_lane(sp_open_calls *open, int64_t lane)
{
    uint32_t number = sp_lane_number(&open->lanes, lane);
    if (number == SP_NUMBER_NONE)
        return NULL;
    if (number == open->stacks.count) {
        if (!sp_vector_reserve(&open->stacks, 1))
            return NULL;
        open->stacks.items[open->stacks.count++] = (sp_open_stack){.calls = {0}};
    }
    return &open->stacks.items[number];
}

void sp_open_calls_release(sp_open_calls *open)
{
    for (size_t i = 0; i < open->stacks.count; i++)
        sp_vector_release(&open->stacks.items[i].calls);
    sp_vector_release(&open->stacks);
    sp_vector_release(&open->only.calls);
    sp_number_map_release(&open->lanes.numbers);
}

bool sp_tree_link_open(sp_open_calls *open, sp_tree_arrays *tree, const int64_t *ids, size_t from,
                       size_t to)
{
    for (size_t i = from; i < to; i++) {
        int64_t start = tree->start[i], end = tree->end[i];
        sp_open_stack *stack =
            tree->lane == NULL ? &open->only : sp_open_calls_of_lane(open, tree->lane[i]);
        bool is_regular;
        if (stack == NULL || !sp_open_stack_close_by_id(stack, tree->parent[i]))
            return false;
        const sp_open_call *parent = sp_open_stack_enter(stack, start, end, &is_regular);
        int64_t above = parent == NULL ? -1 : (int64_t)parent->value;
        if (!is_regular || !sp_open_stack_push(stack, ids[i - from], start, end, i))
            return false;
        tree->parent[i] = above;
        tree->depth[i] = above < 0 ? 0 : tree->depth[above] + 1;
        tree->exclusive[i] = sp_wrap_subtract(end, start);
        if (above >= 0)
            tree->exclusive[above] = sp_wrap_subtract(tree->exclusive[above], tree->exclusive[i]);
    }
    return true;
}
