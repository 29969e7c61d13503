#include "session/journal.h"

#include "base/json.h"
#include "base/os/clock.h"
#include "base/os/process.h"
#include "clock/clock.h"
#include "log/bytes.h"
#include "log/record.h"
#include "recorder/drain.h"
#include "session/complaint.h"
#include "session/environment.h"
#include "session/flusher.h"
#include "session/journal_sink.h"
#include "store/journal/find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long a recording lasts before it gets a helper, and how often that works by itself. */
#define HELPER_AFTER_NS INT64_C(1000000000)
#define DEFAULT_FLUSH 10.0

struct sp_profiler_journal {
    sp_journal_sink sink;
    sp_journal *journal;
    int64_t start_ns;
    double flush;
    bool has_failed; /* the last publication did, and nothing has been published since */
    atomic_bool has_looked;
};

static void say(const char *text)
{
    sp_complain("%s", text);
}

static bool is_wanted(const sp_settings *settings)
{
    return settings->output != NULL && !settings->is_aggregate &&
           (settings->journal == NULL || strcmp(settings->journal, "off") != 0);
}

static const char *folder_of(const sp_settings *settings)
{
    bool is_named = settings->journal != NULL && settings->journal[0] != '\0' &&
                    strcmp(settings->journal, "auto") != 0;
    return is_named ? settings->journal : NULL;
}

/* What the frame of the owner says of the recording. */
static char *details_of(const sp_profiler *profiler)
{
    const sp_settings *settings = &profiler->settings;
    sp_text json = {0};
    sp_text_format(&json,
                   "\"rank\": %u, \"clock\": \"%s\", \"started_ns\": %lld, \"started_at_ns\": %lld, "
                   "\"track_threads\": %s, \"track_tasks\": %s, \"label\": ",
                   settings->rank, sp_clock_name(), (long long)sp_clock_monotonic_ns(),
                   (long long)sp_os_realtime_ns(), settings->track_threads ? "true" : "false",
                   settings->track_tasks ? "true" : "false");
    const char *label = settings->label == NULL ? "" : settings->label;
    sp_json_string(&json, label, strlen(label));
    return sp_text_take(&json);
}

static double flush_of(const sp_settings *settings)
{
    return settings->journal_flush < 0 ? DEFAULT_FLUSH : settings->journal_flush;
}

static void on_anchor(sp_journal_sink *sink, const sp_anchor *anchor)
{
    const sp_profiler_journal *journal = (const sp_profiler_journal *)sink;
    if (anchor->ns - journal->start_ns > HELPER_AFTER_NS)
        sp_flusher_need(journal->flush);
}

sp_profiler_journal *sp_profiler_journal_create(sp_profiler *profiler)
{
    if (!is_wanted(&profiler->settings) || !sp_clock_prepare())
        return NULL;
    sp_profiler_journal *journal = calloc(1, sizeof *journal);
    char *details = details_of(profiler);
    sp_journal_settings settings = {.output = profiler->settings.output,
                                    .folder = folder_of(&profiler->settings),
                                    .details = details, .say = say};
    if (journal != NULL && details != NULL)
        journal->journal = sp_journal_create(&settings);
    free(details);
    if (journal == NULL || journal->journal == NULL) {
        free(journal);
        return NULL;
    }
    journal->flush = flush_of(&profiler->settings);
    journal->start_ns = sp_clock_monotonic_ns();
    sp_journal_sink_init(&journal->sink, journal->journal, &profiler->recording, on_anchor);
    return journal;
}

sp_sink *sp_profiler_journal_sink(sp_profiler_journal *journal)
{
    return journal == NULL ? NULL : &journal->sink.sink;
}

void sp_profiler_journal_destroy(sp_profiler_journal *journal)
{
    if (journal == NULL)
        return;
    sp_journal_destroy(journal->journal);
    free(journal);
}

void sp_profiler_journal_change(sp_profiler *profiler)
{
    sp_profiler_journal *journal = profiler->journal;
    /* One that has no file from now on keeps the journal that its calls so far are in. */
    if (journal == NULL || profiler->settings.output == NULL)
        return;
    char *details = details_of(profiler);
    sp_journal_settings settings = {.output = profiler->settings.output,
                                    .folder = folder_of(&profiler->settings),
                                    .details = details, .say = say};
    journal->flush = flush_of(&profiler->settings);
    atomic_store(&journal->has_looked, false);
    sp_journal_change(journal->journal, &settings);
    free(details);
}

void sp_profiler_journal_stop(sp_profiler *profiler)
{
    sp_profiler_journal *journal = profiler->journal;
    if (journal != NULL && !(journal->has_failed && sp_journal_holds_calls(journal->journal)))
        sp_journal_remove(journal->journal);
}

static bool has_calls(const uint64_t *at, size_t count)
{
    for (const uint64_t *end = at + count; at < end; at += sp_record_words(at[0])) {
        sp_record_kind kind = sp_record_kind_of(at[0]);
        if (kind == SP_RECORD_CALL || kind == SP_RECORD_CALL_MARKED)
            return true;
    }
    return false;
}

bool sp_profiler_has_unpublished(sp_recording *recording)
{
    bool is_found = false;
    sp_lane *own = sp_recording_lock(recording);
    for (size_t i = 0; i < recording->lanes.count && !is_found; i++) {
        sp_lane *lane = recording->lanes.items[i];
        sp_sink_cursor cursor = {0};
        size_t size, count;
        sp_mutex_lock(&lane->lock);
        const uint64_t *pending = sp_drain_pending(lane, &count);
        is_found = recording->sink->table->next(lane->sink, &cursor, &size) != NULL ||
                   has_calls(pending, count);
        sp_mutex_unlock(&lane->lock);
    }
    sp_recording_unlock(recording, own);
    return is_found;
}

void sp_profiler_journal_exit(sp_recording *recording, void *context)
{
    (void)context;
    sp_profiler *profiler = (sp_profiler *)recording;
    if (!recording->is_lasting || !sp_mutex_try(&profiler->lock))
        return;
    /* Who ends a program without finalizing, and has asked for no file then, wants none; nor who records in
     * memory, whose journal is that of what recorded before. */
    bool is_unwanted = profiler->settings.output == NULL ||
                       (!profiler->is_host && !sp_environment_flag(SP_ENVIRONMENT_AUTO_FINALIZE, true));
    if (profiler->journal != NULL && !profiler->journal->has_failed &&
        (is_unwanted || !sp_profiler_has_unpublished(recording)))
        sp_journal_remove(profiler->journal->journal);
    sp_mutex_unlock(&profiler->lock);
}

void sp_profiler_journal_forget(sp_profiler *profiler)
{
    if (profiler->journal != NULL)
        sp_journal_forget(profiler->journal->journal);
    profiler->journal = NULL;
}

bool sp_profiler_journal_flushes(const sp_profiler *profiler, double *out_seconds)
{
    if (profiler->journal == NULL || profiler->journal->flush <= 0)
        return false;
    *out_seconds = profiler->journal->flush;
    return true;
}

int sp_profiler_journal_descriptor(const sp_profiler *profiler)
{
    return sp_journal_descriptor(profiler->journal->journal);
}

/* ---- Regions ---------------------------------------------------------------------------------*/

static void add_text(sp_text *json, const char *key, const char *text)
{
    if (text == NULL)
        return;
    sp_text_format(json, ", \"%s\": ", key);
    sp_json_string(json, text, strlen(text));
}

void sp_profiler_journal_region(sp_profiler *profiler, sp_region_entry *entry)
{
    if (profiler->journal == NULL || entry->is_told)
        return;
    uint8_t head[SP_REGION_BYTES];
    sp_text json = {0};
    const char *name = sp_names_get(entry->region);
    sp_store_u32(head, (uint32_t)entry->region);
    sp_text_add(&json, "{\"name\": ");
    sp_json_string(&json, name, strlen(name));
    add_text(&json, "source_file", entry->source_file);
    add_text(&json, "source_text", entry->source_text);
    if (entry->source_file != NULL)
        sp_text_format(&json, ", \"source_line\": %lld", (long long)entry->source_line);
    if (entry->tags_json != NULL)
        sp_text_format(&json, ", \"tags\": %s", entry->tags_json);
    sp_text_add(&json, "}");
    if (!json.failed)
        sp_journal_note(profiler->journal->journal, SP_FRAME_REGION, head, sizeof head, json.bytes,
                        json.length);
    entry->is_told = !json.failed;
    sp_text_release(&json);
}

static void describe_instrument(sp_text *json, const sp_instrument *item)
{
    sp_text_add(json, "{\"name\": ");
    sp_json_string(json, item->name, strlen(item->name));
    sp_text_add(json, ", \"values\": [");
    for (uint32_t i = 0; i < item->num_values; i++) {
        sp_text_add(json, i == 0 ? "" : ", ");
        sp_json_string(json, item->value_names[i], strlen(item->value_names[i]));
    }
    sp_text_format(json, "], \"groups\": %u, \"group_of\": [", (unsigned)item->num_groups);
    for (uint32_t i = 0; item->group_of != NULL && i < item->num_values; i++)
        sp_text_format(json, "%s%u", i == 0 ? "" : ", ", (unsigned)item->group_of[i]);
    sp_text_format(json, "], \"keeps_calls\": %s}", item->keeps_calls ? "true" : "false");
}

void sp_profiler_journal_instruments(sp_profiler_journal *journal,
                                     const sp_instruments *instruments)
{
    for (size_t i = 0; journal != NULL && instruments != NULL && i < instruments->count; i++) {
        uint8_t head[SP_INSTRUMENT_BYTES];
        sp_text json = {0};
        sp_store_u32(head, (uint32_t)i);
        describe_instrument(&json, &instruments->items[i]);
        if (!json.failed)
            sp_journal_note(journal->journal, SP_FRAME_INSTRUMENT, head, sizeof head, json.bytes,
                            json.length);
        sp_text_release(&json);
    }
}

/* ---- Publications ----------------------------------------------------------------------------*/

uint32_t sp_profiler_journal_begin(sp_profiler *profiler)
{
    if (profiler->journal == NULL)
        return 0;
    sp_journal_hush(profiler->journal->journal, true);
    return sp_journal_next_generation(profiler->journal->journal);
}

void sp_profiler_journal_turn(sp_lane *lane, uint32_t generation, sp_ring_mark *out)
{
    *out = (sp_ring_mark){
        .ring = lane->ring,
        .epoch = atomic_load_explicit(&lane->state.epoch, memory_order_relaxed),
        .words = (uint32_t)(lane->published - lane->words),
        .calls = lane->num_calls,
    };
    sp_journal_sink_turn(lane->sink, generation);
}

static void add_u32(sp_text *out, uint32_t value)
{
    uint8_t bytes[4];
    sp_store_u32(bytes, value);
    sp_text_add_n(out, (const char *)bytes, sizeof bytes);
}

static void add_u64(sp_text *out, uint64_t value)
{
    uint8_t bytes[8];
    sp_store_u64(bytes, value);
    sp_text_add_n(out, (const char *)bytes, sizeof bytes);
}

/* Levels of a state that say something. */
static size_t used_levels(const sp_resolver *state)
{
    size_t used = state->room;
    while (used > 0 && state->levels[used - 1].pending == 0 && state->levels[used - 1].child_ns == 0)
        used--;
    return used;
}

static void note_base(sp_profiler *profiler, uint32_t generation, const sp_ring_mark *marks,
                      size_t num_marks)
{
    sp_text base = {0};
    add_u32(&base, generation);
    add_u32(&base, (uint32_t)num_marks);
    add_u32(&base, (uint32_t)profiler->num_states);
    add_u32(&base, 0);
    add_u64(&base, (uint64_t)profiler->next_id);
    for (size_t i = 0; i < num_marks; i++) {
        add_u32(&base, marks[i].ring);
        add_u32(&base, marks[i].epoch);
        add_u32(&base, marks[i].words);
        add_u32(&base, 0);
        add_u64(&base, marks[i].calls);
    }
    for (size_t i = 0; i < profiler->num_states; i++) {
        const sp_resolver *state = &profiler->states[i];
        size_t levels = used_levels(state);
        size_t num_threads = profiler->num_states - profiler->num_task_states;
        add_u32(&base, i < num_threads ? (uint32_t)i
                                       : SP_RECORD_TASK_LANES + (uint32_t)(i - num_threads));
        add_u32(&base, (uint32_t)levels);
        add_u64(&base, state->ended);
        for (size_t k = 0; k < levels; k++) {
            add_u64(&base, state->levels[k].pending);
            add_u64(&base, (uint64_t)state->levels[k].child_ns);
        }
    }
    if (!base.failed)
        sp_journal_note(profiler->journal->journal, SP_FRAME_BASE, base.bytes, base.length, NULL, 0);
    sp_text_release(&base);
}

/* What has not been overwritten since can be told to be in a profile by looking at the ring alone. */
static void settle_rings(sp_recording *recording, const sp_ring_mark *marks, size_t num_marks)
{
    sp_lane *own = sp_recording_lock(recording);
    for (size_t i = 0; i < num_marks && i < recording->lanes.count; i++) {
        sp_lane *lane = recording->lanes.items[i];
        sp_mutex_lock(&lane->lock);
        if (atomic_load_explicit(&lane->state.epoch, memory_order_relaxed) == marks[i].epoch)
            lane->state.settled = marks[i].words;
        sp_mutex_unlock(&lane->lock);
    }
    sp_recording_unlock(recording, own);
}

void sp_profiler_journal_published(sp_profiler *profiler, uint32_t generation,
                                   const sp_ring_mark *marks, size_t num_marks)
{
    if (generation == 0)
        return;
    sp_journal *journal = profiler->journal->journal;
    settle_rings(&profiler->recording, marks, num_marks);
    note_base(profiler, generation, marks, num_marks);
    sp_journal_release_before(journal, generation);
    sp_journal_hush(journal, false);
    profiler->journal->has_failed = false;
}

void sp_profiler_journal_failed(sp_profiler *profiler, uint32_t generation)
{
    if (generation == 0)
        return;
    sp_journal *journal = profiler->journal->journal;
    sp_journal_seal_before(journal, generation);
    sp_journal_hush(journal, false);
    profiler->journal->has_failed = true;
    if (sp_journal_has_failed(journal) && !sp_journal_holds_calls(journal))
        sp_journal_remove(journal); /* it would mislead */
}

/* ---- Other journals --------------------------------------------------------------------------*/

/* What was found, to be told in one line a kind. */
typedef struct others {
    const char *output;
    size_t alive, dead, elsewhere;
    sp_text first_dead, first_elsewhere; /* what they are, the first of each */
} others;

static void describe_other(sp_text *out, const sp_journal_found *found)
{
    if (out->length == 0)
        sp_text_format(out, "%s was left by process %lld (%s)", found->path,
                       (long long)found->owner.pid, found->owner.program);
}

/* One of this process is another profiler's affair, or this one's own. */
static void note_other(void *context, const sp_journal_found *found)
{
    others *seen = context;
    const sp_os_owner *owner = &found->owner;
    if (found->state == SP_OS_OWNER_ALIVE && owner->pid == sp_os_process_id())
        return;
    if (found->state == SP_OS_OWNER_ALIVE && seen->alive++ == 0)
        sp_complain("process %lld (%s) also records into %s, which the last to end will keep",
                    (long long)owner->pid, owner->program, seen->output);
    else if (found->state == SP_OS_OWNER_DEAD && seen->dead++ == 0)
        describe_other(&seen->first_dead, found);
    else if (found->state == SP_OS_OWNER_ELSEWHERE && seen->elsewhere++ == 0)
        describe_other(&seen->first_elsewhere, found);
}

static void tell_left(const others *seen, size_t count, const sp_text *first, const char *condition)
{
    char more[48] = "";
    if (count > 1)
        snprintf(more, sizeof more, " (and %zu more file%s)", count - 1, count == 2 ? "" : "s");
    if (count > 0 && first->length > 0 && !first->failed)
        sp_complain("%s%s: %s'scope-profiler recover %s' makes a profile of it", first->bytes, more,
                    condition, seen->output);
}

void sp_profiler_journal_look_around(sp_profiler *profiler)
{
    sp_profiler_journal *journal = profiler->journal;
    if (journal == NULL || atomic_exchange(&journal->has_looked, true))
        return;
    others seen = {.output = profiler->settings.output};
    sp_journal_find(seen.output, folder_of(&profiler->settings), false, note_other, &seen);
    tell_left(&seen, seen.dead, &seen.first_dead, "");
    tell_left(&seen, seen.elsewhere, &seen.first_elsewhere,
              "it ran on another machine; once it has ended there, ");
    sp_text_release(&seen.first_dead);
    sp_text_release(&seen.first_elsewhere);
}
