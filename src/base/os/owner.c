#include "base/os/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STAT_START_FIELD = 22, STAT_FIRST_AFTER_NAME = 3 };

/* The beginning of a small file, without the line end. */
static bool read_line(const char *path, char *out, size_t room)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    ssize_t length = read(descriptor, out, room - 1);
    close(descriptor);
    out[length > 0 ? length : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    return length > 0;
}

/* A process that has ended and waits to be noticed by its parent. */
#define ENDED UINT64_MAX

/* Start of a process since the machine started, and its name; 0 when it cannot be told. The name
 * stands in brackets and may hold anything. */
static uint64_t look_up(int64_t pid, char *name, size_t room)
{
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    if (!read_line(path, line, sizeof line))
        return 0;
    const char *open = strchr(line, '('), *at = strrchr(line, ')');
    if (open == NULL || at == NULL)
        return 0;
    if (name != NULL)
        snprintf(name, room, "%.*s", (int)(at - open - 1), open + 1);
    if (at[1] == ' ' && (at[2] == 'Z' || at[2] == 'X'))
        return ENDED;
    for (int field = STAT_FIRST_AFTER_NAME - 1; field < STAT_START_FIELD && at != NULL; field++)
        at = strchr(at + 1, ' ');
    return at == NULL ? 0 : strtoull(at + 1, NULL, 10);
}

static void look_at_machine(sp_os_owner *out)
{
    if (gethostname(out->host, sizeof out->host) != 0)
        out->host[0] = '\0';
    out->host[sizeof out->host - 1] = '\0';
    if (!read_line("/proc/sys/kernel/random/boot_id", out->boot, sizeof out->boot))
        out->boot[0] = '\0';
}

void sp_os_owner_self(sp_os_owner *out)
{
    *out = (sp_os_owner){.pid = getpid()};
    look_at_machine(out);
    out->start = look_up(out->pid, out->program, sizeof out->program);
}

bool sp_os_process_exists(int64_t pid)
{
    return kill((pid_t)pid, 0) == 0 || errno != ESRCH;
}

bool sp_os_process_is_foreign(int64_t pid)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%lld", (long long)pid);
    return stat(path, &status) == 0 && status.st_uid != geteuid();
}

sp_os_owner_state sp_os_owner_look(const sp_os_owner *owner)
{
    sp_os_owner here = {.pid = 0};
    look_at_machine(&here);
    if (strcmp(here.host, owner->host) != 0)
        return SP_OS_OWNER_ELSEWHERE;
    if (strcmp(here.boot, owner->boot) != 0)
        return SP_OS_OWNER_DEAD;
    if (!sp_os_process_exists(owner->pid))
        return SP_OS_OWNER_DEAD;
    uint64_t start = look_up(owner->pid, NULL, 0);
    return start != 0 && owner->start != 0 && start != owner->start ? SP_OS_OWNER_DEAD
                                                                    : SP_OS_OWNER_ALIVE;
}
