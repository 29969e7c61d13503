/* report_findings.c - what of a run is worth acting on, with what it costs in ns. The page makes the
 * sentences; what counts as a finding is decided here. */
#include "base/error.h"
#include "export/costs.h"
#include "export/report.h"
#include "export/summary.h"
#include "results/moments.h"

#include <stdlib.h>

enum { FINDINGS_A_KIND = 5, PIECE = 4096 };

#define HOTSPOT_SHARE 0.03   /* of all own time */
#define IMBALANCE_SHARE 0.01 /* of the wall time */
#define AWAIT_SHARE 0.01     /* of the region's time */
#define SHORT_FACTOR 20.0    /* a call below so many times its own recording is distorted by that */
#define SHORT_SHARE 0.001    /* of the wall time that the recording of such calls must have taken */

typedef struct finding {
    const char *kind;
    double cost;  /* ns; findings of a kind are ordered by it */
    double share; /* 0..1 of what the kind is about */
    uint32_t region;
    uint32_t rank;    /* imbalance: the slowest */
    int64_t path;     /* hotspot: node of the tree, 0: none */
    uint64_t calls;
    double mean;      /* ns: short: of a call; imbalance: of a rank */
} finding;

typedef struct finder {
    const sp_report_run *run;
    int64_t session;
    double wall, own; /* ns; own: sum over all regions */
    SP_VECTOR(finding) found;
    bool failed;
} finder;

/* One region over the selected ranks. */
typedef struct region_sums {
    uint64_t calls;
    int64_t total, own, slowest_own; /* own -1: not known */
    uint32_t slowest_rank;
    size_t num_ranks;
} region_sums;

static void add(finder *f, finding what)
{
    if (sp_vector_reserve(&f->found, 1))
        f->found.items[f->found.count++] = what;
    else
        f->failed = true;
}

static int sum_region(const finder *f, size_t region, region_sums *out, sp_error *error)
{
    sp_results *results = f->run->results;
    *out = (region_sums){.slowest_own = -1};
    for (uint32_t r = results->regions.items[region].first_row; r != SP_NO_ROW;
         r = results->rows.items[r].next_in_region) {
        sp_statistics row;
        uint32_t rank = results->rows.items[r].row->rank;
        if (!sp_rank_filter_takes(&f->run->selection->ranks, rank))
            continue;
        int status = sp_results_row_statistics(results, r, &row, error);
        if (status != SP_OK)
            return status;
        int64_t own = f->run->tree.row_exclusive[r];
        out->calls += row.calls;
        out->total = sp_wrap_add(out->total, row.total);
        out->num_ranks += row.calls > 0;
        out->own = own < 0 ? out->own : sp_wrap_add(out->own, own);
        if (own > out->slowest_own) {
            out->slowest_own = own;
            out->slowest_rank = rank;
        }
    }
    return SP_OK;
}

/* The call path on which the region spends most of its own time. */
static int64_t hottest_path(const finder *f, uint32_t region)
{
    int64_t hottest = 0, most = -1;
    for (size_t i = 1; i < f->run->tree.nodes.count; i++) {
        const sp_report_node *node = &f->run->tree.nodes.items[i];
        if (node->region == region && node->exclusive > most) {
            most = node->exclusive;
            hottest = (int64_t)i;
        }
    }
    return hottest;
}

/* ---- The kinds -------------------------------------------------------------------------------*/

static void find_hotspot(finder *f, uint32_t region, const region_sums *sums)
{
    double share = f->own > 0 ? (double)sums->own / f->own : 0;
    if (share >= HOTSPOT_SHARE)
        add(f, (finding){.kind = "hotspot", .cost = (double)sums->own, .share = share,
                         .region = region, .calls = sums->calls, .path = hottest_path(f, region)});
}

/* What the slowest rank takes longer than the mean of all: the others wait so long for it. */
static void find_imbalance(finder *f, uint32_t region, const region_sums *sums, size_t num_ranks)
{
    if (num_ranks < 2 || sums->slowest_own < 0)
        return;
    double mean = (double)sums->own / (double)num_ranks, cost = (double)sums->slowest_own - mean;
    if (f->wall > 0 && cost / f->wall >= IMBALANCE_SHARE)
        add(f, (finding){.kind = "imbalance", .cost = cost, .share = cost / f->wall,
                         .region = region, .rank = sums->slowest_rank, .calls = sums->calls,
                         .mean = mean});
}

static void find_short(finder *f, uint32_t region, const region_sums *sums, double pair)
{
    if (pair <= 0 || sums->calls == 0)
        return;
    double mean = (double)sums->total / (double)sums->calls, cost = pair * (double)sums->calls;
    if (mean < SHORT_FACTOR * pair && cost > SHORT_SHARE * f->wall)
        add(f, (finding){.kind = "short", .cost = cost, .share = mean > 0 ? pair / mean : 1,
                         .region = region, .calls = sums->calls, .mean = mean});
}

static int sum_await(const finder *f, size_t region, double *out, sp_error *error)
{
    sp_results *results = f->run->results;
    int64_t piece[PIECE];
    *out = 0;
    for (uint32_t r = results->regions.items[region].first_row; r != SP_NO_ROW;
         r = results->rows.items[r].next_in_region) {
        const sp_run_row *row = &results->rows.items[r];
        if (!(row->columns & SP_COLUMN_BIT(SP_COLUMN_AWAIT)) ||
            !sp_rank_filter_takes(&f->run->selection->ranks, row->row->rank))
            continue;
        for (uint64_t at = 0; at < row->row->count; at += PIECE) {
            size_t count = row->row->count - at < PIECE ? (size_t)(row->row->count - at) : PIECE;
            int status = sp_run_read_piece(results, r, SP_COLUMN_AWAIT, at, count, piece, error);
            if (status != SP_OK)
                return status;
            for (size_t i = 0; i < count; i++)
                *out += (double)piece[i];
        }
    }
    return SP_OK;
}

static int find_await(finder *f, uint32_t region, const region_sums *sums, sp_error *error)
{
    double waited;
    int status = sum_await(f, region, &waited, error);
    if (status == SP_OK && waited > 0 && waited >= AWAIT_SHARE * (double)sums->total)
        add(f, (finding){.kind = "await", .cost = waited, .region = region, .calls = sums->calls,
                         .share = sums->total > 0 ? waited / (double)sums->total : 0});
    return status;
}

/* ---- All of them -----------------------------------------------------------------------------*/

static int find_in_region(finder *f, size_t region, size_t num_ranks, double pair, sp_error *error)
{
    region_sums sums;
    int status = sum_region(f, region, &sums, error);
    if (status != SP_OK || sums.calls == 0)
        return status;
    find_hotspot(f, (uint32_t)region, &sums);
    find_imbalance(f, (uint32_t)region, &sums, num_ranks);
    find_short(f, (uint32_t)region, &sums, pair);
    return find_await(f, (uint32_t)region, &sums, error);
}

static double sum_own(const finder *f)
{
    double own = 0;
    for (size_t i = 0; i < f->run->results->rows.count; i++) {
        const sp_run_row *row = &f->run->results->rows.items[i];
        int64_t of_row = f->run->tree.row_exclusive[i];
        if ((int64_t)row->region != f->session && of_row > 0 &&
            f->run->selection->regions[row->region] &&
            sp_rank_filter_takes(&f->run->selection->ranks, row->row->rank))
            own += (double)of_row;
    }
    return own;
}

static int compare_findings(const void *a, const void *b)
{
    static const char *const order[] = {"hotspot", "imbalance", "await", "short"};
    const finding *left = a, *right = b;
    int by_kind[2] = {0, 0};
    for (int i = 0; i < 4; i++) {
        by_kind[0] = strcmp(order[i], left->kind) == 0 ? i : by_kind[0];
        by_kind[1] = strcmp(order[i], right->kind) == 0 ? i : by_kind[1];
    }
    if (by_kind[0] != by_kind[1])
        return by_kind[0] - by_kind[1];
    if (left->cost != right->cost)
        return left->cost < right->cost ? 1 : -1;
    return (left->region > right->region) - (left->region < right->region);
}

/* Names of the path, outermost first. */
static void write_path(const finder *f, int64_t node, sp_json_layout *layout)
{
    const sp_report_node *nodes = f->run->tree.nodes.items;
    uint32_t regions[SP_REPORT_LEVELS];
    size_t count = 0;
    for (; node != 0 && count < SP_REPORT_LEVELS; node = nodes[node].parent)
        regions[count++] = nodes[node].region;
    sp_layout_key(layout, "path");
    sp_layout_open(layout, '[');
    while (count-- > 0)
        sp_layout_integer(layout, regions[count]);
    sp_layout_close(layout, ']');
}

static void write_finding(const finder *f, const finding *what, sp_json_layout *layout)
{
    sp_layout_open(layout, '{');
    sp_layout_key(layout, "kind");
    sp_layout_text(layout, what->kind);
    sp_layout_key(layout, "region");
    sp_layout_integer(layout, what->region);
    sp_layout_key(layout, "rank");
    sp_layout_integer(layout, what->rank);
    sp_layout_key(layout, "calls");
    sp_layout_integer(layout, (int64_t)what->calls);
    sp_layout_key(layout, "cost");
    sp_report_add_ns(layout, what->cost / 1e9, 0);
    sp_layout_key(layout, "mean");
    sp_report_add_ns(layout, what->mean / 1e9, 1);
    sp_layout_key(layout, "share");
    sp_report_add_share(layout, what->share);
    write_path(f, what->path, layout);
    sp_layout_close(layout, '}');
}

static void write_found(finder *f, sp_json_layout *layout)
{
    size_t of_kind = 0;
    if (f->found.count > 0)
        qsort(f->found.items, f->found.count, sizeof *f->found.items, compare_findings);
    sp_layout_key(layout, "findings");
    sp_layout_open(layout, '[');
    for (size_t i = 0; i < f->found.count; i++) {
        const finding *what = &f->found.items[i];
        bool follows = i > 0 && strcmp(what->kind, f->found.items[i - 1].kind) == 0;
        of_kind = follows ? of_kind + 1 : 0;
        if (of_kind < FINDINGS_A_KIND)
            write_finding(f, what, layout);
    }
    sp_layout_close(layout, ']');
}

int sp_report_write_findings(const sp_report_run *run, sp_json_layout *layout, sp_error *error)
{
    finder f = {.run = run, .session = sp_results_find_region(run->results, SP_SESSION_REGION),
                .wall = (double)sp_report_wall(run->results, &run->times)};
    sp_recording_costs costs = sp_sum_costs(run->results, &run->selection->ranks);
    double pair = costs.calls > 0 ? costs.pairs / (double)costs.calls : 0;
    uint32_t *ranks;
    size_t num_ranks;
    int status = sp_selection_ranks(run->selection, run->results, &ranks, &num_ranks, error);
    if (status != SP_OK)
        return status;
    free(ranks);
    f.own = sum_own(&f);
    for (size_t i = 0; status == SP_OK && i < run->results->regions.count; i++)
        if (run->selection->regions[i] && (int64_t)i != f.session)
            status = find_in_region(&f, i, num_ranks, pair, error);
    if (status == SP_OK && f.failed)
        status = sp_fail_memory(error, "looking for findings");
    write_found(&f, layout);
    sp_vector_release(&f.found);
    return status;
}
