#include "base/os/cpu.h"

#if defined(__x86_64__)

bool sp_cpu_has_crc32c(void)
{
    return __builtin_cpu_supports("sse4.2") != 0;
}

#elif defined(__aarch64__) && defined(__linux__)

#include <sys/auxv.h>

enum { HWCAP_BIT_CRC32 = 1 << 7 };

bool sp_cpu_has_crc32c(void)
{
    return (getauxval(AT_HWCAP) & HWCAP_BIT_CRC32) != 0;
}

#elif defined(__aarch64__) && defined(__APPLE__)

bool sp_cpu_has_crc32c(void)
{
    return true;
}

#else

bool sp_cpu_has_crc32c(void)
{
    return false;
}

#endif
