#include "base/os/clock.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

static int64_t read_clock(clockid_t id, int64_t missing)
{
    struct timespec now;
    if (clock_gettime(id, &now) != 0)
        return missing;
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t sp_os_monotonic_ns(void)
{
#if defined(__APPLE__)
    return read_clock(CLOCK_UPTIME_RAW, 0);
#else
    return read_clock(CLOCK_MONOTONIC, 0);
#endif
}

int64_t sp_os_boottime_ns(void)
{
#if defined(CLOCK_BOOTTIME)
    return read_clock(CLOCK_BOOTTIME, sp_os_monotonic_ns());
#else
    return sp_os_monotonic_ns();
#endif
}

int64_t sp_os_realtime_ns(void)
{
    return read_clock(CLOCK_REALTIME, 0);
}

int64_t sp_os_thread_cpu_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID, -1);
}

int64_t sp_os_thread_cpu_ns_of(int64_t native_id)
{
#if defined(__linux__)
    /* How the kernel numbers the CPU clock of a thread: what pthread_getcpuclockid gives, without
     * the handle of the thread. */
    enum { PER_THREAD = 4, SCHEDULED = 2 };
    return read_clock((clockid_t)(~(unsigned)native_id << 3 | PER_THREAD | SCHEDULED), -1);
#else
    (void)native_id;
    return -1;
#endif
}

#if defined(__x86_64__) && defined(__linux__)

/* Invariant TSC: CPUID 8000_0007h, EDX bit 8. */
static bool counter_is_invariant(void)
{
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid(0x80000007u, &eax, &ebx, &ecx, &edx) != 0 && (edx & (1u << 8)) != 0;
}

bool sp_os_counter_is_trusted(void)
{
    char text[16];
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                  O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    return length >= 3 && memcmp(text, "tsc", 3) == 0 && (length == 3 || text[3] == '\n') &&
           counter_is_invariant();
}

#elif defined(__aarch64__)

bool sp_os_counter_is_trusted(void)
{
    return true; /* the generic timer is architected to be constant and always on */
}

#else

bool sp_os_counter_is_trusted(void)
{
    return false;
}

#endif
