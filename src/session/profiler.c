#include "session/profiler.h"

#include "base/error.h"
#include "base/os/file.h"
#include "clock/clock.h"
#include "recorder/query.h"
#include "session/bounds.h"
#include "session/checkpoint.h"
#include "session/complaint.h"
#include "session/copies.h"
#include "session/journal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sp_profiler sp_default;

static sp_mutex default_lock = SP_MUTEX_INIT;
static atomic_bool has_default;

static bool init(sp_profiler *profiler)
{
    if (!sp_recording_init(&profiler->recording))
        return false;
    sp_mutex_reset(&profiler->lock);
    profiler->recording.on_thread = sp_session_thread_starts;
    profiler->recording.is_lasting = true;
    return true;
}

sp_profiler *sp_profiler_default(void)
{
    if (atomic_load(&has_default))
        return &sp_default;
    sp_mutex_lock(&default_lock);
    bool is_ready = atomic_load(&has_default) || (sp_copies_elect() && init(&sp_default));
    atomic_store(&has_default, is_ready);
    sp_mutex_unlock(&default_lock);
    if (is_ready)
        sp_session_install();
    return is_ready ? &sp_default : NULL;
}

void sp_profiler_release_states(sp_profiler *profiler)
{
    for (size_t i = 0; i < profiler->num_states; i++)
        sp_resolver_release(&profiler->states[i]);
    free(profiler->states);
    profiler->states = NULL;
    profiler->num_states = profiler->num_task_states = 0;
}

/* False: memory is short. NULL stays NULL. */
static bool keep(sp_arena *texts, const char **text)
{
    const char *given = *text;
    if (given != NULL)
        *text = sp_arena_text(texts, given);
    return given == NULL || *text != NULL;
}

/* A folder that is relative counts from the one that is current now. */
static bool keep_journal(sp_arena *texts, const char **journal)
{
    const char *given = *journal;
    char folder[PATH_MAX];
    bool is_word = given == NULL || strcmp(given, "auto") == 0 || strcmp(given, "off") == 0;
    if (is_word || given[0] == '/' || !sp_os_current_folder(folder, sizeof folder))
        return keep(texts, journal);
    size_t room = strlen(folder) + strlen(given) + 2;
    char *path = sp_arena_alloc(texts, room);
    if (path != NULL)
        snprintf(path, room, "%s/%s", folder, given);
    *journal = path;
    return path != NULL;
}

int sp_profiler_set(sp_profiler *profiler, const sp_settings *settings, sp_error *error)
{
    sp_settings copy = *settings;
    if (!keep(&profiler->texts, &copy.output) || !keep(&profiler->texts, &copy.on_full) ||
        !keep(&profiler->texts, &copy.label) || !keep(&profiler->texts, &copy.joint_output) ||
        !keep_journal(&profiler->texts, &copy.journal) ||
        !keep(&profiler->texts, &copy.store.compression))
        return sp_fail_memory(error, "configuring a profiler");
    profiler->settings = copy;
    sp_profiler_journal_change(profiler);
    return SP_OK;
}

int sp_profiler_start(sp_profiler *profiler, const sp_settings *settings, sp_error *error)
{
    int status = sp_profiler_set(profiler, settings, error);
    profiler->settings.instruments = NULL;
    if (status != SP_OK) {
        sp_instruments_let_go(settings->instruments);
        return status;
    }
    sp_recording_settings recording = {.instruments = settings->instruments,
                                       .is_aggregate = settings->is_aggregate};
    sp_bounds_fill(&profiler->settings, &profiler->texts, &recording);
    sp_profiler_release_states(profiler);
    sp_run_metadata_release(&profiler->metadata);
    sp_os_claim_release(&profiler->claim);
    atomic_store(&profiler->has_claimed, false);
    profiler->next_id = 0;
    profiler->joins = 0;
    profiler->was_joined = false;
    profiler->is_host = profiler->is_run = false;
    profiler->is_configured = false;
    atomic_store(&profiler->said_unmatched, false);
    sp_pair_cost_ns();
    sp_profiler_journal *before = profiler->journal;
    sp_profiler_journal *journal = sp_profiler_journal_create(profiler);
    recording.sink = sp_profiler_journal_sink(journal);
    sp_profiler_journal_instruments(journal, settings->instruments);
    profiler->journal = NULL;
    status = sp_recording_start(&profiler->recording, &recording, error);
    sp_profiler_journal_destroy(before);
    profiler->journal = journal;
    if (status != SP_OK)
        return status;
    profiler->start_ns = sp_clock_monotonic_ns();
    profiler->is_configured = true;
    profiler->checkpoints.number = 0;
    sp_checkpoint_want(profiler);
    atomic_store(&profiler->was_started, true);
    return SP_OK;
}

void sp_profiler_bound(sp_profiler *profiler)
{
    sp_recording_settings recording = {.is_aggregate = profiler->settings.is_aggregate};
    sp_bounds_fill(&profiler->settings, &profiler->texts, &recording);
    sp_recording_bound(&profiler->recording, &recording);
}

void sp_profiler_stop(sp_profiler *profiler)
{
    sp_recording_stop(&profiler->recording);
    sp_checkpoint_forget(profiler);
    sp_profiler_journal_stop(profiler);
    profiler->is_configured = false;
    profiler->is_host = profiler->is_run = false;
    profiler->joins = 0;
    sp_os_claim_release(&profiler->claim);
}

const char *sp_binding_refusal(void)
{
    const char *reason = sp_profiler_default() == NULL ? sp_copies_reason() : "";
    return reason[0] == '\0' ? NULL : reason;
}

sp_profiler *sp_binding_default(void)
{
    return sp_profiler_default();
}

sp_profiler *sp_binding_create(void)
{
    if (sp_profiler_default() == NULL) /* it comes first and gets the first slot */
        return NULL;
    sp_profiler *profiler = calloc(1, sizeof *profiler);
    if (profiler != NULL && !init(profiler)) {
        free(profiler);
        return NULL;
    }
    return profiler;
}

void sp_binding_destroy(sp_profiler *profiler)
{
    if (profiler == NULL || profiler == &sp_default)
        return;
    sp_mutex_lock(&profiler->lock);
    sp_checkpoint_forget(profiler);
    sp_mutex_unlock(&profiler->lock);
    sp_profiler_journal_stop(profiler);
    sp_recording_release(&profiler->recording);
    sp_profiler_journal_destroy(profiler->journal);
    sp_profiler_release_states(profiler);
    sp_os_claim_release(&profiler->claim);
    sp_run_metadata_release(&profiler->metadata);
    sp_arena_release(&profiler->texts);
    free(profiler);
}

/* Memory of the parent's configuration stays where it is: another thread may have been using it. */
void sp_profiler_start_over(sp_recording *recording)
{
    sp_profiler *profiler = (sp_profiler *)recording;
    sp_mutex_reset(&profiler->lock);
    sp_profiler_journal_forget(profiler);
    sp_os_claim_forget(&profiler->claim);
    profiler->is_configured = profiler->is_host = profiler->is_run = false;
    profiler->joins = 0;
    profiler->checkpoints = (sp_checkpoints){.interval_ns = 0};
    profiler->states = NULL;
    profiler->num_states = profiler->num_task_states = 0;
    profiler->texts = (sp_arena){0};
    if (profiler == &sp_default) {
        sp_mutex_reset(&default_lock);
        atomic_store(&has_default, true);
    }
}

/* ---- Open calls ------------------------------------------------------------------------------*/

enum { MOST_LINES = 5 };

/* Outermost depth first, each region once. */
static void report_region(const sp_open_calls *open, size_t i)
{
    size_t count = 0;
    for (size_t k = 0; k < open->count; k++) {
        if (open->items[k].region != open->items[i].region)
            continue;
        if (k < i)
            return;
        count++;
    }
    sp_complain("region '%s' still open at sp_finalize (depth %zu); its last call(s) are dropped",
                sp_names_get((int32_t)open->items[i].region), count);
}

void sp_profiler_report_open(sp_profiler *profiler)
{
    sp_open_calls open = {0};
    sp_recording_open_calls(&profiler->recording, &open);
    for (size_t i = 0; i < open.count && i < MOST_LINES; i++)
        report_region(&open, i);
    if (open.count > MOST_LINES)
        sp_complain("%zu calls were still open at sp_finalize in all", open.count);
    sp_vector_release(&open);
}
