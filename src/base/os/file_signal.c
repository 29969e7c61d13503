#include "base/os/file_signal.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

static sigset_t only_file_size(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    return set;
}

void sp_os_file_signal_hold(sp_os_file_signal *state)
{
    sigset_t pending, set = only_file_size();
    sigpending(&pending);
    state->was_pending = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &set, &state->previous);
}

void sp_os_file_signal_restore(const sp_os_file_signal *state)
{
    int kept = errno;
    sigset_t set = only_file_size();
    const struct timespec now = {0, 0};
    while (!state->was_pending && sigtimedwait(&set, NULL, &now) == -1 && errno == EINTR)
        continue;
    pthread_sigmask(SIG_SETMASK, &state->previous, NULL);
    errno = kept;
}
