#include "base/os/final_signal.h"

#include "base/os/thread.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { MOST_SIGNALS = 65, STACK_BYTES = 1024 * 1024 };

static const struct {
    const char *name;
    int number;
} names[] = {{"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT}, {"USR1", SIGUSR1},
             {"USR2", SIGUSR2}, {"ALRM", SIGALRM}, {"TERM", SIGTERM}, {"XCPU", SIGXCPU},
             {"VTALRM", SIGVTALRM}, {"PROF", SIGPROF}, {"PIPE", SIGPIPE}};

static sem_t wake;
static pthread_t thread;
static bool is_running, has_semaphore;
static atomic_bool must_end;
static atomic_bool pending[MOST_SIGNALS];
static bool is_ours[MOST_SIGNALS];
static struct sigaction before[MOST_SIGNALS];
static sp_os_final_work *work_to_do;
static sp_mutex lock = SP_MUTEX_INIT;

int sp_os_signal_number(const char *name, size_t length)
{
    if (length > 3 && strncasecmp(name, "SIG", 3) == 0) {
        name += 3;
        length -= 3;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool is_number = length > 0 && name[0] >= '0' && name[0] <= '9' &&
                         strtol(name, NULL, 10) == names[i].number;
        if (is_number || (strlen(names[i].name) == length &&
                          strncasecmp(names[i].name, name, length) == 0))
            return names[i].number;
    }
    return 0;
}

static void note(int number)
{
    int kept = errno;
    if (!atomic_exchange(&pending[number], true))
        sem_post(&wake);
    errno = kept;
}

/* Who has put a handler of his own in place of ours meanwhile keeps it. */
static void put_back(int number)
{
    struct sigaction now;
    if (is_ours[number] && sigaction(number, NULL, &now) == 0 && now.sa_handler == note)
        sigaction(number, &before[number], NULL);
    is_ours[number] = false;
}

static void answer(int number)
{
    bool ends = (before[number].sa_flags & SA_SIGINFO) == 0 && before[number].sa_handler == SIG_DFL;
    work_to_do(number, ends);
    sp_mutex_lock(&lock);
    put_back(number);
    sp_mutex_unlock(&lock);
    kill(getpid(), number);
}

static void *run(void *unused)
{
    for (;;) {
        while (sem_wait(&wake) != 0 && errno == EINTR)
            continue;
        if (atomic_load(&must_end))
            return unused;
        for (int number = 1; number < MOST_SIGNALS; number++)
            if (atomic_exchange(&pending[number], false))
                answer(number);
    }
}

/* With every signal blocked. */
static bool start_thread(void)
{
    sigset_t all, mask;
    pthread_attr_t attributes;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    atomic_store(&must_end, false);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    is_running = pthread_create(&thread, &attributes, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    pthread_attr_destroy(&attributes);
    return is_running;
}

static bool take_over(int number)
{
    struct sigaction action = {.sa_flags = SA_RESTART | SA_ONSTACK};
    action.sa_handler = note;
    sigemptyset(&action.sa_mask);
    if (is_ours[number])
        return true;
    is_ours[number] = sigaction(number, &action, &before[number]) == 0;
    return is_ours[number];
}

bool sp_os_final_signals_add(const int *signals, size_t count, sp_os_final_work *work)
{
    sp_mutex_lock(&lock);
    work_to_do = work;
    if (!has_semaphore)
        has_semaphore = sem_init(&wake, 0, 0) == 0;
    bool is_ready = has_semaphore && (is_running || start_thread());
    for (size_t i = 0; i < count && is_ready; i++)
        is_ready = take_over(signals[i]);
    sp_mutex_unlock(&lock);
    return is_ready;
}

void sp_os_final_signals_fork_prepare(void)
{
    sp_mutex_lock(&lock);
    if (!is_running)
        return;
    atomic_store(&must_end, true);
    sem_post(&wake);
    pthread_join(thread, NULL);
}

void sp_os_final_signals_fork_parent(void)
{
    if (is_running)
        start_thread();
    sp_mutex_unlock(&lock);
    for (int number = 1; number < MOST_SIGNALS; number++)
        if (atomic_load(&pending[number]))
            sem_post(&wake);
}

void sp_os_final_signals_fork_child(void)
{
    for (int number = 1; number < MOST_SIGNALS; number++) {
        put_back(number);
        atomic_store(&pending[number], false);
    }
    is_running = has_semaphore = false;
    sp_mutex_unlock(&lock); /* this thread locked it before the fork */
}
