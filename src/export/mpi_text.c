/* The calls of MPI as tables: ranks, operations, and who sent how much to whom. */
#include "base/error.h"
#include "base/text.h"
#include "export/width.h"
#include "scope_results.h"

#include <stdlib.h>
#include <string.h>

/* A matrix of more ranks does not fit a terminal; then the largest links are listed. */
enum { MATRIX_RANKS = 8, LISTED_LINKS = 20 };

static void add_time(sp_text *out, int64_t ns)
{
    sp_text_format(out, "  %12.6f", (double)ns / 1e9);
}

static void add_split(sp_text *out, int64_t time, int64_t imbalance, int64_t transfer)
{
    add_time(out, time);
    add_time(out, imbalance);
    add_time(out, transfer);
    sp_text_add(out, "\n");
}

static void add_ranks(sp_text *out, const sp_mpi_summary *mpi)
{
    sp_text_format(out, "  %-24s  %10s  %12s  %12s  %12s\n", "rank", "calls", "time [s]", "imbalance", "transfer");
    for (size_t i = 0; i < mpi->num_ranks; i++) {
        const sp_mpi_rank *rank = &mpi->ranks[i];
        sp_text_format(out, "  %-24u  %10llu", rank->rank, (unsigned long long)rank->calls);
        add_split(out, rank->time_ns, rank->imbalance_ns, rank->transfer_ns);
    }
}

static void add_operations(sp_text *out, const sp_mpi_summary *mpi)
{
    sp_text_format(out, "\n  %-24s  %10s  %12s  %12s  %12s  %14s\n", "operation", "calls", "time [s]", "imbalance",
                   "transfer", "bytes");
    for (size_t i = 0; i < mpi->num_operations; i++) {
        const sp_mpi_operation *operation = &mpi->operations[i];
        size_t from = out->length;
        sp_text_add(out, "  ");
        sp_text_add_visible(out, operation->name);
        sp_text_repeat(out, " ", out->length - from < 26 ? 26 - (out->length - from) : 0);
        sp_text_format(out, "  %10llu", (unsigned long long)operation->calls);
        add_time(out, operation->time_ns);
        add_time(out, operation->imbalance_ns);
        add_time(out, operation->transfer_ns);
        sp_text_format(out, "  %14llu\n", (unsigned long long)operation->bytes);
    }
}

static uint32_t highest_rank(const sp_mpi_summary *mpi)
{
    uint32_t highest = 0;
    for (size_t i = 0; i < mpi->num_links; i++) {
        highest = mpi->links[i].from > highest ? mpi->links[i].from : highest;
        highest = mpi->links[i].to > highest ? mpi->links[i].to : highest;
    }
    return highest;
}

static void add_matrix(sp_text *out, const sp_mpi_summary *mpi, uint32_t highest)
{
    size_t at = 0;
    sp_text_format(out, "\n  %-10s", "from \\ to");
    for (uint32_t to = 0; to <= highest; to++)
        sp_text_format(out, "  %18u", to);
    sp_text_add(out, "\n");
    for (uint32_t from = 0; from <= highest; from++) {
        sp_text_format(out, "  %-10u", from);
        for (uint32_t to = 0; to <= highest; to++) {
            char cell[48] = "-";
            if (at < mpi->num_links && mpi->links[at].from == from && mpi->links[at].to == to) {
                snprintf(cell, sizeof cell, "%llu B / %llu", (unsigned long long)mpi->links[at].bytes,
                         (unsigned long long)mpi->links[at].messages);
                at++;
            }
            sp_text_format(out, "  %18s", cell);
        }
        sp_text_add(out, "\n");
    }
    sp_text_add(out, "  (bytes / messages)\n");
}

static int compare_sizes(const void *a, const void *b)
{
    const sp_mpi_link *x = *(const sp_mpi_link *const *)a, *y = *(const sp_mpi_link *const *)b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes) : (x > y) - (x < y);
}

static bool add_largest(sp_text *out, const sp_mpi_summary *mpi)
{
    const sp_mpi_link **sorted = calloc(mpi->num_links, sizeof *sorted);
    size_t shown = mpi->num_links < LISTED_LINKS ? mpi->num_links : LISTED_LINKS;
    if (sorted == NULL)
        return false;
    for (size_t i = 0; i < mpi->num_links; i++)
        sorted[i] = &mpi->links[i];
    qsort(sorted, mpi->num_links, sizeof *sorted, compare_sizes);
    sp_text_format(out, "\n  %10s  %10s  %14s  %10s\n", "from", "to", "bytes", "messages");
    for (size_t i = 0; i < shown; i++)
        sp_text_format(out, "  %10u  %10u  %14llu  %10llu\n", sorted[i]->from, sorted[i]->to,
                       (unsigned long long)sorted[i]->bytes, (unsigned long long)sorted[i]->messages);
    if (shown < mpi->num_links)
        sp_text_format(out, "  (the largest %zu of %zu)\n", shown, mpi->num_links);
    free(sorted);
    return true;
}

int sp_mpi_report_format(const sp_mpi_report *report, char **out_text, sp_error *error)
{
    const sp_mpi_summary *mpi = sp_mpi_report_get(report);
    sp_text out = {0};
    bool has_memory = true;
    if (mpi->num_ranks == 0) {
        sp_text_add(&out, "  no calls of MPI were recorded; `scope-profiler run --mpi-calls` does\n");
    } else {
        add_ranks(&out, mpi);
        add_operations(&out, mpi);
        uint32_t highest = highest_rank(mpi);
        if (mpi->num_links > 0 && highest < MATRIX_RANKS)
            add_matrix(&out, mpi, highest);
        else if (mpi->num_links > 0)
            has_memory = add_largest(&out, mpi);
    }
    char *text = has_memory ? sp_text_take(&out) : NULL;
    sp_text_release(&out);
    if (text == NULL)
        return sp_fail_memory(error, "formatting the calls of MPI");
    *out_text = text;
    return SP_OK;
}
