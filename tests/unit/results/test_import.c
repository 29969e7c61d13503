/* Files of native programs as one run, and such a run beside another. */
#include "results/run.h"

#include <stdlib.h>
#include <unistd.h>

static sp_error error;

/* A version 2 trace of one region without a source, little-endian. */
static void write_trace(const char *path, int32_t rank, const char *region, const int64_t *calls,
                        int64_t count)
{
    FILE *file = fopen(path, "wb");
    int32_t version = 2, length = (int32_t)strlen(region), zero = 0, line = -1;
    int64_t regions = 1;
    if (!CHECK(file != NULL))
        return;
    fwrite("SCOPEPRF", 1, 8, file);
    fwrite(&version, 4, 1, file);
    fwrite(&rank, 4, 1, file);
    fwrite(&regions, 8, 1, file);
    fwrite(&length, 4, 1, file);
    fwrite(region, 1, (size_t)length, file);
    fwrite(&zero, 4, 1, file);
    fwrite(&line, 4, 1, file);
    fwrite(&count, 8, 1, file);
    for (int64_t i = 0; i < count; i++)
        fwrite(&calls[2 * i], 8, 1, file);
    for (int64_t i = 0; i < count; i++)
        fwrite(&calls[2 * i + 1], 8, 1, file);
    fclose(file);
}

static sp_results *import(const char *const *paths, size_t count)
{
    sp_results *run = NULL;
    CHECK_INT(sp_results_import(paths, count, "both", &run, &error), SP_OK);
    return run;
}

static void set_integer(sp_results *run, const char *key, int64_t integer)
{
    sp_metadata_entry entry = {.key = key, .kind = SP_VALUE_INTEGER, .integer = integer};
    CHECK_INT(sp_results_set_metadata(run, &entry, NULL), SP_OK);
}

static int64_t integer_of(sp_results *run, const char *key)
{
    const sp_metadata_entry *entry = sp_results_find_metadata(run, key);
    return entry == NULL ? -1 : entry->integer;
}

static void traces_of_two_ranks(void)
{
    static const char *const paths[] = {"import-b.spt", "import-a.spt"};
    const int64_t late[] = {30, 40, 10, 20, 50, 51}, early[] = {7, 9}; /* starts out of order */
    const int64_t *starts = NULL;
    size_t count = 0;
    write_trace(paths[0], 3, "work", late, 3);
    write_trace(paths[1], 0, "work", early, 1);
    sp_results *run = import(paths, 2);
    if (run == NULL)
        return;
    CHECK_INT(sp_results_num_ranks(run), 2);
    CHECK_INT(sp_results_num_regions(run), 1);
    CHECK_INT(integer_of(run, "start_time_ns"), 7);
    CHECK_INT(integer_of(run, "trace_format_version"), 2);
    CHECK_TEXT(sp_results_find_metadata(run, "source")->text, "native");
    CHECK_TEXT(sp_results_find_metadata(run, "label")->text, "both");
    int64_t row = sp_results_find_row(run, 0, 3);
    CHECK_INT(sp_results_column(run, (size_t)row, SP_COLUMN_START, &starts, &count, NULL), SP_OK);
    CHECK(count == 3 && starts[0] == 10 && starts[1] == 30 && starts[2] == 50);
    CHECK_INT(sp_results_row_columns(run, (size_t)row),
              SP_COLUMN_BIT(SP_COLUMN_START) | SP_COLUMN_BIT(SP_COLUMN_DURATION));
    sp_results_close(run);

    write_trace(paths[1], 3, "other", early, 1);
    run = NULL;
    CHECK_INT(sp_results_import(paths, 2, NULL, &run, &error), SP_ERR_INVALID_ARGUMENT);
    CHECK_CONTAINS(error.text, "import-b.spt and import-a.spt both claim rank 3");
    CHECK_INT(sp_results_import(paths, 0, NULL, &run, &error), SP_OK);
    CHECK_INT(sp_results_num_rows(run), 0);
    sp_results_close(run);
    unlink(paths[0]);
    unlink(paths[1]);
}

/* A profile with everything, beside a trace, through a file and back. */
static void a_profile_keeps_what_it_holds(void)
{
    static const char *const paths[] = {"import-p.h5", "import-t.spt"};
    const int64_t calls[] = {100, 200, 120, 130};
    sp_results *run = run_new(), *read = NULL;
    sp_thread_row thread = {.rank = 1, .index = 0, .native_id = 77, .name = "main", .end_ns = -1};
    sp_call_tree tree = {0};
    set_integer(run, "start_time_ns", 5);
    set_integer(run, "cores", 4);
    CHECK_INT(sp_results_add_thread(run, &thread, NULL), SP_OK);
    RUN_ADD(run, "a", 1, RUN_IDS | RUN_THREADS, {10, 20, 0, -1, 0});
    RUN_ADD(run, "b", 1, RUN_IDS | RUN_THREADS, {10, 20, 1, 0, 0});
    int status = sp_results_write(run, paths[0], NULL, &error);
    sp_results_close(run);
    if (status == SP_ERR_NO_MODULE || !CHECK_INT(status, SP_OK))
        return;
    write_trace(paths[1], 0, "c", calls, 2);
    run = import(paths, 2);
    if (run == NULL)
        return;
    CHECK_INT(integer_of(run, "cores"), 4);
    CHECK_INT(integer_of(run, "start_time_ns"), 5);
    CHECK_INT(sp_results_write(run, paths[0], NULL, &error), SP_OK);
    sp_results_close(run);
    if (!CHECK_INT(sp_results_open(paths[0], &read, &error), SP_OK))
        return;
    CHECK_INT(sp_results_num_threads(read), 1);
    /* By the ids b is the child, although both have the same interval. */
    CHECK_INT(sp_results_call_tree(read, 1, &tree, &error), SP_OK);
    CHECK(tree.count == 2 && tree.parent[0] == -1 && tree.parent[1] == 0);
    CHECK_TEXT(sp_results_row(read, tree.row[1])->region, "b");
    /* The other rank has no ids. */
    CHECK_INT(sp_results_call_tree(read, 0, &tree, &error), SP_OK);
    CHECK(tree.count == 2 && tree.parent[1] == 0);
    sp_results_close(read);
    unlink(paths[0]);
    unlink(paths[1]);
}

static void a_run_beside_another(void)
{
    sp_results *python = run_new(), *native = run_new(), *both = NULL;
    sp_thread_row first = {.rank = 0, .index = 0, .native_id = 77, .name = "main", .end_ns = -1};
    sp_thread_row second = {.rank = 0, .index = 0, .native_id = 88, .name = "worker", .start_ns = 6,
                            .end_ns = 9};
    sp_thread_row third = {.rank = 0, .index = 1, .native_id = 77, .name = "again", .end_ns = -1};
    const int64_t *lanes = NULL;
    size_t count = 0;
    sp_call_tree tree = {0};
    set_integer(python, "start_time_ns", 1000);
    set_integer(native, "start_time_ns", 1040);
    CHECK_INT(sp_results_add_thread(python, &first, NULL), SP_OK);
    CHECK_INT(sp_results_add_thread(native, &second, NULL), SP_OK);
    CHECK_INT(sp_results_add_thread(native, &third, NULL), SP_OK);
    RUN_ADD(python, "solve", 0, RUN_IDS | RUN_THREADS, {1000, 2000, 0, -1, 0});
    RUN_ADD(python, "solve", 1, RUN_IDS, {1000, 2000, 0, -1});
    RUN_ADD(native, "kernel", 0, RUN_IDS | RUN_THREADS, {1100, 1200, 0, -1, 1},
            {1300, 1400, 1, -1, 0});
    CHECK_INT(sp_results_merge(python, native, &both, &error), SP_OK);
    if (both == NULL)
        return;
    CHECK_INT(sp_results_num_threads(both), 2);
    CHECK_INT(sp_results_thread(both, 1)->index, 1);
    CHECK_INT(sp_results_thread(both, 1)->start_ns, 46); /* 1040 + 6 as seen from 1000 */
    int64_t row = sp_results_find_row(both, (size_t)sp_results_find_region(both, "kernel"), 0);
    CHECK_INT(sp_results_column(both, (size_t)row, SP_COLUMN_THREAD_ID, &lanes, &count, NULL),
              SP_OK);
    CHECK(count == 2 && lanes[0] == 0 && lanes[1] == 1);
    /* One tree: the kernel of the same thread lies in the solver, that of the worker does not. */
    CHECK_INT(sp_results_call_tree(both, 0, &tree, &error), SP_OK);
    CHECK(tree.count == 3 && tree.parent[1] == 0 && tree.parent[2] == -1);
    CHECK_INT(sp_results_row_columns(both, (size_t)sp_results_find_row(both, 0, 1)) &
                  SP_COLUMN_BIT(SP_COLUMN_CALL_ID), SP_COLUMN_BIT(SP_COLUMN_CALL_ID));
    sp_results_close(both);

    RUN_ADD(native, "solve", 0, 0, {1500, 1600});
    CHECK_INT(sp_results_merge(python, native, &both, &error), SP_ERR_INVALID_ARGUMENT);
    CHECK_CONTAINS(error.text, "both runs have a region 'solve' on rank 0");
    sp_results_close(python);
    sp_results_close(native);
}

int main(void)
{
    RUN(traces_of_two_ranks);
    RUN(a_profile_keeps_what_it_holds);
    RUN(a_run_beside_another);
    return check_result();
}
