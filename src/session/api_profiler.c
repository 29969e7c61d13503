/* Independent profilers, as scope_profiler.h declares them. */
#include "recorder/fast.h"
#include "recorder/path.h"
#include "recorder/query.h"
#include "session/copies.h"
#include "session/complaint.h"
#include "session/native_run.h"
#include "session/region.h"

#include <string.h>

sp_profiler *sp_create(const char *prefix, int rank)
{
    SP_PASS_ON(sp_create, (prefix, rank));
    sp_profiler *profiler = sp_binding_create();
    if (profiler == NULL)
        return NULL;
    static const sp_native_settings plain = {.has_format = false};
    if (sp_native_start(profiler, &plain, prefix, rank, NULL) != SP_OK) {
        sp_binding_destroy(profiler);
        return NULL;
    }
    return profiler;
}

void sp_destroy(sp_profiler *profiler)
{
    SP_PASS_ON_VOID(sp_destroy, (profiler));
    sp_binding_destroy(profiler);
}

int sp_profiler_region(sp_profiler *profiler, const char *name)
{
    SP_PASS_ON(sp_profiler_region, (profiler, name));
    return sp_profiler_region_at(profiler, name, NULL, -1);
}

int sp_profiler_region_at(sp_profiler *profiler, const char *name, const char *file, int line)
{
    SP_PASS_ON(sp_profiler_region_at, (profiler, name, file, line));
    if (profiler == NULL || sp_recording_phase(&profiler->recording) == SP_PHASE_OFF)
        return SP_INVALID_REGION;
    return sp_region_define(profiler, name, file, line);
}

int sp_profiler_begin(sp_profiler *profiler, int region)
{
    if (profiler == NULL)
        return SP_ERR_INVALID_ARGUMENT;
    sp_recording *recording = &profiler->recording;
    sp_phase phase = sp_recording_phase(recording);
    if (phase != SP_PHASE_OFF && sp_fast_begin(phase, sp_lane_of(recording), (uint32_t)region))
        return SP_OK;
    SP_PASS_ON(sp_profiler_begin, (profiler, region));
    return sp_path_begin(recording, (uint32_t)region, 0);
}

int sp_profiler_end(sp_profiler *profiler, int region)
{
    if (profiler == NULL)
        return SP_ERR_INVALID_ARGUMENT;
    sp_recording *recording = &profiler->recording;
    sp_phase phase = sp_recording_phase(recording);
    if (phase != SP_PHASE_OFF && sp_fast_end(phase, sp_lane_of(recording), (uint32_t)region))
        return SP_OK;
    SP_PASS_ON(sp_profiler_end, (profiler, region));
    int status = sp_path_end(recording, (uint32_t)region);
    if (status == SP_ERR_UNMATCHED_END)
        sp_region_complain_unmatched(profiler, region);
    return status;
}

int sp_profiler_end_last(sp_profiler *profiler)
{
    SP_PASS_ON(sp_profiler_end_last, (profiler));
    return profiler == NULL ? SP_ERR_INVALID_ARGUMENT : sp_path_end_last(&profiler->recording);
}

sp_scope sp_profiler_scope_begin(sp_profiler *profiler, int region)
{
    SP_PASS_ON(sp_profiler_scope_begin, (profiler, region));
    sp_scope scope = {.profiler = profiler, .region = region, .slot = SP_PATH_NOTHING};
    if (profiler != NULL)
        sp_path_begin_token(&profiler->recording, (uint32_t)region, &scope.slot);
    return scope;
}

int sp_scope_end(sp_scope scope)
{
    SP_PASS_ON(sp_scope_end, (scope));
    return scope.profiler == NULL ? SP_ERR_INVALID_ARGUMENT
                                  : sp_path_end_token(&scope.profiler->recording, scope.slot);
}

int sp_profiler_reset(sp_profiler *profiler)
{
    SP_PASS_ON(sp_profiler_reset, (profiler));
    if (profiler == NULL)
        return SP_ERR_INVALID_ARGUMENT;
    sp_mutex_lock(&profiler->lock);
    int status = profiler->is_configured ? sp_profiler_forget(profiler, &profiler->last_error)
                                         : SP_ERR_INACTIVE;
    sp_mutex_unlock(&profiler->lock);
    return status;
}

/* Regions of this profiler alone: another one may know the handle too. */
static bool knows(sp_profiler *profiler, int region)
{
    sp_lane *own = sp_recording_lock(&profiler->recording);
    bool known = sp_region_table_find(&profiler->recording.regions, region) != NULL;
    sp_recording_unlock(&profiler->recording, own);
    return known;
}

int sp_profiler_get_region_stats(sp_profiler *profiler, int region, sp_region_stats *out)
{
    SP_PASS_ON(sp_profiler_get_region_stats, (profiler, region, out));
    if (profiler == NULL || out == NULL || !knows(profiler, region))
        return SP_ERR_INVALID_ARGUMENT;
    sp_sum sum;
    sp_recording_sum(&profiler->recording, (uint32_t)region, &sum);
    *out = (sp_region_stats){
        .calls = sp_recording_num_calls(&profiler->recording, (uint32_t)region),
        .total_ns = sum.total,
        .min_ns = sum.minimum,
        .max_ns = sum.maximum,
    };
    return SP_OK;
}

int sp_profiler_num_regions(sp_profiler *profiler)
{
    SP_PASS_ON(sp_profiler_num_regions, (profiler));
    return profiler == NULL ? 0 : (int)sp_binding_num_regions(profiler);
}

const char *sp_profiler_region_name(sp_profiler *profiler, int i)
{
    SP_PASS_ON(sp_profiler_region_name, (profiler, i));
    if (profiler == NULL || i < 0)
        return NULL;
    return sp_names_get(sp_binding_region_at(profiler, (size_t)i));
}

int sp_profiler_flush(sp_profiler *profiler)
{
    SP_PASS_ON(sp_profiler_flush, (profiler));
    if (profiler == NULL)
        return SP_ERR_INVALID_ARGUMENT;
    sp_mutex_lock(&profiler->lock);
    int status = profiler->is_muted ? SP_OK : SP_ERR_INACTIVE;
    if (profiler->is_configured)
        status = sp_profiler_publish_native(profiler, false, false, NULL, &profiler->last_error);
    sp_mutex_unlock(&profiler->lock);
    return status;
}

int sp_profiler_finalize(sp_profiler *profiler)
{
    SP_PASS_ON(sp_profiler_finalize, (profiler));
    if (profiler == NULL)
        return SP_ERR_INVALID_ARGUMENT;
    if (profiler == &sp_default)
        return sp_finalize();
    sp_mutex_lock(&profiler->lock);
    int status = profiler->is_muted ? SP_OK : SP_ERR_INACTIVE;
    if (profiler->is_configured)
        status = sp_native_finalize(profiler, &profiler->last_error);
    sp_mutex_unlock(&profiler->lock);
    return status;
}

int sp_profiler_is_active(sp_profiler *profiler)
{
    SP_PASS_ON(sp_profiler_is_active, (profiler));
    return profiler != NULL && sp_recording_phase(&profiler->recording) != SP_PHASE_OFF;
}

const char *sp_profiler_output_path(sp_profiler *profiler)
{
    SP_PASS_ON(sp_profiler_output_path, (profiler));
    if (profiler == NULL)
        return "";
    sp_mutex_lock(&profiler->lock);
    const char *path = profiler->settings.output;
    sp_mutex_unlock(&profiler->lock);
    return path == NULL ? "" : path;
}

const char *sp_profiler_last_error(sp_profiler *profiler)
{
    SP_PASS_ON(sp_profiler_last_error, (profiler));
    return profiler == NULL ? "" : profiler->last_error.text;
}
