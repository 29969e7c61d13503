/* csv.c - one line a call, row by row of the run. */
#include "base/error.h"
#include "export/output.h"
#include "export/selection.h"

#include <stdlib.h>

enum { PIECE_CALLS = 8192 };

static const struct {
    sp_column column;
    const char *header;
} optional[] = {
    {SP_COLUMN_GPU_DURATION, "gpu_duration_ns"}, {SP_COLUMN_CALL_ID, "call_id"},
    {SP_COLUMN_PARENT_ID, "parent_id"},          {SP_COLUMN_THREAD_ID, "thread"},
    {SP_COLUMN_TASK_ID, "task"},                 {SP_COLUMN_AWAIT, "await_ns"},
};
#define NUM_OPTIONAL (sizeof optional / sizeof *optional)

typedef struct piece {
    int64_t values[SP_COLUMN_COUNT][PIECE_CALLS];
} piece;

static int read_piece(sp_results *results, size_t row, unsigned columns, uint64_t first,
                      size_t count, piece *out, sp_error *error)
{
    int status = SP_OK;
    for (int c = 0; status == SP_OK && c < SP_COLUMN_COUNT; c++)
        if (columns & SP_COLUMN_BIT(c))
            status = sp_run_read_piece(results, row, (sp_column)c, first, count, out->values[c],
                                       error);
    return status;
}

static void add_call(sp_output *out, const piece *calls, size_t i, unsigned present,
                     unsigned columns)
{
    int64_t start = calls->values[SP_COLUMN_START][i];
    int64_t duration = calls->values[SP_COLUMN_DURATION][i];
    sp_output_integer(out, start);
    sp_output_add_n(out, ",", 1);
    sp_output_integer(out, (int64_t)((uint64_t)start + (uint64_t)duration));
    sp_output_add_n(out, ",", 1);
    sp_output_integer(out, duration);
    for (size_t c = 0; c < NUM_OPTIONAL; c++) {
        unsigned bit = SP_COLUMN_BIT(optional[c].column);
        if (!(columns & bit))
            continue;
        sp_output_add_n(out, ",", 1);
        if (present & bit)
            sp_output_integer(out, calls->values[optional[c].column][i]);
    }
    sp_output_add_n(out, "\n", 1);
}

static int add_row(sp_output *out, sp_results *results, size_t row, unsigned columns, piece *calls,
                   sp_error *error)
{
    const sp_run_row *of = &results->rows.items[row];
    uint64_t count = of->row->count;
    if (of->columns == 0 && (count > 0 || of->row->has_aggregate))
        return sp_fail(error, SP_ERR_NO_EVENTS,
                       "region '%s' on rank %u holds totals only, no calls to export",
                       of->row->region, of->row->rank);
    for (uint64_t first = 0; first < count; first += PIECE_CALLS) {
        size_t size = count - first < PIECE_CALLS ? (size_t)(count - first) : PIECE_CALLS;
        int status = read_piece(results, row, of->columns, first, size, calls, error);
        if (status != SP_OK)
            return status;
        for (size_t i = 0; i < size; i++) {
            sp_output_integer(out, of->row->rank);
            sp_output_add_n(out, ",", 1);
            sp_output_field(out, of->row->region);
            sp_output_add_n(out, ",", 1);
            sp_output_integer(out, (int64_t)(first + i));
            sp_output_add_n(out, ",", 1);
            add_call(out, calls, i, of->columns, columns);
        }
        sp_run_advance(results, size);
    }
    return SP_OK;
}

static bool is_selected(const sp_selection *selection, const sp_run_row *row)
{
    return selection->regions[row->region] &&
           sp_rank_filter_takes(&selection->ranks, row->row->rank);
}

static int write_calls(sp_output *out, sp_results *results, const sp_selection *selection,
                       sp_error *error)
{
    unsigned columns = 0;
    piece *calls = malloc(sizeof *calls);
    int status = calls == NULL ? sp_fail_memory(error, "exporting calls") : SP_OK;
    for (size_t row = 0; row < results->rows.count; row++)
        if (is_selected(selection, &results->rows.items[row]))
            columns |= results->rows.items[row].columns;
    sp_output_add(out, "rank,region,call_index,start_ns,end_ns,duration_ns");
    for (size_t c = 0; c < NUM_OPTIONAL; c++)
        if (columns & SP_COLUMN_BIT(optional[c].column))
            sp_output_print(out, ",%s", optional[c].header);
    sp_output_add(out, "\n");
    for (size_t row = 0; status == SP_OK && row < results->rows.count; row++)
        if (is_selected(selection, &results->rows.items[row]))
            status = add_row(out, results, row, columns, calls, error);
    free(calls);
    return status;
}

int sp_export_csv(sp_results *results, const sp_export_options *options, const char *path,
                  sp_error *error)
{
    sp_selection selection;
    sp_output out;
    int status = sp_selection_init(&selection, results, options, error);
    if (status != SP_OK)
        return status;
    status = sp_output_open_file(&out, path, false, error);
    if (status == SP_OK)
        status = sp_output_finish(&out, write_calls(&out, results, &selection, error), error);
    sp_selection_release(&selection);
    return status;
}
