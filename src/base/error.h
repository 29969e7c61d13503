/* error.h - filling a caller's sp_error. The function that first knows what went wrong fills it;
 * callers forward the status. */
#ifndef SP_BASE_ERROR_H
#define SP_BASE_ERROR_H

#include "scope_plugin.h"

/* Fills `error` (may be NULL) with a printf-formatted text and returns `status`. */
int sp_fail(sp_error *error, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a failed system call: appends ": <text of errno_value>" and stores the number. */
int sp_fail_errno(sp_error *error, int status, int errno_value, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Out of memory while doing `what`. */
int sp_fail_memory(sp_error *error, const char *what);

/* Resets `error` (may be NULL) to "nothing wrong". */
void sp_error_clear(sp_error *error);

#endif
