#include "registry/registry_lock.h"

#include "base/os/thread.h"

enum { FORK_WAIT_MS = 200 };

static sp_mutex lock = SP_MUTEX_INIT;
static bool is_held; /* by the thread that forks */

void sp_registry_lock(void)
{
    sp_mutex_lock(&lock);
}

void sp_registry_unlock(void)
{
    sp_mutex_unlock(&lock);
}

void sp_registry_fork_prepare(void)
{
    is_held = sp_mutex_lock_within(&lock, FORK_WAIT_MS);
}

void sp_registry_fork_parent(void)
{
    if (is_held)
        sp_mutex_unlock(&lock);
}

void sp_registry_fork_child(void)
{
    if (is_held)
        sp_mutex_unlock(&lock);
    else
        sp_mutex_reset(&lock);
}
