#include "store/assemble_int.h"

#include "base/os/pages.h"

#include <stdlib.h>

/* However small the budget: fewer calls at a time would only multiply the passes. */
enum { LEAST_ROOM = 64, LEAST_PIECE = 64, LARGEST_PIECE = (1 << 20) / sizeof(int64_t) };

#define DEFAULT_BUDGET ((size_t)64 << 20)

static bool any_unsorted(const sp_assembler *a)
{
    for (size_t i = 0; i < a->rows.count; i++)
        if (!a->rows.items[i].is_sorted)
            return true;
    return false;
}

static size_t spare_bytes(const sp_assembler *a)
{
    return (a->room / 2 + 1) * sizeof *a->spare;
}

static int add_group(sp_assembler *a, size_t first, size_t last, uint64_t calls, size_t most)
{
    if (first == last)
        return SP_OK;
    if (!sp_vector_reserve(&a->groups, 1))
        return sp_fail_memory(a->error, "the plan of a file");
    a->groups.items[a->groups.count++] =
        (sp_row_group){.first = first, .last = last, .is_windowed = calls > most};
    size_t room = calls > most ? most : (size_t)calls;
    a->room = room > a->room ? room : a->room;
    return SP_OK;
}

/* Groups of rows that together have at most `most` calls, or one row that has more. */
static int make_groups(sp_assembler *a, size_t most)
{
    size_t first = 0;
    uint64_t calls = 0;
    for (size_t i = 0; i < a->rows.count; i++) {
        uint64_t count = a->rows.items[i].count;
        if (calls > most || count > most - calls) {
            int status = add_group(a, first, i, calls, most);
            if (status != SP_OK)
                return status;
            first = i;
            calls = 0;
        }
        calls += count;
    }
    return add_group(a, first, a->rows.count, calls, most);
}

static size_t budget_of(const sp_assembly *in)
{
    return in->memory_budget > 0 ? in->memory_budget : DEFAULT_BUDGET;
}

size_t sp_assemble_room(const sp_assembly *assembly)
{
    size_t budget = budget_of(assembly);
    size_t room = (budget - budget / 8) / sizeof(sp_ordered_call);
    return room < LEAST_ROOM ? LEAST_ROOM : room;
}

/* The rest of the budget. */
static size_t piece_size(const sp_assembly *in)
{
    size_t piece = budget_of(in) / 8 / (SP_COLUMN_COUNT * sizeof(int64_t));
    piece = piece < LEAST_PIECE ? LEAST_PIECE : piece;
    return piece > LARGEST_PIECE ? LARGEST_PIECE : piece;
}

int sp_assemble_plan(sp_assembler *a)
{
    size_t most = sp_assemble_room(a->in);
    bool needs_spare = any_unsorted(a);
    a->piece = piece_size(a->in);
    if (sp_keep_settle(a))
        most = SIZE_MAX; /* one group, of which no more than a->room is ordered at a time */
    else if (needs_spare)
        most -= most / 3;
    size_t kept_room = a->room;
    int status = make_groups(a, most);
    if (status != SP_OK || a->groups.count == 0)
        return status;
    if (a->kept.is_on)
        a->room = kept_room;
    a->calls = sp_os_pages_alloc(a->room * sizeof *a->calls);
    a->spare = needs_spare ? sp_os_pages_alloc(spare_bytes(a)) : NULL;
    if (a->calls == NULL || (needs_spare && a->spare == NULL))
        return sp_fail_memory(a->error, "sorting calls");
    return SP_OK;
}

void sp_assemble_release_room(sp_assembler *a)
{
    sp_os_pages_free(a->calls, a->room * sizeof *a->calls);
    sp_os_pages_free(a->spare, spare_bytes(a));
}

/* Where the next call of each row of the group goes. */
typedef struct scatter {
    sp_assembler *assembler;
    size_t *next; /* by row, SIZE_MAX: not in the group */
} scatter;

static inline sp_ordered_call ordered(sp_assembler *a, const sp_walk_call *call)
{
    return (sp_ordered_call){
        .start = call->start,
        .duration = call->duration,
        .id = sp_assembler_id(a, call->lane, call->number),
        .parent = sp_assembler_parent_id(a, call->lane, call->parent),
    };
}

static int scatter_calls(void *context, const sp_walk_call *calls, size_t count, sp_error *error)
{
    scatter *s = context;
    sp_assembler *a = s->assembler;
    (void)error;
    for (size_t i = 0; i < count; i++) {
        size_t *next = &s->next[a->row_of.items[calls[i].region]];
        if (*next != SIZE_MAX)
            a->calls[(*next)++] = ordered(a, &calls[i]);
    }
    return SP_OK;
}

static int scatter_group(sp_assembler *a, const sp_row_group *group)
{
    size_t *next = malloc(a->rows.count * sizeof *next);
    if (next == NULL)
        return sp_fail_memory(a->error, "sorting calls");
    size_t offset = 0;
    for (size_t i = 0; i < a->rows.count; i++) {
        bool is_in = i >= group->first && i < group->last;
        next[i] = is_in ? offset : SIZE_MAX;
        offset += is_in ? (size_t)a->rows.items[i].count : 0;
    }
    scatter s = {.assembler = a, .next = next};
    sp_walk_visitor visitor = {.context = &s, .calls = scatter_calls};
    int status = sp_walk(a->in, &visitor, NULL, a->error);
    free(next);
    return status;
}

static int gather_kept(sp_assembler *a, const sp_row_group *group, sp_row_sink sink, void *context)
{
    int status = SP_OK;
    for (size_t i = group->first; i < group->last && status == SP_OK; i++)
        status = sp_keep_gather(a, i, sink, context);
    return status;
}

static int gather_whole(sp_assembler *a, size_t group, sp_row_sink sink, void *context)
{
    const sp_row_group *g = &a->groups.items[group];
    bool is_held = a->held == group;
    a->held = SIZE_MAX;
    int status = is_held ? SP_OK : scatter_group(a, g);
    sp_ordered_call *calls = a->calls;
    for (size_t i = g->first; i < g->last && status == SP_OK; i++) {
        size_t count = (size_t)a->rows.items[i].count;
        if (!is_held && !a->rows.items[i].is_sorted)
            sp_sort_calls(calls, count, a->spare);
        status = sink(context, i, calls, count);
        calls += count;
    }
    if (status == SP_OK)
        a->held = group;
    return status;
}

/* The first calls, in order, of one row that come after `lower`, as many as there is room for. */
typedef struct window {
    sp_assembler *assembler;
    uint32_t region;
    bool has_lower, has_limit, is_ascending;
    sp_ordered_call lower; /* last call of the window before */
    sp_ordered_call limit; /* with has_limit: calls after it are left to later windows; before that
                              the call put last */
    size_t count;
} window;

/* Makes room for `call` by giving up the later half; false when the call itself is given up. */
static bool give_up_half(window *w, const sp_ordered_call *call)
{
    sp_assembler *a = w->assembler;
    bool keeps_all = !w->has_limit && w->is_ascending && sp_call_before(&w->limit, call);
    if (!keeps_all) {
        sp_sort_calls(a->calls, w->count, a->spare);
        w->count -= w->count / 2;
        w->limit = a->calls[w->count - 1];
        w->is_ascending = true;
    }
    w->has_limit = true;
    return sp_call_before(call, &w->limit);
}

static void window_put(window *w, const sp_ordered_call *call)
{
    sp_assembler *a = w->assembler;
    if ((w->has_lower && !sp_call_before(&w->lower, call)) ||
        (w->has_limit && sp_call_before(&w->limit, call)))
        return;
    if (w->count == a->room && !give_up_half(w, call))
        return;
    w->is_ascending = w->count == 0 ||
                      (w->is_ascending && sp_call_before(&a->calls[w->count - 1], call));
    a->calls[w->count++] = *call;
    if (!w->has_limit)
        w->limit = *call;
}

static int window_calls(void *context, const sp_walk_call *calls, size_t count, sp_error *error)
{
    window *w = context;
    (void)error;
    for (size_t i = 0; i < count; i++) {
        if (calls[i].region != w->region)
            continue;
        sp_ordered_call call = ordered(w->assembler, &calls[i]);
        window_put(w, &call);
    }
    return SP_OK;
}

static int gather_windows(sp_assembler *a, size_t row, sp_row_sink sink, void *context)
{
    window w = {.assembler = a, .region = a->rows.items[row].region};
    sp_walk_visitor visitor = {.context = &w, .calls = window_calls};
    a->held = SIZE_MAX;
    for (uint64_t left = a->rows.items[row].count; left > 0; left -= w.count) {
        w.count = 0;
        w.has_limit = false;
        int status = sp_walk(a->in, &visitor, NULL, a->error);
        if (status == SP_OK && (w.count == 0 || w.count > left))
            status = sp_fail(a->error, SP_ERR_DAMAGED, "log blocks changed while they were read");
        if (status != SP_OK)
            return status;
        sp_sort_calls(a->calls, w.count, a->spare);
        w.lower = a->calls[w.count - 1];
        w.has_lower = true;
        status = sink(context, row, a->calls, w.count);
        if (status != SP_OK)
            return status;
    }
    return SP_OK;
}

int sp_assemble_gather(sp_assembler *a, size_t group, sp_row_sink sink, void *context)
{
    const sp_row_group *g = &a->groups.items[group];
    if (a->kept.is_on)
        return gather_kept(a, g, sink, context);
    return g->is_windowed ? gather_windows(a, g->first, sink, context)
                          : gather_whole(a, group, sink, context);
}
