/* Exports of small runs, against what was worked out by hand. How other tools read them is tested
 * from Python. */
#include "check.h"

#include "export/output.h"
#include "results/run.h"

#include <unistd.h>

typedef int (*exporter)(sp_results *results, const sp_export_options *options, const char *path,
                        sp_error *error);

/* Text of an export; free() it. */
static char *export_text(exporter export, sp_results *run, const sp_export_options *options)
{
    char path[64];
    sp_error error = {0};
    snprintf(path, sizeof path, "test_exports.%ld.tmp", (long)getpid());
    if (!CHECK_INT(export(run, options, path, &error), SP_OK)) {
        fprintf(stderr, "%s\n", error.text);
        return calloc(1, 1);
    }
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    if (file == NULL || fread(text, 1, (1 << 20) - 1, file) == 0)
        CHECK(!"readable");
    if (file != NULL)
        fclose(file);
    unlink(path);
    return text;
}

static const char *part(const char *text, const char *from)
{
    const char *at = strstr(text, from);
    return at == NULL ? "" : at + strlen(from);
}

/* ---- Numbers ---------------------------------------------------------------------------------*/

static void check_number(const char *expected, double value)
{
    sp_text text = {0};
    sp_text_add_real(&text, value);
    CHECK_TEXT(text.bytes, expected);
    sp_text_release(&text);
}

/* The forms of Python's repr(). */
static void writes_real_numbers(void)
{
    check_number("0.0", 0.0);
    check_number("-0.0", -0.0);
    check_number("1.0", 1.0);
    check_number("0.1", 0.1);
    check_number("1e-09", 1e-9);
    check_number("0.0001", 0.0001);
    check_number("1.5e-05", 1.5e-5);
    check_number("123456.789", 123456.789);
    check_number("1000000000000000.0", 1e15);
    check_number("1e+16", 1e16);
    check_number("1.7976931348623157e+308", 1.7976931348623157e308);
    check_number("5e-324", 5e-324);
    check_number("-2.5", -2.5);
    check_number("null", NAN);
    check_number("null", INFINITY);
}

static void writes_integers_and_decimals(void)
{
    static const struct {
        int64_t value;
        int decimals;
        const char *text;
    } cases[] = {{0, 3, "0.000"},
                 {1, 3, "0.001"},
                 {-1, 3, "-0.001"},
                 {999999, 3, "999.999"},
                 {INT64_MAX, 9, "9223372036.854775807"},
                 {INT64_MIN, 9, "-9223372036.854775808"},
                 {100, 2, "1.00"}};
    sp_output out;
    char *bytes;
    size_t count;
    CHECK_INT(sp_output_open_memory(&out, NULL), SP_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sp_output_decimal(&out, cases[i].value, cases[i].decimals);
        sp_output_add(&out, " ");
    }
    sp_output_integer(&out, INT64_MIN);
    sp_output_add(&out, " ");
    sp_output_integer(&out, 1234567890123456789);
    CHECK_INT(sp_output_take(&out, SP_OK, &bytes, &count, NULL), SP_OK);
    CHECK_TEXT(bytes, "0.000 0.001 -0.001 999.999 9223372036.854775807 -9223372036.854775808 1.00 "
                      "-9223372036854775808 1234567890123456789");
    free(bytes);
}

/* ---- Speedscope ------------------------------------------------------------------------------*/

/* "O0@0 O1@10 ..." of the first profile: type, frame, ns. */
static const char *events_of(const char *json, char *out, size_t room)
{
    size_t length = 0;
    out[0] = '\0';
    for (const char *at = part(json, "\"events\":["); *at == '\n' || *at == ',';) {
        at += *at == ',' ? 2 : 1;
        char type = at[9];
        int frame = atoi(part(at, "\"frame\":"));
        double when = strtod(part(at, "\"at\":"), NULL);
        length += (size_t)snprintf(out + length, room - length, "%s%c%d@%.0f", length ? " " : "",
                                   type, frame, when * 1e9);
        at = strchr(at, '}') + 1;
    }
    return out;
}

static void nests_crossing_calls(void)
{
    char events[512];
    sp_results *run = run_new();
    /* b begins inside a and ends behind it. */
    RUN_ADD(run, "a", 0, RUN_PLAIN, {0, 100});
    RUN_ADD(run, "b", 0, RUN_PLAIN, {50, 150});
    char *text = export_text(sp_export_speedscope, run, NULL);
    CHECK_TEXT(events_of(text, events, sizeof events),
               "O0@0 O1@50 C1@100 C0@100 O1@100 C1@150");
    free(text);
    sp_results_close(run);
}

static void keeps_calls_without_length(void)
{
    char events[512];
    sp_results *run = run_new();
    RUN_ADD(run, "a", 0, RUN_PLAIN, {0, 10}, {10, 20});
    RUN_ADD(run, "b", 0, RUN_PLAIN, {5, 5}, {20, 20});
    char *text = export_text(sp_export_speedscope, run, NULL);
    CHECK_TEXT(events_of(text, events, sizeof events),
               "O0@0 O1@5 C1@5 C0@10 O0@10 C0@20 O1@20 C1@20");
    free(text);
    sp_results_close(run);
}

/* Recorded ids tell which of two equal intervals encloses the other. */
static void orders_equal_calls_by_id(void)
{
    char events[512];
    sp_results *run = run_new();
    RUN_ADD(run, "inner", 0, RUN_IDS, {0, 10, 1, 0});
    RUN_ADD(run, "outer", 0, RUN_IDS, {0, 10, 0, -1});
    char *text = export_text(sp_export_speedscope, run, NULL);
    CHECK_TEXT(events_of(text, events, sizeof events), "O1@0 O0@0 C0@10 C1@10");
    free(text);
    sp_results_close(run);
}

static void gives_each_lane_a_profile(void)
{
    sp_results *run = run_new();
    const sp_thread_row threads[] = {{.index = 0, .name = "MainThread", .start_ns = 0},
                                     {.index = 1, .name = "worker", .start_ns = 0}};
    RUN_ADD(run, "a", 0, RUN_THREADS, {0, 100, .thread = 0}, {10, 150, .thread = 1});
    for (int i = 0; i < 2; i++)
        CHECK_INT(sp_results_add_thread(run, &threads[i], NULL), SP_OK);
    char *text = export_text(sp_export_speedscope, run, NULL);
    CHECK_CONTAINS(text, "\"name\":\"rank 0 - MainThread\",\"unit\":\"seconds\",\"startValue\":0.0,"
                         "\"endValue\":0.000000150,\"events\":[\n"
                         "{\"type\":\"O\",\"frame\":0,\"at\":0.000000000},\n"
                         "{\"type\":\"C\",\"frame\":0,\"at\":0.000000100}]}");
    CHECK_CONTAINS(text, "\"name\":\"rank 0 - worker\"");
    CHECK_CONTAINS(text, "{\"type\":\"O\",\"frame\":0,\"at\":0.000000010},\n"
                         "{\"type\":\"C\",\"frame\":0,\"at\":0.000000150}]}");
    free(text);
    sp_results_close(run);
}

/* ---- Trace events ----------------------------------------------------------------------------*/

static void keeps_every_nanosecond(void)
{
    const int64_t t = (INT64_C(1) << 53) + 1;
    sp_results *run = run_new();
    RUN_ADD(run, "tick", 3, RUN_PLAIN, {t, t + 1}, {t + 1000002, t + 1000009});
    char *text = export_text(sp_export_chrome_trace, run, NULL);
    CHECK_CONTAINS(text, "\"time_origin_ns\":9007199254740993}");
    CHECK_CONTAINS(text, "\"pid\":3,\"tid\":0,\"ts\":0.000,\"dur\":0.001,\"args\":{\"rank\":3,"
                         "\"call_index\":0,\"duration_s\":0.000000001}}");
    CHECK_CONTAINS(text, "\"ts\":1000.002,\"dur\":0.007,");
    free(text);
    sp_results_close(run);
}

static void draws_an_arrow_to_each_task(void)
{
    sp_results *run = run_new();
    const sp_metadata_entry start = {.key = "start_time_ns", .kind = SP_VALUE_INTEGER,
                                     .integer = 1000};
    const sp_thread_row thread = {.index = 0, .name = "MainThread"};
    const sp_task_row task = {.index = 4, .thread_index = 0, .created_ns = 500, .kind = "task",
                              .name = "Task-1", .coroutine_name = "app.fetch"};
    CHECK_INT(sp_results_set_metadata(run, &start, NULL), SP_OK);
    CHECK_INT(sp_results_add_thread(run, &thread, NULL), SP_OK);
    CHECK_INT(sp_results_add_task(run, &task, NULL), SP_OK);
    RUN_ADD(run, "main", 0, RUN_THREADS | RUN_TASKS, {1000, 9000, .thread = 0, .task = -1});
    RUN_ADD(run, "fetch", 0, RUN_THREADS | RUN_TASKS, {2000, 3000, .thread = 0, .task = 4},
            {4000, 5000, .thread = 0, .task = 4});
    char *text = export_text(sp_export_chrome_trace, run, NULL);
    CHECK_CONTAINS(text, "\"tid\":5,\"name\":\"thread_name\",\"args\":{\"name\":"
                         "\"Task-1 (fetch) on MainThread\"}}");
    CHECK_CONTAINS(text, "{\"ph\":\"s\",\"cat\":\"scope-profiler\",\"name\":\"task\",\"id\":\"0.4\","
                         "\"pid\":0,\"tid\":0,\"ts\":0.500},\n"
                         "{\"ph\":\"f\",\"bp\":\"e\",\"cat\":\"scope-profiler\",\"name\":\"task\","
                         "\"id\":\"0.4\",\"pid\":0,\"tid\":5,\"ts\":1.000}");
    CHECK(strstr(part(text, "\"ph\":\"f\""), "\"ph\":\"f\"") == NULL);
    free(text);
    sp_results_close(run);
}

/* ---- Call paths ------------------------------------------------------------------------------*/

static void folds_call_paths(void)
{
    sp_results *run = run_new();
    RUN_ADD(run, "a;b", 0, RUN_PLAIN, {0, 100}, {200, 260});
    RUN_ADD(run, "c", 0, RUN_PLAIN, {10, 30}, {210, 260});
    RUN_ADD(run, "d\n", 0, RUN_PLAIN, {15, 20});
    char *text = export_text(sp_export_folded, run, NULL);
    CHECK_TEXT(text, "a:b 90\na:b;c 65\na:b;c;d  5\n");
    free(text);
    /* What is not selected leaves its time to the path above. */
    const char *const names[] = {"a;b", "d\n"};
    const sp_export_options options = {.size = sizeof options, .include_names = names,
                                       .num_include_names = 2};
    text = export_text(sp_export_folded, run, &options);
    CHECK_TEXT(text, "a:b 155\na:b;d  5\n");
    free(text);
    sp_results_close(run);
}

static void folds_deep_recursion(void)
{
    enum { LEVELS = 100000 };
    sp_results *run = run_new();
    run_call *calls = calloc(LEVELS, sizeof *calls);
    for (int i = 0; i < LEVELS; i++)
        calls[i] = (run_call){i, 2 * LEVELS - i};
    CHECK_INT(run_add_calls(run, "r", 0, calls, LEVELS, RUN_PLAIN), SP_OK);
    char *bytes = NULL, path[64];
    size_t count = 0;
    sp_error error = {0};
    CHECK_INT(sp_export_prof_bytes(run, NULL, 0, &bytes, &count, &error), SP_OK);
    CHECK(count > 0 && count < (size_t)LEVELS * 1000);
    free(bytes);
    snprintf(path, sizeof path, "test_exports.%ld.tmp", (long)getpid());
    CHECK_INT(sp_export_flamegraph(run, NULL, 0, path, &error), SP_OK);
    CHECK_INT(sp_export_speedscope(run, NULL, path, &error), SP_OK);
    unlink(path);
    free(calls);
    sp_results_close(run);
}

/* ---- Errors ----------------------------------------------------------------------------------*/

static void names_what_is_wrong(void)
{
    sp_error error = {0};
    char *bytes = NULL;
    size_t count;
    const char *const names[] = {"nothing"};
    const sp_export_options options = {.size = sizeof options, .include_names = names,
                                       .num_include_names = 1};
    sp_results *run = run_new();
    RUN_ADD(run, "a", 0, RUN_PLAIN, {0, 1});
    CHECK_INT(sp_export_csv(run, NULL, "/proc/no/such.csv", &error), SP_ERR_IO);
    CHECK_CONTAINS(error.text, "/proc/no");
    CHECK_INT(sp_export_prof_bytes(run, NULL, 7, &bytes, &count, &error), SP_ERR_NOT_FOUND);
    CHECK_TEXT(error.text, "Invalid rank requested: 7");
    CHECK_INT(sp_export_prof_bytes(run, &options, 0, &bytes, &count, &error), SP_ERR_NOT_FOUND);
    CHECK_TEXT(error.text, "No regions matched the selected filters.");
    sp_results_close(run);
    run = run_new();
    sp_results_set_num_ranks(run, 1);
    CHECK_INT(sp_export_prof_bytes(run, NULL, 0, &bytes, &count, &error), SP_ERR_NOT_FOUND);
    CHECK_TEXT(error.text, "No calls recorded for the requested ranks.");
    sp_results_close(run);
}

/* A full disk is told, and leaves no file. */
static void tells_a_failed_write(void)
{
    sp_error error = {0};
    sp_output out;
    if (access("/dev/full", W_OK) != 0)
        return;
    CHECK_INT(sp_output_open_file(&out, "test_exports.full", false, &error), SP_OK);
    FILE *full = fopen("/dev/full", "wb");
    CHECK(full != NULL && dup2(fileno(full), out.file.descriptor) >= 0);
    if (full != NULL)
        fclose(full);
    sp_output_add(&out, "text");
    CHECK_INT(sp_output_finish(&out, SP_OK, &error), SP_ERR_IO);
    CHECK_CONTAINS(error.text, "test_exports.full");
    CHECK(access("test_exports.full", F_OK) != 0);
}

int main(void)
{
    RUN(writes_real_numbers);
    RUN(writes_integers_and_decimals);
    RUN(nests_crossing_calls);
    RUN(keeps_calls_without_length);
    RUN(orders_equal_calls_by_id);
    RUN(gives_each_lane_a_profile);
    RUN(keeps_every_nanosecond);
    RUN(draws_an_arrow_to_each_task);
    RUN(folds_call_paths);
    RUN(folds_deep_recursion);
    RUN(names_what_is_wrong);
    RUN(tells_a_failed_write);
    return check_result();
}
