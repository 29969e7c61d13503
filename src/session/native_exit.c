/* Recordings of native code at both ends of a process: one that the environment asks for starts when
 * the library is loaded, one that nobody has finalized is written when the process exits. */
#include "base/error.h"
#include "session/complaint.h"
#include "session/environment.h"
#include "session/native_run.h"

#include <stdlib.h>

/* Nothing follows: calls that are still open are written, too. */
static void write_out(sp_profiler *profiler)
{
    sp_recording_stop(&profiler->recording);
    int status = sp_profiler_publish_native(profiler, true, false, NULL, &profiler->last_error);
    if (status != SP_OK)
        sp_complain("the profile was not written: %s", profiler->last_error.text);
    else
        sp_job_say_alone(profiler);
    sp_profiler_stop(profiler);
}

/* As above, with the other ranks. When it fails the recording goes on, and the exit writes it. */
static bool end_jointly(sp_profiler *profiler, sp_job *job)
{
    sp_binding_report report = {0};
    sp_phase phase = sp_recording_phase(&profiler->recording);
    sp_recording_stop(&profiler->recording);
    int status = sp_profiler_publish_jointly(profiler, job, true, false, &report,
                                             &profiler->last_error);
    if (status != SP_OK) {
        sp_complain("the ranks wrote no common profile: %s", profiler->last_error.text);
        sp_recording_continue(&profiler->recording, phase);
        return false;
    }
    free(report.image);
    return true;
}

void sp_native_mpi_ends(void)
{
    sp_profiler *profiler = &sp_default;
    sp_job job;
    sp_mutex_lock(&profiler->lock);
    bool is_native = profiler->is_configured && (!profiler->is_host || profiler->is_run);
    if (is_native && sp_environment_flag(SP_ENVIRONMENT_AUTO_FINALIZE, true) &&
        sp_job_open(&job, profiler)) {
        bool is_over = profiler->is_run ? sp_run_end_jointly(profiler, &job)
                                        : end_jointly(profiler, &job);
        sp_job_close(&job);
        if (is_over) {
            sp_profiler_stop(profiler);
            profiler->is_muted = true; /* the program may still finalize, and all is well */
        }
    }
    sp_mutex_unlock(&profiler->lock);
}

static void finish(void)
{
    sp_mutex_lock(&sp_default.lock);
    if (sp_default.is_configured && !sp_default.is_host)
        write_out(&sp_default);
    sp_mutex_unlock(&sp_default.lock);
}

/* Once for the process; under the lock of the default profiler. */
static void finish_at_exit(void)
{
    static bool is_set;
    if (!is_set && sp_environment_flag(SP_ENVIRONMENT_AUTO_FINALIZE, true))
        is_set = atexit(finish) == 0;
}

int sp_native_join(sp_profiler *profiler, const char *prefix, int rank, sp_error *error)
{
    int status = SP_OK;
    if (rank < 0)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "rank %d is negative", rank);
    if (!profiler->is_configured) {
        status = sp_native_start(profiler, &sp_native_next, prefix, rank, error);
        if (status == SP_OK)
            sp_native_next = (sp_native_settings){.has_format = false};
        finish_at_exit();
    }
    if (status == SP_OK) {
        profiler->joins++;
        profiler->was_joined = true;
        sp_job_watch();
    }
    return status;
}

static __attribute__((constructor)) void start_by_environment(void)
{
    if (!sp_environment_flag(SP_ENVIRONMENT_AUTO_START, false))
        return;
    sp_profiler *profiler = sp_profiler_default();
    int64_t rank = sp_environment_rank();
    if (profiler == NULL)
        return;
    sp_mutex_lock(&profiler->lock);
    int status = SP_OK;
    if (!profiler->is_configured)
        status = sp_native_join(profiler, NULL, rank < 0 ? 0 : (int)rank, &profiler->last_error);
    sp_mutex_unlock(&profiler->lock);
    if (status != SP_OK)
        sp_complain("recording could not start: %s", profiler->last_error.text);
}
