#include "store/journal/names.h"

#include "base/error.h"
#include "base/os/file.h"
#include "base/os/journal_file.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENDING ".journal"
enum { MOST_NAMES = 1000 };

/* Folder of a path without its last slash; "." for none. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static char *name_of(const char *folder, const char *base, bool is_public, int attempt)
{
    sp_text path = {0};
    sp_text_format(&path, "%s/%s", folder, base);
    if (is_public)
        sp_text_format(&path, ".%016llx", (unsigned long long)sp_os_random());
    else if (attempt > 1)
        sp_text_format(&path, ".%d", attempt);
    sp_text_add(&path, ENDING);
    return sp_text_take(&path);
}

static int create_in(const char *folder, const char *base, char **out_path, char **out_tried)
{
    bool is_public = sp_os_folder_is_public(folder);
    for (int attempt = 1; attempt <= MOST_NAMES; attempt++) {
        char *path = name_of(folder, base, is_public, attempt);
        if (path == NULL) {
            errno = ENOMEM;
            return -1;
        }
        int descriptor = sp_os_journal_create(path);
        if (descriptor >= 0) {
            *out_path = path;
            return descriptor;
        }
        free(*out_tried);
        *out_tried = path;
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

int sp_journal_create_file(const char *output, const char *folder, char **out_path,
                           char **out_tried)
{
    char *own = folder == NULL ? folder_of(output) : strdup(folder);
    *out_tried = NULL;
    if (own == NULL) {
        errno = ENOMEM;
        return -1;
    }
    int descriptor = create_in(own, base_of(output), out_path, out_tried);
    sp_error error = {0};
    if (descriptor < 0 && errno == ENOENT) {
        if (sp_os_make_folders(own, &error) == SP_OK)
            descriptor = create_in(own, base_of(output), out_path, out_tried);
        else
            errno = error.system_errno;
    }
    int reason = errno;
    free(own);
    errno = reason;
    return descriptor;
}

bool sp_journal_name_fits(const char *name, const char *base)
{
    size_t length = strlen(name), ending = strlen(ENDING);
    if (length <= ending || strcmp(name + length - ending, ENDING) != 0)
        return false;
    if (base == NULL)
        return true;
    size_t stem = strlen(base);
    return strncmp(name, base, stem) == 0 && name[stem] == '.';
}
