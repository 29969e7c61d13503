#include "session/native_run.h"

#include "session/native_job.h"

#include "base/os/clock.h"
#include "base/os/process.h"
#include "clock/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_ENTRIES = 16, MICROSECOND_NS = 1000, SECOND_NS = 1000000000 };

typedef struct native_metadata {
    sp_metadata_entry entries[MOST_ENTRIES];
    size_t count;
    char timestamp[40], platform[200];
} native_metadata;

static void add_text(native_metadata *m, const char *key, const char *text)
{
    m->entries[m->count++] =
        (sp_metadata_entry){.key = key, .kind = SP_VALUE_TEXT, .text = text};
}

static void add_integer(native_metadata *m, const char *key, int64_t integer)
{
    m->entries[m->count++] =
        (sp_metadata_entry){.key = key, .kind = SP_VALUE_INTEGER, .integer = integer};
}

/* ISO 8601 with the offset, to the microsecond, in UTC. */
static void format_timestamp(char *out, size_t room)
{
    int64_t now = sp_os_realtime_ns();
    time_t seconds = (time_t)(now / SECOND_NS);
    struct tm parts;
    char date[24];
    gmtime_r(&seconds, &parts);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(out, room, "%s.%06d+00:00", date, (int)(now % SECOND_NS / MICROSECOND_NS));
}

/* First number of a variable; 0: not set or no number above 0. */
static int64_t number_of(const char *variable)
{
    const char *text = sp_os_environment(variable);
    long long value = text == NULL ? 0 : strtoll(text, NULL, 10);
    return value > 0 ? value : 0;
}

/* What the launcher says; at least what the rank proves. */
static int64_t mpi_size(uint32_t rank)
{
    int64_t size = sp_job_launched_size();
    return size > (int64_t)rank ? size : (int64_t)rank + 1;
}

static void fill(native_metadata *m, const sp_profiler *profiler)
{
    const sp_settings *settings = &profiler->settings;
    int64_t threads = number_of("OMP_NUM_THREADS"), size = mpi_size(settings->rank);
    threads = threads == 0 ? 1 : threads;
    format_timestamp(m->timestamp, sizeof m->timestamp);
    add_text(m, "source", "native");
    add_text(m, "source_language", "c");
    add_text(m, "timestamp", m->timestamp);
    if (sp_os_platform(m->platform, sizeof m->platform))
        add_text(m, "platform", m->platform);
    add_text(m, "scope_profiler_version", sp_version());
    if (settings->label != NULL)
        add_text(m, "label", settings->label);
    add_integer(m, "mpi_rank", settings->rank);
    add_integer(m, "mpi_size", size);
    add_integer(m, "omp_num_threads", threads);
    add_integer(m, "total_cores", threads * size);
    add_integer(m, "start_time_ns", profiler->start_ns);
    add_integer(m, "finalize_time_ns", sp_clock_monotonic_ns());
}

int sp_profiler_publish_jointly(sp_profiler *profiler, sp_job *job, bool with_open_calls,
                                bool want_image, sp_binding_report *report, sp_error *error)
{
    native_metadata metadata = {.count = 0};
    sp_settings *settings = &profiler->settings;
    uint32_t given_rank = settings->rank;
    settings->rank = job->ranks.rank; /* rows of ranks must differ, whatever the program calls them */
    fill(&metadata, profiler);
    job->ranks.context = job;
    sp_binding_publication what = {
        .size = sizeof what,
        .metadata = metadata.entries,
        .num_metadata = metadata.count,
        .with_open_calls = with_open_calls,
        .want_image = want_image,
        .communicator = &job->ranks,
        .timeout_ns = settings->timeout_ns,
        .output = settings->joint_output,
    };
    int status = sp_profiler_publish(profiler, &what, report, error);
    if (status == SP_OK && settings->output != NULL)
        settings->output = settings->joint_output;
    else if (status != SP_OK)
        settings->rank = given_rank;
    return status;
}

int sp_profiler_publish_native(sp_profiler *profiler, bool with_open_calls, bool want_image,
                               sp_binding_report *report, sp_error *error)
{
    native_metadata metadata = {.count = 0};
    fill(&metadata, profiler);
    sp_binding_publication what = {
        .size = sizeof what,
        .metadata = metadata.entries,
        .num_metadata = metadata.count,
        .with_open_calls = with_open_calls,
        .want_image = want_image,
    };
    return sp_profiler_publish(profiler, &what, report, error);
}

int sp_profiler_publish_kept(sp_profiler *profiler, bool with_open_calls, sp_error *error)
{
    native_metadata metadata = {.count = 0};
    sp_binding_report report = {0};
    fill(&metadata, profiler);
    if (!with_open_calls)
        add_integer(&metadata, "checkpoint", profiler->checkpoints.number);
    sp_binding_publication what = {
        .size = sizeof what,
        .metadata = metadata.entries,
        .num_metadata = metadata.count,
        .with_open_calls = with_open_calls,
        .keep_calls = true,
    };
    int status = sp_profiler_publish(profiler, &what, &report, error);
    if (status == SP_OK)
        free(report.image);
    return status;
}
