/* narrow.c - a part of a run as a run of its own: without warm-up, within a window of time. It is a
 * store like any other; nothing is copied but one bit a call, and the calls are read through the run
 * that it was made of. */
#include "base/error.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "results/moments.h"
#include "results/walk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_CALLS = 4096, BLOCK_WORDS = BLOCK_CALLS / 64 };

/* Which calls of a row are kept. */
typedef struct narrow_row {
    uint64_t *kept;   /* a bit a call; NULL: all, as they are */
    uint64_t *before; /* kept ones before each block of BLOCK_CALLS, and in all */
    int64_t low, high; /* what a call is cut to */
} narrow_row;

struct sp_store_reader {
    sp_results *from;
    bool owns_from;
    narrow_row *rows;
    int64_t start[BLOCK_CALLS], values[BLOCK_CALLS];
};

static size_t num_blocks(uint64_t count)
{
    return (size_t)((count + BLOCK_CALLS - 1) / BLOCK_CALLS);
}

static bool is_kept(const narrow_row *row, uint64_t call)
{
    return row->kept[call / 64] >> (call % 64) & 1;
}

static void drop(narrow_row *row, uint64_t call)
{
    row->kept[call / 64] &= ~(UINT64_C(1) << (call % 64));
}

/* ---- Reading ---------------------------------------------------------------------------------*/

/* One block of a column, as it is in the whole run or cut to the window. */
static int read_block(sp_store_reader *reader, size_t row, sp_column column, uint64_t first,
                      size_t count, sp_error *error)
{
    const narrow_row *of = &reader->rows[row];
    bool is_time = column == SP_COLUMN_START || column == SP_COLUMN_DURATION;
    int status =
        sp_run_read_piece(reader->from, row, column, first, count, reader->values, error);
    if (status != SP_OK || !is_time)
        return status;
    if (column == SP_COLUMN_DURATION)
        status = sp_run_read_piece(reader->from, row, SP_COLUMN_START, first, count, reader->start,
                                   error);
    for (size_t i = 0; status == SP_OK && i < count; i++) {
        int64_t start = column == SP_COLUMN_START ? reader->values[i] : reader->start[i];
        int64_t cut = start < of->low ? of->low : start;
        if (column == SP_COLUMN_START) {
            reader->values[i] = cut;
            continue;
        }
        int64_t end = sp_wrap_add(start, reader->values[i]);
        reader->values[i] = sp_wrap_subtract(end > of->high ? of->high : end, cut);
    }
    return status;
}

/* The block that holds kept call `wanted`. */
static size_t find_block(const narrow_row *row, size_t blocks, uint64_t wanted)
{
    size_t low = 0, high = blocks;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (row->before[middle] <= wanted)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int read_calls(sp_store_reader *reader, size_t row, sp_column column, uint64_t first,
                      size_t count, int64_t *out, sp_error *error)
{
    const narrow_row *of = &reader->rows[row];
    uint64_t whole = reader->from->rows.items[row].row->count;
    size_t blocks = num_blocks(whole), done = 0;
    if (of->kept == NULL)
        return sp_run_read_piece(reader->from, row, column, first, count, out, error);
    for (size_t block = find_block(of, blocks, first); done < count && block < blocks; block++) {
        uint64_t begin = (uint64_t)block * BLOCK_CALLS, passed = of->before[block];
        size_t size = whole - begin < BLOCK_CALLS ? (size_t)(whole - begin) : BLOCK_CALLS;
        if (of->before[block + 1] == passed)
            continue;
        int status = read_block(reader, row, column, begin, size, error);
        if (status != SP_OK)
            return status;
        for (size_t i = 0; i < size && done < count; i++)
            if (is_kept(of, begin + i) && passed++ >= first)
                out[done++] = reader->values[i];
    }
    return SP_OK;
}

static void close_reader(sp_store_reader *reader)
{
    for (size_t i = 0; reader->rows != NULL && i < reader->from->rows.count; i++) {
        free(reader->rows[i].kept);
        free(reader->rows[i].before);
    }
    free(reader->rows);
    if (reader->owns_from)
        sp_results_close(reader->from);
    free(reader);
}

static const sp_store_table narrow_store = {
    .size = sizeof narrow_store, .version = SP_STORE_VERSION, .name = "part of a run",
    .read_calls = read_calls, .close = close_reader};

/* ---- The window ------------------------------------------------------------------------------*/

/* End of the last call of the mark on each rank that has it; the others take the earliest. */
static int apply_mark(sp_store_reader *reader, const char *mark, sp_error *error)
{
    sp_results *from = reader->from;
    int64_t region = sp_results_find_region(from, mark), earliest = INT64_MAX;
    if (region < 0)
        return sp_fail(error, SP_ERR_NOT_FOUND, "there is no region '%s' to count from", mark);
    for (uint32_t r = from->regions.items[region].first_row; r != SP_NO_ROW;
         r = from->rows.items[r].next_in_region) {
        sp_statistics s;
        int status = sp_results_row_statistics(from, r, &s, error);
        if (status != SP_OK)
            return status;
        if (s.calls > 0 && s.end_maximum < earliest)
            earliest = s.end_maximum;
    }
    if (earliest == INT64_MAX)
        return sp_fail(error, SP_ERR_NOT_FOUND, "region '%s' was not called, so there is no moment "
                       "to count from", mark);
    for (size_t i = 0; i < from->rows.count; i++) {
        int64_t marked = sp_results_find_row(from, (size_t)region, from->rows.items[i].row->rank);
        int64_t low = earliest;
        sp_statistics s;
        if (marked >= 0 &&
            sp_results_row_statistics(from, (size_t)marked, &s, error) == SP_OK && s.calls > 0)
            low = s.end_maximum;
        if (low > reader->rows[i].low)
            reader->rows[i].low = low;
    }
    return SP_OK;
}

static int set_windows(sp_store_reader *reader, const sp_narrow_options *options, sp_error *error)
{
    sp_run_times times;
    int status = sp_results_times(reader->from, &times, error);
    for (size_t i = 0; status == SP_OK && i < reader->from->rows.count; i++) {
        bool has_low = options->start_ns > 0, has_high = options->end_ns > 0;
        reader->rows[i].low = has_low ? sp_wrap_add(times.first_entry, options->start_ns) : INT64_MIN;
        reader->rows[i].high = has_high ? sp_wrap_add(times.first_entry, options->end_ns) : INT64_MAX;
    }
    return status == SP_OK && options->after_region != NULL
               ? apply_mark(reader, options->after_region, error) : status;
}

/* A call is kept when some of it lies in the window; one of no length when it lies there itself. */
static bool overlaps(const narrow_row *row, int64_t start, int64_t duration)
{
    int64_t end = sp_wrap_add(start, duration);
    return start < row->high && (duration == 0 ? start >= row->low : end > row->low);
}

/* Keeps what is in the window, whatever was kept before. */
static int mark_row(sp_store_reader *reader, size_t row, sp_error *error)
{
    narrow_row *of = &reader->rows[row];
    uint64_t count = reader->from->rows.items[row].row->count;
    free(of->kept);
    free(of->before);
    of->kept = calloc(num_blocks(count) * BLOCK_WORDS + 1, sizeof *of->kept);
    of->before = calloc(num_blocks(count) + 1, sizeof *of->before);
    if (of->kept == NULL || of->before == NULL)
        return sp_fail_memory(error, "taking a part of a run");
    for (uint64_t first = 0; first < count; first += BLOCK_CALLS) {
        size_t size = count - first < BLOCK_CALLS ? (size_t)(count - first) : BLOCK_CALLS;
        int status = sp_run_read_piece(reader->from, row, SP_COLUMN_START, first, size,
                                       reader->start, error);
        if (status == SP_OK)
            status = sp_run_read_piece(reader->from, row, SP_COLUMN_DURATION, first, size,
                                       reader->values, error);
        if (status != SP_OK)
            return status;
        for (size_t i = 0; i < size; i++)
            if (overlaps(of, reader->start[i], reader->values[i]))
                of->kept[(first + i) / 64] |= UINT64_C(1) << ((first + i) % 64);
    }
    return SP_OK;
}

/* ---- First calls -----------------------------------------------------------------------------*/

/* What is left out of each region of a rank, and how much of it has come so far. */
typedef struct skipping {
    sp_store_reader *reader;
    uint64_t *limit; /* of each row */
    uint64_t *seen;
} skipping;

static uint64_t count_kept(const narrow_row *row, uint64_t count)
{
    uint64_t kept = 0;
    for (uint64_t word = 0; word < (count + 63) / 64; word++)
        kept += (uint64_t)__builtin_popcountll(row->kept[word]);
    return kept;
}

/* Calls that a row loses at its beginning. A number that is meant for all regions spares those that
 * would have nothing left: they are around what is measured. */
static uint64_t limit_of(const sp_store_reader *reader, const sp_narrow_options *options, size_t row)
{
    const sp_row *of = reader->from->rows.items[row].row;
    for (size_t i = options->num_skips; i-- > 0;)
        if (strcmp(options->skips[i].region, of->region) == 0)
            return options->skips[i].calls;
    return count_kept(&reader->rows[row], of->count) > options->skip_calls ? options->skip_calls : 0;
}

enum { INSIDE_KEPT, INSIDE_DROPPED };

/* Whether a call goes: it is one of the first of its region, or inside one that goes. */
static bool goes(skipping *skip, uint32_t row, uint64_t call, bool is_inside)
{
    narrow_row *of = &skip->reader->rows[row];
    if (!is_kept(of, call))
        return is_inside;
    bool is_early = skip->seen[row]++ < skip->limit[row];
    if (is_early || is_inside)
        drop(of, call);
    return is_early || is_inside;
}

static uint64_t visit_call(void *context, const sp_walked_call *call, uint64_t above)
{
    bool is_inside = above != SP_WALK_ROOT && above == INSIDE_DROPPED;
    return goes(context, call->row, call->call_index, is_inside) ? INSIDE_DROPPED : INSIDE_KEPT;
}

static int visit_tree(void *context, const sp_call_tree *tree, sp_error *error)
{
    bool *gone = malloc(tree->count + 1);
    if (gone == NULL)
        return sp_fail_memory(error, "taking a part of a run");
    for (size_t i = 0; i < tree->count; i++) /* parents come first */
        gone[i] = goes(context, tree->row[i], tree->call_index[i],
                       tree->parent[i] >= 0 && gone[tree->parent[i]]);
    free(gone);
    return SP_OK;
}

static int find_limits(skipping *skip, const sp_narrow_options *options, uint32_t rank,
                       sp_error *error)
{
    sp_results *from = skip->reader->from;
    for (uint32_t r = sp_run_first_row_of_rank(from, rank); r != SP_NO_ROW;
         r = from->rows.items[r].next_in_rank) {
        int status = mark_row(skip->reader, r, error);
        if (status != SP_OK)
            return status;
        skip->seen[r] = 0;
        skip->limit[r] = limit_of(skip->reader, options, r);
    }
    return SP_OK;
}

/* Of a rank that does not nest, the calls themselves go, not what may be inside them. */
static void skip_flat(skipping *skip, uint32_t rank)
{
    const sp_results *from = skip->reader->from;
    for (uint32_t r = sp_run_first_row_of_rank(from, rank); r != SP_NO_ROW;
         r = from->rows.items[r].next_in_rank)
        for (uint64_t call = 0; call < from->rows.items[r].row->count; call++)
            (void)goes(skip, r, call, false);
}

static int skip_rank(skipping *skip, const sp_narrow_options *options, uint32_t rank,
                     sp_error *error)
{
    bool done = false;
    int status = find_limits(skip, options, rank, error);
    if (status == SP_OK)
        status = sp_run_walk(skip->reader->from, rank, visit_call, skip, &done, error);
    if (status != SP_OK || done)
        return status;
    status = find_limits(skip, options, rank, error);
    if (status == SP_OK)
        status = sp_run_walk_tree(skip->reader->from, rank, visit_tree, skip, error);
    if (status == SP_ERR_NESTING || status == SP_ERR_DAMAGED) {
        status = find_limits(skip, options, rank, error);
        if (status == SP_OK)
            skip_flat(skip, rank);
    }
    return status;
}

static int skip_first_calls(sp_store_reader *reader, const sp_narrow_options *options,
                            sp_error *error)
{
    size_t count = reader->from->rows.count;
    skipping skip = {reader, calloc(count + 1, sizeof *skip.limit),
                     calloc(count + 1, sizeof *skip.seen)};
    int status = skip.limit == NULL || skip.seen == NULL
                     ? sp_fail_memory(error, "taking a part of a run") : SP_OK;
    for (size_t i = 0; status == SP_OK && i < options->num_skips; i++)
        if (sp_results_find_region(reader->from, options->skips[i].region) < 0)
            status = sp_fail(error, SP_ERR_NOT_FOUND, "there is no region '%s' to leave calls out of",
                             options->skips[i].region);
    for (size_t i = 0; status == SP_OK && i < reader->from->ranks.count; i++)
        status = skip_rank(&skip, options, reader->from->ranks.items[i].rank, error);
    free(skip.limit);
    free(skip.seen);
    return status;
}

/* ---- Rows ------------------------------------------------------------------------------------*/

/* The metadata of the calls that are kept; NULL when there is none, or memory is short
 * (`*out_failed`). A list of a wrong form counts as none. */
static const char *narrow_metadata(sp_results *results, const sp_row *row, const narrow_row *of,
                                   bool *out_failed)
{
    sp_json_reader reader;
    sp_text out = {0};
    uint64_t call = 0;
    const char *copy = NULL;
    if (row->event_metadata_json == NULL)
        return NULL;
    sp_json_reader_init(&reader, row->event_metadata_json, strlen(row->event_metadata_json));
    bool is_right = sp_json_next(&reader, NULL) == SP_JSON_ARRAY;
    sp_text_add(&out, "[");
    while (is_right) {
        sp_json_token token = sp_json_next(&reader, NULL);
        const char *begin = reader.at - 1;
        if (token == SP_JSON_ARRAY_END)
            break;
        is_right = call < row->count && token == SP_JSON_OBJECT && sp_json_skip(&reader, token);
        if (is_right && is_kept(of, call++)) {
            sp_text_add(&out, out.length > 1 ? ", " : "");
            sp_text_add_n(&out, begin, (size_t)(reader.at - begin));
        }
    }
    sp_text_add(&out, "]");
    if (is_right && call == row->count && !out.failed)
        copy = sp_arena_text(&results->arena, out.bytes);
    *out_failed = *out_failed || out.failed || (is_right && call == row->count && copy == NULL);
    sp_text_release(&out);
    return copy;
}

/* Counts what is left; a row that lost nothing is read as it is. */
static bool settle_row(narrow_row *of, const sp_row *row)
{
    size_t blocks = num_blocks(row->count);
    for (size_t b = 0; b < blocks; b++) {
        uint64_t kept = 0;
        for (size_t w = 0; w < BLOCK_WORDS; w++)
            kept += (uint64_t)__builtin_popcountll(of->kept[b * BLOCK_WORDS + w]);
        of->before[b + 1] = of->before[b] + kept;
    }
    return of->before[blocks] == row->count;
}

static bool is_cut(const sp_store_reader *reader, size_t row)
{
    sp_statistics s;
    const narrow_row *of = &reader->rows[row];
    if (of->low == INT64_MIN && of->high == INT64_MAX)
        return false;
    return sp_results_row_statistics(reader->from, row, &s, NULL) != SP_OK ||
           s.start_minimum < of->low || s.end_maximum > of->high;
}

static int add_row(sp_results *results, sp_store_reader *reader, size_t i, sp_error *error)
{
    const sp_run_row *from = &reader->from->rows.items[i];
    narrow_row *of = &reader->rows[i];
    sp_row *row = sp_arena_array(&results->arena, 1, sizeof *row);
    bool failed = row == NULL;
    if (failed)
        return sp_fail_memory(error, "taking a part of a run");
    *row = *from->row;
    if (!settle_row(of, row) || is_cut(reader, i)) {
        row->event_metadata_json = narrow_metadata(results, from->row, of, &failed);
        row->count = of->before[num_blocks(from->row->count)];
        row->has_statistics = false;
        row->exclusive_total = -1;
    } else {
        free(of->kept);
        free(of->before);
        of->kept = of->before = NULL;
    }
    if (failed)
        return sp_fail_memory(error, "taking a part of a run");
    results->num_calls += row->count;
    return sp_run_append_row(results, row, from->region, from->columns, error);
}

#define TAKE_ALL(to, of)                                                                           \
    (sp_vector_reserve(&(to), (of).count)                                                          \
         ? (memcpy((to).items, (of).items, (of).count * sizeof *(of).items),                       \
            (to).count = (of).count, true)                                                         \
         : false)

/* Regions, metadata and lanes are those of the whole run. */
static int take_tables(sp_results *results, const sp_results *from, sp_error *error)
{
    for (size_t i = 0; i < from->regions.count; i++)
        if (sp_run_intern_region(results, from->regions.items[i].name, SP_NO_ROW) == SP_NO_ROW)
            return sp_fail_memory(error, "taking a part of a run");
    bool done = (from->metadata.count == 0 || TAKE_ALL(results->metadata, from->metadata)) &&
                (from->threads.count == 0 || TAKE_ALL(results->threads, from->threads)) &&
                (from->tasks.count == 0 || TAKE_ALL(results->tasks, from->tasks)) &&
                (from->extras.count == 0 || TAKE_ALL(results->extras, from->extras));
    results->path = from->path;
    results->file_bytes = from->file_bytes;
    results->schema = from->schema;
    results->num_ranks = from->num_ranks;
    return done ? SP_OK : sp_fail_memory(error, "taking a part of a run");
}

/* A sentence for people. */
static int describe(sp_results *results, const sp_narrow_options *options, sp_error *error)
{
    sp_text out = {0};
    const char *comma = "";
    if (options->skip_calls > 0) {
        sp_text_format(&out, "the first %" PRIu64 " call%s of each region", options->skip_calls,
                       options->skip_calls == 1 ? "" : "s");
        comma = ", ";
    }
    for (size_t i = 0; i < options->num_skips; i++, comma = ", ")
        sp_text_format(&out, "%sthe first %" PRIu64 " of '%s'", comma, options->skips[i].calls,
                       options->skips[i].region);
    if (options->after_region != NULL) {
        sp_text_format(&out, "%swhat was before the end of '%s'", comma, options->after_region);
        comma = ", ";
    }
    if (options->start_ns > 0) {
        sp_text_format(&out, "%sthe first %.9g s", comma, (double)options->start_ns / 1e9);
        comma = ", ";
    }
    if (options->end_ns > 0)
        sp_text_format(&out, "%swhat was after %.9g s", comma, (double)options->end_ns / 1e9);
    results->left_out = out.bytes == NULL ? "" : sp_arena_text(&results->arena, out.bytes);
    bool failed = out.failed || results->left_out == NULL;
    sp_text_release(&out);
    return failed ? sp_fail_memory(error, "taking a part of a run") : SP_OK;
}

const char *sp_results_left_out(const sp_results *results)
{
    return results->left_out;
}

/* ---- The run ---------------------------------------------------------------------------------*/

static int choose_calls(sp_store_reader *reader, const sp_narrow_options *options, sp_error *error)
{
    int status = set_windows(reader, options, error);
    for (size_t i = 0; status == SP_OK && i < reader->from->rows.count; i++)
        status = mark_row(reader, i, error);
    if (status == SP_OK && (options->skip_calls > 0 || options->num_skips > 0))
        status = skip_first_calls(reader, options, error);
    return status;
}

int sp_results_narrow(sp_results *from, const sp_narrow_options *given, sp_results **out,
                      sp_error *error)
{
    sp_narrow_options options = {.size = sizeof options};
    sp_results *results;
    if (given == NULL || given->size == 0)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "sp_narrow_options.size is not set");
    memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    if (from->is_aggregate)
        return sp_fail(error, SP_ERR_NO_EVENTS,
                       "'%s' holds totals only: there are no calls to leave out", from->path);
    int status = sp_results_create(&results, error);
    if (status != SP_OK)
        return status;
    sp_store_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        sp_results_close(results);
        return sp_fail_memory(error, "taking a part of a run");
    }
    reader->from = from;
    results->store = &narrow_store;
    results->reader = reader;
    reader->rows = calloc(from->rows.count + 1, sizeof *reader->rows);
    status = reader->rows == NULL ? sp_fail_memory(error, "taking a part of a run")
                                  : choose_calls(reader, &options, error);
    if (status == SP_OK)
        status = take_tables(results, from, error);
    for (size_t i = 0; status == SP_OK && i < from->rows.count; i++)
        status = add_row(results, reader, i, error);
    if (status == SP_OK)
        status = describe(results, &options, error);
    if (status != SP_OK) {
        sp_results_close(results);
        return status;
    }
    reader->owns_from = options.takes_over;
    *out = results;
    return SP_OK;
}
