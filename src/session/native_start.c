#include "base/error.h"
#include "base/os/file.h"
#include "base/text.h"
#include "session/complaint.h"
#include "session/native_run.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_PREFIX "scope_profile"

static char *output_path(const char *prefix, int rank)
{
    sp_text path = {0};
    char folder[PATH_MAX];
    if (prefix[0] != '/' && sp_os_current_folder(folder, sizeof folder))
        sp_text_format(&path, "%s/", folder);
    sp_text_format(&path, "%s_rank%05d.h5", prefix, rank);
    return sp_text_take(&path);
}

int sp_native_start(sp_profiler *profiler, const char *prefix, int rank, sp_error *error)
{
    prefix = prefix == NULL ? DEFAULT_PREFIX : prefix;
    if (prefix[0] == '\0')
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "the prefix of the output is empty; pass NULL for \"" DEFAULT_PREFIX "\"");
    if (rank < 0)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "rank %d is negative", rank);
    const char *slash = strrchr(prefix, '/');
    char *path = output_path(prefix, rank);
    if (path == NULL)
        return sp_fail_memory(error, "starting a recording");
    sp_settings settings = {
        .output = path,
        .label = slash == NULL ? prefix : slash + 1,
        .rank = (uint32_t)rank,
        .store = {.size = sizeof settings.store, .compression_level = -1},
    };
    int status = sp_profiler_start(profiler, &settings, error);
    free(path);
    return status;
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
