#include "store/hdf5/trouble.h"

#include "base/error.h"
#include "store/hdf5/instance.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct innermost {
    char words[200];
    int errno_value;
} innermost;

/* The library keeps the errno of a failed system call only inside the words of its message. */
static herr_t note_entry(unsigned depth, const H5E_error2_t *entry, void *context)
{
    innermost *found = context;
    (void)depth;
    if (entry->desc == NULL)
        return 0;
    const char *number = strstr(entry->desc, "errno = ");
    if (number != NULL && found->errno_value == 0)
        found->errno_value = atoi(number + strlen("errno = "));
    if (found->words[0] == '\0')
        snprintf(found->words, sizeof found->words, "%s", entry->desc);
    return 0;
}

static innermost look(void)
{
    innermost found = {{0}, 0};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, note_entry, &found);
    return found;
}

int sp_hdf5_errno(void)
{
    return look().errno_value;
}

int sp_hdf5_fail(sp_error *error, int status, const char *format, ...)
{
    if (error == NULL)
        return status;
    innermost found = look();
    char text[sizeof error->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (found.errno_value != 0)
        return sp_fail_errno(error, status, found.errno_value, "%s", text);
    return sp_fail(error, status, "%s%s%s", text, found.words[0] == '\0' ? "" : ": ", found.words);
}
