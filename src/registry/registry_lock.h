/* registry_lock.h - the one lock of this layer, and what becomes of it at a fork. */
#ifndef SP_REGISTRY_REGISTRY_LOCK_H
#define SP_REGISTRY_REGISTRY_LOCK_H

void sp_registry_lock(void);
void sp_registry_unlock(void);

/* In the thread that forks: the lock is held from `prepare` to `parent` or `child`, so that the
 * child finds the tables whole. Should it not be had in time, the fork goes on without. */
void sp_registry_fork_prepare(void);
void sp_registry_fork_parent(void);
void sp_registry_fork_child(void);

#endif
