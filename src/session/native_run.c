#include "session/native_run.h"

#include "session/native_job.h"
#include "session/run_metadata.h"

#include "base/os/clock.h"
#include "base/os/process.h"
#include "clock/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MICROSECOND_NS = 1000, SECOND_NS = 1000000000 };

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

static void fill(sp_run_metadata *m, const sp_profiler *profiler)
{
    const sp_settings *settings = &profiler->settings;
    int64_t threads = number_of("OMP_NUM_THREADS"), size = mpi_size(settings->rank);
    char text[200];
    threads = threads == 0 ? 1 : threads;
    sp_run_metadata_add_text(m, "source", "native");
    sp_run_metadata_add_text(m, "source_language", "c");
    format_timestamp(text, sizeof text);
    sp_run_metadata_add_text(m, "timestamp", text);
    if (sp_os_platform(text, sizeof text))
        sp_run_metadata_add_text(m, "platform", text);
    sp_run_metadata_add_text(m, "scope_profiler_version", sp_version());
    if (settings->label != NULL)
        sp_run_metadata_add_text(m, "label", settings->label);
    sp_run_metadata_add_integer(m, "mpi_rank", settings->rank);
    sp_run_metadata_add_integer(m, "mpi_size", size);
    sp_run_metadata_add_integer(m, "omp_num_threads", threads);
    sp_run_metadata_add_integer(m, "total_cores", threads * size);
    sp_run_metadata_add_integer(m, "start_time_ns", profiler->start_ns);
    sp_run_metadata_add_integer(m, "finalize_time_ns", sp_clock_monotonic_ns());
    if (settings->has_details)
        sp_run_metadata_add_details(m);
}

/* Of a binding's run, what the binding said of it; else as a native program's. */
static void fill_kept(sp_run_metadata *m, const sp_profiler *profiler)
{
    const sp_run_metadata *given = &profiler->metadata;
    if (given->entries.count == 0) {
        fill(m, profiler);
        return;
    }
    for (size_t i = 0; i < given->entries.count; i++)
        sp_run_metadata_add(m, &given->entries.items[i]);
    sp_run_metadata_add_integer(m, "start_time_ns", profiler->start_ns);
    sp_run_metadata_add_integer(m, "finalize_time_ns", sp_clock_monotonic_ns());
}

int sp_profiler_publish_jointly(sp_profiler *profiler, sp_job *job, bool with_open_calls,
                                bool want_image, sp_binding_report *report, sp_error *error)
{
    sp_run_metadata metadata = {.entries = {0}};
    sp_settings *settings = &profiler->settings;
    uint32_t given_rank = settings->rank;
    settings->rank = job->ranks.rank; /* rows of ranks must differ, whatever the program calls them */
    fill(&metadata, profiler);
    job->ranks.context = job;
    sp_binding_publication what = {
        .size = sizeof what,
        .metadata = metadata.entries.items,
        .num_metadata = metadata.entries.count,
        .with_open_calls = with_open_calls,
        .want_image = want_image,
        .communicator = &job->ranks,
        .timeout_ns = settings->timeout_ns,
        .output = settings->joint_output,
    };
    int status = sp_profiler_publish(profiler, &what, report, error);
    sp_run_metadata_release(&metadata);
    if (status == SP_OK && settings->output != NULL)
        settings->output = settings->joint_output;
    else if (status != SP_OK)
        settings->rank = given_rank;
    return status;
}

int sp_profiler_publish_native(sp_profiler *profiler, bool with_open_calls, bool want_image,
                               sp_binding_report *report, sp_error *error)
{
    sp_run_metadata metadata = {.entries = {0}};
    fill(&metadata, profiler);
    sp_binding_publication what = {
        .size = sizeof what,
        .metadata = metadata.entries.items,
        .num_metadata = metadata.entries.count,
        .with_open_calls = with_open_calls,
        .want_image = want_image,
    };
    int status = sp_profiler_publish(profiler, &what, report, error);
    sp_run_metadata_release(&metadata);
    return status;
}

int sp_profiler_publish_kept(sp_profiler *profiler, bool with_open_calls, sp_error *error)
{
    sp_run_metadata metadata = {.entries = {0}};
    sp_binding_report report = {0};
    fill_kept(&metadata, profiler);
    if (!with_open_calls)
        sp_run_metadata_add_integer(&metadata, "checkpoint", profiler->checkpoints.number);
    sp_binding_publication what = {
        .size = sizeof what,
        .metadata = metadata.entries.items,
        .num_metadata = metadata.entries.count,
        .with_open_calls = with_open_calls,
        .keep_calls = true,
    };
    int status = sp_profiler_publish(profiler, &what, &report, error);
    sp_run_metadata_release(&metadata);
    if (status == SP_OK)
        free(report.image);
    return status;
}
