/* checkpoint.h - profiles that are written while a program records, by a thread of their own. Nothing
 * is consumed: the next one and the final one hold the calls again.
 *
 * Lock order: that of a profiler before the one of the list here.
 */
#ifndef SP_SESSION_CHECKPOINT_H
#define SP_SESSION_CHECKPOINT_H

#include "session/profiler.h"

/* Goes by the settings of a profiler from now on. Under the profiler's lock. */
void sp_checkpoint_want(sp_profiler *profiler);
/* No more of this one. Under the profiler's lock. */
void sp_checkpoint_forget(sp_profiler *profiler);

/* The process ends: one that is being written is finished. */
void sp_checkpoint_end(void);

/* A checkpoint that is being written is finished before a fork: the child has the same HDF5. */
void sp_checkpoint_fork_prepare(void);
void sp_checkpoint_fork_parent(void);
void sp_checkpoint_fork_child(void);

#endif
