/* Runs that `scope-profiler run -- PROGRAM` starts: the environment is the host. Recording begins
 * when the library is loaded and is published when the process exits; sp_init and sp_finalize of the
 * program join and leave. */
#include "base/os/claim.h"
#include "base/os/process.h"
#include "base/text.h"
#include "session/complaint.h"
#include "session/environment.h"
#include "session/journal.h"
#include "session/instruments.h"
#include "session/native_run.h"
#include "session/native_values.h"
#include "session/setting_text.h"
#include "session/summary.h"

#include <stdlib.h>
#include <string.h>

#define OUTPUT_VARIABLE "SCOPE_PROFILER_RUN_OUTPUT"   /* absolute path; empty: no file */
#define SUMMARY_VARIABLE "SCOPE_PROFILER_RUN_SUMMARY" /* "1": print it at the end */
#define LABEL_VARIABLE "SCOPE_PROFILER_RUN_LABEL"
#define STARTED_VARIABLE "SCOPE_PROFILER_RUN_STARTED" /* ns since 1970 */

static const int64_t SECOND_NS = INT64_C(1000000000);

/* `path` with something before its extension; free() it. NULL: memory is short. */
static char *insert(const char *path, const char *format, int64_t number)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    if (dot == NULL || (slash != NULL && dot < slash))
        dot = path + strlen(path);
    sp_text out = {0};
    sp_text_add_n(&out, path, (size_t)(dot - path));
    sp_text_format(&out, "%s%0*lld", format, format[0] == '_' ? 5 : 1, (long long)number);
    sp_text_add(&out, dot);
    return sp_text_take(&out);
}

/* A text that is no value of its setting is said and counts as not set. */
static sp_setting_value setting_of(sp_environment_variable variable, sp_setting_id id)
{
    sp_setting_value value = {.is_given = false};
    sp_error error;
    const char *text = sp_environment_text(variable);
    if (text != NULL && sp_setting_parse(id, text, NULL, &value, &error) != SP_OK)
        sp_complain("%s", error.text);
    return value;
}

/* Events that are none are said and not counted. */
static void add_instruments(sp_settings *settings)
{
    sp_setting_value values[SP_NUM_SETTINGS] = {{.is_given = false}};
    sp_arena texts = {0};
    sp_error error;
    if (sp_native_add_counters(&texts, values, &error) != SP_OK)
        sp_complain("%s", error.text);
    settings->instruments = sp_instruments_of_settings(values);
    sp_arena_release(&texts);
}

static int start(sp_profiler *profiler, const char *path)
{
    int64_t rank = sp_environment_rank();
    char *of_rank = rank < 0 || path[0] == '\0' ? NULL : insert(path, "_rank", rank);
    const char *mode = sp_environment_text(SP_ENVIRONMENT_OUTPUT_MODE);
    sp_settings settings = {
        .output = of_rank != NULL ? of_rank : path[0] == '\0' ? NULL : path,
        .label = sp_os_environment(LABEL_VARIABLE),
        .rank = rank < 0 ? 0 : (uint32_t)rank,
        .is_joint = mode == NULL || strcmp(mode, "per-rank") != 0,
        .joint_output = path[0] == '\0' ? NULL : path,
        .timeout_ns = sp_environment_number("SCOPE_PROFILER_FINALIZE_TIMEOUT", 0) * SECOND_NS,
        .journal = sp_environment_text(SP_ENVIRONMENT_JOURNAL),
        .journal_flush = -1,
        .max_memory = (size_t)setting_of(SP_ENVIRONMENT_MAX_MEMORY, SP_SETTING_MAX_MEMORY).integer,
        .on_full = setting_of(SP_ENVIRONMENT_ON_FULL, SP_SETTING_ON_FULL).text,
        .checkpoint_interval = setting_of(SP_ENVIRONMENT_CHECKPOINT_INTERVAL,
                                          SP_SETTING_CHECKPOINT_INTERVAL).number,
        .store = {.size = sizeof settings.store, .compression_level = -1},
    };
    sp_mutex_lock(&profiler->lock);
    add_instruments(&settings);
    int status = sp_profiler_start(profiler, &settings, &profiler->last_error);
    profiler->is_host = profiler->is_run = status == SP_OK;
    sp_mutex_unlock(&profiler->lock);
    free(of_rank);
    return status;
}

/* An earlier program of the job has written its common file under that name, which rank 0 would replace. */
static bool is_taken_jointly(const sp_profiler *profiler, int64_t started)
{
    const sp_settings *settings = &profiler->settings;
    return settings->is_joint && settings->rank == 0 && settings->joint_output != NULL &&
           sp_os_written_since(settings->joint_output, started);
}

void sp_run_claim_output(sp_profiler *profiler)
{
    if (atomic_load(&profiler->has_claimed))
        return;
    sp_mutex_lock(&profiler->lock);
    const char *path = profiler->settings.output;
    if (profiler->is_run && !atomic_load(&profiler->has_claimed) && path != NULL) {
        int64_t started = sp_environment_number(STARTED_VARIABLE, INT64_MAX);
        bool is_ours = sp_os_claim_take(&profiler->claim, path) &&
                       !sp_os_written_since(path, started) && !is_taken_jointly(profiler, started);
        char *other = is_ours ? NULL : insert(path, ".pid", sp_os_process_id());
        const char *kept = other == NULL ? NULL : sp_arena_text(&profiler->texts, other);
        if (kept != NULL) {
            profiler->settings.output = kept;
            profiler->settings.joint_output = kept;
            sp_profiler_journal_change(profiler);
            sp_complain("%s is taken by another process of this run; process %lld writes %s", path,
                        (long long)sp_os_process_id(), kept);
        }
        free(other);
    }
    atomic_store(&profiler->has_claimed, true);
    sp_mutex_unlock(&profiler->lock);
}

/* True when there is something to publish; otherwise says what is likely to be the cause. */
static bool recorded_something(sp_profiler *profiler)
{
    size_t regions = sp_binding_num_regions(profiler);
    for (size_t i = 0; i < regions; i++)
        if (sp_binding_num_calls(profiler, sp_binding_region_at(profiler, i)) > 0)
            return true;
    if (regions == 0)
        sp_complain("nothing was recorded: the program defined no region (no sp_region call was "
                    "reached)");
    else
        sp_complain("nothing was recorded: the program defined %zu region(s) and entered none",
                    regions);
    return false;
}

/* `job` NULL: this process alone. */
static bool publish(sp_profiler *profiler, sp_job *job)
{
    bool wants_summary = sp_environment_number(SUMMARY_VARIABLE, 0) == 1;
    bool wants_image = wants_summary && profiler->settings.output == NULL;
    sp_error *error = &profiler->last_error;
    sp_binding_report report;
    int status = job == NULL
                     ? sp_profiler_publish_native(profiler, true, wants_image, &report, error)
                     : sp_profiler_publish_jointly(profiler, job, true, wants_image, &report, error);
    if (status != SP_OK) {
        sp_complain("the profile was not written: %s", error->text);
        return false;
    }
    if (wants_summary && report.is_root)
        sp_summary_print(profiler->settings.output, report.image, report.image_size);
    else
        free(report.image);
    return true;
}

bool sp_run_end_jointly(sp_profiler *profiler, sp_job *job)
{
    sp_phase phase = sp_recording_phase(&profiler->recording);
    sp_recording_stop(&profiler->recording);
    bool is_written = publish(profiler, job);
    if (!is_written)
        sp_recording_continue(&profiler->recording, phase);
    return is_written;
}

static void finish(void)
{
    sp_profiler *profiler = &sp_default;
    sp_mutex_lock(&profiler->lock);
    if (profiler->is_configured && profiler->is_run) {
        sp_recording_stop(&profiler->recording);
        if (recorded_something(profiler) && publish(profiler, NULL))
            sp_job_say_alone(profiler);
        sp_profiler_stop(profiler);
    }
    sp_mutex_unlock(&profiler->lock);
}

static __attribute__((constructor)) void begin_run(void)
{
    const char *path = sp_os_environment(OUTPUT_VARIABLE);
    if (path == NULL)
        return;
    sp_profiler *profiler = sp_profiler_default();
    if (profiler == NULL || start(profiler, path) != SP_OK)
        sp_complain("recording could not start: %s",
                    profiler == NULL ? "out of memory" : profiler->last_error.text);
    else
        atexit(finish);
}
