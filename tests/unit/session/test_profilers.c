/* Independent profilers through the public functions. */
#include "session_case.h"

static void statuses(void)
{
    sp_profiler *p = sp_create("one", 0);
    if (!CHECK(p != NULL))
        return;
    CHECK(sp_profiler_is_active(p));
    int a = sp_profiler_region(p, "a"), b = SP_PROFILER_REGION_AT(p, "b");
    CHECK_INT(sp_profiler_num_regions(p), 2);
    CHECK_TEXT(sp_profiler_region_name(p, 0), "a");
    CHECK_TEXT(sp_profiler_region_name(p, 1), "b");
    CHECK(sp_profiler_region_name(p, 2) == NULL);
    CHECK(sp_profiler_region_name(p, -1) == NULL);
    CHECK_INT(sp_profiler_begin(p, a), SP_OK);
    CHECK_INT(sp_profiler_begin(p, -1), SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(sp_profiler_begin(p, 9999999), SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(sp_profiler_end(p, 9999999), SP_ERR_INVALID_ARGUMENT);
    case_catch_stderr();
    CHECK_INT(sp_profiler_end(p, b), SP_ERR_UNMATCHED_END);
    CHECK_CONTAINS(case_printed(), "sp_end('b') without a matching sp_begin");
    CHECK_INT(sp_profiler_end_last(p), SP_OK);
    CHECK_INT(sp_profiler_end_last(p), SP_ERR_UNMATCHED_END);
    sp_scope outer = sp_profiler_scope_begin(p, a), inner = sp_profiler_scope_begin(p, b);
    CHECK_INT(sp_scope_end(outer), SP_ERR_OPEN_SCOPES);
    CHECK_INT(sp_scope_end(outer), SP_ERR_UNMATCHED_END);
    CHECK_INT(sp_scope_end(inner), SP_OK);
    sp_scope bad = sp_profiler_scope_begin(p, -5);
    CHECK_INT(bad.slot, -1);
    CHECK_INT(sp_scope_end(bad), SP_ERR_UNMATCHED_END);
    sp_region_stats stats;
    CHECK_INT(sp_profiler_get_region_stats(p, a, &stats), SP_OK);
    CHECK_INT(stats.calls, 2);
    CHECK(stats.min_ns >= 0 && stats.max_ns >= stats.min_ns);
    CHECK(stats.total_ns >= stats.min_ns + stats.max_ns);
    CHECK_INT(sp_profiler_get_region_stats(p, 9999999, &stats), SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(sp_profiler_output_format(p), SP_OUTPUT_HDF5);
    CHECK_TEXT(sp_profiler_last_error(p), "");
    sp_destroy(p);
    CHECK(!case_exists("one_rank00000.h5")); /* nothing is written unasked */
}

static void null_is_harmless(void)
{
    sp_region_stats stats;
    CHECK_INT(sp_profiler_begin(NULL, 0), SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(sp_profiler_end(NULL, 0), SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(sp_profiler_end_last(NULL), SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(sp_profiler_region(NULL, "a"), SP_INVALID_REGION);
    CHECK_INT(sp_scope_end(sp_profiler_scope_begin(NULL, 0)), SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(sp_profiler_get_region_stats(NULL, 0, &stats), SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(sp_profiler_flush(NULL), SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(sp_profiler_finalize(NULL), SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(sp_profiler_is_active(NULL), 0);
    CHECK_TEXT(sp_profiler_output_path(NULL), "");
    sp_destroy(NULL);
}

static void record(sp_profiler *p, int region, int times)
{
    for (int i = 0; i < times; i++) {
        sp_profiler_begin(p, region);
        sp_profiler_end(p, region);
    }
}

/* Each has its own regions and calls, though handles of the same name are equal. */
static void two_at_once(void)
{
    sp_profiler *p = sp_create("p", 0), *q = sp_create("q", 0);
    int a = sp_profiler_region(p, "a");
    CHECK_INT(sp_profiler_begin(q, a), SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(sp_profiler_region(q, "a"), a);
    record(p, a, 3);
    sp_profiler_begin(q, a);
    record(p, a, 2);
    sp_profiler_end(q, a);
    CHECK_INT(sp_profiler_finalize(p), SP_OK);
    CHECK_INT(sp_profiler_finalize(p), SP_ERR_INACTIVE);
    CHECK_INT(sp_profiler_begin(p, a), SP_ERR_INACTIVE);
    CHECK_INT(sp_profiler_finalize(q), SP_OK);
    case_run run = case_open("p_rank00000.h5", NULL);
    CHECK_INT(case_calls(&run, "a"), 5);
    case_close(&run);
    run = case_open("q_rank00000.h5", NULL);
    CHECK_INT(case_calls(&run, "a"), 1);
    case_close(&run);
    sp_destroy(p);
    sp_destroy(q);
}

static void flush_and_reset(void)
{
    sp_profiler *p = sp_create("flushed", 0);
    int a = sp_profiler_region(p, "a"), b = sp_profiler_region(p, "b");
    sp_profiler_begin(p, b);
    record(p, a, 4);
    CHECK_INT(sp_profiler_flush(p), SP_OK);
    case_run run = case_open(sp_profiler_output_path(p), NULL);
    CHECK_INT(case_calls(&run, "a"), 4);
    CHECK_INT(case_calls(&run, "b"), -1);
    case_close(&run);

    record(p, a, 7);
    CHECK_INT(sp_profiler_reset(p), SP_OK);
    sp_region_stats stats;
    CHECK_INT(sp_profiler_get_region_stats(p, a, &stats), SP_OK);
    CHECK_INT(stats.calls, 0);
    record(p, a, 2);
    CHECK_INT(sp_profiler_end(p, b), SP_OK); /* open all the time */
    CHECK_INT(sp_profiler_finalize(p), SP_OK);
    run = case_open("flushed_rank00000.h5", NULL);
    CHECK_INT(case_calls(&run, "a"), 2);
    CHECK_INT(case_calls(&run, "b"), 1);
    int64_t parent = case_value(&run, "b", SP_COLUMN_CALL_ID, 0);
    CHECK_INT(case_value(&run, "a", SP_COLUMN_PARENT_ID, 0), parent);
    CHECK_INT(case_value(&run, "a", SP_COLUMN_PARENT_ID, 1), parent);
    CHECK(parent >= 4); /* ids go on after those of the flush */
    case_close(&run);
    sp_destroy(p);
}

/* One goes, the next takes its place in the threads' tables. */
static void many_one_after_the_other(void)
{
    for (int i = 0; i < 50; i++) {
        sp_profiler *p = sp_create("again", 0);
        int a = sp_profiler_region(p, "a");
        record(p, a, i);
        sp_profiler_begin(p, a);
        sp_region_stats stats;
        sp_profiler_get_region_stats(p, a, &stats);
        CHECK_INT(stats.calls, i + 1);
        sp_destroy(p);
    }
}

int main(void)
{
    if (!sp_hdf5_available())
        return 0;
    case_enter_folder();
    RUN(statuses);
    RUN(null_is_harmless);
    RUN(two_at_once);
    RUN(flush_and_reset);
    RUN(many_one_after_the_other);
    case_leave_folder();
    return check_result();
}
