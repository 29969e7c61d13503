#include "backends/perf/events.h"

#include "base/os/clock.h"

#include <stdlib.h>
#include <string.h>

/* Of a cache: which, what for (read 0, write 1, prefetch 2), and whether misses alone. */
#define CACHE(cache, operation, misses) SP_OS_PERF_CACHE, (cache) | (operation) << 8 | (misses) << 16
enum { L1_DATA = 0, LAST_LEVEL = 2, DATA_TLB = 3, READ = 0, WRITE = 1, ALL = 0, MISSES = 1 };

static const sp_perf_event table[] = {
    {"cycles", SP_OS_PERF_HARDWARE, 0, false, SP_PERF_NO_USAGE},
    {"instructions", SP_OS_PERF_HARDWARE, 1, false, SP_PERF_NO_USAGE},
    {"cache-references", SP_OS_PERF_HARDWARE, 2, false, SP_PERF_NO_USAGE},
    {"cache-misses", SP_OS_PERF_HARDWARE, 3, false, SP_PERF_NO_USAGE},
    {"branches", SP_OS_PERF_HARDWARE, 4, false, SP_PERF_NO_USAGE},
    {"branch-misses", SP_OS_PERF_HARDWARE, 5, false, SP_PERF_NO_USAGE},
    {"stalled-cycles-frontend", SP_OS_PERF_HARDWARE, 7, false, SP_PERF_NO_USAGE},
    {"stalled-cycles-backend", SP_OS_PERF_HARDWARE, 8, false, SP_PERF_NO_USAGE},
    {"ref-cycles", SP_OS_PERF_HARDWARE, 9, false, SP_PERF_NO_USAGE},
    {"L1-dcache-loads", CACHE(L1_DATA, READ, ALL), false, SP_PERF_NO_USAGE},
    {"L1-dcache-load-misses", CACHE(L1_DATA, READ, MISSES), false, SP_PERF_NO_USAGE},
    {"L1-dcache-stores", CACHE(L1_DATA, WRITE, ALL), false, SP_PERF_NO_USAGE},
    {"LLC-loads", CACHE(LAST_LEVEL, READ, ALL), false, SP_PERF_NO_USAGE},
    {"LLC-load-misses", CACHE(LAST_LEVEL, READ, MISSES), false, SP_PERF_NO_USAGE},
    {"dTLB-loads", CACHE(DATA_TLB, READ, ALL), false, SP_PERF_NO_USAGE},
    {"dTLB-load-misses", CACHE(DATA_TLB, READ, MISSES), false, SP_PERF_NO_USAGE},
    {"cpu-clock", SP_OS_PERF_SOFTWARE, 0, false, SP_PERF_CPU_TIME},
    {"task-clock", SP_OS_PERF_SOFTWARE, 1, false, SP_PERF_CPU_TIME},
    {"page-faults", SP_OS_PERF_SOFTWARE, 2, false, SP_PERF_FAULTS},
    {"context-switches", SP_OS_PERF_SOFTWARE, 3, true, SP_PERF_SWITCHES},
    {"cpu-migrations", SP_OS_PERF_SOFTWARE, 4, true, SP_PERF_NO_USAGE},
    {"minor-faults", SP_OS_PERF_SOFTWARE, 5, false, SP_PERF_MINOR_FAULTS},
    {"major-faults", SP_OS_PERF_SOFTWARE, 6, false, SP_PERF_MAJOR_FAULTS},
};

static bool find_raw(const char *name, sp_perf_event *out)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    size_t length = strlen(name);
    if (name[0] != 'r' || length < 2 || length > 17 || strspn(name + 1, digits) != length - 1)
        return false;
    *out = (sp_perf_event){.name = name, .type = SP_OS_PERF_RAW,
                           .config = strtoull(name + 1, NULL, 16)};
    return true;
}

bool sp_perf_event_find(const char *name, sp_perf_event *out)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, name) != 0)
            continue;
        *out = table[i];
        return true;
    }
    return find_raw(name, out);
}

int64_t sp_perf_usage_of(const sp_os_thread_usage *usage, sp_perf_usage what)
{
    switch (what) {
    case SP_PERF_CPU_TIME:
        return sp_os_thread_cpu_ns();
    case SP_PERF_SWITCHES:
        return usage->waits + usage->preemptions;
    case SP_PERF_FAULTS:
        return usage->minor_faults + usage->major_faults;
    case SP_PERF_MINOR_FAULTS:
        return usage->minor_faults;
    case SP_PERF_MAJOR_FAULTS:
        return usage->major_faults;
    default:
        return 0;
    }
}
