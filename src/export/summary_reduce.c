/* summary_reduce.c - the rows of each rank on its own, made one: the slowest rank, the mean of the
 * ranks, and so on. Ranks that lack a row do not count in it. */
#include "base/error.h"
#include "base/map.h"
#include "export/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row of the result while ranks are added to it. */
typedef struct reduced_row {
    sp_summary_row row;
    uint32_t parent; /* SP_NO_ROW: a root */
    uint32_t first_child, last_child, next_sibling; /* SP_NO_ROW: none */
    double calls;
    double busy_total, busiest; /* over ranks with time, for the imbalance */
    uint32_t num_busy;
    uint32_t counts[16]; /* ranks that know field i */
} reduced_row;

typedef struct reducer {
    sp_summary *summary;
    SP_VECTOR(reduced_row) rows;
    sp_map names;          /* to their numbers */
    sp_number_map by_path; /* parent + 1 << 32 | number of the name, to the row */
    double session;
    uint32_t num_sessions;
} reducer;

/* The numbers of a row that are reduced; all of them are seconds. */
enum { NUM_FIELDS = 14 };

static double *field(sp_summary_row *row, int i)
{
    double *const fields[NUM_FIELDS] = {
        &row->total,   &row->coverage, &row->exclusive, &row->average,   &row->minimum,
        &row->maximum, &row->first,    &row->last,      &row->deviation, &row->p50,
        &row->p95,     &row->p99,      &row->gpu_total, &row->gpu_average};
    return fields[i];
}

static double join(sp_rank_reduction reduction, double sofar, double value)
{
    switch (reduction) {
    case SP_REDUCE_MAXIMUM:
        return value > sofar ? value : sofar;
    case SP_REDUCE_MINIMUM:
        return value < sofar ? value : sofar;
    default:
        return sofar + value;
    }
}

/* ---- Adding a rank ---------------------------------------------------------------------------*/

/* The row of a name below another; SP_NO_ROW when memory is short. */
static uint32_t find_row(reducer *r, uint32_t parent, const char *name)
{
    size_t length = strlen(name);
    uint32_t number = sp_map_get(&r->names, name, length);
    if (number == SP_MAP_NONE) {
        number = (uint32_t)r->names.count;
        if (!sp_map_add(&r->names, name, length, number))
            return SP_NO_ROW;
    }
    uint64_t key = (uint64_t)(uint32_t)(parent + 1) << 32 | number;
    uint32_t known = sp_number_map_get(&r->by_path, key);
    if (known != SP_NUMBER_NONE)
        return known;
    known = (uint32_t)r->rows.count;
    if (!sp_vector_reserve(&r->rows, 1) || !sp_number_map_set(&r->by_path, key, known))
        return SP_NO_ROW;
    r->rows.items[r->rows.count++] = (reduced_row){
        .parent = parent, .first_child = SP_NO_ROW, .last_child = SP_NO_ROW,
        .next_sibling = SP_NO_ROW, .row = {.name = name, .start = NAN}};
    return known;
}

static void add_numbers(reducer *r, reduced_row *to, sp_summary_row *from)
{
    sp_rank_reduction reduction = r->summary->request.options.reduction;
    for (int i = 0; i < NUM_FIELDS; i++) {
        double value = *field(from, i), *sofar = field(&to->row, i);
        if (isnan(value))
            continue;
        *sofar = to->counts[i]++ == 0 ? value : join(reduction, *sofar, value);
    }
    to->calls = to->row.num_ranks == 0 ? (double)from->calls
                                       : join(reduction, to->calls, (double)from->calls);
    to->row.num_ranks++;
    to->row.is_recursive = to->row.is_recursive || from->is_recursive;
    to->row.start = isnan(to->row.start) || from->start < to->row.start ? from->start : to->row.start;
    if (from->total > 0) {
        to->num_busy++;
        to->busy_total += from->total;
        to->busiest = from->total > to->busiest ? from->total : to->busiest;
    }
}

static int add_summary(reducer *r, sp_summary *rank, sp_error *error)
{
    uint32_t *where = malloc((rank->entries.count + 1) * sizeof *where);
    bool failed = where == NULL;
    for (size_t i = 0; !failed && i < rank->entries.count; i++) {
        sp_summary_entry *entry = &rank->entries.items[i];
        if (entry->row.calls == 0) {
            where[i] = SP_NO_ROW;
            continue;
        }
        where[i] = find_row(r, entry->parent == SP_NO_ROW ? SP_NO_ROW : where[entry->parent],
                            entry->row.name);
        failed = where[i] == SP_NO_ROW;
        if (!failed)
            add_numbers(r, &r->rows.items[where[i]], &entry->row);
    }
    free(where);
    if (!isnan(rank->session_total))
        r->session = r->num_sessions++ == 0 ? rank->session_total
                                            : join(r->summary->request.options.reduction, r->session,
                                                   rank->session_total);
    return failed ? sp_fail_memory(error, "summing up a run") : SP_OK;
}

/* The summary of one rank; of rows by region when `flat`. */
static int add_rank(reducer *r, uint32_t rank, bool flat, bool *out_flat, sp_error *error)
{
    sp_summary_options options = r->summary->request.options;
    sp_summary *of_rank;
    options.reduction = SP_REDUCE_POOLED;
    options.ranks = &rank;
    options.num_ranks = 1;
    options.top = options.max_depth = 0;
    options.min_percent = 0;
    options.sort = SP_SORT_START;
    options.with_percentiles = r->summary->request.wants_percentiles;
    int status = sp_summary_create_rows(r->summary->results, &options, flat, &of_rank, error);
    if (status != SP_OK)
        return status;
    *out_flat = of_rank->is_flat;
    if (of_rank->is_flat && !flat)
        memcpy(r->summary->reason, of_rank->reason, sizeof r->summary->reason);
    else
        status = add_summary(r, of_rank, error);
    sp_summary_free(of_rank);
    return status;
}

/* ---- Rows in order ---------------------------------------------------------------------------*/

static void finish_row(const reducer *r, reduced_row *row)
{
    bool is_mean = r->summary->request.options.reduction == SP_REDUCE_MEAN;
    for (int i = 0; i < NUM_FIELDS; i++) {
        double *value = field(&row->row, i);
        if (row->counts[i] == 0)
            *value = NAN;
        else if (is_mean)
            *value /= row->counts[i];
    }
    row->row.calls = (uint64_t)(is_mean ? row->calls / (double)row->row.num_ranks + 0.5 : row->calls);
    row->row.imbalance =
        row->num_busy < 2 ? 0 : (row->busiest * row->num_busy / row->busy_total - 1) * 100;
}

typedef struct ordered_row {
    double start;
    const char *name;
    uint32_t row;
} ordered_row;

static int compare_rows(const void *a, const void *b)
{
    const ordered_row *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    int by_name = strcmp(x->name, y->name);
    return by_name != 0 ? by_name : (x->row > y->row) - (x->row < y->row);
}

/* Links siblings by their first start; the first root, SP_NO_ROW when there is none. */
static int link_rows(reducer *r, uint32_t *out_first, sp_error *error)
{
    size_t count = r->rows.count;
    ordered_row *order = malloc((count + 1) * sizeof *order);
    uint32_t last_root = SP_NO_ROW;
    if (order == NULL)
        return sp_fail_memory(error, "summing up a run");
    for (size_t i = 0; i < count; i++)
        order[i] = (ordered_row){r->rows.items[i].row.start, r->rows.items[i].row.name, (uint32_t)i};
    qsort(order, count, sizeof *order, compare_rows);
    for (size_t i = 0; i < count; i++) {
        uint32_t row = order[i].row, parent = r->rows.items[row].parent;
        reduced_row *above = parent == SP_NO_ROW ? NULL : &r->rows.items[parent];
        uint32_t *last = above == NULL ? &last_root : &above->last_child;
        if (*last != SP_NO_ROW)
            r->rows.items[*last].next_sibling = row;
        else if (above == NULL)
            *out_first = row;
        else
            above->first_child = row;
        *last = row;
    }
    free(order);
    return SP_OK;
}

/* Adds the rows in pre-order to the entries of the summary. */
static int add_entries(reducer *r, uint32_t first, bool *called, sp_error *error)
{
    sp_summary *summary = r->summary;
    uint32_t *entry_of = malloc((r->rows.count + 1) * sizeof *entry_of);
    if (entry_of == NULL || !sp_vector_reserve(&summary->entries, r->rows.count)) {
        free(entry_of);
        return sp_fail_memory(error, "summing up a run");
    }
    for (uint32_t at = first; at != SP_NO_ROW;) {
        reduced_row *row = &r->rows.items[at];
        finish_row(r, row);
        sp_summary_entry entry = {.row = row->row, .parent = SP_NO_ROW};
        entry.row.has_children = row->first_child != SP_NO_ROW;
        entry.row.parent_coverage = NAN;
        if (row->parent != SP_NO_ROW) {
            entry.parent = entry_of[row->parent];
            entry.row.depth = summary->entries.items[entry.parent].row.depth + 1;
            entry.row.parent_coverage = summary->entries.items[entry.parent].row.coverage;
        }
        int64_t region = sp_results_find_region(summary->results, entry.row.name);
        if (region >= 0)
            called[region] = true;
        entry_of[at] = (uint32_t)summary->entries.count;
        summary->entries.items[summary->entries.count++] = entry;
        uint32_t next = row->first_child;
        for (uint32_t up = at; next == SP_NO_ROW && up != SP_NO_ROW; up = r->rows.items[up].parent)
            next = r->rows.items[up].next_sibling;
        at = next;
    }
    free(entry_of);
    return SP_OK;
}

static int finish(reducer *r, sp_error *error)
{
    uint32_t first = SP_NO_ROW;
    bool *called = calloc(r->summary->results->regions.count + 1, sizeof *called);
    int status = called == NULL ? sp_fail_memory(error, "summing up a run")
                                : link_rows(r, &first, error);
    if (status == SP_OK)
        status = add_entries(r, first, called, error);
    if (status == SP_OK)
        status = sp_summary_add_uncalled(r->summary, called, error);
    free(called);
    r->summary->session_total = r->num_sessions == 0 ? (double)NAN : r->session;
    if (r->summary->request.options.reduction == SP_REDUCE_MEAN && r->num_sessions > 0)
        r->summary->session_total /= r->num_sessions;
    return status;
}

static void release(reducer *r)
{
    sp_vector_release(&r->rows);
    sp_map_release(&r->names);
    sp_number_map_release(&r->by_path);
}

static int add_ranks(reducer *r, bool flat, bool *out_again, sp_error *error)
{
    const sp_results *results = r->summary->results;
    int status = SP_OK;
    *out_again = false;
    for (size_t i = 0; status == SP_OK && !*out_again && i < results->ranks.count; i++) {
        bool is_flat = false;
        if (!sp_rank_filter_takes(&r->summary->request.ranks, results->ranks.items[i].rank))
            continue;
        status = add_rank(r, results->ranks.items[i].rank, flat, &is_flat, error);
        *out_again = is_flat && !flat;
    }
    return status;
}

int sp_summary_add_reduced(sp_summary *summary, sp_error *error)
{
    bool flat = summary->results->is_aggregate, again = true;
    int status = SP_OK;
    while (status == SP_OK && again) { /* once, or twice when some rank has no call tree */
        reducer r = {.summary = summary};
        status = add_ranks(&r, flat, &again, error);
        if (status == SP_OK && !again)
            status = finish(&r, error);
        release(&r);
        summary->is_flat = flat;
        flat = true;
    }
    return status;
}
