/* summary_limit.c - the most important rows of a summary alone. */
#include "base/error.h"
#include "export/summary.h"

#include <stdlib.h>

typedef struct ranked_row {
    double total;
    uint32_t place; /* in the order of the table */
} ranked_row;

static int compare_rows(const void *a, const void *b)
{
    const ranked_row *x = a, *y = b;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static int compare_places(const void *a, const void *b)
{
    uint32_t x = ((const ranked_row *)a)->place, y = ((const ranked_row *)b)->place;
    return (x > y) - (x < y);
}

static void keep_levels(sp_summary *summary, size_t levels)
{
    size_t kept = 0;
    for (size_t i = 0; i < summary->sorted.count; i++) {
        uint32_t entry = summary->sorted.items[i];
        if ((size_t)summary->entries.items[entry].row.depth < levels)
            summary->sorted.items[kept++] = entry;
    }
    summary->sorted.count = kept;
}

/* A path never takes less than what is below it, so what is left hangs together. */
static void keep_shares(sp_summary *summary, double percent)
{
    double largest = 0;
    size_t kept = 0;
    for (size_t i = 0; i < summary->entries.count; i++)
        if (summary->entries.items[i].row.total > largest)
            largest = summary->entries.items[i].row.total;
    for (size_t i = 0; i < summary->sorted.count; i++) {
        uint32_t entry = summary->sorted.items[i];
        if (summary->entries.items[entry].row.total >= largest * percent / 100)
            summary->sorted.items[kept++] = entry;
    }
    summary->num_small = summary->sorted.count - kept;
    summary->sorted.count = kept;
}

/* Rows in order of their starts lose those with the smallest totals. A path never takes less than what
 * is below it, and stands before it, so what is left hangs together. */
static int keep_largest(sp_summary *summary, size_t count, sp_error *error)
{
    ranked_row *rows = malloc(summary->sorted.count * sizeof *rows);
    if (rows == NULL)
        return sp_fail_memory(error, "summing up a run");
    for (size_t i = 0; i < summary->sorted.count; i++)
        rows[i] = (ranked_row){summary->entries.items[summary->sorted.items[i]].row.total,
                               (uint32_t)i};
    qsort(rows, summary->sorted.count, sizeof *rows, compare_rows);
    qsort(rows, count, sizeof *rows, compare_places);
    for (size_t i = 0; i < count; i++)
        summary->sorted.items[i] = summary->sorted.items[rows[i].place];
    summary->sorted.count = count;
    free(rows);
    return SP_OK;
}

/* A row whose inner ones are gone shows no own time apart from its total. */
static int mark_parents(sp_summary *summary, sp_error *error)
{
    size_t count = summary->entries.count;
    bool *is_kept = calloc(count + 1, sizeof *is_kept);
    if (is_kept == NULL)
        return sp_fail_memory(error, "summing up a run");
    for (size_t i = 0; i < summary->sorted.count; i++)
        is_kept[summary->sorted.items[i]] = true;
    for (size_t i = 0; i < count; i++)
        summary->entries.items[i].row.has_children = false;
    for (size_t i = 0; i < count; i++) {
        uint32_t parent = summary->entries.items[i].parent;
        if (is_kept[i] && parent != SP_NO_ROW)
            summary->entries.items[parent].row.has_children = true;
    }
    free(is_kept);
    return SP_OK;
}

int sp_summary_limit(sp_summary *summary, sp_error *error)
{
    const sp_summary_options *options = &summary->request.options;
    int status = SP_OK;
    if (options->max_depth == 0 && options->top == 0 && !(options->min_percent > 0))
        return SP_OK;
    if (options->min_percent > 0)
        keep_shares(summary, options->min_percent);
    if (options->max_depth > 0)
        keep_levels(summary, options->max_depth);
    if (options->top > 0 && options->top < summary->sorted.count) {
        if (options->sort == SP_SORT_START)
            status = keep_largest(summary, options->top, error);
        else
            summary->sorted.count = options->top;
    }
    return status == SP_OK ? mark_parents(summary, error) : status;
}
