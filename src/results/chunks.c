/* chunks.c - large ranks by stretches of time. A first pass through the starts samples them; cuts are
 * chosen so that about as many calls as wanted lie between two. Then every row is read forwards, up to the
 * first sample behind the cut; what was read beyond the cut waits for the next chunk. */
#include "results/chunks.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_CALLS = 32768, MOST_DISTANCE = 8192, LEAST_DISTANCE = 64 };

size_t sp_call_chunks_least = 4 << 20;
size_t sp_call_chunks_size = 1 << 20;

/* One row on its way through the chunks. */
typedef struct chunk_row {
    uint32_t row;
    uint64_t count;
    unsigned columns; /* that are read */
    SP_VECTOR(int64_t) samples; /* start of every `distance`-th call */
    uint64_t first;   /* position of the first call in memory */
    size_t used, taken, room; /* calls in memory, and those of them in the chunk at hand */
    int64_t *values[SP_COLUMN_COUNT];
} chunk_row;

struct sp_call_chunks {
    sp_results *results;
    SP_VECTOR(chunk_row) rows;
    size_t distance;
    SP_VECTOR(int64_t) cuts;
    size_t cut;
    bool is_over;
    sp_call_sources sources;
    sp_row_part *parts; /* by row of the run */
};

/* ---- Cuts ------------------------------------------------------------------------------------*/

/* `*out_sorted` is false when the starts step back. */
static int sample_row(sp_call_chunks *chunks, chunk_row *row, int64_t *piece, bool *out_sorted,
                      sp_error *error)
{
    int64_t before = INT64_MIN;
    if (!sp_vector_reserve(&row->samples, (size_t)(row->count / chunks->distance) + 1))
        return sp_fail_memory(error, "walking through calls");
    for (uint64_t first = 0; first < row->count; first += PIECE_CALLS) {
        size_t size = row->count - first < PIECE_CALLS ? (size_t)(row->count - first) : PIECE_CALLS;
        int status = sp_run_read_piece(chunks->results, row->row, SP_COLUMN_START, first, size, piece,
                                       error);
        if (status != SP_OK)
            return status;
        for (size_t i = 0; i < size; i++) {
            *out_sorted = *out_sorted && piece[i] >= before;
            before = piece[i];
            if ((first + i) % chunks->distance == 0)
                row->samples.items[row->samples.count++] = piece[i];
        }
        if (!*out_sorted)
            return SP_OK;
    }
    return SP_OK;
}

static int compare_starts(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int choose_cuts(sp_call_chunks *chunks, sp_error *error)
{
    SP_VECTOR(int64_t) all = {0};
    size_t step = sp_call_chunks_size / chunks->distance + 1;
    bool done = true;
    for (size_t r = 0; done && r < chunks->rows.count; r++) {
        const chunk_row *row = &chunks->rows.items[r];
        done = sp_vector_reserve(&all, row->samples.count);
        if (done)
            memcpy(all.items + all.count, row->samples.items, row->samples.count * sizeof *all.items);
        all.count += done ? row->samples.count : 0;
    }
    done = done && sp_vector_reserve(&chunks->cuts, all.count / step + 1);
    if (done)
        qsort(all.items, all.count, sizeof *all.items, compare_starts);
    for (size_t i = step; done && i < all.count; i += step)
        if (chunks->cuts.count == 0 || all.items[i] > chunks->cuts.items[chunks->cuts.count - 1])
            chunks->cuts.items[chunks->cuts.count++] = all.items[i];
    sp_vector_release(&all);
    return done ? SP_OK : sp_fail_memory(error, "walking through calls");
}

/* ---- Opening ---------------------------------------------------------------------------------*/

static uint64_t calls_of(const sp_results *results, uint32_t rank, size_t *out_rows)
{
    uint64_t calls = 0;
    *out_rows = 0;
    for (uint32_t r = sp_run_first_row_of_rank(results, rank); r != SP_NO_ROW;
         r = results->rows.items[r].next_in_rank) {
        calls += results->rows.items[r].row->count;
        *out_rows += results->rows.items[r].row->count > 0;
    }
    return calls;
}

static size_t sample_distance(size_t num_rows)
{
    size_t distance = sp_call_chunks_size / (2 * num_rows + 1);
    size_t least = sp_call_chunks_size < LEAST_DISTANCE ? 1 : LEAST_DISTANCE;
    return distance < least ? least : distance > MOST_DISTANCE ? MOST_DISTANCE : distance;
}

static int add_rows(sp_call_chunks *chunks, uint32_t rank, unsigned columns, size_t num_rows,
                    sp_error *error)
{
    sp_results *results = chunks->results;
    if (!sp_vector_reserve(&chunks->rows, num_rows))
        return sp_fail_memory(error, "walking through calls");
    for (uint32_t r = sp_run_first_row_of_rank(results, rank); r != SP_NO_ROW;
         r = results->rows.items[r].next_in_rank) {
        const sp_run_row *of = &results->rows.items[r];
        if (of->row->has_aggregate || of->row->count == 0)
            continue;
        chunks->rows.items[chunks->rows.count++] = (chunk_row){
            .row = r, .count = of->row->count, .columns = of->columns & columns};
        chunks->sources.has_lanes =
            chunks->sources.has_lanes || (of->columns & (SP_COLUMN_BIT(SP_COLUMN_THREAD_ID) |
                                                         SP_COLUMN_BIT(SP_COLUMN_TASK_ID))) != 0;
    }
    return SP_OK;
}

static int open_rows(sp_call_chunks *chunks, bool *out_sorted, sp_error *error)
{
    int64_t *piece = malloc(PIECE_CALLS * sizeof *piece);
    int status = piece == NULL ? sp_fail_memory(error, "walking through calls") : SP_OK;
    *out_sorted = true;
    for (size_t r = 0; status == SP_OK && *out_sorted && r < chunks->rows.count; r++)
        status = sample_row(chunks, &chunks->rows.items[r], piece, out_sorted, error);
    free(piece);
    if (status == SP_OK && *out_sorted)
        status = choose_cuts(chunks, error);
    return status;
}

int sp_call_chunks_open(sp_results *results, uint32_t rank, bool with_ids, unsigned columns,
                        sp_call_chunks **out, sp_error *error)
{
    size_t num_rows;
    bool is_sorted = false;
    *out = NULL;
    if (calls_of(results, rank, &num_rows) < sp_call_chunks_least ||
        sp_run_holds_rank(results, rank))
        return SP_OK;
    sp_call_chunks *chunks = calloc(1, sizeof *chunks);
    if (chunks == NULL)
        return sp_fail_memory(error, "walking through calls");
    chunks->results = results;
    chunks->distance = sample_distance(num_rows);
    chunks->sources.has_ids = with_ids && sp_call_rows_have_ids(results, rank);
    columns |= SP_COLUMN_BIT(SP_COLUMN_START) | SP_COLUMN_BIT(SP_COLUMN_DURATION) |
               SP_COLUMN_BIT(SP_COLUMN_THREAD_ID) | SP_COLUMN_BIT(SP_COLUMN_TASK_ID);
    if (chunks->sources.has_ids)
        columns |= SP_COLUMN_BIT(SP_COLUMN_CALL_ID) | SP_COLUMN_BIT(SP_COLUMN_PARENT_ID);
    chunks->parts = calloc(results->rows.count, sizeof *chunks->parts);
    int status = chunks->parts == NULL ? sp_fail_memory(error, "walking through calls")
                                       : add_rows(chunks, rank, columns, num_rows, error);
    if (status == SP_OK)
        status = open_rows(chunks, &is_sorted, error);
    if (status == SP_OK && is_sorted)
        *out = chunks;
    else
        sp_call_chunks_close(chunks);
    return status;
}

void sp_call_chunks_close(sp_call_chunks *chunks)
{
    if (chunks == NULL)
        return;
    for (size_t r = 0; r < chunks->rows.count; r++) {
        for (int c = 0; c < SP_COLUMN_COUNT; c++)
            free(chunks->rows.items[r].values[c]);
        sp_vector_release(&chunks->rows.items[r].samples);
    }
    sp_vector_release(&chunks->rows);
    sp_vector_release(&chunks->cuts);
    sp_call_sources_release(&chunks->sources);
    free(chunks->parts);
    free(chunks);
}

const sp_row_part *sp_call_chunks_parts(const sp_call_chunks *chunks)
{
    return chunks->parts;
}

/* ---- Chunks ----------------------------------------------------------------------------------*/

static bool make_room(chunk_row *row, size_t calls)
{
    size_t room = row->room == 0 ? calls : row->room;
    if (calls <= row->room)
        return true;
    while (room < calls)
        room += room / 2 + 1;
    for (int c = 0; c < SP_COLUMN_COUNT; c++) {
        if (!(row->columns & SP_COLUMN_BIT(c)))
            continue;
        int64_t *grown = realloc(row->values[c], room * sizeof *grown);
        if (grown == NULL)
            return false;
        row->values[c] = grown;
    }
    row->room = room;
    return true;
}

/* Calls of the row up to the first sample at or behind the cut, which is behind all of the chunk. */
static uint64_t wanted_end(const sp_call_chunks *chunks, const chunk_row *row, int64_t cut,
                           bool is_last)
{
    size_t low = 0, high = row->samples.count;
    if (is_last)
        return row->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (row->samples.items[middle] < cut)
            low = middle + 1;
        else
            high = middle;
    }
    uint64_t end = (uint64_t)low * chunks->distance;
    return low == row->samples.count || end > row->count ? row->count : end;
}

/* Drops the calls of the chunk before and reads up to `end`. */
static int fill_row(sp_call_chunks *chunks, chunk_row *row, uint64_t end, sp_error *error)
{
    size_t left = row->used - row->taken;
    uint64_t have = row->first + row->used;
    size_t more = end > have ? (size_t)(end - have) : 0;
    for (int c = 0; c < SP_COLUMN_COUNT; c++)
        if (row->taken > 0 && left > 0 && row->values[c] != NULL)
            memmove(row->values[c], row->values[c] + row->taken, left * sizeof *row->values[c]);
    row->first += row->taken;
    row->used = left;
    row->taken = 0;
    if (!make_room(row, left + more))
        return sp_fail_memory(error, "walking through calls");
    for (int c = 0; c < SP_COLUMN_COUNT && more > 0; c++) {
        if (!(row->columns & SP_COLUMN_BIT(c)))
            continue;
        int status = sp_run_read_piece(chunks->results, row->row, (sp_column)c, have, more,
                                       row->values[c] + left, error);
        if (status != SP_OK)
            return status;
    }
    row->used += more;
    return SP_OK;
}

/* Calls in memory that start before the cut. */
static size_t count_before(const chunk_row *row, int64_t cut, bool is_last)
{
    const int64_t *starts = row->values[SP_COLUMN_START];
    size_t low = 0, high = row->used;
    if (is_last)
        return row->used;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (starts[middle] < cut)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int add_source(sp_call_chunks *chunks, const chunk_row *row, sp_error *error)
{
    sp_call_sources *sources = &chunks->sources;
    sp_row_part *part = &chunks->parts[row->row];
    part->first = row->first;
    for (int c = 0; c < SP_COLUMN_COUNT; c++)
        part->values[c] = row->values[c];
    if (row->taken == 0)
        return SP_OK;
    if (!sp_vector_reserve(&sources->list, 1))
        return sp_fail_memory(error, "walking through calls");
    sources->list.items[sources->list.count++] = (sp_call_source){
        .row = row->row, .first = row->first, .count = (uint32_t)row->taken,
        .start = row->values[SP_COLUMN_START], .duration = row->values[SP_COLUMN_DURATION],
        .id = sources->has_ids ? row->values[SP_COLUMN_CALL_ID] : NULL,
        .parent = sources->has_ids ? row->values[SP_COLUMN_PARENT_ID] : NULL,
        .thread = row->values[SP_COLUMN_THREAD_ID], .task = row->values[SP_COLUMN_TASK_ID]};
    sources->num_calls += row->taken;
    return SP_OK;
}

int sp_call_chunks_next(sp_call_chunks *chunks, const sp_call_sources **out, sp_error *error)
{
    int status = SP_OK;
    *out = NULL;
    while (status == SP_OK && !chunks->is_over && *out == NULL) {
        chunks->is_over = chunks->cut == chunks->cuts.count;
        int64_t cut = chunks->is_over ? INT64_MAX : chunks->cuts.items[chunks->cut++];
        chunks->sources.list.count = chunks->sources.num_calls = 0;
        for (size_t r = 0; status == SP_OK && r < chunks->rows.count; r++) {
            chunk_row *row = &chunks->rows.items[r];
            status = fill_row(chunks, row, wanted_end(chunks, row, cut, chunks->is_over), error);
            if (status != SP_OK)
                break;
            row->taken = count_before(row, cut, chunks->is_over);
            status = add_source(chunks, row, error);
        }
        *out = status == SP_OK && chunks->sources.num_calls > 0 ? &chunks->sources : NULL;
    }
    return status;
}
