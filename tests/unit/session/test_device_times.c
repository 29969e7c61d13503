/* Device times of a recording, from the events of a driver to the column of its file. The device is a queue
 * that goes on when a case says so. */
#include "session_case.h"

#include "session/device_times.h"
#include "store/journal/find.h"
#include "store/journal/recover.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>

/* ---- The device ------------------------------------------------------------------------------*/

typedef struct fake_event {
    int64_t ns;
    uint64_t turn;
} fake_event;

static struct {
    int64_t now_ns;
    uint64_t queued, reached;
    uint64_t lag; /* events that the device is behind */
    int refusals; /* events that it refuses from now on */
    int lazy_asks; /* times that it is asked before it goes on to the end */
    bool has_no_times; /* elapsed_ns cannot tell */
    long alive, most_alive, records, synchronized, released;
    uint64_t records_at_synchronize;
} device;

static pthread_mutex_t device_lock = PTHREAD_MUTEX_INITIALIZER;

static bool record(void *context, void **event)
{
    (void)context;
    pthread_mutex_lock(&device_lock);
    bool is_refused = device.refusals > 0;
    if (is_refused) {
        device.refusals--;
    } else {
        if (*event == NULL) {
            *event = calloc(1, sizeof(fake_event));
            device.alive++;
            device.most_alive = device.alive > device.most_alive ? device.alive : device.most_alive;
        }
        *(fake_event *)*event = (fake_event){.ns = device.now_ns, .turn = ++device.queued};
        device.records++;
    }
    pthread_mutex_unlock(&device_lock);
    return !is_refused;
}

static bool is_done(void *context, void *event)
{
    (void)context;
    pthread_mutex_lock(&device_lock);
    if (device.lazy_asks > 0 && --device.lazy_asks == 0)
        device.lag = 0;
    bool done = ((fake_event *)event)->turn + device.lag <= device.queued;
    pthread_mutex_unlock(&device_lock);
    return done;
}

static int64_t elapsed_ns(void *context, void *start, void *end)
{
    (void)context;
    const fake_event *from = start, *to = end;
    return device.has_no_times ? -1 : to->ns - from->ns;
}

static void destroy(void *context, void *event)
{
    (void)context;
    device.alive--;
    free(event);
}

static void synchronize(void *context)
{
    (void)context;
    device.synchronized++;
    device.records_at_synchronize = device.queued;
}

static void release(void *context)
{
    (void)context;
    device.released++;
}

static const sp_device_driver whole = {.size = sizeof whole,
                                       .version = SP_DEVICE_VERSION,
                                       .name = "fake",
                                       .record = record,
                                       .is_done = is_done,
                                       .elapsed_ns = elapsed_ns,
                                       .destroy = destroy,
                                       .synchronize = synchronize,
                                       .release = release};

/* ---- Recording -------------------------------------------------------------------------------*/

static sp_profiler *start_with(const sp_device_driver *driver, bool syncs_at_end,
                               const char *output)
{
    memset(&device, 0, sizeof device);
    sp_instrument instrument;
    const sp_instrument *list[] = {&instrument};
    CHECK_INT(sp_device_times_create(driver, syncs_at_end, &instrument, NULL), SP_OK);
    sp_profiler *profiler = sp_binding_create();
    sp_binding_settings settings = {
        .size = sizeof settings, .output = output, .instruments = list, .num_instruments = 1};
    CHECK_INT(sp_binding_configure(profiler, &settings, NULL), SP_OK);
    return profiler;
}

static int32_t make_region(sp_profiler *profiler, const char *name)
{
    int32_t region = sp_binding_intern(name, strlen(name), NULL);
    sp_binding_region_spec spec = {.size = sizeof spec, .enabled = true};
    sp_binding_set_region(profiler, region, &spec, NULL);
    return region;
}

/* A call for which the device works so long. */
static void call(sp_profiler *profiler, int32_t region, int64_t ns)
{
    sp_binding_begin(profiler, region);
    device.now_ns += ns;
    sp_binding_end(profiler, region);
}

/* ---- Reading back ----------------------------------------------------------------------------*/

static case_run publish(sp_profiler *profiler, bool keeps_calls)
{
    static sp_binding_report report;
    sp_binding_publication what = {.size = sizeof what, .keep_calls = keeps_calls};
    CHECK_INT(sp_binding_publish(profiler, &what, &report, NULL), SP_OK);
    return case_open(NULL, &report);
}

static void check_row(const case_run *run, const char *name, const int64_t *expected, size_t count)
{
    const sp_row *row = case_row(run, name, NULL);
    uint64_t known = 0;
    int64_t total = 0;
    if (!CHECK(row != NULL) || !CHECK_INT(row->count, count))
        return;
    for (size_t i = 0; i < count; i++) {
        CHECK_INT(case_value(run, name, SP_COLUMN_GPU_DURATION, i), expected[i]);
        known += expected[i] >= 0;
        total += expected[i] >= 0 ? expected[i] : 0;
    }
    CHECK_INT(row->statistics.gpu_count, known);
    CHECK_INT(row->statistics.gpu_total, total);
}

#define CHECK_ROW(run, name, ...)                                                                  \
    check_row(&(run), name, (const int64_t[]){__VA_ARGS__},                                        \
              sizeof (const int64_t[]){__VA_ARGS__} / 8)

/* A case in a thread of its own: the driver is released when the last thread lets go of it. */
static void *run_case(void *context)
{
    void (*run)(void) = *(void (**)(void))context;
    run();
    return NULL;
}

static void in_thread(void (*run)(void))
{
    pthread_t thread;
    pthread_create(&thread, NULL, run_case, &run);
    pthread_join(thread, NULL);
    CHECK_INT(device.alive, 0);
    CHECK_INT(device.released, 1);
}

#define RUN_IN_THREAD(function)                                                                    \
    do {                                                                                           \
        check_case = #function;                                                                    \
        in_thread(function);                                                                       \
    } while (0)

/* ---- Cases -----------------------------------------------------------------------------------*/

/* Some become known at later calls, the others at the publication. */
static void nested_calls(void)
{
    sp_profiler *profiler = start_with(&whole, false, NULL);
    int32_t step = make_region(profiler, "step"), solve = make_region(profiler, "solve");
    device.lag = 3;
    for (int64_t i = 1; i <= 3; i++) {
        sp_binding_begin(profiler, step);
        call(profiler, solve, 100 * i);
        device.now_ns += 7;
        sp_binding_begin(profiler, step); /* within itself */
        call(profiler, solve, i);
        sp_binding_end(profiler, step);
        sp_binding_end(profiler, step);
    }
    device.lazy_asks = 5;
    case_run run = publish(profiler, false);
    CHECK_ROW(run, "solve", 100, 1, 200, 2, 300, 3);
    CHECK_ROW(run, "step", 108, 1, 209, 2, 310, 3);
    case_close(&run);
    call(profiler, solve, 5);
    run = publish(profiler, false);
    CHECK_ROW(run, "solve", 5);
    case_close(&run);
    sp_binding_destroy(profiler);
}

static void calls_that_cross(void)
{
    sp_profiler *profiler = start_with(&whole, false, NULL);
    int32_t a = make_region(profiler, "a"), b = make_region(profiler, "b");
    sp_binding_begin(profiler, a);
    device.now_ns += 1;
    sp_binding_begin(profiler, b);
    device.now_ns += 10;
    sp_binding_end(profiler, a);
    device.now_ns += 100;
    sp_binding_end(profiler, b);
    case_run run = publish(profiler, false);
    CHECK_ROW(run, "a", 11);
    CHECK_ROW(run, "b", 110);
    case_close(&run);
    sp_binding_destroy(profiler);
}

/* No event at a begin, no event at an end, an event that has no time. */
static void missing_times(void)
{
    sp_profiler *profiler = start_with(&whole, false, NULL);
    int32_t a = make_region(profiler, "a"), b = make_region(profiler, "b");
    call(profiler, a, 3);
    device.refusals = 1;
    call(profiler, a, 4);
    sp_binding_begin(profiler, a);
    device.refusals = 1;
    sp_binding_end(profiler, a);
    call(profiler, a, 6);
    case_run run = publish(profiler, false);
    CHECK_ROW(run, "a", 3, -1, -1, 6);
    case_close(&run);
    device.has_no_times = true;
    call(profiler, b, 5);
    run = publish(profiler, false);
    CHECK_ROW(run, "b", -1);
    case_close(&run);
    sp_binding_destroy(profiler);
}

static void no_device_is_no_column(void)
{
    sp_profiler *profiler = start_with(&whole, false, NULL);
    device.refusals = 2;
    call(profiler, make_region(profiler, "a"), 3);
    case_run run = publish(profiler, false);
    CHECK(!(run.description->columns & SP_COLUMN_BIT(SP_COLUMN_GPU_DURATION)));
    case_close(&run);
    sp_binding_destroy(profiler);
}

static void kept_calls_come_again(void)
{
    sp_profiler *profiler = start_with(&whole, false, NULL);
    int32_t a = make_region(profiler, "a");
    device.lag = 3;
    for (int64_t i = 1; i <= 4; i++)
        call(profiler, a, i);
    device.lag = 0;
    for (int i = 0; i < 3; i++) {
        case_run run = publish(profiler, i < 2);
        CHECK_ROW(run, "a", 1, 2, 3, 4);
        case_close(&run);
    }
    sp_binding_destroy(profiler);
}

/* The device stays 40 events behind for a million calls. */
static void events_are_used_again(void)
{
    enum { CALLS = 1000000, LAG = 40 };
    sp_profiler *profiler = start_with(&whole, false, NULL);
    int32_t a = make_region(profiler, "a");
    device.lag = LAG;
    for (int i = 0; i < CALLS; i++)
        call(profiler, a, 2);
    CHECK(device.most_alive <= LAG + 4);
    CHECK_INT(device.records, 2 * CALLS);
    device.lag = 0;
    case_run run = publish(profiler, false);
    CHECK_INT(run.description->rows[0].statistics.gpu_count, CALLS);
    CHECK_INT(run.description->rows[0].statistics.gpu_total, 2 * CALLS);
    case_close(&run);
    sp_binding_destroy(profiler);
}

/* A device that does not come to anything takes no more memory than that. */
static void a_device_that_hangs_is_bounded(void)
{
    enum { CALLS = SP_DEVICE_PENDING + 1000 };
    sp_profiler *profiler = start_with(&whole, false, NULL);
    int32_t a = make_region(profiler, "a");
    device.lag = UINT64_MAX / 2;
    for (int i = 0; i < CALLS; i++)
        call(profiler, a, 2);
    CHECK_INT(device.most_alive, 2 * SP_DEVICE_PENDING);
    device.lag = 0;
    case_run run = publish(profiler, false);
    CHECK_INT(run.description->rows[0].count, CALLS);
    CHECK_INT(run.description->rows[0].statistics.gpu_count, SP_DEVICE_PENDING);
    case_close(&run);
    sp_binding_destroy(profiler);
}

/* A driver that cannot be asked is asked at publication alone. */
static void a_driver_that_may_wait(void)
{
    sp_device_driver driver = whole;
    driver.is_done = NULL;
    sp_profiler *profiler = start_with(&driver, false, NULL);
    int32_t a = make_region(profiler, "a");
    device.has_no_times = true;
    call(profiler, a, 1);
    call(profiler, a, 2);
    device.has_no_times = false;
    case_run run = publish(profiler, false);
    CHECK_ROW(run, "a", 1, 2);
    case_close(&run);
    sp_binding_destroy(profiler);
}

/* Both events are in the queue before it waits, and the time is there at once. */
static void ends_that_wait(void)
{
    sp_profiler *profiler = start_with(&whole, true, NULL);
    int32_t a = make_region(profiler, "a");
    call(profiler, a, 5);
    CHECK_INT(device.synchronized, 1);
    CHECK_INT(device.records_at_synchronize, 2);
    CHECK_INT(device.records, 2);
    call(profiler, a, 6);
    CHECK_INT(device.synchronized, 2);
    CHECK_INT(device.most_alive, 2);
    case_run run = publish(profiler, false);
    CHECK_ROW(run, "a", 5, 6);
    case_close(&run);
    sp_binding_destroy(profiler);
}

static void waiting_needs_a_driver_that_can(void)
{
    memset(&device, 0, sizeof device);
    sp_device_driver driver = whole;
    sp_instrument none;
    sp_error error = {0};
    driver.synchronize = NULL;
    CHECK_INT(sp_device_times_create(&driver, true, &none, &error), SP_ERR_INVALID_ARGUMENT);
    CHECK_CONTAINS(error.text, "'fake'");
    CHECK_INT(device.released, 1);
}

static void set_lag(uint64_t lag)
{
    pthread_mutex_lock(&device_lock);
    device.lag = lag;
    pthread_mutex_unlock(&device_lock);
}

enum { THREADS = 4, CALLS_EACH = 2000, PUBLICATIONS = 6 };

static void *on_a_thread(void *context)
{
    sp_profiler *profiler = context;
    int32_t region = sp_binding_intern("a", 1, NULL);
    for (int i = 0; i < CALLS_EACH; i++) {
        sp_binding_begin(profiler, region);
        sp_binding_end(profiler, region);
    }
    return NULL;
}

/* Also of threads that have ended. Every call is published once; one that ends while a publication goes on may
 * be written before its time is known, but none of those in a publication that nobody disturbs. */
static void several_threads(void)
{
    sp_profiler *profiler = start_with(&whole, false, NULL);
    make_region(profiler, "a");
    set_lag(20);
    pthread_t threads[THREADS];
    uint64_t calls = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, on_a_thread, profiler);
    for (int i = 0; i < PUBLICATIONS; i++) {
        bool is_last = i == PUBLICATIONS - 1;
        if (is_last)
            for (int t = 0; t < THREADS; t++)
                pthread_join(threads[t], NULL);
        set_lag(0);
        case_run run = publish(profiler, false);
        set_lag(20);
        for (size_t r = 0; r < run.description->num_rows; r++) {
            const sp_row *row = &run.description->rows[r];
            calls += row->count;
            CHECK(row->statistics.gpu_count <= row->count);
            if (is_last)
                CHECK_INT(row->statistics.gpu_count, row->count);
        }
        case_close(&run);
    }
    CHECK_INT(calls, THREADS * CALLS_EACH);
    sp_binding_destroy(profiler);
}

static char journal_path[200], rings_path[200];

static void take_path(void *context, const sp_journal_found *found)
{
    (void)context;
    snprintf(found->is_rings ? rings_path : journal_path, sizeof rings_path, "%s", found->path);
}

static void record_and_die(const char *output)
{
    sp_profiler *profiler = start_with(&whole, false, output);
    int32_t a = make_region(profiler, "a");
    device.lag = 2;
    for (int64_t i = 1; i <= 3; i++)
        call(profiler, a, i);
    raise(SIGKILL);
}

/* What was known by then. */
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
    CHECK_ROW(run, "a", 1, 2, -1);
    case_close(&run);
    unlink(rings_path);
}

int main(void)
{
    case_enter_folder();
    RUN_IN_THREAD(nested_calls);
    RUN_IN_THREAD(calls_that_cross);
    RUN_IN_THREAD(missing_times);
    RUN_IN_THREAD(no_device_is_no_column);
    RUN_IN_THREAD(kept_calls_come_again);
    RUN_IN_THREAD(events_are_used_again);
    RUN_IN_THREAD(a_device_that_hangs_is_bounded);
    RUN_IN_THREAD(a_driver_that_may_wait);
    RUN_IN_THREAD(ends_that_wait);
    RUN(waiting_needs_a_driver_that_can);
    RUN_IN_THREAD(several_threads);
    RUN(recovered);
    case_leave_folder();
    return check_result();
}
