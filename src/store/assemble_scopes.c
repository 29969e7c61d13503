#include "store/assemble_scopes.h"

#include <stdlib.h>
#include <string.h>

enum { ANY_THREAD = -1 };

/* Merging order: earlier start first, at equal starts the longer, then the earlier entry (the
 * entries are one array, so their addresses are in order). */
static int compare_scopes(const void *left, const void *right)
{
    const sp_assemble_scope *a = *(const sp_assemble_scope *const *)left;
    const sp_assemble_scope *b = *(const sp_assemble_scope *const *)right;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns ? -1 : 1;
    return (a > b) - (a < b);
}

static int compare_threads(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static bool order_scopes(sp_scopes *scopes, const sp_assemble_scope *given, size_t count,
                         uint64_t *out_bad)
{
    scopes->order = malloc(count * sizeof *scopes->order);
    if (scopes->order == NULL)
        return false;
    scopes->first_start = INT64_MAX;
    scopes->last_end = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        const sp_assemble_scope *scope = &given[i];
        if (scope->json == NULL || !sp_json_is_object(scope->json, strlen(scope->json))) {
            ++*out_bad;
            continue;
        }
        scopes->order[scopes->count++] = scope;
        if (scope->start_ns < scopes->first_start)
            scopes->first_start = scope->start_ns;
        if (scope->end_ns > scopes->last_end)
            scopes->last_end = scope->end_ns;
    }
    qsort(scopes->order, scopes->count, sizeof *scopes->order, compare_scopes);
    return true;
}

/* Makes the empty set of each thread that a scope names. */
static bool list_threads(sp_scopes *scopes)
{
    int64_t *threads = malloc((scopes->count + 1) * sizeof *threads);
    if (threads == NULL)
        return false;
    for (size_t i = 0; i < scopes->count; i++)
        threads[i] = scopes->order[i]->thread;
    qsort(threads, scopes->count, sizeof *threads, compare_threads);
    size_t distinct = 0;
    for (size_t i = 0; i < scopes->count; i++)
        if (i == 0 || threads[i] != threads[i - 1])
            threads[distinct++] = threads[i];
    scopes->sets = calloc(distinct + 1, sizeof *scopes->sets);
    if (scopes->sets != NULL) {
        scopes->num_sets = distinct;
        for (size_t i = 0; i < distinct; i++)
            scopes->sets[i].thread = threads[i];
    }
    free(threads);
    return scopes->sets != NULL;
}

static sp_scope_set *set_of(const sp_scopes *scopes, int64_t thread)
{
    size_t low = 0, high = scopes->num_sets;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (scopes->sets[middle].thread < thread)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_there = low < scopes->num_sets && scopes->sets[low].thread == thread;
    return is_there ? &scopes->sets[low] : NULL;
}

static bool fill_set(const sp_scopes *scopes, sp_scope_set *set, size_t count)
{
    set->leaves = 1;
    while (set->leaves < count)
        set->leaves *= 2;
    set->positions = malloc(count * sizeof *set->positions);
    set->latest = malloc(2 * set->leaves * sizeof *set->latest);
    if (set->positions == NULL || set->latest == NULL)
        return false;
    for (size_t i = 0; i < scopes->count; i++)
        if (scopes->order[i]->thread == set->thread)
            set->positions[set->count++] = (uint32_t)i;
    for (size_t i = 0; i < set->leaves; i++)
        set->latest[set->leaves + i] =
            i < set->count ? scopes->order[set->positions[i]]->end_ns : INT64_MIN;
    for (size_t i = set->leaves; i-- > 1;) {
        int64_t left = set->latest[2 * i], right = set->latest[2 * i + 1];
        set->latest[i] = left > right ? left : right;
    }
    return true;
}

bool sp_scopes_build(sp_scopes *scopes, const sp_assemble_scope *given, size_t count,
                     uint64_t *out_bad)
{
    if (count == 0)
        return true;
    if (count > UINT32_MAX || !order_scopes(scopes, given, count, out_bad) ||
        !list_threads(scopes))
        return false;
    size_t *counts = calloc(scopes->num_sets + 1, sizeof *counts);
    if (counts == NULL)
        return false;
    for (size_t i = 0; i < scopes->count; i++)
        counts[set_of(scopes, scopes->order[i]->thread) - scopes->sets]++;
    bool is_complete = true;
    for (size_t i = 0; i < scopes->num_sets && is_complete; i++)
        is_complete = fill_set(scopes, &scopes->sets[i], counts[i]);
    free(counts);
    return is_complete;
}

/* Number of scopes of the set that start at `start` or before. */
static size_t started(const sp_scopes *scopes, const sp_scope_set *set, int64_t start)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (scopes->order[set->positions[middle]]->start_ns <= start)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first leaf in [from, to) whose end is `end` or later; `to` when there is none. */
static size_t next_leaf(const sp_scope_set *set, size_t from, size_t to, int64_t end)
{
    if (from >= to)
        return to;
    size_t node = from + set->leaves;
    while (set->latest[node] < end) {
        while (node & 1)
            node /= 2;
        if (node == 0)
            return to;
        node++;
    }
    while (node < set->leaves) {
        node *= 2;
        node += set->latest[node] < end;
    }
    size_t leaf = node - set->leaves;
    return leaf < to ? leaf : to;
}

static bool find_in_set(const sp_scopes *scopes, const sp_scope_set *set, int64_t start,
                        int64_t end, sp_scope_list *out)
{
    size_t to = set != NULL ? started(scopes, set, start) : 0;
    for (size_t i = 0; i < to; i++) {
        i = next_leaf(set, i, to, end);
        if (i == to)
            break;
        if (!sp_vector_reserve(out, 1))
            return false;
        out->items[out->count++] = set->positions[i];
    }
    return true;
}

static int compare_positions(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

bool sp_scopes_find(const sp_scopes *scopes, int64_t start, int64_t end, int64_t thread,
                    sp_scope_list *out)
{
    out->count = 0;
    if (!find_in_set(scopes, set_of(scopes, ANY_THREAD), start, end, out))
        return false;
    size_t of_any = out->count;
    const sp_scope_set *own = thread != ANY_THREAD ? set_of(scopes, thread) : NULL;
    if (own == NULL && thread >= ANY_THREAD)
        own = set_of(scopes, SP_SCOPE_OTHER_THREADS);
    if (!find_in_set(scopes, own, start, end, out))
        return false;
    if (of_any > 0 && out->count > of_any)
        qsort(out->items, out->count, sizeof *out->items, compare_positions);
    return true;
}

void sp_scopes_release(sp_scopes *scopes)
{
    for (size_t i = 0; i < scopes->num_sets; i++) {
        free(scopes->sets[i].positions);
        free(scopes->sets[i].latest);
    }
    free(scopes->sets);
    free(scopes->order);
    *scopes = (sp_scopes){0};
}
