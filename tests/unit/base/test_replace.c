/* Files that take the place of others: where a process has closed its standard streams. */
#include "base/os/replace.h"
#include "check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/replace-XXXXXX";

/* What the process prints must not end up in the file, and a closed stream stays closed. */
static void closed_standard_streams(void)
{
    char target[64];
    snprintf(target, sizeof target, "%s/file", folder);
    int kept[3];
    for (int i = 0; i < 3; i++) {
        kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 10);
        close(i);
    }
    sp_os_replacement replacement;
    int status = sp_os_replacement_open(&replacement, target, NULL);
    bool stays_closed = true;
    for (int i = 0; i < 3; i++) {
        stays_closed = stays_closed && fcntl(i, F_GETFD) == -1;
        dup2(kept[i], i);
        close(kept[i]);
    }
    CHECK(stays_closed);
    if (!CHECK_INT(status, SP_OK))
        return;
    CHECK(replacement.descriptor > 2);
    CHECK_INT(write(replacement.descriptor, "x", 1), 1);
    CHECK_INT(sp_os_replacement_commit(&replacement, NULL), SP_OK);
    CHECK_INT(access(target, R_OK), 0);
    unlink(target);
}

int main(void)
{
    if (!CHECK(mkdtemp(folder) != NULL))
        return check_result();
    RUN(closed_standard_streams);
    rmdir(folder);
    return check_result();
}
