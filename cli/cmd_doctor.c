/* cmd_doctor.c - `scope-profiler doctor`: what the recorder finds on this machine. */
#include "command.h"
#include "doctor.h"
#include "python.h"

#include "scope_results.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#define BYTES_PER_MEBIBYTE 1048576.0
#define SMALL_MEMORY_FOLDER (64 * BYTES_PER_MEBIBYTE)
#define USER_SPACE_COUNTING 2 /* perf_event_paranoid up to which a user may count own programs */

static unsigned num_troubles;

void cli_doctor_heading(const char *title)
{
    printf(cli_wants_color(STDOUT_FILENO) ? "\n\033[1;36m%s\033[0m\n" : "\n%s\n", title);
}

void cli_doctor_fact(const char *name, const char *format, ...)
{
    va_list list;
    printf("  %-15s ", name);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    putchar('\n');
}

void cli_doctor_trouble(const char *what, const char *remedy)
{
    printf("  ! %s\n    -> %s\n", what, remedy);
    num_troubles++;
}

void cli_read_line(const char *path, char *out, size_t room)
{
    FILE *file = fopen(path, "re");
    if (!file || !fgets(out, (int)room, file))
        out[0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    if (file)
        fclose(file);
}

static void report_versions(void)
{
    struct utsname system;
    char *program = cli_program_path();
    cli_doctor_heading("Versions");
    cli_doctor_fact("scope-profiler", "%s", SP_VERSION);
    cli_doctor_fact("command", "%s", program ? program : "unknown");
    if (uname(&system) == 0)
        cli_doctor_fact("system", "%s %s %s", system.sysname, system.release, system.machine);
    cli_doctor_fact("processors", "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    free(program);
}

static void report_hdf5(void)
{
    sp_store_info info;
    sp_error error = {0};
    cli_doctor_heading("HDF5");
    if (sp_results_hdf5_info(&info, &error) == SP_OK) {
        cli_doctor_fact("module in", "%s", info.module_folder);
        cli_doctor_fact("library", "%s", info.library_version);
        return;
    }
    cli_doctor_fact("module", "none");
    cli_doctor_trouble(error.text, "files can be neither written nor read; install the HDF5 "
                                   "library this was built with, or build again with HDF5");
}

static void report_mpi(void)
{
    static const char *const launchers[] = {
        "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK",
        "MPI_LOCALRANKID", "ALPS_APP_PE", "PALS_RANKID"};
    const char *choice = getenv("SCOPE_PROFILER_MPI");
    bool seen = false;
    cli_doctor_heading("MPI");
    for (size_t i = 0; i < CLI_COUNT(launchers); i++) {
        const char *value = getenv(launchers[i]);
        if (value)
            cli_doctor_fact("launcher", "%s=%s", launchers[i], value);
        seen = seen || value;
    }
    if (!seen)
        cli_doctor_fact("launcher", "none seen");
    if (choice)
        cli_doctor_fact("chosen", "SCOPE_PROFILER_MPI=%s", choice);
}

/* Size and free space of a folder. */
static void report_folder(const char *name, const char *path)
{
    struct statvfs space;
    if (statvfs(path, &space) != 0) {
        cli_doctor_fact(name, "%s: missing", path);
        return;
    }
    cli_doctor_fact(name, "%s: %.0f MiB, %.0f MiB free%s", path,
                    (double)space.f_blocks * (double)space.f_frsize / BYTES_PER_MEBIBYTE,
                    (double)space.f_bavail * (double)space.f_frsize / BYTES_PER_MEBIBYTE,
                    access(path, W_OK) == 0 ? "" : ", not writable");
    if ((double)space.f_bavail * (double)space.f_frsize < SMALL_MEMORY_FOLDER)
        cli_doctor_trouble("little room in memory-backed storage",
                           "in a container, start it with a larger one, e.g. --shm-size=256m");
}

static void report_folders(void)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    cli_doctor_heading("Memory-backed folders");
    report_folder("shared memory", "/dev/shm");
    if (runtime && runtime[0])
        report_folder("runtime", runtime);
    else
        cli_doctor_fact("runtime", "XDG_RUNTIME_DIR is not set");
}

enum { MOST_LEFT = 10 };

typedef struct left_sum {
    size_t count;
    uint64_t bytes;
} left_sum;

static void report_one_left(void *context, const char *path, const char *output, int64_t pid,
                            uint64_t bytes)
{
    left_sum *sum = context;
    if (sum->count++ < MOST_LEFT)
        cli_doctor_fact("left behind", "%s by process %lld: %.0f KiB in %s", output, (long long)pid,
                        (double)bytes / 1024, path);
    sum->bytes += bytes;
}

/* Rings of programs that were killed stay until somebody has their calls. */
static void report_left(void)
{
    left_sum sum = {0};
    char what[160];
    cli_doctor_heading("Recordings that did not end well");
    sp_recovery_find_left(report_one_left, &sum);
    if (sum.count == 0) {
        cli_doctor_fact("left behind", "nothing");
        return;
    }
    snprintf(what, sizeof what, "%zu file%s of killed programs, %.0f KiB of memory in all", sum.count,
             sum.count == 1 ? "" : "s", (double)sum.bytes / 1024);
    cli_doctor_trouble(what, "'" CLI_PROGRAM " recover --remove OUTPUT' makes a profile of each and "
                             "removes it");
}

static void report_counters(void)
{
    char level[32];
    cli_doctor_heading("Hardware counters");
    cli_read_line("/proc/sys/kernel/perf_event_paranoid", level, sizeof level);
    if (!level[0]) {
        cli_doctor_fact("perf events", "not offered by this kernel");
        return;
    }
    cli_doctor_fact("perf events", "kernel.perf_event_paranoid = %s", level);
    if (atoi(level) > USER_SPACE_COUNTING && geteuid() != 0)
        cli_doctor_trouble("programs may not count their own events",
                           "an administrator can allow it: sysctl kernel.perf_event_paranoid=2");
}

static int run(const cli_arguments *arguments)
{
    if (arguments->num_words > 0)
        return cli_usage_error(&cli_doctor, "unrecognized arguments: %s", arguments->words[0]);
    num_troubles = 0;
    printf("What " CLI_PROGRAM " finds here; a line with '!' is a trouble, '->' what to do.\n");
    report_versions();
    cli_doctor_clock();
    report_hdf5();
    cli_doctor_python();
    report_mpi();
    report_folders();
    report_left();
    report_counters();
    if (num_troubles == 0)
        printf("\nno trouble found\n");
    else
        printf("\n%u trouble%s found\n", num_troubles, num_troubles == 1 ? "" : "s");
    return CLI_OK;
}

const cli_command cli_doctor = {
    .name = "doctor",
    .usage = "",
    .summary = "show what is found on this machine, and what to do about troubles",
    .description = "Shows clock, HDF5, Python, MPI, memory-backed folders and counter rights as the\n"
                   "recorder finds them, and what to do about each trouble. The exit code is 0.",
    .run = run,
};
