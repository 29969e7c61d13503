#include "base/os/positioned.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int sp_os_open_to_read(const char *path, int *out_descriptor, uint64_t *out_size, sp_error *error)
{
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 && errno == ENOENT)
        return sp_fail_errno(error, SP_ERR_NOT_FOUND, errno, "cannot open '%s'", path);
    if (descriptor < 0 || fstat(descriptor, &status) != 0) {
        int failure = errno;
        sp_os_close(descriptor);
        return sp_fail_errno(error, SP_ERR_IO, failure, "cannot open '%s'", path);
    }
    *out_descriptor = descriptor;
    *out_size = (uint64_t)status.st_size;
    return SP_OK;
}

void sp_os_close(int descriptor)
{
    if (descriptor >= 0)
        close(descriptor);
}

int sp_os_read_at(int descriptor, const char *path, uint64_t offset, void *out, size_t count,
                  sp_error *error)
{
    size_t done = 0;
    while (done < count) {
        ssize_t got = pread(descriptor, (char *)out + done, count - done, (off_t)(offset + done));
        if (got == 0)
            return sp_fail(error, SP_ERR_DAMAGED, "'%s' became shorter while it was read", path);
        if (got < 0 && errno != EINTR)
            return sp_fail_errno(error, SP_ERR_IO, errno, "cannot read '%s'", path);
        done += got > 0 ? (size_t)got : 0;
    }
    return SP_OK;
}

int sp_os_write_at(int descriptor, const char *path, uint64_t offset, const void *bytes,
                   size_t count, sp_error *error)
{
    size_t done = 0;
    while (done < count) {
        ssize_t put = pwrite(descriptor, (const char *)bytes + done, count - done,
                             (off_t)(offset + done));
        if (put < 0 && errno != EINTR)
            return sp_fail_errno(error, SP_ERR_IO, errno, "cannot write '%s'", path);
        done += put > 0 ? (size_t)put : 0;
    }
    return SP_OK;
}
