/* The text of the summary, typed from the rules of its layout. */
#include "export/width.h"
#include "results/run.h"
#include "store/image/image.h"

#define SECOND INT64_C(1000000000)

static char *summarize(sp_results *run, const sp_summary_options *given)
{
    sp_summary_options options = {.size = sizeof options, .suppress_notes = true};
    sp_summary *summary = NULL;
    char *text = NULL;
    if (CHECK_INT(sp_summary_create(run, given == NULL ? &options : given, &summary, NULL),
                  SP_OK)) {
        text = strdup(sp_summary_text(summary));
        sp_summary_free(summary);
    }
    return text;
}

static void check_summary(sp_results *run, const sp_summary_options *options, const char *expected)
{
    char *text = summarize(run, options);
    CHECK_TEXT(text, expected);
    free(text);
}

static void check_part(sp_results *run, const sp_summary_options *options, const char *part)
{
    char *text = summarize(run, options);
    CHECK_CONTAINS(text, part);
    free(text);
}

/* Session 0-10 s, work 1-9 s, leaf 2-3 s and 5-7 s. */
static sp_results *example(void)
{
    sp_results *run = run_new();
    RUN_ADD(run, "scope_profiler.session", 0, RUN_PLAIN, {0, 10 * SECOND});
    RUN_ADD(run, "work", 0, RUN_PLAIN, {1 * SECOND, 9 * SECOND});
    RUN_ADD(run, "leaf", 0, RUN_PLAIN, {2 * SECOND, 3 * SECOND}, {5 * SECOND, 7 * SECOND});
    return run;
}

static void table_of_a_session(void)
{
    sp_results *run = example();
    check_summary(run, NULL,
        "  ╭────────────────────────────────────────────────────────╮\n"
        "  │ region                    % session      total [s]     │\n"
        "  ├────────────────────────────────────────────────────────┤\n"
        "  │ scope_profiler.session    100.00%        10.000000     │\n"
        "  │ └─ (own)                     20.00%         2.000000   │\n"
        "  │ └─ work                      80.00%         8.000000   │\n"
        "  │ │ └─ (own)                     50.00%         5.000000 │\n"
        "  │ │ └─ leaf (2x)                 30.00%         3.000000 │\n"
        "  ╰────────────────────────────────────────────────────────╯\n"
        "\n");
    sp_results_close(run);
}

/* Exclusive shares: work 5 of 10 s, leaf 3 of 10 s. */
static void exclusive_shares(void)
{
    sp_results *run = example();
    sp_summary_options options = {.size = sizeof options, .suppress_notes = true,
                                  .exclusive_percent = true};
    check_summary(run, &options,
        "  ╭────────────────────────────────────────────────────────╮\n"
        "  │ region                    % session      total [s]     │\n"
        "  ├────────────────────────────────────────────────────────┤\n"
        "  │ scope_profiler.session    100.00%        10.000000     │\n"
        "  │ └─ (own)                     20.00%         2.000000   │\n"
        "  │ └─ work                      50.00%         8.000000   │\n"
        "  │ │ └─ (own)                     50.00%         5.000000 │\n"
        "  │ │ └─ leaf (2x)                 30.00%         3.000000 │\n"
        "  ╰────────────────────────────────────────────────────────╯\n"
        "\n");
    sp_results_close(run);
}

static void table_without_a_session(void)
{
    sp_results *run = run_new();
    RUN_ADD(run, "a", 0, RUN_PLAIN, {0, 2 * SECOND}, {3 * SECOND, 4 * SECOND});
    RUN_ADD(run, "b", 0, RUN_PLAIN, {SECOND / 2, SECOND});
    check_summary(run, NULL,
        "  ╭─────────────────────────╮\n"
        "  │ region      total [s]   │\n"
        "  ├─────────────────────────┤\n"
        "  │ a (2x)      3.000000    │\n"
        "  │ └─ (own)       2.500000 │\n"
        "  │ └─ b           0.500000 │\n"
        "  ╰─────────────────────────╯\n"
        "\n");
    sp_results_close(run);
}

/* rec [0,10] in rec [2,8] in rec [3,4]: 17 s in total, active during 10 of 20 s. */
static void recursion_is_one_row(void)
{
    sp_results *run = run_new();
    RUN_ADD(run, "scope_profiler.session", 0, RUN_PLAIN, {0, 20 * SECOND});
    RUN_ADD(run, "rec", 0, RUN_PLAIN, {0, 10 * SECOND}, {2 * SECOND, 8 * SECOND},
            {3 * SECOND, 4 * SECOND});
    check_summary(run, NULL,
        "  ╭───────────────────────────────────────────────────────╮\n"
        "  │ region                    % session      total [s]    │\n"
        "  ├───────────────────────────────────────────────────────┤\n"
        "  │ scope_profiler.session    100.00%        20.000000    │\n"
        "  │ └─ (own)                     50.00%         10.000000 │\n"
        "  │ └─ rec ↻ (3x)                50.00%         10.000000 │\n"
        "  ╰───────────────────────────────────────────────────────╯\n"
        "\n");
    sp_results_close(run);
}

/* Without the row of the session nobody sees what the shares are of. */
static void filters_take_the_shares_away(void)
{
    sp_results *run = run_new();
    RUN_ADD(run, "scope_profiler.session", 0, RUN_PLAIN, {0, 20 * SECOND});
    RUN_ADD(run, "work", 0, RUN_PLAIN, {0, 10 * SECOND});
    const char *const patterns[] = {"work"}, *const keys[] = {"region", "percent"};
    sp_summary_options options = {.size = sizeof options, .include = patterns, .num_include = 1};
    check_part(run, &options, "  │ region      total [s]   │\n");
    options.columns = keys;
    options.num_columns = 2;
    check_part(run, &options, "  │ work        50.00%      │\n");
    sp_results_close(run);
}

/* x on rank 0: 1 s and 3 s, on rank 1: 2 s. Totals 4 and 2 s: 4 / 3 - 1 = 33.33 %. */
static void all_kinds_of_columns(void)
{
    const char *const keys[] = {"name", "ranks", "calls", "avg", "min", "max", "first", "last",
                                "std", "imbalance"};
    const char *const percentiles[] = {"p50", "region", "p95", "p99"};
    sp_summary_options options = {.size = sizeof options, .suppress_notes = true, .columns = keys,
                                  .num_columns = 10};
    sp_results *run = run_new();
    RUN_ADD(run, "x", 0, RUN_PLAIN, {0, SECOND}, {10 * SECOND, 13 * SECOND});
    RUN_ADD(run, "x", 1, RUN_PLAIN, {20 * SECOND, 22 * SECOND});
    check_part(run, &options,
        "  │ region      ranks      n      avg/call [s]      min [s]      max [s]      first [s]"
        "      last [s]      std [s]      imbalance [%]   │\n");
    check_part(run, &options,
        "  │ x           2          3      2.000e+00         1.000        3.000        1.000"
        "          2.000         0.816        33.33           │\n");
    /* Durations 1, 2, 3: at 95 % 2.9, at 99 % 2.98. */
    options.columns = percentiles;
    options.num_columns = 4;
    check_part(run, &options,
        "  │ p50 [s]      region      p95 [s]      p99 [s]   │\n");
    check_part(run, &options,
        "  │ 2.000        x (3x)      2.900        2.980     │\n");
    sp_results_close(run);
}

/* Shares of the parent, and that rows of no parent have none. */
static void shares_of_the_parent(void)
{
    const char *const keys[] = {"region", "parent_percent", "avg"};
    sp_summary_options options = {.size = sizeof options, .suppress_notes = true, .columns = keys,
                                  .num_columns = 3};
    sp_results *run = example();
    check_summary(run, &options,
        "  ╭─────────────────────────────────────────────────────────╮\n"
        "  │ region                    % parent       avg/call [s]   │\n"
        "  ├─────────────────────────────────────────────────────────┤\n"
        "  │ scope_profiler.session    -              1.000e+01      │\n"
        "  │ └─ (own)                     20.00%         2.000e+00   │\n"
        "  │ └─ work                      80.00%         8.000e+00   │\n"
        "  │ │ └─ (own)                     62.50%         5.000e+00 │\n"
        "  │ │ └─ leaf (2x)                 37.50%         1.500e+00 │\n"
        "  ╰─────────────────────────────────────────────────────────╯\n"
        "\n");
    sp_results_close(run);
}

static void region_that_was_not_called(void)
{
    const char *const keys[] = {"region", "total", "avg", "min", "p50", "imbalance"};
    sp_summary_options options = {.size = sizeof options, .columns = keys, .num_columns = 6};
    sp_results *run = run_new();
    RUN_ADD(run, "used", 0, RUN_PLAIN, {0, SECOND});
    CHECK_INT(run_add_calls(run, "unused", 0, NULL, 0, RUN_PLAIN), SP_OK);
    check_part(run, &options,
        "  │ unused (0x)    -              -                 -            -            -          "
        "     │\n");
    check_part(run, &options, "A row without time is a region that has no calls");
    sp_results_close(run);
}

static void totals_only(void)
{
    sp_results *run = run_new();
    sp_row row = {.region = "hot", .source_line = -1, .exclusive_total = -1, .has_aggregate = true,
                  .aggregate = {1500, 6 * SECOND, 10, SECOND, 4 * SECOND}};
    CHECK_INT(sp_results_add_row(run, &row, NULL, NULL), SP_OK);
    row.region = "scope_profiler.session";
    row.aggregate = (sp_row_aggregate){1, 8 * SECOND, 8 * SECOND, 8 * SECOND, 2 * SECOND};
    CHECK_INT(sp_results_add_row(run, &row, NULL, NULL), SP_OK);
    sp_summary_options options = {.size = sizeof options};
    check_summary(run, NULL,
        "  ╭──────────────────────────────────────────────────────╮\n"
        "  │ region                    % session      total [s]   │\n"
        "  ├──────────────────────────────────────────────────────┤\n"
        "  │ hot (1.50kx)              75.00%         6.000000    │\n"
        "  │ scope_profiler.session    100.00%        8.000000    │\n"
        "  ╰──────────────────────────────────────────────────────╯\n"
        "\n");
    check_part(run, &options, "One row per region, without call paths: the run kept totals");
    sp_results_close(run);
}

static void run_without_rows(void)
{
    sp_results *run = run_new();
    sp_summary_options options = {.size = sizeof options, .title = "my run (1 rank(s))"};
    check_summary(run, &options, "my run (1 rank(s))\n  (no regions recorded)\n");
    check_summary(run, NULL, "(in memory, 0 rank(s))\n  (no regions recorded)\n");
    sp_results_close(run);
}

/* Every line of a frame is as wide as its first. */
static void check_frames(const char *text)
{
    size_t width = 0;
    char line[4000];
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        if (!CHECK(length < sizeof line))
            return;
        memcpy(line, text, length);
        line[length] = '\0';
        if (strncmp(line, "  ╭", 5) == 0)
            width = sp_text_width(line);
        if (length > 0 && !CHECK_INT(sp_text_width(line), width))
            fprintf(stderr, "line: %s\n", line);
        text += length + 1;
    }
}

static void odd_names_keep_the_frame(void)
{
    static const char *const names[] = {"a\nb", "\x1b[2J", "漢字", "🚀 launch", "e\u0301tat",
                                        "\xff\xfe", "tab\there", "'quotes\"", "a/b > c", " "};
    sp_results *run = run_new();
    for (int i = 0; i < 10; i++)
        RUN_ADD(run, names[i], 0, RUN_PLAIN, {i * 10, i * 10 + 5});
    sp_summary_options options = {.size = sizeof options, .title = "odd \x1b[31m\n title",
                                  .file_path = "it's\nodd.h5"};
    char *text = summarize(run, &options);
    check_frames(text);
    CHECK_CONTAINS(text, "  │ 漢字         0.000000    │\n");
    CHECK_CONTAINS(text, "  │ a\\nb         0.000000    │\n");
    CHECK_CONTAINS(text, "  │ \\x1b[2J      0.000000    │\n");
    CHECK_CONTAINS(text, "Summary: odd \\x1b[31m\\n title ");
    CHECK_CONTAINS(text, "  scope-profiler inspect 'it'\"'\"'s\\nodd.h5' ");
    free(text);
    sp_results_close(run);
}

static void notes(void)
{
    sp_results *run = example();
    sp_metadata_entry label = {.key = "label", .kind = SP_VALUE_TEXT, .text = "tuned"};
    CHECK_INT(sp_results_set_metadata(run, &label, NULL), SP_OK);
    sp_summary_options options = {.size = sizeof options, .file_path = "out/heat run.h5"};
    char *text = summarize(run, &options);
    check_frames(text);
    CHECK_CONTAINS(text, "╯\n\n  ╭─ Info ─");
    CHECK_CONTAINS(text, "  │ Summary: tuned (in memory, 1 rank(s)) ");
    CHECK_CONTAINS(text, "  │ Explore: ");
    CHECK_CONTAINS(text, "  │   scope-profiler inspect 'out/heat run.h5' ");
    CHECK_CONTAINS(text, "  │ Durations are in seconds. ");
    CHECK_CONTAINS(text, "nested regions");
    CHECK_CONTAINS(text, "% session");
    CHECK(strstr(text, "↻") == NULL);
    CHECK(strstr(text, "asynchronous GPU work") == NULL);
    CHECK(strcmp(text + strlen(text) - 5, "╯\n\n") == 0);
    free(text);
    sp_results_close(run);
}

/* Two ranks of one call each: losses add up by kind, rank 1 alone has drains. 20 and 30 ns a call
 * for 1 and 1 calls: 25 ns a call, 50 ns in all. */
static void losses_and_costs(void)
{
    void *image = NULL;
    size_t size = 0;
    sp_store_writer *writer = NULL;
    const char *const kinds[] = {"records_lost", "ends_clamped"};
    const int64_t counts[][2] = {{5, 0}, {7, 2}}, drains[] = {SECOND / 2, SECOND / 4};
    const int64_t start[] = {0}, duration[] = {SECOND};
    const int64_t *columns[SP_COLUMN_COUNT] = {start, duration};
    const double costs[] = {20, 30};
    CHECK_INT(sp_image_create(NULL, &image, &size, &writer, NULL), SP_OK);
    for (uint32_t rank = 0; rank < 2; rank++) {
        sp_row row = {.region = "x", .rank = rank, .count = 1, .source_file = "",
                      .source_text = "", .source_line = -1, .tags_json = "[]"};
        const sp_extra extras[] = {
            {.name = "loss_kinds", .rank = rank, .length = 2, .texts = kinds},
            {.name = "loss_counts", .rank = rank, .length = 2, .integers = counts[rank]},
            {.name = "pair_cost_ns", .rank = rank, .length = 1, .reals = &costs[rank]},
            {.name = "drain_ns", .rank = rank, .length = 2, .integers = drains}};
        CHECK_INT(sp_image_writer.begin_rank(writer, rank, &row, 1, 3, NULL, 0, NULL, 0, NULL),
                  SP_OK);
        CHECK_INT(sp_image_writer.write_calls(writer, 1, columns, NULL), SP_OK);
        for (uint32_t i = 0; i < 3 + rank; i++)
            CHECK_INT(sp_image_writer.write_extra(writer, &extras[i], NULL), SP_OK);
    }
    CHECK_INT(sp_image_writer.commit(writer, NULL), SP_OK);
    sp_results *run = NULL;
    if (!CHECK_INT(sp_results_open_image(image, size, &run, NULL), SP_OK))
        return;
    sp_summary_options options = {.size = sizeof options};
    check_part(run, &options,
               "  │ Missing or mended in this recording: records lost 12, ends clamped 2. ");
    check_part(run, &options, "  │ Recording cost about 25 ns a call, 0.000000 s in all, and "
                              "0.750000 s in");
    const uint32_t first[] = {0};
    options.ranks = first;
    options.num_ranks = 1;
    check_part(run, &options, "  │ Missing or mended in this recording: records lost 5. ");
    check_part(run, &options, "  │ Recording cost about 20 ns a call, ");
    sp_results_close(run);
}

static void colors(void)
{
    sp_results *run = run_new();
    RUN_ADD(run, "a", 0, RUN_PLAIN, {0, SECOND});
    sp_summary_options options = {.size = sizeof options, .color = true, .file_path = "a.h5"};
    char *text = summarize(run, &options);
    CHECK_CONTAINS(text, "  │ \x1b[1;36mregion\x1b[0m      \x1b[1;36mtotal [s]\x1b[0m   │\n");
    CHECK_CONTAINS(text, "  │ a           1.000000    │\n");
    CHECK_CONTAINS(text, "  ╭─ \x1b[1;36mInfo\x1b[0m ─");
    CHECK_CONTAINS(text, "  │ \x1b[1;36mExplore:\x1b[0m ");
    free(text);
    sp_results_close(run);
}

static void device_times(void)
{
    const int64_t start[] = {0, 2 * SECOND}, duration[] = {SECOND, SECOND}, gpu[] = {-1, 5000000};
    const int64_t *columns[SP_COLUMN_COUNT] = {start, duration};
    columns[SP_COLUMN_GPU_DURATION] = gpu;
    sp_row row = {.region = "kernel", .count = 2, .source_line = -1, .exclusive_total = -1};
    sp_results *run = run_new();
    CHECK_INT(sp_results_add_row(run, &row, columns, NULL), SP_OK);
    sp_summary_options options = {.size = sizeof options};
    check_part(run, &options,
        "  │ region         total [s]      gpu total [s]      gpu avg [s]   │\n");
    check_part(run, &options,
        "  │ kernel (2x)    2.000000       0.005000           0.005         │\n");
    check_part(run, &options, "asynchronous GPU work");
    sp_results_close(run);
}

/* 70 different regions inside each other: deeper rows are indented no further. */
static void deep_rows_stop_indenting(void)
{
    sp_results *run = run_new();
    char name[16];
    for (int i = 0; i < 70; i++) {
        snprintf(name, sizeof name, "level%02d", i);
        RUN_ADD(run, name, 0, RUN_PLAIN, {i, 1000 - i});
    }
    char *text = summarize(run, NULL);
    check_frames(text);
    char *a = strstr(text, "level64"), *b = strstr(text, "level69");
    if (CHECK(a != NULL && b != NULL)) {
        size_t line_a = 0, line_b = 0;
        while (a[-1 - (long)line_a] != '\n')
            line_a++;
        while (b[-1 - (long)line_b] != '\n')
            line_b++;
        CHECK_INT(line_a, line_b);
    }
    free(text);
    sp_results_close(run);
}

static void prints_to_a_stream(void)
{
    sp_results *run = example();
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    sp_summary_options options = {.size = sizeof options, .suppress_notes = true};
    CHECK_INT(sp_results_print_summary(run, &options, stream, NULL), SP_OK);
    fclose(stream);
    CHECK_CONTAINS(text, "  │ └─ work                      80.00%         8.000000   │\n");
    free(text);
    FILE *full = fopen("/dev/full", "w");
    if (full != NULL) {
        CHECK_INT(sp_results_print_summary(run, &options, full, NULL), SP_ERR_IO);
        fclose(full);
    }
    sp_results_close(run);
}

int main(void)
{
    RUN(table_of_a_session);
    RUN(exclusive_shares);
    RUN(table_without_a_session);
    RUN(recursion_is_one_row);
    RUN(filters_take_the_shares_away);
    RUN(all_kinds_of_columns);
    RUN(shares_of_the_parent);
    RUN(region_that_was_not_called);
    RUN(totals_only);
    RUN(run_without_rows);
    RUN(odd_names_keep_the_frame);
    RUN(notes);
    RUN(losses_and_costs);
    RUN(colors);
    RUN(device_times);
    RUN(deep_rows_stop_indenting);
    RUN(prints_to_a_stream);
    return check_result();
}
