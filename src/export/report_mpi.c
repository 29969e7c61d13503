/* report_mpi.c - the calls of MPI of a run: by rank, by operation, and what ranks sent each other. */
#include "export/report.h"

enum { WRITTEN_LINKS = 16384 };

/* Rank, calls, time, wait for the last rank, rest of the collective operations. */
static void write_ranks(const sp_mpi_summary *summary, sp_json_layout *layout)
{
    sp_layout_key(layout, "ranks");
    sp_layout_open(layout, '[');
    for (size_t i = 0; i < summary->num_ranks; i++) {
        const sp_mpi_rank *rank = &summary->ranks[i];
        sp_layout_open(layout, '[');
        sp_layout_integer(layout, rank->rank);
        sp_layout_integer(layout, (int64_t)rank->calls);
        sp_layout_integer(layout, rank->time_ns);
        sp_layout_integer(layout, rank->imbalance_ns);
        sp_layout_integer(layout, rank->transfer_ns);
        sp_layout_close(layout, ']');
    }
    sp_layout_close(layout, ']');
}

/* Sender, receiver, messages, bytes, one behind the other. */
static void write_links(const sp_mpi_summary *summary, sp_json_layout *layout)
{
    size_t count = summary->num_links < WRITTEN_LINKS ? summary->num_links : WRITTEN_LINKS;
    sp_layout_key(layout, "links");
    sp_layout_open(layout, '[');
    for (size_t i = 0; i < count; i++) {
        sp_layout_integer(layout, summary->links[i].from);
        sp_layout_integer(layout, summary->links[i].to);
        sp_layout_integer(layout, (int64_t)summary->links[i].messages);
        sp_layout_integer(layout, (int64_t)summary->links[i].bytes);
    }
    sp_layout_close(layout, ']');
    sp_layout_key(layout, "links_left_out");
    sp_layout_integer(layout, (int64_t)(summary->num_links - count));
}

/* Name, calls, bytes, time, wait for the last rank. */
static void write_operations(const sp_mpi_summary *summary, sp_json_layout *layout)
{
    sp_layout_key(layout, "operations");
    sp_layout_open(layout, '[');
    for (size_t i = 0; i < summary->num_operations; i++) {
        const sp_mpi_operation *operation = &summary->operations[i];
        sp_layout_open(layout, '[');
        sp_layout_text(layout, operation->name);
        sp_layout_integer(layout, (int64_t)operation->calls);
        sp_layout_integer(layout, (int64_t)operation->bytes);
        sp_layout_integer(layout, operation->time_ns);
        sp_layout_integer(layout, operation->imbalance_ns);
        sp_layout_close(layout, ']');
    }
    sp_layout_close(layout, ']');
}

int sp_report_write_mpi(sp_results *results, sp_json_layout *layout, sp_error *error)
{
    sp_mpi_report *report;
    int status = sp_mpi_report_create(results, &report, error);
    if (status != SP_OK)
        return status;
    const sp_mpi_summary *summary = sp_mpi_report_get(report);
    sp_layout_key(layout, "mpi");
    sp_layout_open(layout, '{');
    write_ranks(summary, layout);
    write_links(summary, layout);
    write_operations(summary, layout);
    sp_layout_close(layout, '}');
    sp_mpi_report_free(report);
    return SP_OK;
}
