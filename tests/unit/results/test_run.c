/* A run as a table: rows, regions, ranks, metadata, lanes; opening what is no profile. */
#include "results/run.h"

#include <unistd.h>

static void rows_and_regions(void)
{
    sp_results *run = run_new();
    RUN_ADD(run, "b", 1, RUN_PLAIN, {0, 1});
    RUN_ADD(run, "a", 1, RUN_PLAIN, {2, 3}, {4, 5});
    RUN_ADD(run, "b", 0, RUN_PLAIN, {6, 7});
    CHECK_INT(sp_results_num_regions(run), 2);
    CHECK_TEXT(sp_results_region_name(run, 0), "b");
    CHECK_TEXT(sp_results_region_name(run, 1), "a");
    CHECK(sp_results_region_name(run, 2) == NULL);
    CHECK_INT(sp_results_find_region(run, "a"), 1);
    CHECK_INT(sp_results_find_region(run, "c"), -1);
    CHECK_INT(sp_results_num_rows(run), 3);
    CHECK_INT(sp_results_row(run, 1)->count, 2);
    CHECK_INT(sp_results_row(run, 1)->offset, 1);
    CHECK_TEXT(sp_results_row(run, 2)->region, "b");
    CHECK(sp_results_row(run, 3) == NULL);
    CHECK_INT(sp_results_row_region(run, 2), 0);
    CHECK_INT(sp_results_find_row(run, 0, 0), 2);
    CHECK_INT(sp_results_find_row(run, 0, 1), 0);
    CHECK_INT(sp_results_find_row(run, 1, 0), -1);
    CHECK_INT(sp_results_find_row(run, 9, 0), -1);
    CHECK_INT(sp_results_num_ranks(run), 2);
    CHECK_INT(sp_results_num_calls(run), 4);
    CHECK_INT(sp_results_schema(run), 0);
    CHECK_TEXT(sp_results_path(run), "");
    CHECK_INT(sp_results_file_bytes(run), 0);
    CHECK_INT(sp_results_row_columns(run, 0),
              SP_COLUMN_BIT(SP_COLUMN_START) | SP_COLUMN_BIT(SP_COLUMN_DURATION));
    CHECK_INT(sp_results_row_columns(run, 3), 0);
    sp_results_close(run);
}

static void number_of_ranks(void)
{
    sp_results *run = run_new();
    CHECK_INT(sp_results_num_ranks(run), 0);
    sp_results_set_num_ranks(run, 4);
    CHECK_INT(sp_results_num_ranks(run), 4);
    RUN_ADD(run, "x", 11, RUN_PLAIN, {0, 1});
    CHECK_INT(sp_results_num_ranks(run), 12);
    sp_results_set_num_ranks(run, 3);
    CHECK_INT(sp_results_num_ranks(run), 12);
    sp_results_close(run);
}

static void columns(void)
{
    const int64_t *values = NULL, *again = NULL;
    size_t count = 0;
    sp_error error = {0};
    sp_results *run = run_new();
    RUN_ADD(run, "x", 0, RUN_IDS, {10, 15, 3, -1}, {20, 33, 4, 3});
    CHECK_INT(sp_results_column(run, 0, SP_COLUMN_DURATION, &values, &count, NULL), SP_OK);
    CHECK_INT(count, 2);
    CHECK_INT(values[1], 13);
    CHECK_INT(sp_results_column(run, 0, SP_COLUMN_DURATION, &again, &count, NULL), SP_OK);
    CHECK(values == again);
    CHECK_INT(sp_results_column(run, 0, SP_COLUMN_AWAIT, &values, &count, &error),
              SP_ERR_NOT_FOUND);
    CHECK_TEXT(error.text, "the run did not record await times");
    CHECK_INT(sp_results_column(run, 1, SP_COLUMN_START, &values, &count, &error),
              SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(sp_results_column(run, 0, SP_COLUMN_COUNT, &values, &count, &error),
              SP_ERR_INVALID_ARGUMENT);
    sp_results_close(run);
}

static void rows_that_say_nothing_are_refused(void)
{
    const int64_t start[] = {1};
    const int64_t *columns[SP_COLUMN_COUNT] = {start};
    sp_results *run = run_new();
    sp_row row = {.region = "x", .count = 1};
    CHECK_INT(sp_results_add_row(run, &row, columns, NULL), SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(sp_results_add_row(run, &row, NULL, NULL), SP_ERR_INVALID_ARGUMENT);
    row.region = "";
    row.count = 0;
    CHECK_INT(sp_results_add_row(run, &row, NULL, NULL), SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(sp_results_num_rows(run), 0);
    CHECK_INT(sp_results_num_regions(run), 0);
    sp_results_close(run);
}

static void rows_of_another_run(void)
{
    const int64_t *ids = NULL;
    size_t count = 0;
    sp_statistics s = {0};
    sp_results *from = run_new(), *to = run_new();
    RUN_ADD(from, "x", 2, RUN_IDS, {10, 15, 3, -1}, {20, 33, 4, 3});
    CHECK_INT(sp_results_add_row_of(to, from, 0, "renamed", NULL), SP_OK);
    CHECK_INT(sp_results_add_row_of(to, from, 0, NULL, NULL), SP_OK);
    CHECK_INT(sp_results_add_row_of(to, from, 1, NULL, NULL), SP_ERR_INVALID_ARGUMENT);
    sp_results_close(from);
    CHECK_TEXT(sp_results_row(to, 0)->region, "renamed");
    CHECK_TEXT(sp_results_row(to, 1)->region, "x");
    CHECK_INT(sp_results_column(to, 1, SP_COLUMN_CALL_ID, &ids, &count, NULL), SP_OK);
    CHECK_INT(ids[1], 4);
    CHECK_INT(sp_results_row_statistics(to, 0, &s, NULL), SP_OK);
    CHECK_INT(s.total, 18);
    sp_results_close(to);
}

static void metadata(void)
{
    const char *const modules[] = {"gcc", "openmpi"};
    sp_results *run = run_new();
    sp_metadata_entry entry = {.key = "label", .kind = SP_VALUE_TEXT, .text = "first"};
    CHECK_INT(sp_results_set_metadata(run, &entry, NULL), SP_OK);
    entry = (sp_metadata_entry){.key = "modules", .kind = SP_VALUE_TEXT_LIST, .list = modules,
                                .list_length = 2};
    CHECK_INT(sp_results_set_metadata(run, &entry, NULL), SP_OK);
    entry = (sp_metadata_entry){.key = "label", .kind = SP_VALUE_TEXT, .text = "second"};
    CHECK_INT(sp_results_set_metadata(run, &entry, NULL), SP_OK);
    CHECK_INT(sp_results_num_metadata(run), 2);
    CHECK_TEXT(sp_results_find_metadata(run, "label")->text, "second");
    CHECK_TEXT(sp_results_metadata(run, 1)->list[1], "openmpi");
    CHECK(sp_results_find_metadata(run, "user") == NULL);
    CHECK(sp_results_metadata(run, 2) == NULL);
    entry.key = "";
    CHECK_INT(sp_results_set_metadata(run, &entry, NULL), SP_ERR_INVALID_ARGUMENT);
    sp_results_close(run);
}

static void lanes(void)
{
    sp_results *run = run_new();
    sp_thread_row thread = {.rank = 1, .index = 3, .name = "worker", .end_ns = -1};
    sp_task_row task = {.rank = 1, .index = 0, .kind = "task", .name = "t", .coroutine_name = "c"};
    CHECK_INT(sp_results_add_thread(run, &thread, NULL), SP_OK);
    CHECK_INT(sp_results_add_task(run, &task, NULL), SP_OK);
    CHECK_INT(sp_results_num_threads(run), 1);
    CHECK_TEXT(sp_results_thread(run, 0)->name, "worker");
    CHECK_INT(sp_results_thread(run, 0)->index, 3);
    CHECK(sp_results_thread(run, 1) == NULL);
    CHECK_INT(sp_results_num_tasks(run), 1);
    CHECK_TEXT(sp_results_task(run, 0)->coroutine_name, "c");
    CHECK(sp_results_task(run, 1) == NULL);
    CHECK_INT(sp_results_num_extras(run), 0);
    CHECK(sp_results_extra(run, 0) == NULL);
    sp_results_close(run);
}

static void times_of_the_run(void)
{
    sp_run_times times = {0};
    sp_results *run = run_new();
    CHECK_INT(sp_results_times(run, &times, NULL), SP_OK);
    CHECK_INT(times.start, -1);
    CHECK_INT(times.first_entry, -1);
    CHECK_INT(times.last_exit, -1);
    RUN_ADD(run, "x", 0, RUN_PLAIN, {50, 60}, {70, 75});
    RUN_ADD(run, "y", 1, RUN_PLAIN, {40, 72});
    sp_metadata_entry entry = {.key = "start_time_ns", .kind = SP_VALUE_INTEGER, .integer = 30};
    CHECK_INT(sp_results_set_metadata(run, &entry, NULL), SP_OK);
    entry = (sp_metadata_entry){.key = "finalize_time_ns", .kind = SP_VALUE_REAL, .real = 80.0};
    CHECK_INT(sp_results_set_metadata(run, &entry, NULL), SP_OK);
    CHECK_INT(sp_results_times(run, &times, NULL), SP_OK);
    CHECK_INT(times.start, 30);
    CHECK_INT(times.first_entry, 40);
    CHECK_INT(times.last_exit, 75);
    CHECK_INT(times.finalize, 80);
    entry = (sp_metadata_entry){.key = "start_time_ns", .kind = SP_VALUE_TEXT, .text = "soon"};
    CHECK_INT(sp_results_set_metadata(run, &entry, NULL), SP_OK);
    CHECK_INT(sp_results_times(run, &times, NULL), SP_OK);
    CHECK_INT(times.start, -1);
    sp_results_close(run);
}

/* Writes a file of these bytes and checks what opening it says. */
static void check_refused(const char *bytes, size_t length, int status, const char *says)
{
    char path[] = "refused-XXXXXX";
    sp_results *run = NULL;
    sp_error error = {0};
    int file = mkstemp(path);
    if (!CHECK(file >= 0 && write(file, bytes, length) == (ssize_t)length))
        return;
    close(file);
    CHECK_INT(sp_results_open(path, &run, &error), status);
    CHECK_CONTAINS(error.text, says);
    CHECK_CONTAINS(error.text, path);
    unlink(path);
}

static void files_that_are_no_profile(void)
{
    sp_results *run = NULL;
    sp_error error = {0};
    check_refused("", 0, SP_ERR_DAMAGED, "is empty");
    check_refused("\x89HDF", 4, SP_ERR_DAMAGED, "holds 4 bytes");
    check_refused("{\"a\": 1}", 8, SP_ERR_NOT_A_PROFILE, "is not a scope-profiler JSON profile");
    check_refused("<!doctype html>", 15, SP_ERR_NOT_A_PROFILE, "is an HTML or XML file");
    check_refused("\x1f\x8b\x08 zipped", 10, SP_ERR_DAMAGED, "is truncated or damaged");
    check_refused("SCOPEPRF\x02", 9, SP_ERR_DAMAGED, "too short for a trace");
    check_refused("just words\n", 11, SP_ERR_NOT_A_PROFILE, "is a text file");
    check_refused("\x00\x01\x02", 3, SP_ERR_NOT_A_PROFILE, "of an unknown kind");
    CHECK_INT(sp_results_open("/no/such/file.h5", &run, &error), SP_ERR_NOT_FOUND);
    CHECK_TEXT(error.text, "No profile at '/no/such/file.h5'");
    CHECK_INT(sp_results_open("/tmp", &run, &error), SP_ERR_NOT_A_PROFILE);
    CHECK_TEXT(error.text, "'/tmp' is a folder, not a profile");
    CHECK_INT(sp_results_open("/dev/null", &run, &error), SP_ERR_NOT_A_PROFILE);
    CHECK(run == NULL);
}

static void image_of_nonsense(void)
{
    sp_results *run = NULL;
    CHECK(sp_results_open_image(calloc(1, 64), 64, &run, NULL) != SP_OK);
    CHECK(sp_results_open_image(NULL, 0, &run, NULL) != SP_OK);
    CHECK(run == NULL);
    sp_results_close(NULL);
}

int main(void)
{
    RUN(rows_and_regions);
    RUN(number_of_ranks);
    RUN(columns);
    RUN(rows_that_say_nothing_are_refused);
    RUN(rows_of_another_run);
    RUN(metadata);
    RUN(lanes);
    RUN(times_of_the_run);
    RUN(files_that_are_no_profile);
    RUN(image_of_nonsense);
    return check_result();
}
