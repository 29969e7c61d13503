/* write.c - a run as an HDF5 profile, one rank after the other, in bounded memory. */
#include "base/error.h"
#include "results/model.h"
#include "store/module.h"

#include <stdlib.h>

enum { PIECE_CALLS = 32768 };

typedef struct output {
    sp_results *results;
    const sp_store_table *store;
    sp_store_writer *writer;
    int64_t *buffers; /* SP_COLUMN_COUNT x PIECE_CALLS */
    SP_VECTOR(sp_row) rows;
    SP_VECTOR(sp_thread_row) threads;
    SP_VECTOR(sp_task_row) tasks;
} output;

static int64_t missing_value(int column)
{
    return column == SP_COLUMN_AWAIT ? 0 : -1;
}

/* Columns of a rank: what any of its rows has. The others get the missing value there. */
static unsigned collect_rows(output *out, uint32_t first_row, sp_error *error, int *status)
{
    unsigned columns = 0;
    const sp_results *results = out->results;
    out->rows.count = 0;
    *status = SP_OK;
    for (uint32_t r = first_row; r != SP_NO_ROW; r = results->rows.items[r].next_in_rank) {
        const sp_run_row *row = &results->rows.items[r];
        if (!sp_vector_reserve(&out->rows, 1))
            *status = sp_fail_memory(error, "writing a profile");
        else if (row->columns == 0 && row->row->count > 0 && !row->row->has_aggregate)
            *status = sp_fail(error, SP_ERR_NO_EVENTS,
                              "region '%s' on rank %u has statistics only, no calls to write",
                              row->row->region, row->row->rank);
        else if (row->row->has_aggregate != results->is_aggregate)
            *status = sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                              "a file holds either totals or calls; region '%s' on rank %u is of "
                              "the other kind than the rest", row->row->region, row->row->rank);
        if (*status != SP_OK)
            return 0;
        out->rows.items[out->rows.count++] = *row->row;
        columns |= row->columns;
    }
    return columns;
}

static int collect_lanes(output *out, uint32_t rank, sp_error *error)
{
    const sp_results *results = out->results;
    out->threads.count = out->tasks.count = 0;
    if (!sp_vector_reserve(&out->threads, results->threads.count) ||
        !sp_vector_reserve(&out->tasks, results->tasks.count))
        return sp_fail_memory(error, "writing a profile");
    for (size_t i = 0; i < results->threads.count; i++)
        if (results->threads.items[i]->rank == rank)
            out->threads.items[out->threads.count++] = *results->threads.items[i];
    for (size_t i = 0; i < results->tasks.count; i++)
        if (results->tasks.items[i]->rank == rank)
            out->tasks.items[out->tasks.count++] = *results->tasks.items[i];
    return SP_OK;
}

static int write_piece(output *out, size_t row, unsigned columns, uint64_t first, size_t count,
                       sp_error *error)
{
    const int64_t *values[SP_COLUMN_COUNT] = {NULL};
    unsigned present = out->results->rows.items[row].columns;
    for (int c = 0; c < SP_COLUMN_COUNT; c++) {
        int64_t *buffer = out->buffers + (size_t)c * PIECE_CALLS;
        int status = SP_OK;
        if (!(columns & SP_COLUMN_BIT(c)))
            continue;
        if (present & SP_COLUMN_BIT(c))
            status = sp_run_read_piece(out->results, row, (sp_column)c, first, count, buffer,
                                       error);
        else
            for (size_t i = 0; i < count; i++)
                buffer[i] = missing_value(c);
        if (status != SP_OK)
            return status;
        values[c] = buffer;
    }
    return out->store->write_calls(out->writer, count, values, error);
}

static int write_rank(output *out, const sp_run_rank *rank, sp_error *error)
{
    int status;
    const sp_results *results = out->results;
    unsigned columns = collect_rows(out, rank->first_row, error, &status);
    if (status == SP_OK)
        status = collect_lanes(out, rank->rank, error);
    if (status == SP_OK)
        status = out->store->begin_rank(out->writer, rank->rank, out->rows.items, out->rows.count,
                                        columns, out->threads.items, out->threads.count,
                                        out->tasks.items, out->tasks.count, error);
    for (uint32_t r = rank->first_row; status == SP_OK && columns != 0 && r != SP_NO_ROW;
         r = results->rows.items[r].next_in_rank) {
        uint64_t count = results->rows.items[r].row->count;
        for (uint64_t first = 0; status == SP_OK && first < count; first += PIECE_CALLS)
            status = write_piece(out, r, columns, first,
                                 count - first < PIECE_CALLS ? (size_t)(count - first)
                                                             : PIECE_CALLS, error);
    }
    return status;
}

static int write_everything(output *out, sp_error *error)
{
    const sp_results *results = out->results;
    int status = SP_OK;
    for (size_t i = 0; status == SP_OK && i < results->metadata.count; i++)
        status = out->store->write_metadata(out->writer, results->metadata.items[i], 1, error);
    for (size_t i = 0; status == SP_OK && i < results->ranks.count; i++)
        status = write_rank(out, &results->ranks.items[i], error);
    for (size_t i = 0; status == SP_OK && i < results->extras.count; i++)
        status = out->store->write_extra(out->writer, results->extras.items[i], error);
    return status;
}

int sp_results_write(sp_results *results, const char *path, const sp_store_options *options,
                     sp_error *error)
{
    sp_store_options stored = {.compression_level = -1};
    if (options != NULL)
        stored = *options;
    stored.size = sizeof stored;
    stored.is_aggregate = results->is_aggregate;
    output out = {.results = results, .store = sp_store_hdf5(error)};
    if (out.store == NULL)
        return SP_ERR_NO_MODULE;
    out.buffers = malloc(sizeof *out.buffers * SP_COLUMN_COUNT * PIECE_CALLS);
    if (out.buffers == NULL)
        return sp_fail_memory(error, "writing a profile");
    int status = out.store->create(path, &stored, &out.writer, error);
    if (status == SP_OK) {
        status = write_everything(&out, error);
        if (status == SP_OK)
            status = out.store->commit(out.writer, error);
        else
            out.store->abort(out.writer);
    }
    free(out.buffers);
    sp_vector_release(&out.rows);
    sp_vector_release(&out.threads);
    sp_vector_release(&out.tasks);
    return status;
}
