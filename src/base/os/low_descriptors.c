#include "base/os/low_descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

void sp_os_low_descriptors_hold(sp_os_low_descriptors *out)
{
    out->count = 0;
    for (;;) {
        int descriptor = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (descriptor < 0)
            return;
        if (descriptor > STDERR_FILENO) {
            close(descriptor);
            return;
        }
        out->held[out->count++] = descriptor;
    }
}

void sp_os_low_descriptors_release(const sp_os_low_descriptors *held)
{
    int reason = errno;
    for (int i = 0; i < held->count; i++)
        close(held->held[i]);
    errno = reason;
}
