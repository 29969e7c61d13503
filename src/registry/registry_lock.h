/* registry_lock.h - the one lock of this layer, and what becomes of it at a fork. */
#ifndef SP_REGISTRY_REGISTRY_LOCK_H
#define SP_REGISTRY_REGISTRY_LOCK_H

#include <stdbool.h>

void sp_registry_lock(void);
void sp_registry_unlock(void);

/* In the thread that forks: the lock is held from `prepare` to `parent` or `child`, so that the
 * child finds the tables whole. False: it could not be had in time and is not held. */
bool sp_registry_fork_prepare(void);
void sp_registry_fork_parent(void);
void sp_registry_fork_child(void);

#endif
