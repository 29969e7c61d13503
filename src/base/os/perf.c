#include "base/os/perf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __linux__

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static int open_event(const sp_os_perf_event *event, int leader)
{
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.type = event->type;
    attributes.config = event->config;
    attributes.exclude_kernel = !event->with_kernel;
    attributes.exclude_hv = 1;
    attributes.disabled = leader < 0;
    attributes.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
                             PERF_FORMAT_TOTAL_TIME_RUNNING;
    long descriptor =
        syscall(SYS_perf_event_open, &attributes, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
    return descriptor < 0 ? -errno : (int)descriptor;
}

static void start_group(int leader)
{
    ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
}

static size_t read_group(int descriptor, uint64_t *words, size_t count)
{
    ssize_t bytes = read(descriptor, words, count * sizeof *words);
    return bytes < 0 ? 0 : (size_t)bytes / sizeof *words;
}

static void close_event(int descriptor)
{
    close(descriptor);
}

static const void *map_page(int descriptor)
{
    void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, descriptor, 0);
    return page == MAP_FAILED ? NULL : page;
}

static void unmap_page(const void *page)
{
    munmap((void *)(uintptr_t)page, (size_t)sysconf(_SC_PAGESIZE));
}

#ifdef __x86_64__

static inline uint64_t read_counter(uint32_t index)
{
    uint32_t low, high;
    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
    return (uint64_t)high << 32 | low;
}

static inline uint64_t read_ticks(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

/* What has passed since the kernel last wrote the times, as its own header says to work it out. */
static uint64_t time_since(const struct perf_event_mmap_page *page)
{
    uint64_t ticks = read_ticks();
    uint64_t whole = ticks >> page->time_shift;
    uint64_t rest = ticks & ((UINT64_C(1) << page->time_shift) - 1);
    return page->time_offset + whole * page->time_mult + (rest * page->time_mult >> page->time_shift);
}

static bool read_page(const void *mapped, uint64_t out[3])
{
    const struct perf_event_mmap_page *page = mapped;
    uint32_t sequence;
    do {
        sequence = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
        uint32_t index = page->index;
        if (!page->cap_user_rdpmc || !page->cap_user_time || index == 0)
            return false;
        uint64_t passed = time_since(page);
        uint64_t counter = read_counter(index - 1);
        unsigned unused = 64u - page->pmc_width;
        out[0] = (uint64_t)page->offset + (uint64_t)((int64_t)(counter << unused) >> unused);
        out[1] = page->time_enabled + passed;
        out[2] = page->time_running + passed;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    } while (__atomic_load_n(&page->lock, __ATOMIC_RELAXED) != sequence);
    return true;
}

#else

static bool read_page(const void *mapped, uint64_t out[3])
{
    (void)mapped;
    (void)out;
    return false;
}

#endif

static int paranoid_level(void)
{
    int level = -1;
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    if (file == NULL)
        return -1;
    if (fscanf(file, "%d", &level) != 1)
        level = -1;
    fclose(file);
    return level;
}

static bool is_container(void)
{
    return access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0;
}

bool sp_os_thread_usage_read(sp_os_thread_usage *out)
{
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        return false;
    *out = (sp_os_thread_usage){.waits = usage.ru_nvcsw, .preemptions = usage.ru_nivcsw,
                                .minor_faults = usage.ru_minflt, .major_faults = usage.ru_majflt};
    return true;
}

#else

static int open_event(const sp_os_perf_event *event, int leader)
{
    (void)event;
    (void)leader;
    return -ENOSYS;
}

static void start_group(int leader)
{
    (void)leader;
}

static size_t read_group(int descriptor, uint64_t *words, size_t count)
{
    (void)descriptor;
    (void)words;
    (void)count;
    return 0;
}

static void close_event(int descriptor)
{
    (void)descriptor;
}

static const void *map_page(int descriptor)
{
    (void)descriptor;
    return NULL;
}

static void unmap_page(const void *page)
{
    (void)page;
}

static bool read_page(const void *mapped, uint64_t out[3])
{
    (void)mapped;
    (void)out;
    return false;
}

static int paranoid_level(void)
{
    return -1;
}

static bool is_container(void)
{
    return false;
}

bool sp_os_thread_usage_read(sp_os_thread_usage *out)
{
    (void)out;
    return false;
}

#endif

const sp_os_perf sp_os_perf_system = {
    .open = open_event,
    .start = start_group,
    .read = read_group,
    .close = close_event,
    .map = map_page,
    .unmap = unmap_page,
    .read_page = read_page,
    .paranoid_level = paranoid_level,
    .is_container = is_container,
};
