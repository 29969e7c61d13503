#include "base/os/host.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool sp_os_host_name(char *out, size_t room)
{
    out[0] = '\0';
    if (room < 2 || gethostname(out, room) != 0)
        return false;
    out[room - 1] = '\0';
    return out[0] != '\0';
}

/* First line of a small file. */
static bool read_line(const char *path, char *out, size_t room)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, out, room - 1);
    if (file >= 0)
        close(file);
    out[length < 0 ? 0 : length] = '\0';
    out[strcspn(out, "\n")] = '\0';
    return out[0] != '\0';
}

bool sp_os_clock_domain(char *out, size_t room)
{
    char boot[80], name_space[80];
    out[0] = '\0';
    if (!read_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot))
        return false;
    ssize_t length = readlink("/proc/self/ns/time", name_space, sizeof name_space - 1);
    name_space[length < 0 ? 0 : length] = '\0';
    int written = snprintf(out, room, "%s %s", boot, name_space);
    if (written > 0 && (size_t)written < room)
        return true;
    out[0] = '\0';
    return false;
}
