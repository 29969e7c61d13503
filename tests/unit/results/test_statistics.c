/* Statistics, percentiles and pooling, worked out by hand. */
#include "results/run.h"

#include "results/model.h"

/* solve on rank 0: durations 5, 13, 15 at 10, 20, 40; on rank 1: 3, 9 at 4, 90; on rank 2 nothing.
 * Rank 1 starts first (4) and ends last (99). */
static sp_results *solver(void)
{
    sp_results *run = run_new();
    RUN_ADD(run, "solve", 0, RUN_PLAIN, {10, 15}, {20, 33}, {40, 55});
    RUN_ADD(run, "solve", 1, RUN_PLAIN, {4, 7}, {90, 99});
    CHECK_INT(run_add_calls(run, "solve", 2, NULL, 0, RUN_PLAIN), SP_OK);
    return run;
}

static void one_row(void)
{
    sp_results *run = solver();
    sp_statistics s = {0};
    CHECK_INT(sp_results_row_statistics(run, 0, &s, NULL), SP_OK);
    CHECK_INT(s.calls, 3);
    CHECK_INT(s.total, 33);
    CHECK_INT(s.minimum, 5);
    CHECK_INT(s.maximum, 15);
    CHECK_INT(s.first, 5);
    CHECK_INT(s.last, 15);
    CHECK_INT(s.start_minimum, 10);
    CHECK_INT(s.end_maximum, 55);
    CHECK_INT(s.exclusive, -1);
    CHECK_REAL(s.mean, 11.0, 0);
    /* (36 + 4 + 16) / 3 = 56 / 3 */
    CHECK_REAL(s.deviation, sqrt(56.0 / 3.0), 1e-14);
    CHECK_INT(s.gpu_calls, 0);
    sp_results_close(run);
}

static void row_without_calls(void)
{
    sp_results *run = solver();
    sp_statistics s = {0};
    CHECK_INT(sp_results_row_statistics(run, 2, &s, NULL), SP_OK);
    CHECK_INT(s.calls, 0);
    CHECK_INT(s.total, 0);
    CHECK_INT(s.exclusive, 0);
    CHECK_REAL(s.mean, 0, 0);
    CHECK_REAL(s.deviation, 0, 0);
    CHECK_INT(sp_results_row_statistics(run, 3, &s, NULL), SP_ERR_INVALID_ARGUMENT);
    sp_results_close(run);
}

/* Durations 5, 13, 15, 3, 9: total 45, mean 9, squared deviations 16 + 16 + 36 + 36 + 0 = 104. */
static void pooled_over_ranks(void)
{
    sp_results *run = solver();
    sp_statistics s = {0};
    CHECK_INT(sp_results_region_statistics(run, 0, NULL, 0, &s, NULL), SP_OK);
    CHECK_INT(s.calls, 5);
    CHECK_INT(s.total, 45);
    CHECK_INT(s.minimum, 3);
    CHECK_INT(s.maximum, 15);
    CHECK_INT(s.first, 3);
    CHECK_INT(s.last, 9);
    CHECK_INT(s.start_minimum, 4);
    CHECK_INT(s.end_maximum, 99);
    CHECK_REAL(s.mean, 9.0, 1e-14);
    CHECK_REAL(s.deviation, sqrt(104.0 / 5.0), 1e-14);
    const uint32_t only_first[] = {0}, none[] = {5};
    CHECK_INT(sp_results_region_statistics(run, 0, only_first, 1, &s, NULL), SP_OK);
    CHECK_INT(s.total, 33);
    CHECK_INT(sp_results_region_statistics(run, 0, none, 1, &s, NULL), SP_OK);
    CHECK_INT(s.calls, 0);
    CHECK_INT(sp_results_region_statistics(run, 1, NULL, 0, &s, NULL), SP_ERR_INVALID_ARGUMENT);
    sp_results_close(run);
}

/* The first call belongs to the rank that started first even when another rank ended last. */
static void first_and_last_of_different_ranks(void)
{
    sp_results *run = run_new();
    sp_statistics s = {0};
    RUN_ADD(run, "x", 0, RUN_PLAIN, {5, 10}, {20, 22});
    RUN_ADD(run, "x", 1, RUN_PLAIN, {1, 4}, {6, 13});
    CHECK_INT(sp_results_region_statistics(run, 0, NULL, 0, &s, NULL), SP_OK);
    CHECK_INT(s.first, 3);
    CHECK_INT(s.last, 2);
    sp_results_close(run);
}

/* Totals 33 and 12: mean 22.5, 33 / 22.5. */
static void imbalance(void)
{
    sp_results *run = solver();
    const uint32_t one[] = {1, 2};
    double value = -1;
    CHECK_INT(sp_results_imbalance(run, 0, NULL, 0, &value, NULL), SP_OK);
    CHECK_REAL(value, 33.0 / 22.5, 1e-15);
    CHECK_INT(sp_results_imbalance(run, 0, one, 2, &value, NULL), SP_OK);
    CHECK_REAL(value, 0.0, 0);
    sp_results_close(run);
}

/* Sorted 3, 5, 9, 13, 15. At 95 %: position 3.8, 13 + 0.8 x 2. */
static void percentiles(void)
{
    sp_results *run = solver();
    const double percents[] = {0, 25, 50, 95, 100, 10};
    double values[6] = {0};
    CHECK_INT(sp_results_percentiles(run, 0, NULL, 0, percents, 6, values, NULL), SP_OK);
    CHECK_REAL(values[0], 3, 0);
    CHECK_REAL(values[1], 5, 0);
    CHECK_REAL(values[2], 9, 0);
    CHECK_REAL(values[3], 14.6, 1e-12);
    CHECK_REAL(values[4], 15, 0);
    CHECK_REAL(values[5], 3.8, 1e-12);
    const uint32_t ranks[] = {0};
    CHECK_INT(sp_results_percentiles(run, 0, ranks, 1, percents + 2, 1, values, NULL), SP_OK);
    CHECK_REAL(values[0], 13, 0);
    const uint32_t silent[] = {2};
    CHECK_INT(sp_results_percentiles(run, 0, silent, 1, percents + 2, 1, values, NULL), SP_OK);
    CHECK_REAL(values[0], 0, 0);
    sp_results_close(run);
}

static void percentiles_outside_the_scale(void)
{
    sp_results *run = solver();
    const double bad[] = {-0.1, 100.1, NAN};
    double value = 0;
    sp_error error = {0};
    for (int i = 0; i < 3; i++)
        CHECK_INT(sp_results_percentiles(run, 0, NULL, 0, &bad[i], 1, &value, &error),
                  SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(sp_results_percentiles(run, 0, NULL, 0, &bad[1], 1, &value, &error),
              SP_ERR_INVALID_ARGUMENT);
    CHECK_TEXT(error.text, "a percentile lies between 0 and 100, not at 100.1");
    sp_results_close(run);
}

static int compare_values(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Selection against sorting, on values that spread over all 64 bits and on ones that repeat. */
static void percentiles_of_odd_distributions(void)
{
    enum { COUNT = 5001 };
    uint64_t state = 7;
    for (int shape = 0; shape < 4; shape++) {
        static run_call calls[COUNT];
        static int64_t sorted[COUNT];
        for (int i = 0; i < COUNT; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            int64_t duration = (int64_t)(state >> (shape == 0   ? 1
                                                   : shape == 1 ? 33
                                                   : shape == 2 ? 62
                                                                : 1 + state % 63));
            calls[i] = (run_call){0, duration};
            sorted[i] = duration;
        }
        qsort(sorted, COUNT, sizeof *sorted, compare_values);
        sp_results *run = run_new();
        CHECK_INT(run_add_calls(run, "x", 0, calls, COUNT, RUN_PLAIN), SP_OK);
        for (int position = 0; position < COUNT; position += 500) {
            double percent = 100.0 * position / (COUNT - 1), value = -1;
            CHECK_INT(sp_results_percentiles(run, 0, NULL, 0, &percent, 1, &value, NULL), SP_OK);
            CHECK_REAL(value, (double)sorted[position], 1e-9 * (double)sorted[position]);
        }
        sp_results_close(run);
    }
}

/* Read from a store that holds nothing in memory, round by round, percentiles are those of values in
 * memory, and nothing of what was read stays. More are asked for than are looked for at once. */
static void percentiles_of_streamed_calls(void)
{
    enum { CALLS = 70000, PERCENTS = 11 };
    static int64_t start[CALLS], duration[CALLS];
    const int64_t *columns[SP_COLUMN_COUNT] = {start, duration};
    const sp_narrow_options everything = {.size = sizeof everything, .end_ns = INT64_C(1) << 60};
    double percents[PERCENTS], held[PERCENTS], streamed[PERCENTS], loaded[PERCENTS];
    uint64_t state = 99;
    for (int i = 0; i < CALLS; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        start[i] = 10 * i;
        duration[i] = i % 3 == 0 ? 7 : (int64_t)(state >> 40 >> state % 24);
    }
    for (int i = 0; i < PERCENTS; i++)
        percents[i] = 100.0 * i / (PERCENTS - 1);
    sp_row row = {.region = "x", .count = CALLS, .source_line = -1, .exclusive_total = -1};
    sp_results *run = run_new(), *part = NULL;
    CHECK_INT(sp_results_add_row(run, &row, columns, NULL), SP_OK);
    row.rank = 1;
    row.count = 40000;
    CHECK_INT(sp_results_add_row(run, &row, columns, NULL), SP_OK);
    CHECK_INT(sp_results_narrow(run, &everything, &part, NULL), SP_OK);
    CHECK_INT(sp_results_percentiles(run, 0, NULL, 0, percents, PERCENTS, held, NULL), SP_OK);
    CHECK_INT(sp_results_percentiles(part, 0, NULL, 0, percents, PERCENTS, loaded, NULL), SP_OK);
    size_t most = sp_percentiles_most;
    sp_percentiles_most = 100;
    CHECK_INT(sp_results_percentiles(part, 0, NULL, 0, percents, PERCENTS, streamed, NULL), SP_OK);
    sp_percentiles_most = most;
    for (int i = 0; i < PERCENTS; i++) {
        CHECK(streamed[i] == held[i]);
        CHECK(loaded[i] == held[i]);
    }
    CHECK(held[0] >= 0 && held[0] < 7 && held[PERCENTS - 1] > 1000000);
    CHECK(sp_run_held_column(run, 0, SP_COLUMN_DURATION) != NULL);
    CHECK(sp_run_held_column(part, 0, SP_COLUMN_DURATION) == NULL);
    sp_results_close(part);
    sp_results_close(run);
}

/* A tiny spread on a huge mean: 1e15 + {0, 1, 2, 3} has the variance 1.25 exactly. */
static void deviation_is_exact(void)
{
    int64_t base = INT64_C(1000000000000000);
    sp_results *run = run_new();
    sp_statistics s = {0};
    RUN_ADD(run, "x", 0, RUN_PLAIN, {0, base}, {1, base + 2}, {2, base + 4}, {3, base + 6});
    CHECK_INT(sp_results_row_statistics(run, 0, &s, NULL), SP_OK);
    CHECK_REAL(s.deviation, sqrt(1.25), 1e-15);
    sp_results_close(run);
}

static void device_times_skip_missing(void)
{
    const int64_t start[] = {0, 10, 20}, duration[] = {5, 5, 5}, gpu[] = {3, -1, 4};
    const int64_t *columns[SP_COLUMN_COUNT] = {start, duration};
    columns[SP_COLUMN_GPU_DURATION] = gpu;
    sp_row row = {.region = "kernel", .count = 3, .source_line = -1, .exclusive_total = 15};
    sp_results *run = run_new();
    sp_statistics s = {0};
    CHECK_INT(sp_results_add_row(run, &row, columns, NULL), SP_OK);
    CHECK_INT(sp_results_row_statistics(run, 0, &s, NULL), SP_OK);
    CHECK_INT(s.gpu_calls, 2);
    CHECK_INT(s.gpu_total, 7);
    CHECK_INT(s.exclusive, 15);
    sp_results_close(run);
}

/* Stored statistics are used as they are, without calls: ranks of 2 calls (mean 4, m2 8) and of
 * 3 calls (mean 9, m2 6). Together mean 7, m2 = 8 + 6 + 25 x 2 x 3 / 5 = 44. */
static void stored_statistics_pool(void)
{
    sp_results *run = run_new();
    sp_statistics s = {0};
    sp_row row = {.region = "x", .count = 2, .source_line = -1, .exclusive_total = 6,
                  .has_statistics = true,
                  .statistics = {8, 2, 6, 2, 6, 100, 200, 0, 0, 4.0, 8.0}};
    CHECK_INT(sp_results_add_row(run, &row, NULL, NULL), SP_OK);
    row.rank = 1;
    row.count = 3;
    row.statistics = (sp_row_statistics){27, 7, 10, 10, 10, 50, 150, 0, 0, 9.0, 6.0};
    row.exclusive_total = 20;
    CHECK_INT(sp_results_add_row(run, &row, NULL, NULL), SP_OK);
    CHECK_INT(sp_results_region_statistics(run, 0, NULL, 0, &s, NULL), SP_OK);
    CHECK_INT(s.calls, 5);
    CHECK_INT(s.total, 35);
    CHECK_INT(s.first, 10);
    CHECK_INT(s.last, 6);
    CHECK_INT(s.exclusive, 26);
    CHECK_REAL(s.mean, 7.0, 1e-14);
    CHECK_REAL(s.deviation, sqrt(44.0 / 5.0), 1e-14);
    double percent = 50, value = 0;
    CHECK_INT(sp_results_percentiles(run, 0, NULL, 0, &percent, 1, &value, NULL),
              SP_ERR_NO_EVENTS);
    sp_call_tree tree = {0};
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_ERR_NO_EVENTS);
    sp_results_close(run);
}

static void totals_only(void)
{
    sp_results *run = run_new();
    sp_statistics s = {0};
    sp_row row = {.region = "x", .source_line = -1, .exclusive_total = -1, .has_aggregate = true,
                  .aggregate = {4, 100, 10, 40, 60}};
    CHECK_INT(sp_results_add_row(run, &row, NULL, NULL), SP_OK);
    CHECK(sp_results_is_aggregate(run));
    CHECK_INT(sp_results_num_calls(run), 4);
    CHECK_INT(sp_results_row_statistics(run, 0, &s, NULL), SP_OK);
    CHECK_INT(s.calls, 4);
    CHECK_INT(s.total, 100);
    CHECK_INT(s.minimum, 10);
    CHECK_INT(s.maximum, 40);
    CHECK_INT(s.exclusive, 60);
    CHECK_REAL(s.mean, 25.0, 0);
    CHECK(isnan(s.deviation));
    const int64_t *values;
    size_t count;
    CHECK_INT(sp_results_column(run, 0, SP_COLUMN_START, &values, &count, NULL),
              SP_ERR_NO_EVENTS);
    sp_results_close(run);
}

static void negative_durations_do_no_harm(void)
{
    sp_results *run = run_new();
    sp_statistics s = {0};
    RUN_ADD(run, "x", 0, RUN_PLAIN, {0, INT64_MIN}, {10, 4}, {0, INT64_MAX});
    CHECK_INT(sp_results_row_statistics(run, 0, &s, NULL), SP_OK);
    CHECK_INT(s.minimum, INT64_MIN);
    CHECK_INT(s.maximum, INT64_MAX);
    CHECK(!isnan(s.deviation));
    sp_results_close(run);
}

int main(void)
{
    RUN(one_row);
    RUN(row_without_calls);
    RUN(pooled_over_ranks);
    RUN(first_and_last_of_different_ranks);
    RUN(imbalance);
    RUN(percentiles);
    RUN(percentiles_outside_the_scale);
    RUN(percentiles_of_odd_distributions);
    RUN(percentiles_of_streamed_calls);
    RUN(deviation_is_exact);
    RUN(device_times_skip_missing);
    RUN(stored_statistics_pool);
    RUN(totals_only);
    RUN(negative_durations_do_no_harm);
    return check_result();
}
