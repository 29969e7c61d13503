/* thread.h - locks, thread identity, what happens at thread exit and at fork. */
#ifndef SP_BASE_OS_THREAD_H
#define SP_BASE_OS_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef pthread_mutex_t sp_mutex;
#define SP_MUTEX_INIT PTHREAD_MUTEX_INITIALIZER

static inline void sp_mutex_lock(sp_mutex *mutex)
{
    pthread_mutex_lock(mutex);
}

static inline bool sp_mutex_try(sp_mutex *mutex)
{
    return pthread_mutex_trylock(mutex) == 0;
}

static inline void sp_mutex_unlock(sp_mutex *mutex)
{
    pthread_mutex_unlock(mutex);
}

/* Makes it a fresh, open lock whatever it was: first use, or in the child of a fork. */
void sp_mutex_reset(sp_mutex *mutex);
/* Tries for about `ms` milliseconds. */
bool sp_mutex_lock_within(sp_mutex *mutex, int ms);

/* Runs a function once for the life of the process. */
typedef pthread_once_t sp_once;
#define SP_ONCE_INIT PTHREAD_ONCE_INIT

static inline void sp_once_run(sp_once *once, void (*function)(void))
{
    pthread_once(once, function);
}

/* The number the system knows the calling thread by. */
int64_t sp_os_thread_id(void);
/* Name that the program gave to a thread of this process (`id` as sp_os_thread_id tells it). False when
 * it has none of its own: threads begin with the name of the program. errno is left alone. */
enum { SP_OS_THREAD_NAME = 16 };
bool sp_os_thread_name(int64_t id, char out[SP_OS_THREAD_NAME]);
/* Lets the calling thread rest for at least so long, unless a signal comes. */
void sp_os_thread_sleep_us(int us);

/* Calls `at_exit(value)` when the calling thread ends, for the value last set on it; NULL: no
 * call. False when the system has no room for it. `at_exit` is the same in every call. */
typedef void sp_thread_exit(void *value);
bool sp_os_thread_set(void *value, sp_thread_exit *at_exit);

/* Around every fork of the process; once for the life of it. */
bool sp_os_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

#endif
