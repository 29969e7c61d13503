/* perf.h - the kernel's performance counters, one call of the system a function, in a table so that tests
 * can stand in for a machine that has counters. Linux; elsewhere every open fails with ENOSYS. */
#ifndef SP_BASE_OS_PERF_H
#define SP_BASE_OS_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of events, and the numbers of those that have one, are the kernel's own. */
typedef enum sp_os_perf_type {
    SP_OS_PERF_HARDWARE = 0,
    SP_OS_PERF_SOFTWARE = 1,
    SP_OS_PERF_CACHE = 3,
    SP_OS_PERF_RAW = 4
} sp_os_perf_type;

typedef struct sp_os_perf_event {
    sp_os_perf_type type;
    uint64_t config;
    bool with_kernel; /* count the kernel's work for the thread too */
} sp_os_perf_event;

typedef struct sp_os_perf {
    /* Will count the calling thread, in the group of `leader` (-1: it leads one of its own). A descriptor,
     * or minus the errno. */
    int (*open)(const sp_os_perf_event *event, int leader);
    /* Lets a whole group count from now on. An event added to a group that counts already would only
     * begin when the thread is next switched in. */
    void (*start)(int leader);
    /* Of a leader: how many there are, time enabled, time counted, then the values of its group in the
     * order of opening. Returns how many words it read, 0 on failure. */
    size_t (*read)(int descriptor, uint64_t *words, size_t count);
    void (*close)(int descriptor);
    /* The page in which the kernel tells how to read the counter without it; NULL: there is none. */
    const void *(*map)(int descriptor);
    void (*unmap)(const void *page);
    /* One counter by its page: value, time enabled, time counted. False: it must be read. */
    bool (*read_page)(const void *page, uint64_t out[3]);
    int (*paranoid_level)(void); /* of the kernel's setting, -1: unknown */
    bool (*is_container)(void);  /* as far as can be told */
} sp_os_perf;

extern const sp_os_perf sp_os_perf_system;

/* Context switches (voluntary ones first) and page faults (without I/O first) of the calling thread. */
typedef struct sp_os_thread_usage {
    int64_t waits, preemptions, minor_faults, major_faults;
} sp_os_thread_usage;

bool sp_os_thread_usage_read(sp_os_thread_usage *out);

#endif
