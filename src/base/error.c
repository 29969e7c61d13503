#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *sp_error_string(int status)
{
    switch (status) {
#define SP_STATUS_TEXT(name, value, text)                                                          \
    case value:                                                                                    \
        return text;
        SP_STATUS_TABLE(SP_STATUS_TEXT)
#undef SP_STATUS_TEXT
    default:
        return "unknown status";
    }
}

void sp_error_clear(sp_error *error)
{
    if (error == NULL)
        return;
    error->status = SP_OK;
    error->system_errno = 0;
    error->text[0] = '\0';
}

static void fill(sp_error *error, int status, int errno_value, const char *format, va_list args)
{
    error->status = status;
    error->system_errno = errno_value;
    vsnprintf(error->text, sizeof error->text, format, args);
}

int sp_fail(sp_error *error, int status, const char *format, ...)
{
    if (error != NULL) {
        va_list args;
        va_start(args, format);
        fill(error, status, 0, format, args);
        va_end(args);
    }
    return status;
}

int sp_fail_errno(sp_error *error, int status, int errno_value, const char *format, ...)
{
    if (error != NULL) {
        va_list args;
        va_start(args, format);
        fill(error, status, errno_value, format, args);
        va_end(args);
        size_t used = strlen(error->text);
        snprintf(error->text + used, sizeof error->text - used, ": %s", strerror(errno_value));
    }
    return status;
}

int sp_fail_memory(sp_error *error, const char *what)
{
    return sp_fail(error, SP_ERR_NO_MEMORY, "out of memory while %s", what);
}
