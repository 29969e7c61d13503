#include "session/copies.h"
#include "session/complaint.h"

#include "base/os/process.h"
#include "base/text.h"
#include "scope_profiler.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int quiet;

int sp_set_quiet(int is_quiet)
{
    int before = atomic_exchange(&quiet, is_quiet != 0);
    SP_PASS_ON(sp_set_quiet, (is_quiet));
    return before;
}

void sp_complain(const char *format, ...)
{
    int saved_errno = errno;
    if (atomic_load(&quiet))
        return;
    char message[1200];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    sp_text line = {0};
    sp_text_format(&line, "scope-profiler: %s\n", message);
    if (!line.failed)
        sp_os_print_line(line.bytes, line.length);
    sp_text_release(&line);
    errno = saved_errno;
}
