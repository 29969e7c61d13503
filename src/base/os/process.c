#include "base/os/process.h"

#include <errno.h>
#include <fcntl.h>
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

char *const *sp_os_environment_all(void)
{
    extern char **environ;
    static char *const none[] = {NULL};
    return environ == NULL ? none : environ;
}

bool sp_os_command_line(char *out, size_t room)
{
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, out, room - 1);
    if (file >= 0)
        close(file);
    if (length <= 0)
        return false;
    out[length] = '\0';
    for (ssize_t i = 0; i + 1 < length; i++) /* a NUL ends each word */
        if (out[i] == '\0')
            out[i] = ' ';
    return true;
}

int64_t sp_os_user_id(void)
{
    return (int64_t)getuid();
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

bool sp_os_system_name(char *out, size_t room)
{
    struct utsname name;
    if (uname(&name) != 0)
        return false;
    int length = snprintf(out, room, "%s %s %s %s %s", name.sysname, name.nodename, name.release,
                          name.version, name.machine);
    return length > 0 && (size_t)length < room;
}

bool sp_os_is_terminal(FILE *stream)
{
    return isatty(fileno(stream)) == 1;
}
