/* helper.h - a thread of our own that sleeps most of the time. It takes no signal of the program's. */
#ifndef SP_BASE_OS_HELPER_H
#define SP_BASE_OS_HELPER_H

#include "base/os/thread.h"

#include <stdatomic.h>

/* Does what it does; returns the seconds until the next time, 0: never again. */
typedef double sp_helper_work(void);

typedef struct sp_helper {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    atomic_bool is_running;
    bool must_end;
    double seconds; /* until it works */
    _Atomic int64_t native_id;
    sp_helper_work *work;
} sp_helper;

#define SP_HELPER_INIT {.lock = PTHREAD_MUTEX_INITIALIZER}

/* Starts it unless it runs; `first`: seconds until it works for the first time. False: the system has
 * no thread left. */
bool sp_helper_start(sp_helper *helper, double first, sp_helper_work *work);
/* Ends it and waits until the system has forgotten it, but not for longer than `ms` milliseconds while
 * it is at work. */
void sp_helper_end(sp_helper *helper, int ms);
/* In the child of a fork, where there is no such thread. */
void sp_helper_forget(sp_helper *helper);

#endif
