/* doctor_clock.c - what clock the recorder can use here. It reads the processor's tick counter where
 * the kernel itself trusts it, else CLOCK_MONOTONIC. */
#include "doctor.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/"
#define MEASURE_NS 20000000 /* long enough for a rate to four digits */

static int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#if defined(__x86_64__)
static const char tick_counter[] = "time stamp counter";
static const char trusted_source[] = "tsc";
static uint64_t read_ticks(void)
{
    return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
static const char tick_counter[] = "generic timer";
static const char trusted_source[] = "arch_sys_counter";
static uint64_t read_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
#else
static const char tick_counter[] = "none";
static const char trusted_source[] = "none";
static uint64_t read_ticks(void)
{
    return (uint64_t)monotonic_ns();
}
#endif

static double measure_rate(void)
{
    int64_t start_ns = monotonic_ns(), now_ns;
    uint64_t start_ticks = read_ticks();
    do
        now_ns = monotonic_ns();
    while (now_ns - start_ns < MEASURE_NS);
    return (double)(read_ticks() - start_ticks) / (double)(now_ns - start_ns) * 1e9;
}

#if defined(__x86_64__)
/* Whether /proc/cpuinfo claims a counter that neither changes its rate nor stops. */
static bool is_invariant(void)
{
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && !found && getline(&line, &room, file) > 0)
        found = strncmp(line, "flags", 5) == 0 && strstr(line, "constant_tsc") &&
                strstr(line, "nonstop_tsc");
    free(line);
    if (file)
        fclose(file);
    return found;
}

static void report_invariant(void)
{
    cli_doctor_fact("invariant", "%s", is_invariant() ? "yes" : "not claimed by the processor");
}
#else
static void report_invariant(void)
{
}
#endif

void cli_doctor_clock(void)
{
    char source[64], choices[128];
    bool trusted;
    cli_read_line(CLOCKSOURCE "current_clocksource", source, sizeof source);
    cli_read_line(CLOCKSOURCE "available_clocksource", choices, sizeof choices);
    trusted = strcmp(source, trusted_source) == 0;
    cli_doctor_heading("Clock");
    cli_doctor_fact("kernel uses", "%s", source[0] ? source : "unknown");
    cli_doctor_fact("tick counter", "%s", tick_counter);
    report_invariant();
    cli_doctor_fact("tick rate", "%.4g MHz", measure_rate() / 1e6);
    cli_doctor_fact("recorder uses", "%s", trusted ? tick_counter : "CLOCK_MONOTONIC");
    if (!trusted && strstr(choices, trusted_source))
        cli_doctor_trouble("the kernel does not use the tick counter, so a call costs two to three "
                           "times as much",
                           "see 'dmesg | grep -i clocksource' for the reason; where the hardware "
                           "is sound, boot with clocksource=tsc tsc=reliable");
    else if (!trusted)
        cli_doctor_trouble("the kernel offers no tick counter that can be trusted, so a call costs "
                           "two to three times as much",
                           "in a virtual machine, ask its operator for an invariant TSC");
}
