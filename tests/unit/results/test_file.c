/* Runs written to an HDF5 file and read back. Left out where the module is not built. */
#include "results/run.h"

#include <unistd.h>

static const char path[] = "results-test.h5";

/* Writes the run, closes it and opens the file; NULL without the module. */
static sp_results *through_file(sp_results *run)
{
    sp_results *read = NULL;
    sp_error error = {0};
    int status = sp_results_write(run, path, NULL, &error);
    sp_results_close(run);
    if (status != SP_ERR_NO_MODULE && CHECK_INT(status, SP_OK))
        CHECK_INT(sp_results_open(path, &read, &error), SP_OK);
    if (error.text[0] != '\0')
        fprintf(stderr, "%s\n", error.text);
    unlink(path);
    return read;
}

static void small_run(void)
{
    sp_results *run = run_new();
    sp_metadata_entry label = {.key = "label", .kind = SP_VALUE_TEXT, .text = "trial"};
    sp_thread_row thread = {.rank = 1, .index = 0, .ident = 77, .name = "main", .end_ns = -1};
    const int64_t *ids = NULL, *lanes = NULL;
    size_t count = 0;
    sp_statistics s = {0};
    sp_call_tree tree = {0};
    CHECK_INT(sp_results_set_metadata(run, &label, NULL), SP_OK);
    CHECK_INT(sp_results_add_thread(run, &thread, NULL), SP_OK);
    RUN_ADD(run, "solve", 1, RUN_IDS | RUN_THREADS, {10, 15, 0, -1, 0}, {20, 33, 1, -1, 0});
    RUN_ADD(run, "step", 1, RUN_IDS, {21, 25, 2, 1});
    RUN_ADD(run, "solve", 0, RUN_IDS, {40, 55, 0, -1});
    run = through_file(run);
    if (run == NULL)
        return;
    CHECK_TEXT(sp_results_path(run), path);
    CHECK_INT(sp_results_schema(run), 3);
    CHECK(sp_results_file_bytes(run) > 0);
    CHECK_INT(sp_results_num_rows(run), 3);
    CHECK_INT(sp_results_num_ranks(run), 2);
    CHECK_TEXT(sp_results_find_metadata(run, "label")->text, "trial");
    CHECK_INT(sp_results_num_threads(run), 1);
    CHECK_INT(sp_results_thread(run, 0)->ident, 77);
    CHECK_INT(sp_results_region_statistics(run, 0, NULL, 0, &s, NULL), SP_OK);
    CHECK_INT(s.calls, 3);
    CHECK_INT(s.total, 5 + 13 + 15);
    int64_t row = sp_results_find_row(run, 1, 1);
    CHECK_INT(sp_results_column(run, (size_t)row, SP_COLUMN_PARENT_ID, &ids, &count, NULL), SP_OK);
    CHECK_INT(ids[0], 1);
    /* step had no lanes beside a row that had: filled up with "unknown" */
    CHECK_INT(sp_results_column(run, (size_t)row, SP_COLUMN_THREAD_ID, &lanes, &count, NULL),
              SP_OK);
    CHECK_INT(lanes[0], -1);
    CHECK_INT(sp_results_call_tree(run, 1, &tree, NULL), SP_OK);
    CHECK_INT(tree.count, 3);
    CHECK_INT(tree.parent[2], 1);
    CHECK_INT(tree.exclusive_ns[1], 13 - 4);
    sp_results_close(run);
}

/* Enough calls that a walk reads whole ranks at once and a row does not fit one piece. */
static void large_run(void)
{
    enum { CALLS = 150000 };
    run_call *outer = calloc(CALLS, sizeof *outer), *inner = calloc(CALLS, sizeof *inner);
    const int64_t *before = NULL, *after = NULL;
    size_t count = 0;
    for (int64_t i = 0; i < CALLS; i++) {
        outer[i] = (run_call){100 * i, 100 * i + 60, 2 * i, -1, 0, 0};
        inner[i] = (run_call){100 * i + 10, 100 * i + 30, 2 * i + 1, 2 * i, 0, 0};
    }
    sp_results *run = run_new();
    CHECK_INT(run_add_calls(run, "outer", 0, outer, CALLS, RUN_IDS), SP_OK);
    CHECK_INT(run_add_calls(run, "inner", 0, inner, CALLS, RUN_IDS), SP_OK);
    run = through_file(run);
    free(outer);
    free(inner);
    if (run == NULL)
        return;
    CHECK_INT(sp_results_column(run, 1, SP_COLUMN_START, &before, &count, NULL), SP_OK);
    CHECK_INT(count, CALLS);
    sp_call_tree tree = {0}, again = {0};
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_OK);
    CHECK_INT(sp_results_reconstruct(run, 0, &again, NULL), SP_OK);
    CHECK_INT(tree.count, 2 * CALLS);
    int wrong = 0;
    for (size_t i = 0; i < tree.count; i++)
        wrong += tree.exclusive_ns[i] != (i % 2 == 0 ? 40 : 20) ||
                 tree.parent[i] != (i % 2 == 0 ? -1 : (int64_t)i - 1) ||
                 tree.parent[i] != again.parent[i] || tree.call_index[i] != i / 2;
    CHECK_INT(wrong, 0);
    CHECK_INT(sp_results_column(run, 1, SP_COLUMN_START, &after, &count, NULL), SP_OK);
    CHECK(before == after);
    CHECK_INT(after[CALLS - 1], 100 * (CALLS - 1) + 10);
    sp_results_close(run);
}

static void totals_only(void)
{
    sp_results *run = run_new();
    sp_row row = {.region = "x", .source_line = -1, .exclusive_total = -1, .has_aggregate = true,
                  .aggregate = {4, 100, 10, 40, 60}};
    sp_statistics s = {0};
    CHECK_INT(sp_results_add_row(run, &row, NULL, NULL), SP_OK);
    run = through_file(run);
    if (run == NULL)
        return;
    CHECK(sp_results_is_aggregate(run));
    CHECK_INT(sp_results_row_statistics(run, 0, &s, NULL), SP_OK);
    CHECK_INT(s.calls, 4);
    CHECK_INT(s.exclusive, 60);
    sp_results_close(run);
}

static void what_cannot_be_written(void)
{
    sp_results *run = run_new();
    sp_error error = {0};
    sp_row row = {.region = "x", .count = 2, .source_line = -1, .has_statistics = true};
    CHECK_INT(sp_results_add_row(run, &row, NULL, NULL), SP_OK);
    int status = sp_results_write(run, path, NULL, &error);
    if (status != SP_ERR_NO_MODULE) {
        CHECK_INT(status, SP_ERR_NO_EVENTS);
        CHECK_TEXT(error.text,
                   "region 'x' on rank 0 has statistics only, no calls to write");
        CHECK(access(path, F_OK) != 0);
    }
    sp_results_close(run);
}

int main(void)
{
    RUN(small_run);
    RUN(large_run);
    RUN(totals_only);
    RUN(what_cannot_be_written);
    return check_result();
}
