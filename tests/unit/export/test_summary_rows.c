/* The rows behind the summary: paths, pooling, filters, sorting, what cannot be nested. */
#include "results/run.h"

#define SECOND INT64_C(1000000000)

static sp_summary *summarize(sp_results *run, const sp_summary_options *given)
{
    sp_summary_options options = {.size = sizeof options};
    sp_summary *summary = NULL;
    CHECK_INT(sp_summary_create(run, given == NULL ? &options : given, &summary, NULL), SP_OK);
    return summary;
}

/* Checks one row: path, depth, calls, total, coverage and exclusive seconds. */
static void check_row(sp_summary *summary, size_t i, const char *path, int depth, uint64_t calls,
                      double total, double coverage, double exclusive)
{
    const sp_summary_row *row = sp_summary_get_row(summary, i);
    if (!CHECK(row != NULL))
        return;
    CHECK_TEXT(row->call_path, path);
    CHECK_INT(row->depth, depth);
    CHECK_INT(row->calls, calls);
    CHECK_REAL(row->total, total, 1e-12);
    CHECK_REAL(row->coverage, coverage, 1e-12);
    CHECK_REAL(row->exclusive, exclusive, 1e-12);
}

/* solve holds step twice, io holds step once: step has two rows. Siblings by first start. */
static void one_row_a_path(void)
{
    sp_results *run = run_new();
    RUN_ADD(run, "step", 0, RUN_PLAIN, {2, 4}, {5, 8}, {21, 22});
    RUN_ADD(run, "io", 0, RUN_PLAIN, {20, 30});
    RUN_ADD(run, "solve", 0, RUN_PLAIN, {0, 10});
    sp_summary *summary = summarize(run, NULL);
    CHECK_INT(sp_summary_num_rows(summary), 4);
    check_row(summary, 0, "solve", 0, 1, 10e-9, 10e-9, 5e-9);
    check_row(summary, 1, "solve > step", 1, 2, 5e-9, 5e-9, 5e-9);
    check_row(summary, 2, "io", 0, 1, 10e-9, 10e-9, 9e-9);
    check_row(summary, 3, "io > step", 1, 1, 1e-9, 1e-9, 1e-9);
    const sp_summary_row *step = sp_summary_get_row(summary, 1);
    CHECK_TEXT(step->name, "step");
    CHECK(!step->has_children);
    CHECK(sp_summary_get_row(summary, 0)->has_children);
    CHECK_REAL(step->parent_coverage, 10e-9, 1e-15);
    CHECK(isnan(sp_summary_get_row(summary, 0)->parent_coverage));
    CHECK_REAL(step->first, 2e-9, 1e-15);
    CHECK_REAL(step->last, 3e-9, 1e-15);
    CHECK_REAL(step->minimum, 2e-9, 1e-15);
    CHECK_REAL(step->maximum, 3e-9, 1e-15);
    CHECK_REAL(step->average, 2.5e-9, 1e-15);
    CHECK_REAL(step->deviation, 0.5e-9, 1e-15);
    CHECK_REAL(step->start, 2e-9, 1e-15);
    CHECK(isnan(step->p50));
    CHECK(sp_summary_get_row(summary, 4) == NULL);
    sp_summary_free(summary);
    sp_results_close(run);
}

/* a > a > b > b > a: the path is a > b > a. */
static void repeated_names_collapse(void)
{
    sp_results *run = run_new();
    RUN_ADD(run, "a", 0, RUN_PLAIN, {0, 100}, {10, 90}, {40, 50});
    RUN_ADD(run, "b", 0, RUN_PLAIN, {20, 80}, {30, 70});
    sp_summary *summary = summarize(run, NULL);
    CHECK_INT(sp_summary_num_rows(summary), 3);
    check_row(summary, 0, "a", 0, 2, 100e-9, 100e-9, 40e-9);
    check_row(summary, 1, "a > b", 1, 2, 60e-9, 60e-9, 50e-9);
    check_row(summary, 2, "a > b > a", 2, 1, 10e-9, 10e-9, 10e-9);
    CHECK(sp_summary_get_row(summary, 0)->is_recursive);
    CHECK(sp_summary_get_row(summary, 1)->is_recursive);
    CHECK(!sp_summary_get_row(summary, 2)->is_recursive);
    sp_summary_free(summary);
    sp_results_close(run);
}

/* Two threads run the same path at the same time: 10 + 10 s in total, active during 15. */
static void threads_cover_together(void)
{
    sp_results *run = run_new();
    RUN_ADD(run, "x", 0, RUN_THREADS, {0, 10 * SECOND, 0, 0, 0},
            {5 * SECOND, 15 * SECOND, 0, 0, 1});
    sp_summary *summary = summarize(run, NULL);
    CHECK_INT(sp_summary_num_rows(summary), 1);
    check_row(summary, 0, "x", 0, 2, 20, 15, 20);
    sp_summary_free(summary);
    sp_results_close(run);
}

/* Ranks 0 and 1, with the times of the statistics test: first from the rank that began first, last
 * from the one that ended last; coverage adds up over ranks. */
static void ranks_pool(void)
{
    sp_results *run = run_new();
    RUN_ADD(run, "x", 0, RUN_PLAIN, {5, 10}, {20, 22});
    RUN_ADD(run, "x", 1, RUN_PLAIN, {1, 4}, {6, 13});
    sp_summary *summary = summarize(run, NULL);
    const sp_summary_row *row = sp_summary_get_row(summary, 0);
    CHECK_INT(sp_summary_num_rows(summary), 1);
    check_row(summary, 0, "x", 0, 4, 17e-9, 17e-9, 17e-9);
    CHECK_INT(row->num_ranks, 2);
    CHECK_REAL(row->first, 3e-9, 1e-15);
    CHECK_REAL(row->last, 2e-9, 1e-15);
    CHECK_REAL(row->start, 1e-9, 1e-15);
    /* totals 7 and 10: 10 / 8.5 - 1 */
    CHECK_REAL(row->imbalance, 100.0 * (10.0 / 8.5 - 1.0), 1e-12);
    sp_summary_free(summary);
    sp_results_close(run);
}

/* Rank r runs for r + 1 seconds. */
static void twelve_ranks(void)
{
    const uint32_t some[] = {10, 2, 11};
    sp_summary_options options = {.size = sizeof options, .ranks = some, .num_ranks = 3};
    sp_results *run = run_new();
    for (int r = 11; r >= 0; r--)
        RUN_ADD(run, "x", (uint32_t)r, RUN_PLAIN, {100 * SECOND, (101 + r) * SECOND});
    sp_summary *summary = summarize(run, NULL);
    check_row(summary, 0, "x", 0, 12, 78, 78, 78);
    CHECK_INT(sp_summary_get_row(summary, 0)->num_ranks, 12);
    CHECK_REAL(sp_summary_get_row(summary, 0)->imbalance, 100.0 * (12.0 / 6.5 - 1.0), 1e-12);
    sp_summary_free(summary);
    summary = summarize(run, &options);
    check_row(summary, 0, "x", 0, 3, 3 + 11 + 12, 26, 26);
    CHECK_INT(sp_summary_get_row(summary, 0)->num_ranks, 3);
    sp_summary_free(summary);
    sp_results_close(run);
}

/* outer [0,100] > helper [10,60] > inner [20,30]; inner also directly below outer [70,80]. */
static sp_results *three_levels(void)
{
    sp_results *run = run_new();
    RUN_ADD(run, "outer", 0, RUN_PLAIN, {0, 100});
    RUN_ADD(run, "helper", 0, RUN_PLAIN, {10, 60});
    RUN_ADD(run, "inner", 0, RUN_PLAIN, {20, 30}, {70, 80});
    return run;
}

/* Without helper the paths of inner are one, and exclusive times stay those of the whole tree. */
static void filters_close_the_gap(void)
{
    const char *const helper[] = {"help"}, *const inner[] = {"in", "out"};
    sp_summary_options options = {.size = sizeof options, .exclude = helper, .num_exclude = 1};
    sp_results *run = three_levels();
    sp_summary *summary = summarize(run, &options);
    CHECK_INT(sp_summary_num_rows(summary), 2);
    check_row(summary, 0, "outer", 0, 1, 100e-9, 100e-9, 40e-9);
    check_row(summary, 1, "outer > inner", 1, 2, 20e-9, 20e-9, 20e-9);
    sp_summary_free(summary);

    options = (sp_summary_options){.size = sizeof options, .include = inner, .num_include = 2};
    summary = summarize(run, &options);
    CHECK_INT(sp_summary_num_rows(summary), 2);
    sp_summary_free(summary);

    const char *const names[] = {"inner", "nobody"};
    options = (sp_summary_options){.size = sizeof options, .include_names = names,
                                   .num_include_names = 2};
    summary = summarize(run, &options);
    CHECK_INT(sp_summary_num_rows(summary), 1);
    check_row(summary, 0, "inner", 0, 2, 20e-9, 20e-9, 20e-9);
    sp_summary_free(summary);

    options.num_include_names = 0;
    summary = summarize(run, &options);
    CHECK_INT(sp_summary_num_rows(summary), 0);
    sp_summary_free(summary);
    sp_results_close(run);
}

static void check_order(sp_results *run, sp_summary_sort sort, const char *expected)
{
    sp_summary_options options = {.size = sizeof options, .sort = sort};
    sp_summary *summary = summarize(run, &options);
    char order[200] = "";
    for (size_t i = 0; i < sp_summary_num_rows(summary); i++)
        strcat(strcat(order, i == 0 ? "" : " "), sp_summary_get_row(summary, i)->name);
    CHECK_TEXT(order, expected);
    sp_summary_free(summary);
}

/* b: 1 call of 9; a: 3 calls of 2, 2, 2; c: 2 calls of 1 and 5; d was not called. */
static void sorts(void)
{
    sp_results *run = run_new();
    CHECK_INT(run_add_calls(run, "d", 0, NULL, 0, RUN_PLAIN), SP_OK);
    RUN_ADD(run, "c", 0, RUN_PLAIN, {50, 51}, {60, 65});
    RUN_ADD(run, "b", 0, RUN_PLAIN, {0, 9});
    RUN_ADD(run, "a", 0, RUN_PLAIN, {20, 22}, {30, 32}, {40, 42});
    check_order(run, SP_SORT_START, "b a c d");
    check_order(run, SP_SORT_NAME, "a b c d");
    check_order(run, SP_SORT_TOTAL, "b a c d");
    check_order(run, SP_SORT_CALLS, "a c b d");
    check_order(run, SP_SORT_AVERAGE, "b c a d");
    check_order(run, SP_SORT_MINIMUM, "b a c d");
    check_order(run, SP_SORT_MAXIMUM, "b c a d");
    check_order(run, SP_SORT_FIRST, "b a c d");
    check_order(run, SP_SORT_LAST, "b c a d");
    check_order(run, SP_SORT_DEVIATION, "c a b d");
    check_order(run, SP_SORT_P50, "b c a d");
    check_order(run, SP_SORT_IMBALANCE, "a b c d");
    sp_results_close(run);
}

/* Rank 1 crosses, so the whole table is by region; coverage counts overlap once. */
static void crossing_calls_give_rows_by_region(void)
{
    sp_results *run = run_new();
    RUN_ADD(run, "late", 0, RUN_PLAIN, {10, 200});
    RUN_ADD(run, "early", 0, RUN_PLAIN, {0, 50});
    RUN_ADD(run, "early", 1, RUN_PLAIN, {0, 10}, {5, 20});
    sp_summary_options options = {.size = sizeof options, .with_percentiles = true};
    sp_summary *summary = summarize(run, &options);
    CHECK_INT(sp_summary_num_rows(summary), 2);
    const sp_summary_row *row = sp_summary_get_row(summary, 0);
    CHECK_TEXT(row->call_path, "early");
    CHECK_INT(row->depth, 0);
    CHECK_INT(row->calls, 3);
    CHECK_REAL(row->total, 75e-9, 1e-15);
    CHECK_REAL(row->coverage, 70e-9, 1e-15);
    CHECK(isnan(row->exclusive));
    CHECK_REAL(row->p50, 15e-9, 1e-15);
    CHECK_INT(row->num_ranks, 2);
    CHECK_TEXT(sp_summary_get_row(summary, 1)->name, "late");
    CHECK_CONTAINS(sp_summary_text(summary), "recorded calls are not properly");
    sp_summary_free(summary);
    sp_results_close(run);
}

/* Statistics without calls: coverage is at most the time from the first start to the last end. */
static void statistics_only(void)
{
    sp_results *run = run_new();
    sp_row row = {.region = "x", .count = 5, .source_line = -1, .exclusive_total = 30,
                  .has_statistics = true,
                  .statistics = {90, 2, 60, 2, 6, 100, 160, 0, 0, 18.0, 8.0}};
    CHECK_INT(sp_results_add_row(run, &row, NULL, NULL), SP_OK);
    sp_summary_options options = {.size = sizeof options, .with_percentiles = true};
    sp_summary *summary = summarize(run, &options);
    check_row(summary, 0, "x", 0, 5, 90e-9, 60e-9, 30e-9);
    CHECK(isnan(sp_summary_get_row(summary, 0)->p50));
    CHECK_REAL(sp_summary_get_row(summary, 0)->first, 2e-9, 1e-15);
    sp_summary_free(summary);
    sp_results_close(run);
}

/* Calls a1 > b1 > a2 > b2 ... 300 deep: the path keeps both ends. */
static void very_deep_paths_are_cut(void)
{
    sp_results *run = run_new();
    run_call a[150], b[150];
    for (int i = 0; i < 150; i++) {
        a[i] = (run_call){2 * i, 10000 - 2 * i};
        b[i] = (run_call){2 * i + 1, 10000 - 2 * i - 1};
    }
    CHECK_INT(run_add_calls(run, "a", 0, a, 150, RUN_PLAIN), SP_OK);
    CHECK_INT(run_add_calls(run, "b", 0, b, 150, RUN_PLAIN), SP_OK);
    sp_summary *summary = summarize(run, NULL);
    CHECK_INT(sp_summary_num_rows(summary), 300);
    CHECK_INT(sp_summary_get_row(summary, 299)->depth, 299);
    const char *path = sp_summary_get_row(summary, 299)->call_path;
    CHECK_CONTAINS(path, "a > b > ... > a > b");
    /* 256 names of one letter, the cut and 256 separators */
    CHECK_INT(strlen(path), 256 + 3 + 3 * 256);
    CHECK_INT(strlen(sp_summary_get_row(summary, 255)->call_path), 256 + 3 * 255);
    sp_summary_free(summary);
    sp_results_close(run);
}

/* Recorded parents decide; the crossing call shows below the one that it was begun in. */
static void crossing_calls_with_ids_keep_paths(void)
{
    sp_results *run = run_new();
    RUN_ADD(run, "outer", 0, RUN_IDS, {0, 10, 0, -1});
    RUN_ADD(run, "inner", 0, RUN_IDS, {0, 30, 1, 0});
    sp_summary *summary = summarize(run, NULL);
    CHECK_INT(sp_summary_num_rows(summary), 2);
    check_row(summary, 0, "outer", 0, 1, 10e-9, 10e-9, 0);
    check_row(summary, 1, "outer > inner", 1, 1, 30e-9, 30e-9, 30e-9);
    sp_summary_free(summary);
    sp_results_close(run);
}

static void options_are_checked(void)
{
    const char *const unknown[] = {"region", "nonsense", "totl"}, *const bad[] = {"("};
    sp_results *run = three_levels();
    sp_summary *summary = NULL;
    sp_error error = {0};
    sp_summary_options options = {.size = sizeof options, .columns = unknown, .num_columns = 3};
    CHECK_INT(sp_summary_create(run, &options, &summary, &error), SP_ERR_INVALID_ARGUMENT);
    CHECK_CONTAINS(error.text, "Unknown region summary column(s): 'nonsense', 'totl'; choose from "
                               "region, ranks, calls, total, percent, parent_percent, avg, ");
    options.num_columns = 0;
    CHECK_INT(sp_summary_create(run, &options, &summary, &error), SP_ERR_INVALID_ARGUMENT);
    CHECK_TEXT(error.text, "At least one region summary column must be selected.");
    options = (sp_summary_options){.size = sizeof options, .include = bad, .num_include = 1};
    CHECK_INT(sp_summary_create(run, &options, &summary, &error), SP_ERR_INVALID_ARGUMENT);
    CHECK_CONTAINS(error.text, "'(' is not a regular expression");
    options = (sp_summary_options){.sort = SP_SORT_TOTAL};
    CHECK_INT(sp_summary_create(run, &options, &summary, &error), SP_ERR_INVALID_ARGUMENT);
    CHECK(summary == NULL);
    sp_results_close(run);
}

static void sort_keys(void)
{
    sp_summary_sort sort = SP_SORT_NAME;
    sp_error error = {0};
    CHECK_INT(sp_summary_parse_sort("start", &sort, NULL), SP_OK);
    CHECK_INT(sort, SP_SORT_START);
    CHECK_INT(sp_summary_parse_sort("std", &sort, NULL), SP_OK);
    CHECK_INT(sort, SP_SORT_DEVIATION);
    CHECK_INT(sp_summary_parse_sort("name", &sort, NULL), SP_OK);
    CHECK_INT(sort, SP_SORT_NAME);
    CHECK_INT(sp_summary_parse_sort("size", &sort, &error), SP_ERR_INVALID_ARGUMENT);
    CHECK_TEXT(error.text, "Unknown sort key 'size'; choose from start, total, calls, avg, min, "
                           "max, first, last, std, p50, p95, p99, imbalance, name");
}

int main(void)
{
    RUN(one_row_a_path);
    RUN(repeated_names_collapse);
    RUN(threads_cover_together);
    RUN(ranks_pool);
    RUN(twelve_ranks);
    RUN(filters_close_the_gap);
    RUN(sorts);
    RUN(crossing_calls_give_rows_by_region);
    RUN(statistics_only);
    RUN(very_deep_paths_are_cut);
    RUN(crossing_calls_with_ids_keep_paths);
    RUN(options_are_checked);
    RUN(sort_keys);
    return check_result();
}
