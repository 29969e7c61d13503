/* What a language binding uses; in memory, so it needs no HDF5. */
#include "session_case.h"

#include <pthread.h>

static sp_profiler *p;

static void configure(sp_profiler *profiler, const sp_binding_settings *settings)
{
    sp_error error = {0};
    if (!CHECK_INT(sp_binding_configure(profiler, settings, &error), SP_OK))
        fprintf(stderr, "%s\n", error.text);
}

static int32_t region(sp_profiler *profiler, const char *name)
{
    int32_t id = sp_binding_intern(name, strlen(name), NULL);
    sp_binding_region_spec spec = {.size = sizeof spec, .enabled = true};
    CHECK_INT(sp_binding_set_region(profiler, id, &spec, NULL), SP_OK);
    return id;
}

static case_run publish(sp_profiler *profiler, sp_binding_publication what,
                        sp_binding_report *report)
{
    sp_error error = {0};
    what.size = sizeof what;
    if (!CHECK_INT(sp_binding_publish(profiler, &what, report, &error), SP_OK)) {
        fprintf(stderr, "%s\n", error.text);
        return (case_run){0};
    }
    return case_open(NULL, report);
}

static void record(int32_t id, int times)
{
    for (int i = 0; i < times; i++) {
        sp_binding_begin(p, id);
        sp_binding_end(p, id);
    }
}

static void consumed_or_kept(void)
{
    configure(p, &(sp_binding_settings){.size = sizeof(sp_binding_settings)});
    CHECK(sp_binding_is_recording(p));
    int32_t a = region(p, "a"), b = region(p, "b");
    record(a, 5);
    sp_binding_report report;
    case_run run = publish(p, (sp_binding_publication){.keep_calls = true}, &report);
    CHECK_INT(report.calls_written, 5);
    CHECK_INT(case_calls(&run, "a"), 5);
    case_close(&run);
    record(b, 1);
    run = publish(p, (sp_binding_publication){0}, &report);
    CHECK_INT(case_calls(&run, "a"), 5);
    CHECK_INT(case_calls(&run, "b"), 1);
    case_close(&run);
    record(a, 2);
    run = publish(p, (sp_binding_publication){0}, &report);
    CHECK_INT(case_calls(&run, "a"), 2);
    CHECK_INT(case_calls(&run, "b"), -1);
    CHECK_INT(case_value(&run, "a", SP_COLUMN_CALL_ID, 0), 6);
    case_close(&run);
    CHECK_INT(sp_binding_num_calls(p, a), 7);
    sp_row_aggregate totals;
    CHECK_INT(sp_binding_region_totals(p, a, &totals), SP_OK);
    CHECK_INT(totals.count, 7);
    CHECK_INT(totals.exclusive, -1);
}

static void open_over_a_publication(void)
{
    configure(p, &(sp_binding_settings){.size = sizeof(sp_binding_settings)});
    int32_t a = region(p, "a"), b = region(p, "b"), open[4];
    sp_binding_begin(p, a);
    record(b, 1);
    CHECK_INT(sp_binding_open_regions(p, open, 4), 1);
    CHECK_INT(open[0], a);
    CHECK_INT(sp_binding_num_calls(p, a), 1);
    sp_binding_report report;
    case_run run = publish(p, (sp_binding_publication){0}, &report);
    CHECK_INT(report.calls_open, 1);
    CHECK_INT(case_calls(&run, "a"), -1);
    CHECK_INT(case_value(&run, "b", SP_COLUMN_PARENT_ID, 0), -1);
    case_close(&run);
    record(b, 1);
    sp_binding_end(p, a);
    run = publish(p, (sp_binding_publication){0}, &report);
    CHECK_INT(case_calls(&run, "a"), 1);
    CHECK_INT(case_value(&run, "b", SP_COLUMN_PARENT_ID, 0),
              case_value(&run, "a", SP_COLUMN_CALL_ID, 0));
    /* The first b counts for a too, though it is in the file before. */
    const sp_row *row = case_row(&run, "a", NULL);
    int64_t total = case_value(&run, "a", SP_COLUMN_DURATION, 0);
    CHECK(row->exclusive_total < total - case_value(&run, "b", SP_COLUMN_DURATION, 0) + 2);
    case_close(&run);

    sp_binding_begin(p, a);
    run = publish(p, (sp_binding_publication){.with_open_calls = true}, &report);
    CHECK_INT(case_calls(&run, "a"), 1); /* ends now */
    case_close(&run);
    sp_binding_end(p, a);
}

static void appended_and_queried(void)
{
    configure(p, &(sp_binding_settings){.size = sizeof(sp_binding_settings)});
    int32_t a = region(p, "a"), b = region(p, "b");
    int64_t *starts, *ends;
    size_t count;
    for (int64_t i = 10; i-- > 0;)
        CHECK_INT(sp_binding_append(p, a, i, i + 1), SP_OK);
    CHECK_INT(sp_binding_append(p, a, 5, 4), SP_ERR_INVALID_ARGUMENT);
    record(b, 3);
    CHECK_INT(sp_binding_region_calls(p, a, &starts, &ends, &count, NULL), SP_OK);
    CHECK_INT(count, 10);
    for (size_t i = 0; i < count; i++) {
        CHECK_INT(starts[i], i);
        CHECK_INT(ends[i], i + 1);
    }
    free(starts);
    free(ends);
    CHECK_INT(sp_binding_region_calls(p, b, &starts, &ends, &count, NULL), SP_OK);
    CHECK_INT(count, 3);
    CHECK(count == 3 && starts[0] >= sp_binding_start_time_ns(p) && ends[2] <= sp_now_ns());
    free(starts);
    free(ends);
    sp_binding_begin(p, b);
    sp_binding_begin(p, b);
    sp_binding_end(p, b);
    CHECK_INT(sp_binding_region_calls(p, b, &starts, &ends, &count, NULL), SP_OK);
    if (CHECK_INT(count, 5)) {
        CHECK_INT(ends[3], 0); /* open, and begun before the one that has ended */
        CHECK(starts[3] >= ends[2] && starts[4] >= starts[3] && ends[4] >= starts[4]);
    }
    free(starts);
    free(ends);
    sp_binding_end(p, b);
    sp_row_aggregate totals;
    sp_binding_region_totals(p, a, &totals);
    CHECK_INT(totals.total, 10);
    CHECK_INT(totals.minimum, 1);
    sp_binding_report report;
    case_run run = publish(p, (sp_binding_publication){0}, &report);
    CHECK_INT(case_calls(&run, "a"), 10);
    CHECK_INT(case_value(&run, "a", SP_COLUMN_START, 9), 9);
    CHECK_INT(case_value(&run, "a", SP_COLUMN_DURATION, 9), 1);
    case_close(&run);
}

static void metadata_and_scopes(void)
{
    configure(p, &(sp_binding_settings){.size = sizeof(sp_binding_settings)});
    int32_t a = region(p, "a");
    record(a, 1);
    int64_t from = sp_now_ns();
    sp_binding_begin(p, a);
    sp_binding_end_with_metadata(p, a, "{\"n\": 1}", 8);
    record(a, 1);
    sp_binding_metadata_scope scope = {.start_ns = from, .end_ns = sp_now_ns(), .thread = -1,
                                       .json = "{\"step\": 7}"};
    sp_metadata_entry label = {.key = "label", .kind = SP_VALUE_TEXT, .text = "x"};
    sp_binding_report report;
    case_run run = publish(p,
                           (sp_binding_publication){.metadata = &label, .num_metadata = 1,
                                                    .scopes = &scope, .num_scopes = 1},
                           &report);
    const sp_row *row = case_row(&run, "a", NULL);
    CHECK_CONTAINS(row->event_metadata_json, "\"n\"");
    CHECK_INT(case_count(row->event_metadata_json, "step"), 2);
    CHECK_TEXT(case_metadata(&run, "label")->text, "x");
    case_close(&run);
}

static void *in_a_thread(void *argument)
{
    int32_t id = *(int32_t *)argument;
    sp_binding_name_thread(p, "helper", 42, true);
    record(id, 2);
    return NULL;
}

static void threads_in_the_file(void)
{
    pthread_t thread;
    configure(p, &(sp_binding_settings){.size = sizeof(sp_binding_settings)});
    int32_t a = region(p, "a");
    record(a, 1);
    sp_binding_name_thread(p, "MainThread", 1, false);
    pthread_create(&thread, NULL, in_a_thread, &a);
    pthread_join(thread, NULL);
    sp_binding_report report;
    case_run run = publish(p, (sp_binding_publication){0}, &report);
    CHECK(report.several_threads);
    CHECK_INT(case_calls(&run, "a"), 3);
    CHECK_INT(run.description->num_threads, 2);
    const sp_thread_row *threads = run.description->threads;
    CHECK_TEXT(threads[0].name, "MainThread");
    CHECK_INT(threads[0].end_ns, -1);
    CHECK_TEXT(threads[1].name, "helper");
    CHECK_INT(threads[1].ident, 42);
    CHECK(threads[1].is_daemon);
    CHECK(threads[1].end_ns >= threads[1].start_ns && threads[1].start_ns >= 0);
    CHECK_INT(case_value(&run, "a", SP_COLUMN_THREAD_ID, 2), 1);
    case_close(&run);
}

static void totals_only(void)
{
    configure(p, &(sp_binding_settings){.size = sizeof(sp_binding_settings), .is_aggregate = true});
    int32_t a = region(p, "outer"), b = region(p, "inner");
    for (int i = 0; i < 3; i++) {
        sp_binding_begin(p, a);
        record(b, 2);
        sp_binding_end(p, a);
    }
    sp_row_aggregate outer, inner;
    sp_binding_region_totals(p, a, &outer);
    sp_binding_region_totals(p, b, &inner);
    CHECK_INT(outer.count, 3);
    CHECK_INT(inner.count, 6);
    CHECK_INT(inner.exclusive, inner.total);
    CHECK_INT(outer.exclusive, outer.total - inner.total);
    sp_binding_report report;
    case_run run = publish(p, (sp_binding_publication){0}, &report);
    CHECK(run.description->is_aggregate);
    CHECK_INT(report.calls_written, 9);
    CHECK_INT(case_row(&run, "outer", NULL)->aggregate.total, outer.total);
    CHECK_INT(case_row(&run, "inner", NULL)->aggregate.exclusive, inner.exclusive);
    case_close(&run);
    record(b, 1);
    run = publish(p, (sp_binding_publication){0}, &report);
    CHECK_INT(run.description->num_rows, 1);
    CHECK_INT(case_row(&run, "inner", NULL)->aggregate.count, 1);
    case_close(&run);
    CHECK_INT(sp_binding_num_calls(p, b), 7);
}

static int hook_calls;

static void hook(sp_profiler *profiler)
{
    hook_calls++;
    CHECK(profiler == p);
    sp_binding_name_thread(profiler, "by hook", 9, false);
}

static void hook_names_threads(void)
{
    sp_binding_on_new_thread(hook);
    configure(p, &(sp_binding_settings){.size = sizeof(sp_binding_settings), .track_threads = true});
    int32_t a = region(p, "a");
    record(a, 3);
    sp_binding_on_new_thread(NULL);
    CHECK_INT(hook_calls, 1);
    sp_binding_report report;
    case_run run = publish(p, (sp_binding_publication){0}, &report);
    CHECK_INT(run.description->num_threads, 1);
    CHECK_TEXT(run.description->threads[0].name, "by hook");
    case_close(&run);
}

/* The thread that sets up is in the table before it records; one that ends is waited for. */
static void threads_of_a_run(void)
{
    configure(p, &(sp_binding_settings){.size = sizeof(sp_binding_settings), .track_threads = true});
    sp_binding_name_thread(p, "main", 1, false);
    sp_binding_await_threads(p, &(int64_t){1}, 1);
    sp_binding_report report;
    case_run run = publish(p, (sp_binding_publication){0}, &report);
    CHECK_INT(run.description->num_threads, 1);
    CHECK_TEXT(run.description->threads[0].name, "main");
    CHECK_INT(run.description->threads[0].end_ns, -1);
#if defined(__linux__)
    CHECK(run.description->threads[0].cpu_ns > 0);
#endif
    case_close(&run);
    int64_t before = sp_now_ns();
    sp_binding_await_threads(p, &(int64_t){2}, 1); /* the only one goes on: not for ever */
    CHECK(sp_now_ns() > before);
}

static void deconfigured(void)
{
    configure(p, &(sp_binding_settings){.size = sizeof(sp_binding_settings)});
    int32_t a = region(p, "a");
    uint64_t generation = sp_binding_generation();
    record(a, 1);
    sp_binding_pause(p);
    CHECK(sp_binding_is_paused(p));
    record(a, 1);
    sp_binding_unpause(p);
    sp_binding_deconfigure(p);
    CHECK(!sp_binding_is_recording(p));
    CHECK(sp_binding_generation() > generation);
    record(a, 4);
    CHECK_INT(sp_binding_num_calls(p, a), 1);
    CHECK(sp_binding_pair_cost_ns(p) > 0);
    CHECK(sp_binding_pair_cost_ns(p) < 100000);
}

/* What an earlier configuration left open may end, once each; ids begin anew. */
static void second_configuration(void)
{
    sp_binding_settings settings = {.size = sizeof settings};
    configure(p, &settings);
    int32_t a = region(p, "a");
    record(a, 3);
    sp_binding_report report;
    case_run run = publish(p, (sp_binding_publication){0}, &report);
    case_close(&run);
    sp_binding_begin(p, a);
    sp_binding_begin(p, a);

    configure(p, &settings);
    CHECK_INT(region(p, "a"), a);
    record(a, 1);
    CHECK_INT(sp_profiler_end(p, a), SP_OK);
    CHECK_INT(sp_profiler_end(p, a), SP_OK);
    CHECK_INT(sp_profiler_end(p, a), SP_ERR_UNMATCHED_END);
    run = publish(p, (sp_binding_publication){0}, &report);
    CHECK_INT(report.calls_written, 1);
    CHECK_INT(report.unmatched_ends, 1);
    CHECK_INT(case_value(&run, "a", SP_COLUMN_CALL_ID, 0), 0);
    case_close(&run);
    sp_binding_deconfigure(p);
}

/* Native code joins what the host records, and what native code began the host takes over. */
static void host_and_native(void)
{
    sp_profiler *host = sp_binding_default();
    sp_binding_settings settings = {.size = sizeof settings, .is_host = true};
    configure(host, &settings);
    int32_t a = region(host, "host region");
    CHECK_INT(sp_init("ignored", 0), SP_OK);
    CHECK_TEXT(sp_output_path(), "");
    int b = sp_region("native region");
    sp_begin(a);
    sp_begin(b);
    sp_end(b);
    sp_end(a);
    CHECK_INT(sp_finalize(), SP_OK);
    CHECK(sp_is_active());
    sp_binding_settings second = {.size = sizeof second, .is_host = true, .host = &second};
    CHECK_INT(sp_binding_configure(host, &second, NULL), SP_ERR_INVALID_ARGUMENT);
    sp_binding_report report;
    case_run run = publish(host, (sp_binding_publication){0}, &report);
    CHECK_INT(case_calls(&run, "native region"), 1);
    CHECK_INT(case_value(&run, "native region", SP_COLUMN_PARENT_ID, 0),
              case_value(&run, "host region", SP_COLUMN_CALL_ID, 0));
    case_close(&run);
    sp_binding_deconfigure(host);
    CHECK(!sp_is_active());

    CHECK_INT(sp_init("first", 0), SP_OK);
    b = sp_region("native region");
    sp_begin(b);
    sp_end(b);
    configure(host, &settings);
    CHECK_INT(sp_num_calls(b), 1);
    CHECK_INT(sp_finalize(), SP_OK); /* leaves */
    CHECK(sp_is_active());
    run = publish(host, (sp_binding_publication){0}, &report);
    CHECK_INT(case_calls(&run, "native region"), 1);
    case_close(&run);
    sp_binding_deconfigure(host);
    CHECK(!case_exists("first_rank00000.h5"));
}

static void bad_names(void)
{
    sp_error error = {0};
    CHECK_INT(sp_binding_intern("", 0, &error), -1);
    CHECK_INT(error.status, SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(sp_binding_intern("a\0b", 3, &error), -1);
    sp_binding_region_spec spec = {.size = sizeof spec, .enabled = true};
    CHECK_INT(sp_binding_set_region(p, 1 << 23, &spec, &error), SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(sp_binding_set_region(p, -1, &spec, &error), SP_ERR_INVALID_ARGUMENT);
}

int main(void)
{
    case_enter_folder();
    p = sp_binding_create();
    if (!CHECK(p != NULL))
        return check_result();
    RUN(consumed_or_kept);
    RUN(open_over_a_publication);
    RUN(appended_and_queried);
    RUN(metadata_and_scopes);
    RUN(threads_in_the_file);
    RUN(totals_only);
    RUN(hook_names_threads);
    RUN(threads_of_a_run);
    RUN(deconfigured);
    RUN(second_configuration);
    RUN(host_and_native);
    RUN(bad_names);
    sp_binding_destroy(p);
    case_leave_folder();
    return check_result();
}
