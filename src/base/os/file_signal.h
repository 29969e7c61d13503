/* file_signal.h - a file that outgrows the process's limit raises SIGXFSZ, which ends the program.
 * While it is held on this thread a write fails with EFBIG instead. */
#ifndef SP_BASE_OS_FILE_SIGNAL_H
#define SP_BASE_OS_FILE_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

typedef struct sp_os_file_signal {
    sigset_t previous;  /* mask of the thread */
    bool was_pending;   /* before: then it is not ours to take */
} sp_os_file_signal;

void sp_os_file_signal_hold(sp_os_file_signal *state);
/* Takes back a signal that came meanwhile and restores the mask. */
void sp_os_file_signal_restore(const sp_os_file_signal *state);

#endif
