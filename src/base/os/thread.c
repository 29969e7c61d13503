#include "base/os/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void sp_mutex_reset(sp_mutex *mutex)
{
    pthread_mutex_init(mutex, NULL);
}

bool sp_mutex_lock_within(sp_mutex *mutex, int ms)
{
#if defined(__APPLE__)
    for (int waited = 0; !sp_mutex_try(mutex); waited++) {
        if (waited >= ms)
            return false;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    return true;
#else
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000L;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    return pthread_mutex_timedlock(mutex, &until) == 0;
#endif
}

void sp_os_thread_sleep_us(int us)
{
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000L}, NULL);
}

int64_t sp_os_thread_id(void)
{
#if defined(__APPLE__)
    uint64_t id = 0;
    pthread_threadid_np(NULL, &id);
    return (int64_t)id;
#else
    return syscall(SYS_gettid);
#endif
}

#if defined(__APPLE__)
bool sp_os_thread_name(int64_t id, char out[SP_OS_THREAD_NAME])
{
    return id == sp_os_thread_id() &&
           pthread_getname_np(pthread_self(), out, SP_OS_THREAD_NAME) == 0 && out[0] != '\0';
}
#else
/* The system's word for a thread, as short as it keeps it; "" when the thread has ended. */
static void read_name(int64_t id, char out[SP_OS_THREAD_NAME])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%lld/comm", (long long)id);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, out, SP_OS_THREAD_NAME);
    if (file >= 0)
        close(file);
    out[length > 0 ? length - 1 : 0] = '\0'; /* it ends with a line */
}

bool sp_os_thread_name(int64_t id, char out[SP_OS_THREAD_NAME])
{
    int saved_errno = errno;
    char of_program[SP_OS_THREAD_NAME];
    read_name(id, out);
    read_name(getpid(), of_program);
    errno = saved_errno;
    return out[0] != '\0' && strcmp(out, of_program) != 0 &&
           strncmp(out, program_invocation_short_name, SP_OS_THREAD_NAME - 1) != 0;
}
#endif

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t exit_key;
static bool has_key;
static _Atomic(sp_thread_exit *) exit_function;

static void call_exit_function(void *value)
{
    sp_thread_exit *function = atomic_load(&exit_function);
    function(value);
}

static void make_key(void)
{
    has_key = pthread_key_create(&exit_key, call_exit_function) == 0;
}

bool sp_os_thread_set(void *value, sp_thread_exit *at_exit)
{
    atomic_store(&exit_function, at_exit);
    pthread_once(&key_once, make_key);
    return has_key && pthread_setspecific(exit_key, value) == 0;
}

bool sp_os_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    return pthread_atfork(prepare, parent, child) == 0;
}
