#include "base/os/replace.h"

#include "base/error.h"
#include "base/os/file.h"
#include "base/os/low_descriptors.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { NAME_ATTEMPTS = 16, NAME_BYTES = 255, RANDOM_DIGITS = 12 };

/* Length of the folder part with its slash, 0 when there is none. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* Sibling of the target with a name that no one else has. The name is cut where it would become
 * too long for a file system. */
static char *temporary_name(const char *target)
{
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random)
        random = (uint64_t)getpid() << 32 | (uint64_t)(uintptr_t)&random;
    size_t folder = folder_length(target);
    int room = NAME_BYTES - RANDOM_DIGITS - (int)sizeof "...tmp";
    sp_text name = {0};
    sp_text_format(&name, "%.*s.%.*s.%0*llx.tmp", (int)folder, target, room, target + folder,
                   RANDOM_DIGITS, (unsigned long long)random & 0xFFFFFFFFFFFF);
    return sp_text_take(&name);
}

static int make_folder_of(const char *target, sp_error *error)
{
    size_t length = folder_length(target);
    char *folder = strndup(target, length > 1 ? length - 1 : length);
    if (folder == NULL)
        return sp_fail_memory(error, "making a folder");
    int status = sp_os_make_folders(folder, error);
    free(folder);
    return status;
}

static int create_temporary(sp_os_replacement *replacement, sp_error *error)
{
    for (int attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
        free(replacement->temporary);
        replacement->temporary = temporary_name(replacement->target);
        if (replacement->temporary == NULL)
            return sp_fail_memory(error, "creating a file");
        replacement->descriptor =
            open(replacement->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (replacement->descriptor >= 0)
            return SP_OK;
        if (errno == ENOENT && folder_length(replacement->target) > 0 && attempt == 0) {
            int status = make_folder_of(replacement->target, error);
            if (status != SP_OK)
                return status;
        } else if (errno != EEXIST)
            break;
    }
    return sp_fail_errno(error, SP_ERR_IO, errno, "cannot create '%s'", replacement->target);
}

int sp_os_replacement_open(sp_os_replacement *out, const char *target, sp_error *error)
{
    sp_os_file_kind kind = sp_os_file_look(target, NULL);
    if (kind == SP_OS_FILE_FOLDER || kind == SP_OS_FILE_OTHER)
        return sp_fail_errno(error, SP_ERR_IO, kind == SP_OS_FILE_FOLDER ? EISDIR : EINVAL,
                             "cannot write '%s', which is not a regular file", target);
    sp_os_replacement replacement = {.target = strdup(target), .descriptor = -1};
    sp_os_low_descriptors held;
    sp_os_low_descriptors_hold(&held);
    int status = replacement.target == NULL ? sp_fail_memory(error, "creating a file")
                                            : create_temporary(&replacement, error);
    sp_os_low_descriptors_release(&held);
    if (status == SP_OK) {
        *out = replacement;
        return SP_OK;
    }
    free(replacement.temporary);
    free(replacement.target);
    return status;
}

/* A rename is on the disk once its folder is. Some file systems cannot sync a folder: then nothing
 * more can be done. */
static int sync_folder(const char *target, sp_error *error)
{
    size_t length = folder_length(target);
    char *folder = length == 0 ? strdup(".") : strndup(target, length);
    if (folder == NULL)
        return SP_OK;
    int status = SP_OK;
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) {
        if (fsync(descriptor) != 0 && (errno == EIO || errno == ENOSPC || errno == EDQUOT))
            status = sp_fail_errno(error, SP_ERR_IO, errno, "cannot sync the folder of '%s'", target);
        close(descriptor);
    }
    free(folder);
    return status;
}

static void release(sp_os_replacement *replacement)
{
    if (replacement->descriptor >= 0)
        close(replacement->descriptor);
    free(replacement->temporary);
    free(replacement->target);
    *replacement = (sp_os_replacement){.descriptor = -1};
}

int sp_os_replacement_commit(sp_os_replacement *replacement, sp_error *error)
{
    int status = SP_OK;
    if (fsync(replacement->descriptor) != 0 && errno != EINVAL && errno != EROFS)
        status = sp_fail_errno(error, SP_ERR_IO, errno, "cannot write '%s'", replacement->target);
    if (status == SP_OK && rename(replacement->temporary, replacement->target) != 0)
        status = sp_fail_errno(error, SP_ERR_IO, errno, "cannot put '%s' in place",
                               replacement->target);
    if (status != SP_OK) {
        sp_os_replacement_abort(replacement);
        return status;
    }
    status = sync_folder(replacement->target, error);
    release(replacement);
    return status;
}

void sp_os_replacement_abort(sp_os_replacement *replacement)
{
    if (replacement->temporary == NULL)
        return;
    unlink(replacement->temporary);
    release(replacement);
}
