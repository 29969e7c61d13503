/* percentiles.c - percentiles of one region, pooled over ranks. */
#include "base/error.h"
#include "results/model.h"
#include "results/select.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_CALLS = 32768 };

/* Durations of a region, read again for each round unless they are in memory anyway. Few are read once. */
typedef struct duration_reader {
    sp_results *results;
    SP_VECTOR(uint32_t) rows;
    int64_t *piece; /* PIECE_CALLS */
    int64_t *all;   /* NULL: too many */
    uint64_t count;
} duration_reader;

size_t sp_percentiles_most = 1 << 20;

static int add_rows(duration_reader *reader, size_t region, const sp_rank_filter *filter,
                    sp_error *error)
{
    sp_results *results = reader->results;
    for (uint32_t r = results->regions.items[region].first_row; r != SP_NO_ROW;
         r = results->rows.items[r].next_in_region) {
        const sp_row *row = results->rows.items[r].row;
        if (!sp_rank_filter_takes(filter, row->rank))
            continue;
        if (row->has_aggregate ? row->aggregate.count == 0 : row->count == 0)
            continue;
        int status = sp_run_check_column(results, r, SP_COLUMN_DURATION, error);
        if (status != SP_OK)
            return status;
        if (!sp_vector_reserve(&reader->rows, 1))
            return sp_fail_memory(error, "computing percentiles");
        reader->rows.items[reader->rows.count++] = r;
        reader->count += row->count;
    }
    return SP_OK;
}

static int each_of_row(duration_reader *reader, uint32_t row, sp_take_values take, void *taker,
                       sp_error *error)
{
    uint64_t count = reader->results->rows.items[row].row->count;
    const int64_t *held = sp_run_held_column(reader->results, row, SP_COLUMN_DURATION);
    if (held != NULL) {
        take(taker, held, (size_t)count);
        return SP_OK;
    }
    for (uint64_t first = 0; first < count; first += PIECE_CALLS) {
        size_t size = count - first < PIECE_CALLS ? (size_t)(count - first) : PIECE_CALLS;
        int status = sp_run_read_piece(reader->results, row, SP_COLUMN_DURATION, first, size,
                                       reader->piece, error);
        if (status != SP_OK)
            return status;
        take(taker, reader->piece, size);
    }
    return SP_OK;
}

static int each_duration(void *context, sp_take_values take, void *taker, sp_error *error)
{
    duration_reader *reader = context;
    int status = SP_OK;
    if (reader->all != NULL) {
        take(taker, reader->all, (size_t)reader->count);
        return SP_OK;
    }
    for (size_t i = 0; status == SP_OK && i < reader->rows.count; i++)
        status = each_of_row(reader, reader->rows.items[i], take, taker, error);
    return status;
}

typedef struct copy {
    int64_t *items;
    size_t count;
} copy;

static void append(void *taker, const int64_t *items, size_t count)
{
    copy *to = taker;
    memcpy(to->items + to->count, items, count * sizeof *items);
    to->count += count;
}

static int prepare(duration_reader *reader, sp_error *error)
{
    reader->piece = malloc(PIECE_CALLS * sizeof *reader->piece);
    copy all = {.items = reader->count > sp_percentiles_most
                             ? NULL : malloc((size_t)(reader->count + 1) * sizeof *all.items)};
    if (reader->piece == NULL || (all.items == NULL && reader->count <= sp_percentiles_most)) {
        free(all.items);
        return sp_fail_memory(error, "computing percentiles");
    }
    if (all.items == NULL)
        return SP_OK;
    int status = each_duration(reader, append, &all, error);
    reader->all = all.items;
    return status;
}

static int select_all(duration_reader *reader, const double *percents, size_t count, double *out,
                      sp_error *error)
{
    const sp_value_source source = {each_duration, reader, reader->count};
    for (size_t i = 0; i < count; i++)
        out[i] = 0.0;
    if (reader->count == 0)
        return SP_OK;
    int status = prepare(reader, error);
    return status == SP_OK ? sp_select_percentiles(&source, percents, count, out, error) : status;
}

static int check_percents(const double *percents, size_t count, sp_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (!(percents[i] >= 0.0 && percents[i] <= 100.0))
            return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                           "a percentile lies between 0 and 100, not at %g", percents[i]);
    return SP_OK;
}

int sp_results_percentiles(sp_results *results, size_t region, const uint32_t *ranks,
                           size_t num_ranks, const double *percents, size_t count, double *out,
                           sp_error *error)
{
    duration_reader reader = {.results = results};
    sp_rank_filter filter;
    int status = sp_run_check_region(results, region, error);
    if (status == SP_OK)
        status = check_percents(percents, count, error);
    if (status == SP_OK)
        status = sp_rank_filter_init(&filter, ranks, num_ranks, error);
    if (status != SP_OK)
        return status;
    status = add_rows(&reader, region, &filter, error);
    if (status == SP_OK)
        status = select_all(&reader, percents, count, out, error);
    sp_vector_release(&reader.rows);
    free(reader.piece);
    free(reader.all);
    sp_rank_filter_release(&filter);
    return status;
}
