#include "scope_profiler.h"

const char *sp_version(void)
{
    return SP_VERSION;
}
