/* final_signal.h - work that is done when a signal comes, before it has its effect. The handler only
 * wakes a helper thread; that does the work, puts the old action back and sends the signal again, so
 * that the program ends, or goes on, as it would have.
 *
 * For the process as a whole: one set of signals, one work. */
#ifndef SP_BASE_OS_FINAL_SIGNAL_H
#define SP_BASE_OS_FINAL_SIGNAL_H

#include <stdbool.h>
#include <stddef.h>

/* Number of "SIGTERM", "TERM" or "15"; 0: there is no such signal, or nothing can be done before it has
 * its effect (SIGKILL, SIGSTOP, and crashes, during which no other thread may rely on anything). */
int sp_os_signal_number(const char *name, size_t length);

/* `ends`: the program will die of the signal, because nobody else handles it. */
typedef void sp_os_final_work(int signal, bool ends);

/* Adds signals; those that are there already stay. False: the system has no thread or no handler left. */
bool sp_os_final_signals_add(const int *signals, size_t count, sp_os_final_work *work);

/* Around a fork: the thread ends before and comes back after it; the child has the old actions. */
void sp_os_final_signals_fork_prepare(void);
void sp_os_final_signals_fork_parent(void);
void sp_os_final_signals_fork_child(void);

#endif
