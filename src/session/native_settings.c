/* Settings of runs that native code starts, as scope_profiler.h declares them. */
#include "session/copies.h"
#include "session/native_settings.h"

#include "base/error.h"
#include "base/text.h"
#include "store/module.h"

#include <stdlib.h>
#include <string.h>

sp_native_settings sp_native_next;

const char *sp_output_suffix(sp_output_format format)
{
    return format == SP_OUTPUT_TRACE ? ".spt" : ".h5";
}

int sp_hdf5_available(void)
{
    return sp_store_hdf5(NULL) != NULL;
}

sp_output_format sp_default_output_format(void)
{
    return sp_store_hdf5_is_there() ? SP_OUTPUT_HDF5 : SP_OUTPUT_TRACE;
}

/* The path with the suffix of another format in place of its own. NULL: memory is short. */
static const char *rename_output(sp_profiler *profiler, sp_output_format format)
{
    const char *path = profiler->settings.output;
    const char *old = sp_output_suffix(profiler->settings.format);
    size_t kept = strlen(path), length = strlen(old);
    if (kept > length && strcmp(path + kept - length, old) == 0)
        kept -= length;
    sp_text text = {0};
    sp_text_add_n(&text, path, kept);
    sp_text_add(&text, sp_output_suffix(format));
    const char *renamed = text.failed ? NULL : sp_arena_text(&profiler->texts, text.bytes);
    sp_text_release(&text);
    return renamed;
}

/* Of a recording that goes on, under its lock. A host's file stays what the host chose. */
static int change_format(sp_profiler *profiler, sp_output_format format)
{
    sp_settings *settings = &profiler->settings;
    if (profiler->is_host || settings->output == NULL || settings->format == format)
        return SP_OK;
    if (format == SP_OUTPUT_TRACE && settings->is_aggregate)
        return sp_fail(&profiler->last_error, SP_ERR_UNSUPPORTED,
                       "a native trace holds calls, and this recording keeps totals only");
    const char *path = rename_output(profiler, format);
    if (path == NULL)
        return sp_fail_memory(&profiler->last_error, "choosing a format");
    settings->output = path;
    settings->format = format;
    return SP_OK;
}

int sp_profiler_set_output_format(sp_profiler *profiler, sp_output_format format)
{
    SP_PASS_ON(sp_profiler_set_output_format, (profiler, format));
    if (profiler == NULL || (format != SP_OUTPUT_HDF5 && format != SP_OUTPUT_TRACE))
        return SP_ERR_INVALID_ARGUMENT;
    sp_error missing;
    bool is_missing = format == SP_OUTPUT_HDF5 && sp_store_hdf5(&missing) == NULL;
    int status = SP_OK;
    sp_mutex_lock(&profiler->lock);
    if (is_missing)
        status = sp_fail(&profiler->last_error, SP_ERR_UNSUPPORTED, "%s", missing.text);
    else if (profiler->is_configured)
        status = change_format(profiler, format);
    else if (profiler == &sp_default)
        sp_native_next = (sp_native_settings){.has_format = true, .format = format,
                                              .is_aggregate = sp_native_next.is_aggregate};
    else
        status = SP_ERR_INACTIVE;
    sp_mutex_unlock(&profiler->lock);
    return status;
}

sp_output_format sp_profiler_output_format(sp_profiler *profiler)
{
    SP_PASS_ON(sp_profiler_output_format, (profiler));
    if (profiler == NULL)
        return sp_default_output_format();
    sp_mutex_lock(&profiler->lock);
    bool is_next = !profiler->is_configured && profiler == &sp_default && sp_native_next.has_format;
    bool was_set = atomic_load(&profiler->was_started);
    sp_output_format format = is_next ? sp_native_next.format : profiler->settings.format;
    sp_mutex_unlock(&profiler->lock);
    return is_next || was_set ? format : sp_default_output_format();
}

int sp_set_output_format(sp_output_format format)
{
    SP_PASS_ON(sp_set_output_format, (format));
    sp_profiler *profiler = sp_profiler_default();
    return profiler == NULL ? SP_ERR_NO_MEMORY : sp_profiler_set_output_format(profiler, format);
}

sp_output_format sp_current_output_format(void)
{
    SP_PASS_ON(sp_current_output_format, ());
    return sp_profiler_output_format(sp_profiler_default());
}

int sp_set_aggregation(int is_on)
{
    SP_PASS_ON(sp_set_aggregation, (is_on));
    sp_profiler *profiler = sp_profiler_default();
    if (profiler == NULL)
        return SP_ERR_NO_MEMORY;
    int status = SP_OK;
    sp_mutex_lock(&profiler->lock);
    if (profiler->is_configured && profiler->settings.is_aggregate != (is_on != 0))
        status = sp_fail(&profiler->last_error, SP_ERR_INVALID_ARGUMENT,
                         "the recording has begun; call sp_set_aggregation before sp_init");
    else
        sp_native_next.is_aggregate = is_on != 0;
    sp_mutex_unlock(&profiler->lock);
    return status;
}
