/* attach.h - giving a thread its lane in a recording, and taking it back. */
#ifndef SP_RECORDER_ATTACH_H
#define SP_RECORDER_ATTACH_H

#include "recorder/recording.h"

/* Lane of the calling thread for the current configuration, made or re-used. NULL: memory is short,
 * or the thread is in the middle of getting one. Not on a path of that recording. */
sp_lane *sp_lane_attach(sp_recording *recording);

/* Gives a recording that runs instruments to go on with, if it has none (they are let go otherwise).
 * Lanes that threads have already go on without, except the calling thread's; of its open calls what
 * they measure from now on counts. */
void sp_recording_adopt_instruments(sp_recording *recording, sp_instruments *instruments);

/* True in a signal handler that interrupts sp_lane_attach or a holder of the lock of a recording: a
 * begin there is dropped, and so must its end be. */
bool sp_thread_is_occupied(void);
/* Makes it so, for who takes another lock that a signal handler's begin could want; `before` is what
 * the first returned. */
sp_lane *sp_thread_occupy(void);
void sp_thread_vacate(sp_lane *before);

/* What the thread is called from now on, in this recording and those it joins later. */
void sp_thread_describe(sp_recording *recording, const char *name, int64_t ident, bool is_daemon);

/* The same with the name alone. */
void sp_thread_rename(sp_recording *recording, const char *name);

/* Nobody will end the calls that are open from `frame` to `top`: they are counted as lost with their
 * thread. Under the drain lock. */
void sp_lane_give_up(sp_lane *lane, const sp_frame *frame, const sp_frame *top);

/* Frees a lane that no thread has. */
void sp_lane_free(sp_lane *lane);

/* Around a fork, in the thread that forks, one at a time: what it records meanwhile is dropped, so that
 * the child writes nothing into memory that it has in common with its parent. */
void sp_thread_fork_prepare(void);
void sp_thread_fork_parent(void);
/* In the child of a fork: the thread that goes on has no lanes. */
void sp_thread_forget(void);

#endif
