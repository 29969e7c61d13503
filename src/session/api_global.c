/* Short forms for the default profiler, as scope_profiler.h declares them. */
#include "recorder/attach.h"
#include "session/copies.h"
#include "session/profiler.h"

void sp_profiler_pause(sp_profiler *profiler)
{
    SP_PASS_ON_VOID(sp_profiler_pause, (profiler));
    if (profiler != NULL)
        sp_recording_pause(&profiler->recording);
}

void sp_profiler_resume(sp_profiler *profiler)
{
    SP_PASS_ON_VOID(sp_profiler_resume, (profiler));
    if (profiler != NULL)
        sp_recording_resume(&profiler->recording);
}

void sp_pause(void)
{
    SP_PASS_ON_VOID(sp_pause, ());
    sp_profiler_pause(sp_profiler_default());
}

void sp_resume(void)
{
    SP_PASS_ON_VOID(sp_resume, ());
    sp_profiler_resume(sp_profiler_default());
}

void sp_name_thread(const char *name)
{
    SP_PASS_ON_VOID(sp_name_thread, (name));
    sp_profiler *profiler = sp_profiler_default();
    if (profiler != NULL)
        sp_thread_rename(&profiler->recording, name);
}

int sp_get_region_stats(int region, sp_region_stats *out)
{
    SP_PASS_ON(sp_get_region_stats, (region, out));
    return sp_profiler_get_region_stats(sp_profiler_default(), region, out);
}

int sp_reset(void)
{
    SP_PASS_ON(sp_reset, ());
    sp_profiler *profiler = sp_profiler_default();
    return profiler == NULL ? SP_ERR_INACTIVE : sp_profiler_reset(profiler);
}

/* A host writes its file when it likes. */
int sp_flush(void)
{
    SP_PASS_ON(sp_flush, ());
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
    SP_PASS_ON(sp_last_error, ());
    return sp_profiler_last_error(sp_profiler_default());
}
