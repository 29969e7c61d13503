/* Bounded memory, as a file shows it: rows and totals together are every call. */
#include "session_case.h"

enum { CALLS = 400000, LIMIT = 1200 * 1024 };

static sp_profiler *p;

static int32_t region(const char *name)
{
    int32_t id = sp_binding_intern(name, strlen(name), NULL);
    sp_binding_region_spec spec = {.size = sizeof spec, .enabled = true};
    CHECK_INT(sp_binding_set_region(p, id, &spec, NULL), SP_OK);
    return id;
}

static void start(const char *on_full)
{
    sp_error error = {0};
    sp_binding_settings settings = {.size = sizeof settings, .max_memory = LIMIT, .on_full = on_full};
    CHECK_INT(sp_binding_configure(p, &settings, &error), SP_OK);
}

static void record(int32_t id, int times)
{
    for (int i = 0; i < times; i++) {
        sp_binding_begin(p, id);
        sp_binding_end(p, id);
    }
}

static case_run publish(bool keep_calls)
{
    sp_error error = {0};
    sp_binding_report report;
    sp_binding_publication what = {.size = sizeof what, .keep_calls = keep_calls};
    if (!CHECK_INT(sp_binding_publish(p, &what, &report, &error), SP_OK))
        return (case_run){0};
    return case_open(NULL, &report);
}

/* Number in an array of totals, beside the name of the region; 0: it is not there. */
static int64_t total(const case_run *run, const char *array, const char *region)
{
    const sp_extra *names = NULL, *numbers = NULL;
    for (size_t i = 0; i < run->description->num_extras; i++) {
        const sp_extra *extra = &run->description->extras[i];
        if (strcmp(extra->name, "totals_regions") == 0)
            names = extra;
        else if (strcmp(extra->name, array) == 0)
            numbers = extra;
    }
    for (size_t i = 0; names != NULL && numbers != NULL && i < names->length; i++)
        if (strcmp(names->texts[i], region) == 0)
            return numbers->integers[i];
    return 0;
}

static void spilled_calls_are_rows(void)
{
    start("spill");
    record(region("a"), CALLS);
    case_run run = publish(true);
    CHECK_INT(case_calls(&run, "a"), CALLS);
    CHECK_INT(total(&run, "totals_calls", "a"), 0);
    case_close(&run);
    record(region("a"), CALLS);
    run = publish(false);
    CHECK_INT(case_calls(&run, "a"), 2 * CALLS);
    case_close(&run);
    record(region("a"), 3);
    run = publish(false);
    CHECK_INT(case_calls(&run, "a"), 3);
    case_close(&run);
}

static void rows_and_totals_are_all(const char *on_full)
{
    bool keeps_newest = strcmp(on_full, "ring") == 0;
    start(on_full);
    int32_t outer = region("outer"), a = region("a"), b = region("b");
    sp_binding_begin(p, outer);
    for (int i = 0; i < CALLS / 2; i++) {
        record(a, 1);
        record(b, 1);
    }
    sp_binding_end(p, outer);
    sp_row_aggregate sums;
    sp_binding_region_totals(p, a, &sums);
    for (int i = 0; i < 2; i++) { /* kept, it comes again */
        case_run run = publish(i == 0);
        const char *const names[] = {"a", "b"};
        for (int k = 0; k < 2; k++) {
            int64_t rows = case_calls(&run, names[k]), calls = total(&run, "totals_calls", names[k]);
            CHECK(rows > 1000);
            CHECK(calls > 1000);
            CHECK_INT(rows + calls, CALLS / 2);
        }
        int64_t shortest = total(&run, "totals_minimum_ns", "a");
        int64_t longest = total(&run, "totals_maximum_ns", "a");
        CHECK(shortest >= 0 && shortest <= longest);
        CHECK(longest <= total(&run, "totals_ns", "a"));
        CHECK(total(&run, "totals_ns", "a") < sums.total);
        /* It ended last: a row where the newest stay, a number where the oldest do. */
        CHECK_INT(case_calls(&run, "outer"), keeps_newest ? 1 : -1);
        CHECK_INT(total(&run, "totals_calls", "outer"), keeps_newest ? 0 : 1);
        case_close(&run);
    }
    CHECK_INT(sp_binding_num_calls(p, a), CALLS / 2);
    /* The next file starts afresh; calls become rows again once the thread itself has drained. */
    record(a, 5);
    case_run run = publish(false);
    int64_t rows = case_calls(&run, "a");
    CHECK_INT((rows < 0 ? 0 : rows) + total(&run, "totals_calls", "a"), 5);
    case_close(&run);
    record(a, CALLS / 10);
    run = publish(false);
    CHECK(case_calls(&run, "a") > 1000);
    case_close(&run);
}

static void oldest_stay(void)
{
    rows_and_totals_are_all("aggregate");
}

static void newest_stay(void)
{
    rows_and_totals_are_all("ring");
}

int main(void)
{
    p = sp_binding_create();
    RUN(spilled_calls_are_rows);
    RUN(oldest_stay);
    RUN(newest_stay);
    sp_binding_destroy(p);
    return check_result();
}
