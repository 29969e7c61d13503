/* sweep.h - files of rings that a process left behind and that hold nothing which is in no profile: a
 * worker that published and then ended without the handlers of a normal end leaves one. */
#ifndef SP_STORE_JOURNAL_SWEEP_H
#define SP_STORE_JOURNAL_SWEEP_H

/* Removes those of this user in a folder whose owner has ended. */
void sp_rings_sweep(const char *folder);

#endif
