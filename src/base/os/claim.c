#include "base/os/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char *lock_path_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    size_t room = strlen(path) + sizeof "..lock";
    char *out = malloc(room);
    if (out != NULL)
        snprintf(out, room, "%.*s.%s.lock", (int)(name - path), path, name);
    return out;
}

/* Locks the file; NULL-safe answer: >= 0 locked, -1 no file to lock, -2 another has it. */
static int lock(const char *lock_path)
{
    int descriptor = open(lock_path, O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return -1;
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        return descriptor;
    int reason = errno;
    close(descriptor);
    return reason == EWOULDBLOCK ? -2 : -1;
}

bool sp_os_claim_take(sp_os_claim *claim, const char *path)
{
    char *lock_path = lock_path_of(path);
    int descriptor = lock_path == NULL ? -1 : lock(lock_path);
    if (descriptor < 0) {
        free(lock_path);
        return descriptor != -2;
    }
    *claim = (sp_os_claim){.descriptor = descriptor + 1, .lock_path = lock_path};
    return true;
}

void sp_os_claim_release(sp_os_claim *claim)
{
    if (claim->descriptor > 0) {
        unlink(claim->lock_path);
        flock(claim->descriptor - 1, LOCK_UN);
        close(claim->descriptor - 1);
    }
    free(claim->lock_path);
    *claim = (sp_os_claim){0};
}

void sp_os_claim_forget(sp_os_claim *claim)
{
    if (claim->descriptor > 0)
        close(claim->descriptor - 1);
    *claim = (sp_os_claim){0};
}

bool sp_os_written_since(const char *path, int64_t realtime_ns)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return false;
    return (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec > realtime_ns;
}
