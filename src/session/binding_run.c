/* What a language binding uses, as binding.h declares it: starting, ending, publishing. */
#include "base/error.h"
#include "base/os/thread.h"
#include "recorder/attach.h"
#include "recorder/query.h"
#include "session/complaint.h"
#include "session/checkpoint.h"
#include "session/final_signals.h"
#include "session/journal.h"
#include "session/profiler.h"
#include "session/tags.h"

#include <stdlib.h>

static sp_settings settings_of(const sp_binding_settings *given)
{
    sp_settings settings = {
        .output = given->output,
        .rank = given->rank,
        .is_aggregate = given->is_aggregate,
        .track_threads = given->track_threads,
        .track_tasks = given->track_tasks,
        .max_memory = given->max_memory,
        .on_full = given->on_full,
        .checkpoint_interval = given->checkpoint_interval,
        .journal = given->journal,
        .journal_flush = given->journal_flush == 0  ? -1
                         : given->journal_flush < 0 ? 0
                                                    : given->journal_flush,
        .store = given->store,
    };
    if (settings.store.size == 0)
        settings.store = (sp_store_options){.size = sizeof settings.store, .compression_level = -1};
    return settings;
}

static void say(const char *text)
{
    sp_complain("%s", text);
}

/* What runs goes on under other settings. Threads that record already are not measured, except this
 * one. */
static int take_over(sp_profiler *profiler, sp_settings *settings, sp_error *error)
{
    sp_instruments *instruments = settings->instruments;
    settings->instruments = NULL;
    int status = sp_profiler_set(profiler, settings, error);
    sp_profiler_journal_instruments(profiler->journal, instruments);
    if (status == SP_OK && instruments != NULL)
        sp_recording_adopt_instruments(&profiler->recording, instruments);
    else
        sp_instruments_let_go(instruments);
    return status;
}

int sp_binding_configure(sp_profiler *profiler, const sp_binding_settings *given, sp_error *error)
{
    sp_settings settings = settings_of(given);
    int wanted = SP_OK;
    if (given->num_instruments > 0)
        wanted = sp_instruments_create(given->instruments, given->num_instruments, say,
                                       &settings.instruments, error);
    if (wanted == SP_OK)
        wanted = sp_final_signals_want_text(given->finalize_signals, error);
    if (wanted != SP_OK) {
        sp_instruments_let_go(settings.instruments);
        return wanted;
    }
    sp_mutex_lock(&profiler->lock);
    /* What native code or the environment started goes on, under these settings. */
    bool takes_over = profiler->is_configured && given->is_host &&
                      (!profiler->is_host || profiler->is_run);
    if (profiler->is_configured && given->is_host && !takes_over && given->host != profiler->host) {
        sp_mutex_unlock(&profiler->lock);
        sp_instruments_let_go(settings.instruments);
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "another interpreter of this process records already; a manager of your own "
                       "(ProfileManager()) records beside it");
    }
    int joins = takes_over ? profiler->joins : 0;
    int status = profiler == &sp_default
                     ? sp_tags_filter(&given->region_tags, &given->enable_tags, error)
                     : SP_OK;
    if (status == SP_OK && !takes_over)
        status = sp_profiler_start(profiler, &settings, error);
    else if (status == SP_OK)
        status = take_over(profiler, &settings, error);
    else
        sp_instruments_let_go(settings.instruments);
    if (status == SP_OK) {
        profiler->is_host = given->is_host;
        profiler->host = given->host;
        profiler->is_run = false;
        profiler->joins = joins;
        sp_os_claim_release(&profiler->claim);
    }
    if (status == SP_OK && takes_over) {
        sp_profiler_bound(profiler);
        sp_checkpoint_want(profiler);
    }
    sp_mutex_unlock(&profiler->lock);
    /* Who sets up a run that shows threads is the first of them, whatever it records. */
    if (status == SP_OK && settings.track_threads && !takes_over)
        sp_lane_attach(&profiler->recording);
    return status;
}

void sp_binding_set_metadata(sp_profiler *profiler, const sp_metadata_entry *entries, size_t count)
{
    sp_mutex_lock(&profiler->lock);
    sp_run_metadata_release(&profiler->metadata);
    for (size_t i = 0; i < count; i++)
        sp_run_metadata_add(&profiler->metadata, &entries[i]);
    sp_mutex_unlock(&profiler->lock);
}

void sp_binding_deconfigure(sp_profiler *profiler)
{
    sp_mutex_lock(&profiler->lock);
    sp_profiler_stop(profiler);
    sp_mutex_unlock(&profiler->lock);
}

bool sp_binding_is_recording(const sp_profiler *profiler)
{
    return sp_recording_phase(&profiler->recording) != SP_PHASE_OFF;
}

int64_t sp_binding_start_time_ns(const sp_profiler *profiler)
{
    return profiler->start_ns;
}

void sp_binding_await_threads(sp_profiler *profiler, const int64_t *running, size_t count)
{
    enum { STEP_US = 50, MOST_US = 100000 };
    for (int waited = 0; waited < MOST_US; waited += STEP_US) {
        if (!sp_recording_has_other_thread(&profiler->recording, running, count))
            return;
        sp_os_thread_sleep_us(STEP_US);
    }
}

int sp_binding_publish(sp_profiler *profiler, const sp_binding_publication *what,
                       sp_binding_report *report, sp_error *error)
{
    sp_mutex_lock(&profiler->lock);
    int status = sp_profiler_publish(profiler, what, report, error);
    sp_mutex_unlock(&profiler->lock);
    return status;
}
