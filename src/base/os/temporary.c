#include "base/os/temporary.h"

#include "base/os/journal_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

enum { TRIES = 4 };

/* Gone from its folder at once: nothing is left however the process ends. */
int sp_os_temporary_file(const char *folder)
{
    char path[PATH_MAX];
    int descriptor = -1;
    errno = EEXIST;
    for (int i = 0; i < TRIES && descriptor < 0 && errno == EEXIST; i++) {
        int length = snprintf(path, sizeof path, "%s/.scope-profiler-%016llx.spill", folder,
                              (unsigned long long)sp_os_random());
        if (length >= (int)sizeof path)
            errno = ENAMETOOLONG;
        else
            descriptor = sp_os_journal_create(path);
    }
    if (descriptor >= 0)
        sp_os_journal_remove(path);
    return descriptor;
}
