/* Events of CUDA and HIP, of a library that stands in for theirs. */
#include "check.h"

#include "backends/cuda/driver.h"

#include <dlfcn.h>
#include <pthread.h>

static struct {
    void (*context)(void *context);
    void (*work)(double ms);
    void (*run)(void);
    void (*hold)(int holds);
    void (*fail_records)(int count);
    void (*capture)(int captures);
    void (*lose_context)(void *context);
    long (*count)(const char *what);
} fake;

static char one[1], two[1]; /* contexts */
static sp_device_driver d;

static void open_fake(const char *driver, const char *library)
{
    static const char *const names[] = {"fake_context",      "fake_work",         "fake_run",
                                        "fake_hold",         "fake_fail_records", "fake_capture",
                                        "fake_lose_context", "fake_count"};
    sp_error error = {0};
    if (!CHECK_INT(sp_device_module(driver, &d, &error), SP_OK))
        fprintf(stderr, "%s\n", error.text);
    void *loaded = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *found = dlsym(loaded, names[i]);
        memcpy((char *)&fake + i * sizeof found, &found, sizeof found);
    }
}

static void *record(void *event)
{
    return d.record(d.context, &event) ? event : NULL;
}

static void times_are_those_of_the_device(void)
{
    fake.context(one);
    void *a = record(NULL);
    fake.work(1.5);
    void *b = record(NULL);
    CHECK(d.is_done(d.context, b));
    CHECK_INT(d.elapsed_ns(d.context, a, b), 1500000);
    CHECK_INT(d.elapsed_ns(d.context, b, a), -1); /* never negative */
    fake.hold(1);
    CHECK(record(a) == a); /* used again */
    fake.work(0.25);
    CHECK(record(b) == b);
    CHECK(!d.is_done(d.context, b));
    CHECK_INT(d.elapsed_ns(d.context, a, b), -1);
    d.synchronize(d.context);
    CHECK(d.is_done(d.context, b));
    CHECK_INT(d.elapsed_ns(d.context, a, b), 250000);
    fake.hold(0);
    d.destroy(d.context, a);
    d.destroy(d.context, b);
    CHECK_INT(fake.count("alive"), 0);
    CHECK_INT(fake.count("mistakes"), 0);
}

static void nothing_is_done_without_a_context(void)
{
    long before = fake.count("synchronized");
    fake.context(NULL);
    CHECK(record(NULL) == NULL);
    d.synchronize(d.context);
    CHECK_INT(fake.count("synchronized"), before);
    CHECK_INT(fake.count("mistakes"), 0);
}

static void captures_are_left_alone(void)
{
    fake.context(one);
    void *a = record(NULL), *b = record(NULL);
    long before = fake.count("recorded");
    fake.capture(1);
    CHECK(record(NULL) == NULL);
    void *again = a;
    CHECK(!d.record(d.context, &again) && again == a);
    CHECK(d.is_done(d.context, b)); /* asking is fine */
    d.synchronize(d.context);
    fake.capture(0);
    CHECK_INT(fake.count("recorded"), before);
    d.destroy(d.context, a);
    d.destroy(d.context, b);
    CHECK_INT(fake.count("mistakes"), 0);
}

static void a_refused_event_is_used_again(void)
{
    fake.context(one);
    void *event = NULL;
    fake.fail_records(1);
    CHECK(!d.record(d.context, &event));
    CHECK(event != NULL && record(event) == event);
    d.destroy(d.context, event);
    CHECK_INT(fake.count("alive"), 0);
}

static void *ask_elsewhere(void *events)
{
    void **pair = events;
    CHECK(d.is_done(d.context, pair[1]));
    CHECK_INT(d.elapsed_ns(d.context, pair[0], pair[1]), 3000000);
    return NULL;
}

/* Devices change, and whoever asks may have none. */
static void events_know_their_context(void)
{
    void *pair[2];
    pthread_t thread;
    fake.context(one);
    pair[0] = record(NULL);
    fake.work(3);
    pair[1] = record(NULL);
    pthread_create(&thread, NULL, ask_elsewhere, pair);
    pthread_join(thread, NULL);
    fake.context(two);
    void *moved = pair[0];
    CHECK(d.record(d.context, &moved)); /* an event of this context instead */
    CHECK_INT(d.elapsed_ns(d.context, pair[1], moved), -1);
    CHECK_INT(fake.count("alive"), 2);
    CHECK_INT(fake.count("mistakes"), 0);
    fake.lose_context(one);
    CHECK(d.is_done(d.context, pair[1]));
    d.destroy(d.context, pair[1]); /* went with its context */
    d.destroy(d.context, moved);
    CHECK_INT(fake.count("alive"), 1);
    CHECK_INT(fake.count("mistakes"), 0);
    fake.lose_context(NULL);
}

static void all_of(const char *driver, const char *library)
{
    open_fake(driver, library);
    if (fake.count == NULL)
        return;
    CHECK_TEXT(d.name, driver);
    RUN(times_are_those_of_the_device);
    RUN(nothing_is_done_without_a_context);
    RUN(captures_are_left_alone);
    RUN(a_refused_event_is_used_again);
    RUN(events_know_their_context);
    d.release(d.context);
}

static void other_names_are_refused(void)
{
    sp_error error = {0};
    CHECK_INT(sp_device_module("sycl", &d, &error), SP_ERR_NOT_FOUND);
    CHECK_CONTAINS(error.text, "'sycl' here; there are cuda and hip");
}

int main(void)
{
    RUN(other_names_are_refused);
    all_of("cuda", "libcuda.so.1");
    all_of("hip", "libamdhip64.so.6");
    return check_result();
}
