/* summary_totals.c - calls of which the run has no rows, because there was no room for them: a sentence
 * that says of which regions they are. */
#include "export/costs.h"
#include "export/number.h"
#include "export/summary.h"
#include "export/width.h"
#include "results/moments.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMED = 8 };

typedef struct region_totals {
    const char *name;
    int64_t calls, ns, untimed;
} region_totals;

typedef SP_VECTOR(region_totals) totals_list;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const region_totals *)a)->name, ((const region_totals *)b)->name);
}

static int most_calls_first(const void *a, const void *b)
{
    const region_totals *x = a, *y = b;
    int64_t first = sp_wrap_add(x->calls, x->untimed), second = sp_wrap_add(y->calls, y->untimed);
    return first != second ? (first < second ? 1 : -1) : by_name(a, b);
}

/* Columns of a rank, beside its names. */
enum { CALLS, TOTALS, UNTIMED, NUM_COLUMNS };

/* The arrays of a rank belong together. False: memory is short. */
static bool add_rank(totals_list *list, const sp_extra *names, const sp_extra *const *columns)
{
    bool is_whole = names->texts != NULL;
    for (int i = 0; i < NUM_COLUMNS; i++)
        is_whole = is_whole && columns[i]->integers != NULL && columns[i]->rank == names->rank &&
                   columns[i]->length == names->length;
    if (!is_whole)
        return true;
    if (!sp_vector_reserve(list, names->length))
        return false;
    for (size_t i = 0; i < names->length; i++)
        list->items[list->count++] = (region_totals){
            .name = names->texts[i],
            .calls = columns[CALLS]->integers[i],
            .ns = columns[TOTALS]->integers[i],
            .untimed = columns[UNTIMED]->integers[i],
        };
    return true;
}

/* Ranks of a region become one. */
static void merge(totals_list *list)
{
    size_t kept = 0;
    qsort(list->items, list->count, sizeof *list->items, by_name);
    for (size_t i = 0; i < list->count; i++) {
        region_totals *last = kept == 0 ? NULL : &list->items[kept - 1];
        if (last == NULL || strcmp(last->name, list->items[i].name) != 0) {
            list->items[kept++] = list->items[i];
            continue;
        }
        last->calls = sp_wrap_add(last->calls, list->items[i].calls);
        last->ns = sp_wrap_add(last->ns, list->items[i].ns);
        last->untimed = sp_wrap_add(last->untimed, list->items[i].untimed);
    }
    list->count = kept;
    qsort(list->items, list->count, sizeof *list->items, most_calls_first);
}

/* " 12 (0.5 s) + 7 without a time", either half where there is something to say. */
static void write_region(const region_totals *region, sp_text *out)
{
    if (region->calls > 0) {
        sp_text_format(out, " %" PRId64 " (", region->calls);
        sp_text_add_fixed(out, (double)region->ns / 1e9, 6);
        sp_text_add(out, " s)");
    }
    if (region->untimed > 0)
        sp_text_format(out, "%s %" PRId64 " without a time", region->calls > 0 ? " +" : "",
                       region->untimed);
}

static void write_list(const totals_list *list, sp_text *out)
{
    sp_text_add(out, "Calls that found no room have no rows and count beside the table:");
    for (size_t i = 0; i < list->count && i < MOST_NAMED; i++) {
        const region_totals *region = &list->items[i];
        sp_text_add(out, i == 0 ? " " : ", ");
        sp_text_add_visible(out, region->name);
        write_region(region, out);
    }
    if (list->count > MOST_NAMED)
        sp_text_format(out, " and those of %zu more regions", list->count - MOST_NAMED);
    sp_text_add(out, ".");
}

void sp_summary_write_totals(const sp_summary *summary, sp_text *out)
{
    static const char *const arrays[NUM_COLUMNS] = {"totals_calls", "totals_ns", "totals_untimed"};
    const sp_rank_filter *ranks = &summary->request.ranks;
    size_t names_at = 0, at[NUM_COLUMNS] = {0};
    const sp_extra *names, *columns[NUM_COLUMNS];
    totals_list list = {0};
    bool fits = true;
    while (fits &&
           (names = sp_next_extra(summary->results, ranks, "totals_regions", &names_at)) != NULL) {
        bool is_there = true;
        for (int i = 0; i < NUM_COLUMNS && is_there; i++)
            is_there = (columns[i] = sp_next_extra(summary->results, ranks, arrays[i], &at[i])) != NULL;
        if (!is_there)
            break;
        fits = add_rank(&list, names, columns);
    }
    if (list.count > 0)
        merge(&list);
    if (list.count > 0)
        write_list(&list, out);
    out->failed = out->failed || !fits;
    sp_vector_release(&list);
}
