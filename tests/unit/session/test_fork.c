/* Forking while recording: the child is silent until it starts its own run, the parent goes on as if
 * nothing had been. */
#include "session_case.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

static sp_profiler *p;
static int32_t a;

static void start(void)
{
    sp_binding_settings settings = {.size = sizeof settings};
    sp_binding_region_spec spec = {.size = sizeof spec, .enabled = true};
    CHECK_INT(sp_binding_configure(p, &settings, NULL), SP_OK);
    a = sp_binding_intern("a", 1, NULL);
    CHECK_INT(sp_binding_set_region(p, a, &spec, NULL), SP_OK);
}

static void record(int times)
{
    for (int i = 0; i < times; i++) {
        sp_binding_begin(p, a);
        sp_binding_end(p, a);
    }
}

static int64_t published(void)
{
    sp_binding_publication what = {.size = sizeof what};
    sp_binding_report report;
    CHECK_INT(sp_binding_publish(p, &what, &report, NULL), SP_OK);
    case_run run = case_open(NULL, &report);
    int64_t calls = case_calls(&run, "a");
    case_close(&run);
    return calls;
}

/* Exit status of a child that ran `function`. */
static int in_child(void (*function)(void))
{
    pid_t child = fork();
    if (child == 0) {
        check_failures = 0;
        function();
        _exit(check_failures > 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void silent(void)
{
    CHECK(!sp_binding_is_recording(p));
    record(10);
    sp_binding_end(p, a); /* of the call that the parent has open */
    CHECK_INT(sp_binding_num_calls(p, a), 0);
    CHECK(!sp_is_active());
    CHECK_INT(sp_finalize(), SP_ERR_INACTIVE);
}

static void own_run(void)
{
    start();
    record(3);
    CHECK_INT(published(), 3);
    CHECK_INT(in_child(silent), 0); /* and once more */
    CHECK_INT(sp_init("child", 0), SP_OK);
    int b = sp_region("b");
    sp_begin(b);
    sp_end(b);
    CHECK_INT(sp_num_calls(b), 1);
    if (sp_hdf5_available())
        CHECK_INT(sp_finalize(), SP_OK);
}

static void parent_goes_on(void)
{
    start();
    sp_binding_begin(p, a);
    record(1);
    CHECK_INT(in_child(silent), 0);
    CHECK_INT(in_child(own_run), 0);
    record(1);
    sp_binding_end(p, a);
    CHECK_INT(published(), 3);
}

static atomic_bool go_on;

static void *record_on(void *argument)
{
    while (atomic_load(&go_on)) {
        record(1000);
        usleep(2000); /* the forks take long under a sanitizer: what is kept must stay small */
    }
    return argument;
}

static void *make_regions(void *argument)
{
    for (int i = 0; atomic_load(&go_on); i++) {
        char name[32];
        snprintf(name, sizeof name, "region %d", i % 5000);
        sp_binding_intern(name, strlen(name), NULL);
        if (i % 100 == 0)
            usleep(100);
    }
    return argument;
}

/* Whatever the other threads were doing at that moment. */
static __attribute__((unused)) void while_others_record(void)
{
    pthread_t threads[3];
    start();
    atomic_store(&go_on, true);
    pthread_create(&threads[0], NULL, record_on, NULL);
    pthread_create(&threads[1], NULL, record_on, NULL);
    pthread_create(&threads[2], NULL, make_regions, NULL);
    for (int i = 0; i < 50; i++)
        if (!CHECK_INT(in_child(i % 2 == 0 ? silent : own_run), 0))
            break;
    atomic_store(&go_on, false);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(published(), sp_binding_num_calls(p, a));
}

int main(void)
{
    case_enter_folder();
    p = sp_binding_create();
    if (!CHECK(p != NULL))
        return check_result();
    RUN(parent_goes_on);
#ifndef __SANITIZE_ADDRESS__ /* its allocator takes no locks over a fork: now and then the child hangs */
    RUN(while_others_record);
#endif
    case_leave_folder();
    return check_result();
}
