/* What instruments measure, from a profiler's settings to the texts of its file: published, in aggregate
 * mode, and recovered after the process was killed. */
#include "session_case.h"

#include "store/journal/find.h"
#include "store/journal/recover.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

/* ---- Counters that go by a script ------------------------------------------------------------*/

static int64_t cycles, walks, enabled, running;

static void read_meter(void *context, void *state, int64_t *values)
{
    (void)context;
    (void)state;
    values[0] = cycles;
    values[1] = walks;
    values[2] = enabled; /* of group 0, which is that of the cycles */
    values[3] = running;
    values[4] = values[5] = enabled;
}

static char *tell(void *context, uint32_t rank)
{
    char text[64];
    snprintf(text, sizeof text, "{\"%u\": \"%s\"}", (unsigned)rank, (const char *)context);
    return strdup(text);
}

static const char *const names[] = {"cycles", "page-walks"};
static const uint8_t group_of[] = {0, 1};
static char word[] = "told";

static const sp_instrument meters = {
    .size = sizeof meters, .version = SP_INSTRUMENT_VERSION, .name = "perf_events",
    .num_values = 2, .value_names = names, .num_groups = 2, .group_of = group_of,
    .keeps_calls = true, .read = read_meter};
static const sp_instrument teller = {
    .size = sizeof teller, .version = SP_INSTRUMENT_VERSION, .name = "likwid", .context = word,
    .results = tell};
static const sp_instrument *const both[] = {&meters, &teller};

static void reset(void)
{
    cycles = walks = enabled = running = 0;
}

/* A call in which the counters go on by so much. */
static void call(sp_profiler *profiler, int32_t region, int64_t more_cycles, int64_t more_walks,
                 int64_t more_enabled, int64_t more_running)
{
    sp_binding_begin(profiler, region);
    cycles += more_cycles;
    walks += more_walks;
    enabled += more_enabled;
    running += more_running;
    sp_binding_end(profiler, region);
}

static int32_t make_region(sp_profiler *profiler, const char *name)
{
    int32_t region = sp_binding_intern(name, strlen(name), NULL);
    sp_binding_region_spec spec = {.size = sizeof spec, .enabled = true};
    sp_binding_set_region(profiler, region, &spec, NULL);
    return region;
}

static sp_profiler *start(const char *output, bool is_aggregate)
{
    sp_profiler *profiler = sp_binding_create();
    sp_binding_settings settings = {.size = sizeof settings, .output = output,
                                    .is_aggregate = is_aggregate, .rank = 3,
                                    .instruments = both, .num_instruments = 2};
    reset();
    CHECK_INT(sp_binding_configure(profiler, &settings, NULL), SP_OK);
    return profiler;
}

/* ---- Reading back ----------------------------------------------------------------------------*/

static const sp_extra *find(const sp_store_description *run, const char *name)
{
    for (size_t i = 0; run != NULL && i < run->num_extras; i++)
        if (strcmp(run->extras[i].name, name) == 0)
            return &run->extras[i];
    return NULL;
}

static void check_json(const sp_store_description *run, const char *name, const char *expected)
{
    const sp_extra *extra = find(run, name);
    if (!CHECK(extra != NULL && extra->length == 1))
        return;
    CHECK_INT(extra->rank, 3);
    CHECK_TEXT(extra->texts[0], expected);
}

static void check_integer(const sp_store_description *run, const char *name, size_t i,
                          int64_t expected)
{
    const sp_extra *extra = find(run, name);
    if (CHECK(extra != NULL && i < extra->length))
        CHECK_INT(extra->integers[i], expected);
}

/* ---- Cases -----------------------------------------------------------------------------------*/

static void published(void)
{
    sp_profiler *profiler = start(NULL, false);
    int32_t solve = make_region(profiler, "sol\"ve"), idle = make_region(profiler, "idle");
    call(profiler, solve, 100, 3, 50, 50);
    call(profiler, idle, 7, -1, 20, 0); /* its cycles were never counted */
    call(profiler, solve, 50, 1, 150, 50); /* in all 150 cycles in half the time: 300 */
    sp_binding_report report;
    CHECK_INT(sp_binding_publish(profiler, NULL, &report, NULL), SP_OK);
    case_run run = case_open(NULL, &report);
    check_json(run.description, "json_perf_events",
               "{\"3\": {\"sol\\\"ve\": {\"calls\": 2, \"values\": {\"cycles\": 300, "
               "\"page-walks\": 4}, \"is_scaled\": true}, \"idle\": {\"calls\": 1, \"values\": "
               "{\"page-walks\": -1}, \"is_scaled\": true}}}");
    check_json(run.description, "json_likwid", "{\"3\": \"told\"}");
    check_integer(run.description, "perf_events_call_ids", 1, 1);
    check_integer(run.description, "perf_events_call_values", 2, 7);
    check_integer(run.description, "perf_events_call_values", 3, -1);
    check_integer(run.description, "perf_events_call_values", 4, 50);
    const sp_extra *order = find(run.description, "perf_events_value_names");
    if (CHECK(order != NULL && order->length == 2))
        CHECK_TEXT(order->texts[1], "page-walks");
    case_close(&run);

    /* The next publication holds what came after. */
    call(profiler, solve, 1, 2, 3, 3);
    CHECK_INT(sp_binding_publish(profiler, NULL, &report, NULL), SP_OK);
    run = case_open(NULL, &report);
    check_json(run.description, "json_perf_events",
               "{\"3\": {\"sol\\\"ve\": {\"calls\": 1, \"values\": {\"cycles\": 1, \"page-walks\": "
               "2}}}}");
    case_close(&run);
    sp_binding_destroy(profiler);
}

static void in_aggregate_mode(void)
{
    sp_profiler *profiler = start(NULL, true);
    int32_t solve = make_region(profiler, "solve");
    call(profiler, solve, 100, 3, 50, 50);
    call(profiler, solve, 50, 1, 150, 150);
    sp_binding_publication keep = {.size = sizeof keep, .keep_calls = true};
    for (int i = 0; i < 2; i++) { /* kept, so that both hold the same */
        sp_binding_report report;
        CHECK_INT(sp_binding_publish(profiler, i == 0 ? &keep : NULL, &report, NULL), SP_OK);
        case_run run = case_open(NULL, &report);
        check_json(run.description, "json_perf_events",
                   "{\"3\": {\"solve\": {\"calls\": 2, \"values\": {\"cycles\": 150, "
                   "\"page-walks\": 4}}}}");
        case_close(&run);
    }
    sp_binding_destroy(profiler);
}

static void *on_a_thread(void *profiler)
{
    call(profiler, sp_binding_intern("solve", 5, NULL), 30, 0, 0, 0);
    return NULL;
}

static void lane_by_lane(void)
{
    sp_profiler *profiler = start(NULL, false);
    int32_t solve = make_region(profiler, "solve");
    call(profiler, solve, 100, 3, 0, 0);
    pthread_t thread;
    pthread_create(&thread, NULL, on_a_thread, profiler);
    pthread_join(thread, NULL);
    sp_binding_report report;
    CHECK_INT(sp_binding_publish(profiler, NULL, &report, NULL), SP_OK);
    case_run run = case_open(NULL, &report);
    check_json(run.description, "json_perf_events",
               "{\"3\": {\"solve\": {\"calls\": 2, \"values\": {\"cycles\": 130, \"page-walks\": 3}, "
               "\"lanes\": [{\"thread\": 0, \"calls\": 1, \"values\": {\"cycles\": 100, "
               "\"page-walks\": 3}}, {\"thread\": 1, \"calls\": 1, \"values\": {\"cycles\": 30, "
               "\"page-walks\": 0}}]}}}");
    case_close(&run);
    sp_binding_destroy(profiler);
}

static char journal_path[200], rings_path[200];

static void take_path(void *context, const sp_journal_found *found)
{
    (void)context;
    snprintf(found->is_rings ? rings_path : journal_path, sizeof rings_path, "%s", found->path);
}

/* In a process of its own: two calls, then it is gone. */
static void record_and_die(const char *output)
{
    sp_profiler *profiler = start(output, false);
    int32_t solve = make_region(profiler, "solve");
    call(profiler, solve, 100, 3, 50, 50);
    call(profiler, solve, 50, 1, 150, 50);
    raise(SIGKILL);
}

static void recovered(void)
{
    char output[200];
    snprintf(output, sizeof output, "%s/killed.h5", case_folder);
    pid_t child = fork();
    if (child == 0)
        record_and_die(output);
    waitpid(child, NULL, 0);
    sp_journal_find(output, NULL, true, take_path, NULL);
    if (!CHECK(rings_path[0] != '\0'))
        return;
    const char *paths[] = {rings_path, journal_path};
    sp_loaded loaded;
    sp_assembly_result result = {0};
    sp_store_writer *writer;
    sp_binding_report report = {0};
    CHECK_INT(sp_load(paths, journal_path[0] == '\0' ? 1 : 2, &loaded, NULL), SP_OK);
    sp_image_create(NULL, &report.image, &report.image_size, &writer, NULL);
    sp_assemble_output to = {.table = &sp_image_writer, .writer = writer};
    CHECK_INT(sp_recover(&loaded, &to, 1, &result, NULL), SP_OK);
    CHECK_INT(sp_image_writer.commit(writer, NULL), SP_OK);
    sp_assembly_result_release(&result);
    sp_loaded_release(&loaded);
    case_run run = case_open(NULL, &report);
    check_json(run.description, "json_perf_events",
               "{\"3\": {\"solve\": {\"calls\": 2, \"values\": {\"cycles\": 300, \"page-walks\": 4}, "
               "\"is_scaled\": true}}}");
    check_integer(run.description, "perf_events_call_values", 0, 100);
    case_close(&run);
    unlink(rings_path);
}

int main(void)
{
    case_enter_folder();
    RUN(published);
    RUN(in_aggregate_mode);
    RUN(lane_by_lane);
    RUN(recovered);
    case_leave_folder();
    return check_result();
}
