/* Short forms for the default profiler, as scope_profiler.h declares them. */
#include "session/profiler.h"

void sp_profiler_pause(sp_profiler *profiler)
{
    if (profiler != NULL)
        sp_recording_pause(&profiler->recording);
}

void sp_profiler_resume(sp_profiler *profiler)
{
    if (profiler != NULL)
        sp_recording_resume(&profiler->recording);
}

void sp_pause(void)
{
    sp_profiler_pause(sp_profiler_default());
}

void sp_resume(void)
{
    sp_profiler_resume(sp_profiler_default());
}

int sp_get_region_stats(int region, sp_region_stats *out)
{
    return sp_profiler_get_region_stats(sp_profiler_default(), region, out);
}

int sp_reset(void)
{
    sp_profiler *profiler = sp_profiler_default();
    return profiler == NULL ? SP_ERR_INACTIVE : sp_profiler_reset(profiler);
}

/* A host writes its file when it likes. */
int sp_flush(void)
{
    sp_profiler *profiler = sp_profiler_default();
    if (profiler == NULL)
        return SP_ERR_INACTIVE;
    sp_mutex_lock(&profiler->lock);
    bool is_host = profiler->is_configured && profiler->is_host;
    sp_mutex_unlock(&profiler->lock);
    return is_host ? SP_OK : sp_profiler_flush(profiler);
}

const char *sp_last_error(void)
{
    return sp_profiler_last_error(sp_profiler_default());
}
