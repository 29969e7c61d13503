/* Starting and ending a recording of native code. */
#include "base/error.h"
#include "base/os/file.h"
#include "base/text.h"
#include "session/complaint.h"
#include "session/environment.h"
#include "session/native_run.h"
#include "session/native_values.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_PREFIX "scope_profile"

/* A relative path counts from the folder that is current now. */
static void add_folder(sp_text *path, const char *given)
{
    char folder[PATH_MAX];
    if (given[0] != '/' && sp_os_current_folder(folder, sizeof folder))
        sp_text_format(path, "%s/", folder);
}

static char *output_of_prefix(const char *prefix, int rank, sp_output_format format)
{
    sp_text path = {0};
    add_folder(&path, prefix);
    sp_text_format(&path, "%s_rank%05d%s", prefix, rank, sp_output_suffix(format));
    return sp_text_take(&path);
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

/* The path that the environment gives; with several ranks each gets its number before the suffix,
 * which also tells the format. */
static char *output_of_environment(const char *given, int rank, sp_output_format *out_format)
{
    sp_text path = {0};
    *out_format = ends_with(given, ".spt") ? SP_OUTPUT_TRACE : SP_OUTPUT_HDF5;
    const char *suffix = sp_output_suffix(*out_format);
    size_t stem = strlen(given) - (ends_with(given, suffix) ? strlen(suffix) : 0);
    add_folder(&path, given);
    sp_text_add_n(&path, given, stem);
    if (rank > 0 || sp_environment_rank() >= 0)
        sp_text_format(&path, "_rank%05d", rank);
    sp_text_add(&path, given + stem);
    return sp_text_take(&path);
}

static int check_arguments(const char *prefix, int rank, sp_error *error)
{
    if (rank < 0)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "rank %d is negative", rank);
    if (prefix[0] == '\0')
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "the prefix of the output is empty; pass NULL for \"" DEFAULT_PREFIX "\"");
    return SP_OK;
}

/* What the values say of the file, and how much is kept. */
static void apply(const sp_setting_value values[], sp_settings *settings)
{
    const sp_setting_value *level = &values[SP_SETTING_HDF5_COMPRESSION_LEVEL];
    if (values[SP_SETTING_LABEL].is_given)
        settings->label = values[SP_SETTING_LABEL].text;
    settings->is_aggregate = settings->is_aggregate || values[SP_SETTING_AGGREGATION_MODE].flag;
    settings->track_threads = values[SP_SETTING_TRACK_THREADS].flag;
    settings->store = (sp_store_options){
        .size = sizeof settings->store,
        .compression = values[SP_SETTING_HDF5_COMPRESSION].text,
        .compression_level = level->is_given ? (int)level->integer : -1,
        .chunk_size = (uint64_t)values[SP_SETTING_HDF5_CHUNK_SIZE].integer,
    };
}

static int start(sp_profiler *profiler, const sp_native_settings *native, const char *prefix,
                 int rank, const sp_setting_value values[], sp_error *error)
{
    const sp_setting_value *given = &values[SP_SETTING_FILE_PATH];
    const char *slash = strrchr(prefix, '/');
    sp_settings settings = {
        .label = slash == NULL ? prefix : slash + 1,
        .rank = (uint32_t)rank,
        .format = native->has_format ? native->format : sp_default_output_format(),
        .is_aggregate = native->is_aggregate,
    };
    apply(values, &settings);
    char *path = given->is_given ? output_of_environment(given->text, rank, &settings.format)
                                 : output_of_prefix(prefix, rank, settings.format);
    settings.output = path;
    int status;
    if (path == NULL)
        status = sp_fail_memory(error, "starting a recording");
    else if (settings.format == SP_OUTPUT_TRACE && settings.is_aggregate)
        status = sp_fail(error, SP_ERR_UNSUPPORTED,
                         "a native trace holds calls, and aggregation keeps totals only; totals "
                         "need a build with HDF5");
    else
        status = sp_profiler_start(profiler, &settings, error);
    free(path);
    return status;
}

int sp_native_start(sp_profiler *profiler, const sp_native_settings *native, const char *prefix,
                    int rank, sp_error *error)
{
    sp_setting_value values[SP_NUM_SETTINGS];
    prefix = prefix == NULL ? DEFAULT_PREFIX : prefix;
    int status = sp_native_gather(profiler == &sp_default, values, error);
    profiler->is_muted = values[SP_SETTING_DEACTIVATE_PROFILING].flag;
    if (status == SP_OK)
        status = check_arguments(prefix, rank, error);
    if (status != SP_OK || profiler->is_muted)
        return status;
    return start(profiler, native, prefix, rank, values, error);
}

int sp_native_finalize(sp_profiler *profiler, sp_error *error)
{
    sp_recording *recording = &profiler->recording;
    sp_phase phase = sp_recording_phase(recording);
    sp_binding_report report;
    sp_recording_stop(recording);
    int status = sp_profiler_publish_native(profiler, false, false, &report, error);
    if (status != SP_OK) {
        sp_recording_continue(recording, phase);
        return status;
    }
    free(report.image);
    if (report.calls_open > 0) {
        sp_profiler_report_open(profiler);
        status = sp_fail(error, SP_ERR_OPEN_SCOPES, "%llu call(s) still open are left out of %s",
                         (unsigned long long)report.calls_open, profiler->settings.output);
    }
    sp_profiler_stop(profiler);
    return status;
}
