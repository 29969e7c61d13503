#include "base/os/process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

int64_t sp_os_process_id(void)
{
    return getpid();
}

const char *sp_os_environment(const char *name)
{
    return getenv(name);
}

void sp_os_print_line(const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(STDERR_FILENO, text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return;
        text += written;
        length -= (size_t)written;
    }
}

bool sp_os_platform(char *out, size_t room)
{
    struct utsname name;
    if (uname(&name) != 0)
        return false;
    int length = snprintf(out, room, "%s-%s-%s", name.sysname, name.release, name.machine);
    return length > 0 && (size_t)length < room;
}

bool sp_os_is_terminal(FILE *stream)
{
    return isatty(fileno(stream)) == 1;
}
