/* The default profiler, as scope_profiler.h declares it. */
#include "base/error.h"
#include "clock/clock.h"
#include "recorder/fast.h"
#include "recorder/path.h"
#include "recorder/query.h"
#include "session/copies.h"
#include "session/complaint.h"
#include "session/native_run.h"
#include "session/region.h"

#define RECORDING (&sp_default.recording)

static __attribute__((noinline, cold)) void end_slowly(int region)
{
    SP_PASS_ON_VOID(sp_end, (region));
    if (sp_path_end(RECORDING, (uint32_t)region) == SP_ERR_UNMATCHED_END)
        sp_region_complain_unmatched(&sp_default, region);
}

void sp_begin(int region)
{
    sp_phase phase = sp_recording_phase(RECORDING);
    if (SP_IN_LINE(phase == SP_PHASE_OFF))
        return;
    if (SP_UNLIKELY(!sp_fast_begin(phase, sp_lane_current, (uint32_t)region)))
        sp_region_begin_slowly(region);
}

void sp_end(int region)
{
    sp_phase phase = sp_recording_phase(RECORDING);
    if (SP_IN_LINE(phase == SP_PHASE_OFF))
        return;
    if (SP_UNLIKELY(!sp_fast_end(phase, sp_lane_current, (uint32_t)region)))
        end_slowly(region);
}

int sp_init(const char *prefix, int rank)
{
    SP_PASS_ON(sp_init, (prefix, rank));
    sp_profiler *profiler = sp_profiler_default();
    if (profiler == NULL)
        return SP_ERR_NO_MEMORY;
    sp_mutex_lock(&profiler->lock);
    int status = sp_native_join(profiler, prefix, rank, &profiler->last_error);
    sp_mutex_unlock(&profiler->lock);
    return status;
}

int sp_region(const char *name)
{
    SP_PASS_ON(sp_region, (name));
    return sp_region_at(name, NULL, -1);
}

int sp_region_at(const char *name, const char *file, int line)
{
    SP_PASS_ON(sp_region_at, (name, file, line));
    return sp_recording_phase(RECORDING) == SP_PHASE_OFF
               ? SP_INVALID_REGION
               : sp_region_define(&sp_default, name, file, line);
}

int64_t sp_num_calls(int region)
{
    SP_PASS_ON(sp_num_calls, (region));
    sp_profiler *profiler = sp_profiler_default();
    return profiler == NULL || region < 0
               ? 0
               : sp_recording_num_calls(&profiler->recording, (uint32_t)region);
}

int64_t sp_now_ns(void)
{
    return sp_clock_monotonic_ns();
}

int sp_is_active(void)
{
    SP_PASS_ON(sp_is_active, ());
    return sp_recording_phase(RECORDING) != SP_PHASE_OFF;
}

const char *sp_output_path(void)
{
    SP_PASS_ON(sp_output_path, ());
    sp_profiler *profiler = sp_profiler_default();
    return profiler == NULL ? "" : sp_profiler_output_path(profiler);
}

int sp_finalize(void)
{
    SP_PASS_ON(sp_finalize, ());
    sp_profiler *profiler = sp_profiler_default();
    if (profiler == NULL)
        return SP_ERR_INACTIVE;
    sp_mutex_lock(&profiler->lock);
    int status = SP_OK;
    if (!profiler->is_configured)
        status = profiler->is_muted ? SP_OK : SP_ERR_INACTIVE;
    else if (profiler->is_host || profiler->joins > 1)
        profiler->joins -= profiler->joins > 0;
    else
        status = sp_native_finalize(profiler, &profiler->last_error);
    if (status != SP_OK && status != SP_ERR_INACTIVE && status != SP_ERR_OPEN_SCOPES)
        sp_complain("%s", profiler->last_error.text);
    sp_mutex_unlock(&profiler->lock);
    return status;
}

sp_profiler *sp_default_profiler(void)
{
    SP_PASS_ON(sp_default_profiler, ());
    return atomic_load(&sp_default.was_started) ? &sp_default : NULL;
}
