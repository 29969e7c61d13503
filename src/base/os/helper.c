#include "base/os/helper.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { SECOND_NS = 1000000000, STACK_BYTES = 1024 * 1024, STEP_US = 20, GONE_US = 20000 };

static struct timespec after(double seconds)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t whole = (int64_t)seconds;
    int64_t ns = now.tv_nsec + (int64_t)((seconds - (double)whole) * SECOND_NS);
    now.tv_sec += (time_t)(whole + ns / SECOND_NS);
    now.tv_nsec = (long)(ns % SECOND_NS);
    return now;
}

static void *run(void *given)
{
    sp_helper *helper = given;
    atomic_store(&helper->native_id, sp_os_thread_id());
    pthread_mutex_lock(&helper->lock);
    while (!helper->must_end && helper->seconds > 0) {
        struct timespec until = after(helper->seconds);
        int result = 0;
        while (!helper->must_end && result != ETIMEDOUT)
            result = pthread_cond_timedwait(&helper->wake, &helper->lock, &until);
        if (helper->must_end)
            break;
        pthread_mutex_unlock(&helper->lock);
        double seconds = helper->work();
        pthread_mutex_lock(&helper->lock);
        helper->seconds = seconds;
    }
    pthread_mutex_unlock(&helper->lock);
    atomic_store(&helper->is_running, false);
    return NULL;
}

/* With every signal blocked, which the thread inherits. */
static bool create(sp_helper *helper)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool is_created = pthread_create(&helper->thread, &attributes, run, helper) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return is_created;
}

static void make_condition(sp_helper *helper)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&helper->wake, &attributes);
    pthread_condattr_destroy(&attributes);
}

bool sp_helper_start(sp_helper *helper, double first, sp_helper_work *work)
{
    if (atomic_exchange(&helper->is_running, true))
        return true;
    make_condition(helper);
    helper->must_end = false;
    helper->seconds = first;
    helper->work = work;
    if (create(helper))
        return true;
    atomic_store(&helper->is_running, false);
    return false;
}

/* A thread that was joined may be in the system's count of threads for a moment longer. */
static void await_gone(int64_t native_id)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%lld", (long long)native_id);
    for (int waited = 0; waited < GONE_US && access(path, F_OK) == 0; waited += STEP_US)
        sp_os_thread_sleep_us(STEP_US);
}

void sp_helper_end(sp_helper *helper, int ms)
{
    if (!atomic_load(&helper->is_running))
        return;
    pthread_mutex_lock(&helper->lock);
    helper->must_end = true;
    pthread_cond_signal(&helper->wake);
    pthread_mutex_unlock(&helper->lock);
    for (int waited = 0; atomic_load(&helper->is_running) && waited < ms * 1000; waited += STEP_US)
        sp_os_thread_sleep_us(STEP_US);
    if (atomic_load(&helper->is_running)) {
        pthread_detach(helper->thread); /* it ends when its work is done */
        return;
    }
    pthread_join(helper->thread, NULL);
    await_gone(atomic_load(&helper->native_id));
}

void sp_helper_forget(sp_helper *helper)
{
    *helper = (sp_helper)SP_HELPER_INIT;
}
