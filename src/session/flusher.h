/* flusher.h - the helper thread that drains every ring and hands journals to the disk now and then,
 * so that a machine that goes away takes little with it. It is started by the first recording that
 * lasts longer than a second: short programs have no thread that is not theirs. */
#ifndef SP_SESSION_FLUSHER_H
#define SP_SESSION_FLUSHER_H

#include <stdbool.h>

/* Makes sure that it runs, and works after so many seconds (0: nobody needs it). Any thread, under
 * any lock. */
void sp_flusher_need(double seconds);

/* Around a fork: it ends before, so that a program that counts its threads sees its own, and starts
 * again when it is needed. */
void sp_flusher_fork_prepare(void);
void sp_flusher_fork_child(void);

#endif
