/* Reports: what the reduction of a run keeps, and documents against what was worked out by hand. That
 * pages show them is tested in a browser. */
#include "check.h"

#include "export/report.h"
#include "results/run.h"

#include <unistd.h>

/* ---- Timeline --------------------------------------------------------------------------------*/

/* A simple generator, so that every run of the test sees the same numbers. */
static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

typedef struct drawn_sums {
    uint64_t calls, cells;
    int64_t time;
} drawn_sums;

static drawn_sums sum_drawn(const sp_report_timeline *timeline)
{
    drawn_sums sums = {timeline->calls.count, 0, 0};
    for (size_t i = 0; i < timeline->calls.count; i++)
        sums.time += timeline->calls.items[i].duration;
    for (size_t t = 0; t < timeline->tracks.count; t++)
        for (size_t i = 0; i < timeline->bins; i++) {
            const sp_density_cell *cell = &timeline->tracks.items[t].cells[i];
            sums.time += cell->busy;
            sums.calls += cell->count;
            sums.cells += cell->busy > 0 || cell->count > 0;
        }
    return sums;
}

/* Few calls stay as they are. */
static void keeps_few_calls(void)
{
    sp_report_timeline timeline;
    sp_report_timeline_init(&timeline, 1000, 100);
    CHECK(sp_report_timeline_add(&timeline, 0, 1, 7, 1010, 1030));
    CHECK(sp_report_timeline_add(&timeline, 0, 0, 3, 1000, 1100));
    CHECK(sp_report_timeline_add(&timeline, 0, 0, 4, 1200, 1100)); /* outside and backwards */
    sp_report_timeline_settle(&timeline);
    CHECK_INT(timeline.threshold, -1);
    CHECK_INT(timeline.calls.count, 3);
    CHECK_INT(timeline.calls.items[0].region, 3);
    CHECK_INT(timeline.calls.items[0].duration, 100);
    CHECK_INT(timeline.calls.items[1].start, 10);
    CHECK_INT(timeline.calls.items[1].duration, 20);
    CHECK_INT(timeline.calls.items[2].start, 100);
    CHECK_INT(timeline.calls.items[2].duration, 0);
    CHECK_INT(timeline.num_dense, 0);
    sp_report_timeline_release(&timeline);
}

/* Of many calls the longest stay; all others are in the density, with their time. */
static void makes_short_calls_density(void)
{
    enum { CALLS = 400000, LANES = 5, SPAN = 1000000000 };
    sp_report_timeline timeline;
    uint64_t state = 1;
    int64_t time = 0, shortest = INT64_MAX;
    sp_report_timeline_init(&timeline, 0, SPAN);
    for (size_t i = 0; i < CALLS; i++) {
        int64_t start = (int64_t)i * 2400, length = 1 + (int64_t)(next_random(&state) % 5000);
        time += length;
        CHECK(sp_report_timeline_add(&timeline, (uint32_t)(i % LANES), i % 3, (uint32_t)(i % 11),
                                     start, start + length));
    }
    sp_report_timeline_settle(&timeline);
    drawn_sums sums = sum_drawn(&timeline);
    CHECK_INT(sums.calls, CALLS);
    CHECK_INT(sums.time, time);
    CHECK_INT(timeline.num_dense + timeline.calls.count, CALLS);
    CHECK(sums.cells <= SP_REPORT_CELLS);
    CHECK(timeline.calls.count <= SP_REPORT_CALLS && timeline.calls.count > SP_REPORT_CALLS / 4);
    for (size_t i = 0; i < timeline.calls.count; i++)
        if (timeline.calls.items[i].duration < shortest)
            shortest = timeline.calls.items[i].duration;
    CHECK(shortest > timeline.threshold);
    sp_report_timeline_release(&timeline);
}

/* Calls of one length cannot be told apart: all are density, of the region that they belong to. */
static void takes_equal_calls(void)
{
    sp_report_timeline timeline;
    sp_report_timeline_init(&timeline, 0, 100000000);
    for (size_t i = 0; i < 100000; i++)
        CHECK(sp_report_timeline_add(&timeline, 0, 0, i % 4 == 0 ? 1 : 2, (int64_t)i * 1000,
                                     (int64_t)i * 1000 + 500));
    sp_report_timeline_settle(&timeline);
    drawn_sums sums = sum_drawn(&timeline);
    CHECK_INT(sums.calls, 100000);
    CHECK_INT(sums.time, 50000000);
    CHECK_INT(timeline.tracks.count, 1);
    for (size_t i = 0; i < timeline.bins; i++)
        if (timeline.tracks.items[0].cells[i].count > 8)
            CHECK_INT(timeline.tracks.items[0].cells[i].region, 2);
    sp_report_timeline_release(&timeline);
}

/* Many lanes and levels: fewer bins, then fewer levels, never more cells. */
static void bounds_lanes_and_levels(void)
{
    sp_report_timeline timeline;
    uint64_t calls = 0;
    sp_report_timeline_init(&timeline, 0, 1000000000);
    for (size_t round = 0; round < 20; round++)
        for (uint32_t lane = 0; lane < SP_REPORT_LANES + 4; lane++)
            for (size_t level = 0; level < SP_REPORT_LEVELS + 2; level++, calls++)
                CHECK(sp_report_timeline_add(&timeline, lane, level, 0, (int64_t)round * 50000000,
                                             (int64_t)round * 50000000 + 40000000));
    sp_report_timeline_settle(&timeline);
    drawn_sums sums = sum_drawn(&timeline);
    CHECK(sums.cells <= SP_REPORT_CELLS);
    CHECK_INT(timeline.num_undrawn, 20 * 4 * (SP_REPORT_LEVELS + 2));
    CHECK_INT(sums.calls + timeline.num_deep + timeline.num_undrawn, calls);
    sp_report_timeline_release(&timeline);
}

/* Times at the ends of their type do no harm. */
static void takes_any_time(void)
{
    sp_report_timeline timeline;
    sp_report_spreads spreads;
    sp_report_timeline_init(&timeline, INT64_MIN, INT64_MAX);
    CHECK_INT(sp_report_spreads_init(&spreads, 1, INT64_MIN, INT64_MAX, NULL), SP_OK);
    for (size_t i = 0; i < 90000; i++) {
        CHECK(sp_report_timeline_add(&timeline, 0, 0, 0, INT64_MIN, INT64_MAX));
        CHECK(sp_report_spreads_add(&spreads, 0, 0, INT64_MIN, INT64_MAX));
        CHECK(sp_report_spreads_add(&spreads, 0, 0, INT64_MAX, INT64_MIN));
    }
    sp_report_timeline_settle(&timeline);
    CHECK_INT(timeline.num_dense + timeline.calls.count, 90000);
    CHECK_INT(spreads.of_region[0]->calls, 180000);
    sp_report_timeline_release(&timeline);
    sp_report_spreads_release(&spreads);
}

/* ---- Durations -------------------------------------------------------------------------------*/

static void sorts_durations_into_bins(void)
{
    sp_report_spreads spreads;
    /* 5 ns: bin 5; 8 ns is 8 x 2^0: bin 24; 1000 ns is 15.6 x 2^6: bin 9 * 8 + 7. */
    const int64_t durations[] = {5, 8, 1000, 5};
    CHECK_INT(sp_report_spreads_init(&spreads, 2, 0, 4800, NULL), SP_OK);
    for (size_t i = 0; i < 4; i++)
        CHECK(sp_report_spreads_add(&spreads, 1, 3, (int64_t)i * 1000, (int64_t)i * 1000 + durations[i]));
    const sp_spread *spread = spreads.of_region[1];
    CHECK(spreads.of_region[0] == NULL);
    CHECK_INT(spread->calls, 4);
    CHECK_INT(spread->total, 1018);
    CHECK_INT(spread->bins[5], 2);
    CHECK_INT(spread->bins[24], 1);
    CHECK_INT(spread->bins[79], 1);
    CHECK_INT(spread->num_longest, 4);
    CHECK_INT(spread->longest[0].duration, 1000);
    CHECK_INT(spread->longest[0].start, 2000);
    CHECK_INT(spread->longest[1].duration, 8);
    sp_report_spreads_release(&spreads);
}

/* ---- Pages -----------------------------------------------------------------------------------*/

/* Text of the page of a run; free() it. */
static char *page_of(sp_results *run, const sp_report_options *options)
{
    char path[64];
    sp_error error = {0};
    enum { ROOM = 4 << 20 };
    char *text = calloc(1, ROOM);
    snprintf(path, sizeof path, "test_report.%ld.html", (long)getpid());
    if (!CHECK_INT(sp_export_report(&run, 1, options, path, &error), SP_OK))
        fprintf(stderr, "%s\n", error.text);
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL && fread(text, 1, ROOM - 1, file) > 0);
    if (file != NULL)
        fclose(file);
    unlink(path);
    return text;
}

/* Ranks 0 and 1: main 0-100 and 0-60, in it work 10-90 and 10-30. */
static sp_results *two_ranks(void)
{
    sp_results *run = run_new();
    RUN_ADD(run, "main", 0, RUN_PLAIN, {1000, 1100});
    RUN_ADD(run, "work", 0, RUN_PLAIN, {1010, 1090});
    RUN_ADD(run, "main", 1, RUN_PLAIN, {1000, 1060});
    RUN_ADD(run, "work", 1, RUN_PLAIN, {1010, 1030});
    sp_results_set_num_ranks(run, 2);
    return run;
}

static void writes_what_is_known(void)
{
    sp_results *run = two_ranks();
    char *page = page_of(run, NULL);
    CHECK_CONTAINS(page, "<title>profile \xC2\xB7 scope-profiler report</title>");
    CHECK_CONTAINS(page, "\"wall\":100,");
    CHECK_CONTAINS(page, "\"covered\":160,\"extent\":160,");
    /* main: 160 in 2 calls, own 20 + 40; in it work: 100, own all of it. */
    CHECK_CONTAINS(page, "\"tree\":[0,0,2,160,60,1,1,2,100,100]");
    CHECK_CONTAINS(page, "\"matrix\":[[0,[1,100,20,100],[1,60,40,60]],[1,[1,80,80,80],[1,20,20,20]]]");
    /* work: mean own time of a rank 50, rank 0 takes 30 longer, 0.3 of the wall time. */
    CHECK_CONTAINS(page, "{\"kind\":\"hotspot\",\"region\":1,\"rank\":0,\"calls\":2,\"cost\":100,"
                         "\"mean\":0.0,\"share\":0.625,\"path\":[0,1]}");
    CHECK_CONTAINS(page, "{\"kind\":\"imbalance\",\"region\":1,\"rank\":0,\"calls\":2,\"cost\":30,"
                         "\"mean\":50.0,\"share\":0.300,\"path\":[]}");
    CHECK_CONTAINS(page, "\"calls\":[[0,100,0,0,10,80,1,1],[0,60,0,0,10,20,1,1]]");
    free(page);
    sp_results_close(run);
}

static void takes_a_selection(void)
{
    static const uint32_t one = 1;
    const sp_report_options options = {.size = sizeof options, .ranks = &one, .num_ranks = 1,
                                       .include = (const char *const[]){"wo"}, .num_include = 1};
    sp_results *run = two_ranks();
    char *page = page_of(run, &options);
    CHECK_CONTAINS(page, "\"ranks\":[1]");
    CHECK_CONTAINS(page, "\"num_calls\":1,\"num_calls_recorded\":4,");
    CHECK_CONTAINS(page, "\"tree\":[0,1,1,20,20]");
    CHECK_CONTAINS(page, "\"calls\":[[10,20,1,0]]");
    free(page);
    sp_results_close(run);
}

/* A name cannot end the block of data, and crossing calls are drawn although they do not nest. */
static void keeps_names_texts(void)
{
    sp_results *run = run_new();
    RUN_ADD(run, "</script><b>&\xE2\x80\xA8\"", 0, RUN_PLAIN, {0, 50});
    RUN_ADD(run, "cross", 0, RUN_PLAIN, {25, 75});
    char *page = page_of(run, NULL);
    CHECK(strstr(page, "</script><b>") == NULL);
    CHECK_CONTAINS(page, "\"name\":\"\\u003c/script>\\u003cb>\\u0026\\u2028\\\"\"");
    CHECK_CONTAINS(page, "\"calls\":[[0,50,0,0,25,50,1,1]]");
    CHECK_CONTAINS(page, "\"tree\":[],\"tree_left_out\":0,\"tree_reason\":\"");
    free(page);
    sp_results_close(run);
}

static void takes_a_run_without_calls(void)
{
    sp_results *run = run_new();
    char *page = page_of(run, NULL);
    CHECK_CONTAINS(page, "\"num_calls\":0,");
    CHECK_CONTAINS(page, "\"findings\":[]");
    free(page);
    sp_results_close(run);
}

static void refuses_no_run(void)
{
    sp_error error = {0};
    const sp_report_options options = {.size = sizeof options, .num_columns = 1,
                                       .columns = (const char *const[]){"speed"}};
    sp_results *run = two_ranks();
    CHECK_INT(sp_export_report(NULL, 0, NULL, "x.html", &error), SP_ERR_INVALID_ARGUMENT);
    CHECK_TEXT(error.text, "At least one profiling result is required.");
    CHECK_INT(sp_export_report(&run, 1, &options, "x.html", &error), SP_ERR_INVALID_ARGUMENT);
    CHECK_CONTAINS(error.text, "speed");
    CHECK_INT(sp_export_report(&run, 1, NULL, "/dev/null/x/y.html", &error), SP_ERR_IO);
    sp_results_close(run);
}

int main(void)
{
    RUN(keeps_few_calls);
    RUN(makes_short_calls_density);
    RUN(takes_equal_calls);
    RUN(bounds_lanes_and_levels);
    RUN(takes_any_time);
    RUN(sorts_durations_into_bins);
    RUN(writes_what_is_known);
    RUN(takes_a_selection);
    RUN(keeps_names_texts);
    RUN(takes_a_run_without_calls);
    RUN(refuses_no_run);
    return check_result();
}
