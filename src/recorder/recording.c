#include "recorder/recording.h"

#include "base/error.h"
#include "clock/clock.h"
#include "recorder/attach.h"
#include "recorder/task.h"

#include <stdlib.h>
#include <string.h>

const char *const sp_loss_names[SP_LOSS_COUNT] = {"memory_full", "out_of_memory", "signal_reentry",
                                                  "thread_exit", "metadata", "counters"};

/* All recordings of the process, and which slots they have. */
static sp_mutex list_lock = SP_MUTEX_INIT;
static sp_recording *first_recording;
static _Atomic uint64_t newest_generation;
static bool is_list_held; /* by the thread that forks */

enum { FORK_WAIT_MS = 200 };

void sp_recordings_lock(void)
{
    sp_mutex_lock(&list_lock);
}

void sp_recordings_unlock(void)
{
    sp_mutex_unlock(&list_lock);
}

uint64_t sp_recordings_generation(void)
{
    return atomic_load_explicit(&newest_generation, memory_order_relaxed);
}

static uint64_t next_generation(void)
{
    return atomic_fetch_add_explicit(&newest_generation, 1, memory_order_relaxed) + 1;
}

static bool slot_is_free(uint32_t slot)
{
    for (const sp_recording *other = first_recording; other != NULL; other = other->next)
        if (other->slot == slot)
            return false;
    return true;
}

bool sp_recording_init(sp_recording *recording)
{
    memset((void *)recording, 0, sizeof *recording);
    sp_mutex_reset(&recording->lock);
    sp_mutex_reset(&recording->clock_lock);
    if (!sp_region_table_init(&recording->regions) || sp_region_states_unknown() == NULL) {
        sp_region_table_release(&recording->regions);
        return false;
    }
    sp_memory_sink_init(&recording->memory);
    recording->sink = &recording->memory.sink;
    sp_recordings_lock();
    while (!slot_is_free(recording->slot))
        recording->slot++;
    recording->next = first_recording;
    first_recording = recording;
    sp_recordings_unlock();
    return true;
}

/* Takes everything out of a lane; its thread notices at the next call. Under the lock. */
static void dismiss(sp_recording *recording, sp_lane *lane)
{
    sp_mutex_lock(&lane->lock);
    lane->generation = 0;
    atomic_store_explicit(&lane->states, sp_region_states_unknown(), memory_order_relaxed);
    recording->sink->table->close_ring(lane->sink);
    lane->sink = NULL;
    lane->summed = (sp_sink_cursor){.part = NULL};
    sp_sums_release(&lane->sums);
    sp_counter_sums_release(&lane->counters);
    sp_sums_release(&lane->unkept);
    for (size_t i = 0; i < lane->num_counts; i++) /* the owner may be counting */
        lane->counts[i].collected = atomic_load_explicit(&lane->counts[i].count, memory_order_relaxed);
    lane->forgotten = 0;
    sp_resolver_release(&lane->nesting);
    bool is_free = lane->thread == NULL;
    sp_mutex_unlock(&lane->lock); /* from here on a thread that ends may take it down */
    if (is_free)
        sp_lane_free(lane);
}

/* Under the lock. */
static void forget_everything(sp_recording *recording)
{
    for (size_t i = 0; i < recording->lanes.count; i++)
        dismiss(recording, recording->lanes.items[i]);
    sp_vector_release(&recording->lanes);
    for (size_t i = 0; i < recording->threads.count; i++)
        free(recording->threads.items[i].name);
    sp_vector_release(&recording->threads);
    for (size_t i = 0; i < recording->tasks.count; i++)
        sp_task_info_free(recording->tasks.items[i]);
    sp_vector_release(&recording->tasks);
    sp_sums_release(&recording->past);
    sp_sums_release(&recording->published);
    sp_counter_sums_release(&recording->past_counters);
    sp_sums_release(&recording->unkept);
    sp_region_table_clear(&recording->regions);
    sp_timeline_release(&recording->timeline);
    for (int i = 0; i < SP_LOSS_COUNT; i++)
        atomic_store_explicit(&recording->lost[i], 0, memory_order_relaxed);
    atomic_store_explicit(&recording->unmatched_ends, 0, memory_order_relaxed);
    atomic_store_explicit(&recording->crossing, 0, memory_order_relaxed);
}

void sp_recording_release(sp_recording *recording)
{
    sp_recordings_lock();
    sp_recording **link = &first_recording;
    while (*link != NULL && *link != recording)
        link = &(*link)->next;
    if (*link != NULL)
        *link = recording->next;
    sp_lane *own = sp_recording_lock(recording);
    atomic_store(&recording->phase, SP_PHASE_OFF);
    atomic_store(&recording->generation, 0);
    forget_everything(recording);
    sp_memory_sink_release(&recording->memory);
    sp_instruments *before = recording->instruments;
    recording->instruments = NULL;
    sp_recording_unlock(recording, own);
    sp_instruments_let_go(before);
    sp_region_table_release(&recording->regions);
    sp_recordings_unlock();
}

/* Two anchors at once give a first rate, good to some parts in ten thousand. */
static void start_clock(sp_recording *recording)
{
    sp_recording_anchor(recording, true);
    sp_recording_anchor(recording, true);
}

void sp_recording_bound(sp_recording *recording, const sp_recording_settings *settings)
{
    sp_memory_settings memory = {
        .limit = settings->max_memory, .on_full = settings->on_full, .say = settings->say};
    memcpy(memory.folders, settings->spill_folders, sizeof memory.folders);
    sp_memory_sink_set(&recording->memory, &memory);
}

static int refuse(const sp_recording_settings *settings, sp_error *error)
{
    sp_instruments_let_go(settings->instruments);
    return sp_fail(error, SP_ERR_NO_CLOCK, "this system has no monotonic clock");
}

int sp_recording_start(sp_recording *recording, const sp_recording_settings *settings,
                       sp_error *error)
{
    if (!sp_clock_prepare())
        return refuse(settings, error);
    sp_lane *own = sp_recording_lock(recording);
    atomic_store(&recording->phase, SP_PHASE_OFF);
    atomic_store(&recording->generation, next_generation());
    forget_everything(recording);
    sp_instruments *before = recording->instruments;
    recording->is_aggregate = settings->is_aggregate;
    recording->instruments = settings->instruments;
    recording->ring_words = settings->ring_words < SP_RING_MIN_WORDS ? SP_RING_WORDS
                                                                      : settings->ring_words;
    sp_recording_bound(recording, settings);
    atomic_store(&recording->is_full, false);
    recording->sink = settings->sink == NULL ? &recording->memory.sink : settings->sink;
    start_clock(recording);
    bool has_clock = sp_timeline_num_anchors(&recording->timeline) > 0;
    atomic_store(&recording->phase, has_clock ? SP_PHASE_RECORDING : SP_PHASE_OFF);
    sp_recording_unlock(recording, own);
    sp_instruments_let_go(before); /* without a lock, which its code could want */
    return has_clock ? SP_OK : sp_fail_memory(error, "starting the recorder");
}

void sp_recording_stop(sp_recording *recording)
{
    next_generation();
    atomic_store(&recording->phase, SP_PHASE_OFF);
}

void sp_recording_continue(sp_recording *recording, sp_phase phase)
{
    atomic_store(&recording->phase, (uint8_t)phase);
}

void sp_recording_pause(sp_recording *recording)
{
    uint8_t expected = SP_PHASE_RECORDING;
    atomic_compare_exchange_strong(&recording->phase, &expected, SP_PHASE_PAUSED);
}

void sp_recording_resume(sp_recording *recording)
{
    uint8_t expected = SP_PHASE_PAUSED;
    atomic_compare_exchange_strong(&recording->phase, &expected, SP_PHASE_RECORDING);
}

void sp_recordings_fork_prepare(void)
{
    is_list_held = sp_mutex_lock_within(&list_lock, FORK_WAIT_MS);
    if (is_list_held)
        sp_thread_fork_prepare();
}

void sp_recordings_fork_parent(void)
{
    if (!is_list_held)
        return;
    sp_thread_fork_parent();
    sp_mutex_unlock(&list_lock);
}

void sp_recordings_visit(void (*visit)(sp_recording *recording, void *context), void *context)
{
    sp_recordings_lock();
    for (sp_recording *recording = first_recording; recording != NULL; recording = recording->next)
        visit(recording, context);
    sp_recordings_unlock();
}

/* What the parent's threads were changing at that moment may be half done, so nothing of it is
 * touched: the child leaves the memory where it is and starts with empty tables. */
static void start_over(sp_recording *recording)
{
    sp_recording *next = recording->next;
    uint32_t slot = recording->slot;
    void (*on_thread)(sp_recording *) = recording->on_thread;
    sp_memory_sink_release(&recording->memory);
    memset((void *)recording, 0, sizeof *recording);
    recording->next = next;
    recording->slot = slot;
    recording->on_thread = on_thread;
    recording->is_lasting = true;
    sp_mutex_reset(&recording->lock);
    sp_mutex_reset(&recording->clock_lock);
    sp_memory_sink_init(&recording->memory);
    recording->sink = &recording->memory.sink;
    sp_region_table_init(&recording->regions);
}

void sp_recordings_fork_child(void (*visit)(sp_recording *recording))
{
    sp_thread_forget();
    sp_recording **link = &first_recording;
    if (is_list_held) {
        sp_mutex_unlock(&list_lock);
    } else {
        sp_mutex_reset(&list_lock);
        first_recording = NULL; /* it was being changed: what is on it cannot be told */
    }
    while (*link != NULL) {
        sp_recording *recording = *link;
        if (!recording->is_lasting) {
            *link = recording->next;
            continue;
        }
        start_over(recording);
        visit(recording);
        link = &recording->next;
    }
}
