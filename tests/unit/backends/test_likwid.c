/* LIKWID's markers around calls: order, names and threads as a stand-in for its library writes them down, and
 * what is reported of it. Each case runs in a process of its own: the library stays for the life of one. */
#include "check.h"

#include "backends/likwid/markers.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void set_environment(void)
{
    remove("likwid_stub.log");
    setenv("LIKWID_LIB", LIKWID_STUB, 1);
    setenv("LIKWID_STUB_LOG", "likwid_stub.log", 1);
    setenv("LIKWID_MODE", "1", 1);
    setenv("LIKWID_FILEPATH", "likwid_stub.marker", 1);
    setenv("LIKWID_EVENTS", "CLOCK", 1);
    setenv("LIKWID_THREADS", "0,2", 1);
}

static void in_child(void (*run)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        set_environment();
        check_failures = 0;
        run();
        exit(check_failures > 0);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_INT(status, 0);
}

static const char *content(const char *path)
{
    static char text[4096];
    FILE *file = fopen(path, "r");
    size_t length = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);
    text[length] = '\0';
    if (file != NULL)
        fclose(file);
    return text;
}

static sp_instrument likwid;

static void begin(void *state, int32_t region, const char *name)
{
    sp_instrument_call call = {.region = region, .name = name};
    likwid.begin(likwid.context, state, &call);
}

static void end(void *state, int32_t region, const char *name)
{
    char payload[SP_INSTRUMENT_PAYLOAD];
    sp_instrument_call call = {.region = region, .name = name};
    CHECK_INT(likwid.end(likwid.context, state, &call, payload), 0);
}

static void *on_another_thread(void *context)
{
    void *state;
    (void)context;
    CHECK(likwid.attach_thread(likwid.context, &state, NULL));
    begin(state, 2, "step");
    likwid.detach_thread(likwid.context, state); /* with a call open */
    return NULL;
}

/* Nested, recursive, crossing, on two threads; an end without a begin. */
static void calls_are_marked(void)
{
    void *state;
    pthread_t thread;
    if (!CHECK_INT(sp_instrument_module(NULL, &likwid, NULL), SP_OK))
        return;
    CHECK(likwid.attach_thread(likwid.context, &state, NULL));
    begin(state, 7, "main");
    begin(state, 2, "step");
    begin(state, 2, "step");
    end(state, 2, "step");
    end(state, 7, "main");
    end(state, 2, "step");
    end(state, 2, "step");
    pthread_create(&thread, NULL, on_another_thread, NULL);
    pthread_join(thread, NULL);
    CHECK_TEXT(content("likwid_stub.log"), "init 1\nthread 1\nstart 1 main\nstart 1 step\n"
                                           "stop 1 main\nstop 1 step\n"
                                           "thread 2\nstart 2 step\nstop 2 step\n");
    char *text = likwid.results(likwid.context, 3);
    /* The stand-in counts a region over all threads: one call after the first thread, two after both. */
    CHECK_TEXT(text,
               "{\"3\": {\"step\": {\"tag\": \"step\", \"group_id\": 0, \"group_name\": \"CLOCK\", "
               "\"cpus\": [0, 0], \"times\": [0.5, 1], \"call_counts\": [1, 2], "
               "\"event_names\": [\"INSTR\", \"CYC\"], \"counter_names\": [\"FIXC0\", \"FIXC1\"], "
               "\"events\": [[100, 200], [40, 80]], \"metric_names\": [], \"metrics\": [], "
               "\"source\": \"marker_api\", \"missed_calls\": [0, 0]}, "
               "\"main\": {\"tag\": \"main\", \"group_id\": 0, \"group_name\": \"CLOCK\", "
               "\"cpus\": [0], \"times\": [0.5], \"call_counts\": [1], "
               "\"event_names\": [\"INSTR\", \"CYC\"], \"counter_names\": [\"FIXC0\", \"FIXC1\"], "
               "\"events\": [[100], [40]], \"metric_names\": [], \"metrics\": [], "
               "\"source\": \"marker_api\", \"missed_calls\": [0]}}}");
    free(text);
    likwid.detach_thread(likwid.context, state);
    likwid.release(likwid.context);
}

static void nothing_counted_is_nothing_said(void)
{
    static const char *const items[] = {"markers"};
    sp_instrument_request markers = {.size = sizeof markers, .items = items, .num_items = 1};
    void *state;
    setenv("LIKWID_STUB_REFUSES", "start", 1);
    CHECK_INT(sp_instrument_module(NULL, &likwid, NULL), SP_OK);
    CHECK(likwid.attach_thread(likwid.context, &state, NULL));
    begin(state, 0, "main");
    end(state, 0, "main");
    CHECK(likwid.results(likwid.context, 0) == NULL);
    CHECK_TEXT(content("likwid_stub.log"), "init 1\nthread 1\nstart 1 main\n");
    likwid.release(likwid.context);
    CHECK_INT(sp_instrument_module(&markers, &likwid, NULL), SP_OK); /* the markers are up: no init */
    CHECK(likwid.results(likwid.context, 0) == NULL);
    CHECK_TEXT(content("likwid_stub.log"), "init 1\nthread 1\nstart 1 main\n");
    likwid.release(likwid.context);
}

static void markers_of_the_program_are_left_to_it(void)
{
    void *library = dlopen(LIKWID_STUB, RTLD_NOW);
    void (*init)(void) = NULL;
    *(void **)&init = dlsym(library, "likwid_markerInit");
    init();
    CHECK_INT(sp_instrument_module(NULL, &likwid, NULL), SP_OK);
    CHECK_TEXT(content("likwid_stub.log"), "init 1\n");
    likwid.release(likwid.context);
}

static void a_thread_elsewhere_is_named(void)
{
    sp_error error = {0};
    void *state;
    CHECK_INT(sp_instrument_module(NULL, &likwid, NULL), SP_OK);
    setenv("LIKWID_STUB_PROCESSOR", "2", 1);
    CHECK(likwid.attach_thread(likwid.context, &state, NULL));
    setenv("LIKWID_STUB_PROCESSOR", "1", 1);
    CHECK(!likwid.attach_thread(likwid.context, &state, &error));
    CHECK_CONTAINS(error.text, "runs on processor 1, and likwid-perfctr measures 0,2");
    likwid.release(likwid.context);
}

static void check_refused(int status, const char *words)
{
    sp_error error = {0};
    CHECK_INT(sp_instrument_module(NULL, &likwid, &error), status);
    CHECK_CONTAINS(error.text, words);
}

static void a_program_on_its_own_is_told(void)
{
    unsetenv("LIKWID_FILEPATH");
    check_refused(SP_ERR_UNSUPPORTED, "LIKWID_FILEPATH is not set, so nothing is counted; run the "
                                      "program under likwid-perfctr");
    CHECK_TEXT(content("likwid_stub.log"), "");
}

static void events_that_cannot_be_counted_are_named(void)
{
    setenv("LIKWID_STUB_REFUSES", "init", 1);
    check_refused(SP_ERR_UNSUPPORTED, "LIKWID cannot count LIKWID_EVENTS='CLOCK' here");
}

static void another_library_is_refused(void)
{
    setenv("LIKWID_LIB", "libm.so.6", 1);
    check_refused(SP_ERR_NO_MODULE, "LIKWID's library has no likwid_markerInit");
}

static void environment_is_a_text_of_its_own(void)
{
    static const char *const items[] = {"environment", "other"};
    sp_instrument_request request = {.size = sizeof request, .items = items, .num_items = 1};
    CHECK_INT(sp_instrument_module(&request, &likwid, NULL), SP_OK);
    CHECK_TEXT(likwid.name, "likwid_environment");
    char *text = likwid.results(likwid.context, 1);
    CHECK(strncmp(text, "{\"1\": {\"LIKWID_", 15) == 0);
    CHECK_CONTAINS(text, "\"LIKWID_THREADS\": \"0,2\"");
    free(text);
    request.items++;
    CHECK_INT(sp_instrument_module(&request, &likwid, NULL), SP_ERR_INVALID_ARGUMENT);
}

int main(void)
{
    in_child(calls_are_marked);
    /* Closed when that process ended: one call of main, two of step. */
    CHECK_CONTAINS(content("likwid_stub.log"), "stop 2 step\nclose 1\n");
    CHECK_TEXT(content("likwid_stub.marker"), "1 2 1\n0:main-0\n1:step-0\n"
                                              "0 0 0 1 5.000000e-01 2 1.000000e+02 4.000000e+01 \n"
                                              "1 0 0 2 1.000000e+00 2 2.000000e+02 8.000000e+01 \n");
    in_child(nothing_counted_is_nothing_said);
    in_child(markers_of_the_program_are_left_to_it);
    CHECK_TEXT(content("likwid_stub.log"), "init 1\n");
    in_child(a_thread_elsewhere_is_named);
    in_child(a_program_on_its_own_is_told);
    in_child(events_that_cannot_be_counted_are_named);
    in_child(another_library_is_refused);
    in_child(environment_is_a_text_of_its_own);
    return check_result();
}
