#include "registry/registry_lock.h"

#include "base/os/thread.h"

enum { FORK_WAIT_MS = 200 };

static sp_mutex lock = SP_MUTEX_INIT;

void sp_registry_lock(void)
{
    sp_mutex_lock(&lock);
}

void sp_registry_unlock(void)
{
    sp_mutex_unlock(&lock);
}

bool sp_registry_fork_prepare(void)
{
    return sp_mutex_lock_within(&lock, FORK_WAIT_MS);
}

void sp_registry_fork_parent(void)
{
    sp_mutex_unlock(&lock);
}

void sp_registry_fork_child(void)
{
    sp_mutex_reset(&lock);
}
