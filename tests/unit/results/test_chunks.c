/* A large rank read chunk by chunk shows the same calls in the same order as one that is held as a
 * whole: random programs, chunks of a few calls. */
#include "program.h"
#include "results/chunks.h"

enum { PROGRAMS = 400, EVENTS = 2 * MAX_CALLS };

typedef struct seen_call {
    uint32_t row;
    uint64_t call_index, above;
    int64_t start, end, id, parent;
} seen_call;

typedef struct call_log {
    seen_call calls[EVENTS];
    size_t count, windows;
} call_log;

/* The value kept for a call is its position in the call_log. */
static uint64_t note_call(void *context, const sp_walked_call *call, uint64_t above)
{
    call_log *seen = context;
    seen->calls[seen->count] =
        (seen_call){call->row, call->call_index, above, call->start, call->end, 0, 0};
    return seen->count++;
}

static int note_window(void *context, const sp_call_window *window, sp_error *error)
{
    call_log *seen = context;
    (void)error;
    seen->windows++;
    for (size_t i = 0; i < window->count; i++) {
        const sp_row_part *part = &window->parts[window->row[i]];
        const int64_t *parents = part->values[SP_COLUMN_PARENT_ID];
        seen->calls[seen->count++] = (seen_call){
            window->row[i], window->call_index[i], 0, window->start[i], window->end[i],
            window->ids == NULL ? -1 : window->ids[i],
            parents == NULL ? -2 : parents[window->call_index[i] - part->first]};
    }
    return SP_OK;
}

static bool is_same(const call_log *a, const call_log *b)
{
    return a->count == b->count && memcmp(a->calls, b->calls, a->count * sizeof *a->calls) == 0;
}

/* The whole run read through a store that holds nothing in memory. */
static sp_results *read_through(sp_results *run)
{
    const sp_narrow_options all = {.size = sizeof all, .end_ns = INT64_C(1) << 60};
    sp_results *part = NULL;
    CHECK_INT(sp_results_narrow(run, &all, &part, NULL), SP_OK);
    return part;
}

static void compare_walks(sp_results *whole, sp_results *part, int *regular)
{
    static call_log expected, found;
    bool done_whole = false, done_part = false;
    expected = found = (call_log){.count = 0};
    CHECK_INT(sp_run_walk(whole, 0, note_call, &expected, &done_whole, NULL), SP_OK);
    CHECK_INT(sp_run_walk(part, 0, note_call, &found, &done_part, NULL), SP_OK);
    CHECK_INT(done_part, done_whole);
    CHECK(!done_whole || is_same(&expected, &found));
    *regular += done_whole;
}

static size_t compare_windows(sp_results *whole, sp_results *part)
{
    static call_log expected, found;
    unsigned columns = SP_COLUMN_BIT(SP_COLUMN_PARENT_ID);
    expected = found = (call_log){.count = 0};
    CHECK_INT(sp_run_walk_windows(whole, 0, columns, note_window, &expected, NULL), SP_OK);
    CHECK_INT(sp_run_walk_windows(part, 0, columns, note_window, &found, NULL), SP_OK);
    CHECK(is_same(&expected, &found));
    return found.windows - expected.windows;
}

static void chunks_show_what_the_whole_shows(void)
{
    static const size_t sizes[] = {1, 3, 16, 70, 200};
    int regular = 0;
    size_t more_windows = 0;
    for (int i = 0; i < PROGRAMS; i++) {
        static program p;
        make_program(&p, i % 3 == 0 ? 2 : 4);
        sp_results *run = build_run(&p, i % 2 == 0, i % 5, 1 + i % 2);
        sp_results *part = read_through(run);
        sp_call_chunks_least = 0;
        sp_call_chunks_size = sizes[i % 5];
        compare_walks(run, part, &regular);
        more_windows += compare_windows(run, part);
        sp_results_close(part);
        sp_results_close(run);
    }
    CHECK(regular > PROGRAMS / 4);
    CHECK(more_windows > PROGRAMS); /* the chunks were really there */
}

static void rows_that_are_not_sorted_are_held_as_a_whole(void)
{
    sp_results *run = run_new();
    sp_call_chunks *chunks = NULL;
    RUN_ADD(run, "a", 0, RUN_PLAIN, {10, 20}, {0, 5}, {30, 40});
    sp_results *part = read_through(run);
    sp_call_chunks_least = 0;
    sp_call_chunks_size = 1;
    CHECK_INT(sp_call_chunks_open(part, 0, true, 0, &chunks, NULL), SP_OK);
    CHECK(chunks == NULL);
    CHECK_INT(sp_call_chunks_open(run, 0, true, 0, &chunks, NULL), SP_OK);
    CHECK(chunks == NULL); /* in memory anyway */
    sp_results_close(part);
    sp_results_close(run);
}

static void small_ranks_are_held_as_a_whole(void)
{
    sp_results *run = run_new();
    sp_call_chunks *chunks = NULL;
    RUN_ADD(run, "a", 0, RUN_PLAIN, {0, 5}, {10, 20}, {30, 40});
    sp_results *part = read_through(run);
    sp_call_chunks_least = 4;
    CHECK_INT(sp_call_chunks_open(part, 0, true, 0, &chunks, NULL), SP_OK);
    CHECK(chunks == NULL);
    sp_call_chunks_least = 3;
    CHECK_INT(sp_call_chunks_open(part, 0, true, 0, &chunks, NULL), SP_OK);
    CHECK(chunks != NULL);
    sp_call_chunks_close(chunks);
    sp_results_close(part);
    sp_results_close(run);
}

int main(void)
{
    RUN(chunks_show_what_the_whole_shows);
    RUN(rows_that_are_not_sorted_are_held_as_a_whole);
    RUN(small_ranks_are_held_as_a_whole);
    return check_result();
}
