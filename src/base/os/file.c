#include "base/os/file.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

sp_os_file_kind sp_os_file_look(const char *path, uint64_t *out_size)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return errno == ENOENT || errno == ENOTDIR ? SP_OS_FILE_NONE : SP_OS_FILE_UNKNOWN;
    if (S_ISDIR(status.st_mode))
        return SP_OS_FILE_FOLDER;
    if (!S_ISREG(status.st_mode))
        return SP_OS_FILE_OTHER;
    if (out_size != NULL)
        *out_size = (uint64_t)status.st_size;
    return SP_OS_FILE_REGULAR;
}

int sp_os_file_piece(const char *path, uint64_t offset, void *out, size_t room, size_t *out_read,
                     sp_error *error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return sp_fail_errno(error, SP_ERR_IO, errno, "cannot read '%s'", path);
    size_t count = 0;
    ssize_t got = 1;
    while (count < room && got > 0) {
        got = pread(file, (char *)out + count, room - count, (off_t)(offset + count));
        if (got > 0)
            count += (size_t)got;
        else if (got < 0 && errno == EINTR)
            got = 1;
    }
    int failure = errno;
    close(file);
    if (got < 0)
        return sp_fail_errno(error, SP_ERR_IO, failure, "cannot read '%s'", path);
    *out_read = count;
    return SP_OK;
}

bool sp_os_current_folder(char *out, size_t room)
{
    return getcwd(out, room) != NULL;
}

bool sp_os_file_match(const char *pattern, char *out, size_t room)
{
    glob_t found;
    bool fits = false;
    if (glob(pattern, 0, NULL, &found) != 0)
        return false;
    if (found.gl_pathc > 0 && strlen(found.gl_pathv[0]) < room) {
        strcpy(out, found.gl_pathv[0]);
        fits = true;
    }
    globfree(&found);
    return fits;
}

int sp_os_make_folders(const char *path, sp_error *error)
{
    char *partial = strdup(path);
    if (partial == NULL)
        return sp_fail_memory(error, "making a folder");
    int status = SP_OK;
    for (char *end = partial + 1; status == SP_OK; end++) {
        if (*end != '/' && *end != '\0')
            continue;
        char kept = *end;
        *end = '\0';
        /* A folder that exists may answer EEXIST, or EROFS and EACCES before that is looked at. */
        if (mkdir(partial, 0777) != 0 && errno != EEXIST) {
            int failure = errno;
            if (sp_os_file_look(partial, NULL) != SP_OS_FILE_FOLDER)
                status = sp_fail_errno(error, SP_ERR_IO, failure, "cannot make the folder '%s'",
                                       partial);
        }
        *end = kept;
        if (kept == '\0')
            break;
    }
    free(partial);
    return status;
}

void sp_os_close_on_exec(int descriptor)
{
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}
