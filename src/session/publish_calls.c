#include "session/profiler.h"

#include "base/error.h"
#include "clock/clock.h"
#include "recorder/drain.h"
#include "recorder/lane_counts.h"
#include "recorder/lane_sums.h"
#include "recorder/query.h"
#include "session/journal.h"
#include "session/publish_int.h"
#include "session/publish_unkept.h"

#include <stdlib.h>
#include <string.h>

/* What a publication writes: every block there is now, up to a mark in each ring. The blocks stay
 * where they are until they are in a file. */
typedef struct harvest {
    sp_sink_cursor *marks; /* by ring */
    size_t num_marks, num_rings;
    SP_VECTOR(sp_assemble_block) blocks;
    SP_VECTOR(sp_assemble_open_call) open_calls;
    sp_thread_rows threads;
    sp_task_rows tasks;
    SP_VECTOR(sp_assemble_lane) lanes;
    sp_arena names; /* of threads and tasks */
    sp_region_snapshot regions;
    sp_counter_sums counters; /* of calls that are in no block */
    sp_sums unkept; /* calls in no block */
    const sp_device_time *device_times;
    size_t num_device_times;
    uint64_t now_tick;
    uint32_t generation; /* of the journal, for what follows; 0: none, or what is published stays */
    sp_ring_mark *stands; /* by ring, with a journal */
    bool failed; /* memory was short */
} harvest;

/* From the number of a lane to its place among the lanes. */
static uint32_t lane_at(const harvest *h, uint32_t number)
{
    return number < SP_RECORD_TASK_LANES
               ? number
               : (uint32_t)h->threads.count + (number - SP_RECORD_TASK_LANES);
}

static void add_open_calls(harvest *h, sp_lane *lane)
{
    sp_open_calls open = {0};
    if (!sp_lane_open_calls(lane, &open) || !sp_vector_reserve(&h->open_calls, open.count)) {
        h->failed = true;
        open.count = 0;
    }
    for (size_t i = 0; i < open.count; i++) {
        const sp_open_call *call = &open.items[i];
        h->open_calls.items[h->open_calls.count++] = (sp_assemble_open_call){
            .lane = lane_at(h, call->lane),
            .region = call->region,
            .depth = call->depth,
            .flags = call->flags,
            .number = call->number,
            .parent = call->parent,
            .start_tick = call->start,
            .outer_from_tick = call->outer_from,
            .awaited = call->awaited,
        };
    }
    sp_vector_release(&open);
}

/* Under the drain lock: the next blocks of a lane, `most` of them at most. Returns how many there were. */
static size_t take_blocks(harvest *h, const sp_sink_table *table, sp_lane *lane,
                          sp_sink_cursor *mark, size_t most)
{
    size_t size, count = 0;
    const void *bytes;
    uint64_t missing = mark->part == NULL ? lane->forgotten : 0;
    while (!h->failed && count < most && (bytes = table->next(lane->sink, mark, &size)) != NULL) {
        h->failed = !sp_vector_reserve(&h->blocks, 1);
        if (!h->failed)
            h->blocks.items[h->blocks.count++] =
                (sp_assemble_block){.bytes = bytes, .size = size, .missing = missing};
        missing = 0;
        count++;
    }
    return count;
}

/* One mark a lane. False: memory is short. */
static bool make_marks(harvest *h, size_t count)
{
    if (count < h->num_marks)
        return true;
    sp_sink_cursor *marks = realloc(h->marks, (count + 1) * sizeof *marks);
    if (marks == NULL)
        return false;
    memset(marks + h->num_marks, 0, (count + 1 - h->num_marks) * sizeof *marks);
    h->marks = marks;
    h->num_marks = count + 1;
    return true;
}

/* The blocks there are so far, a few at a time and no lock in between: a program that records goes on
 * while a long list is made, and what is left to be done under the lock is short. */
static void harvest_early(harvest *h, sp_recording *recording)
{
    enum { AT_ONCE = 16 };
    size_t taken = 0;
    for (size_t i = 0; !h->failed; i += taken < AT_ONCE) {
        sp_lane *own = sp_recording_lock(recording);
        bool is_there = i < recording->lanes.count;
        h->failed = is_there && !make_marks(h, i + 1);
        if (is_there && !h->failed) {
            sp_lane *lane = recording->lanes.items[i];
            sp_mutex_lock(&lane->lock);
            taken = take_blocks(h, recording->sink->table, lane, &h->marks[i], AT_ONCE);
            sp_mutex_unlock(&lane->lock);
        }
        sp_recording_unlock(recording, own);
        if (!is_there)
            break;
    }
}

/* Open calls are looked at after the drain: a call that ends in between is in neither, and comes
 * with the next publication. */
static void harvest_lane(harvest *h, const sp_sink_table *table, sp_lane *lane,
                         sp_sink_cursor *mark, sp_ring_mark *stand)
{
    sp_mutex_lock(&lane->lock);
    sp_drain_other(lane);
    take_blocks(h, table, lane, mark, SIZE_MAX);
    sp_lane_collect_counts(lane);
    h->failed = sp_sums_move(&h->unkept, &lane->unkept) > 0 || h->failed;
    add_open_calls(h, lane);
    if (h->generation != 0)
        sp_profiler_journal_turn(lane, h->generation, stand);
    sp_mutex_unlock(&lane->lock);
}

static void add_lanes(harvest *h, sp_profiler *profiler)
{
    size_t num_threads = profiler->num_states - profiler->num_task_states;
    if (!sp_threads_fill(profiler, &h->threads, &h->names) ||
        !sp_tasks_fill(profiler, &h->tasks, &h->names) ||
        !sp_vector_reserve(&h->lanes, h->threads.count + h->tasks.count)) {
        h->failed = true;
        return;
    }
    for (size_t i = 0; i < h->threads.count; i++)
        h->lanes.items[h->lanes.count++] = (sp_assemble_lane){
            .thread = (int64_t)i,
            .task = -1,
            .state = i < num_threads ? &profiler->states[i] : NULL};
    for (size_t i = 0; i < h->tasks.count; i++)
        h->lanes.items[h->lanes.count++] = (sp_assemble_lane){
            .thread = h->tasks.items[i].thread_index,
            .task = (int64_t)i,
            .state = i < profiler->num_task_states ? &profiler->states[num_threads + i] : NULL};
}

/* Collects what is closed, with an anchor of the clock after the last of it. */
static void harvest_all(harvest *h, sp_profiler *profiler, bool keeps_calls)
{
    sp_recording *recording = &profiler->recording;
    atomic_fetch_add(&recording->memory.held, 1);
    harvest_early(h, recording);
    sp_lane *own = sp_recording_lock(recording);
    h->failed = h->failed || sp_sums_move(&h->unkept, &recording->unkept) > 0;
    h->generation = keeps_calls ? 0 : sp_profiler_journal_begin(profiler);
    h->num_rings = recording->lanes.count;
    h->stands = calloc(h->num_rings + 1, sizeof *h->stands);
    h->failed = h->failed || !make_marks(h, h->num_rings) || h->stands == NULL ||
                !sp_region_snapshot_take(&h->regions, &recording->regions);
    if (!h->failed)
        add_lanes(h, profiler);
    for (size_t i = 0; !h->failed && i < h->num_rings; i++)
        harvest_lane(h, recording->sink->table, recording->lanes.items[i], &h->marks[i],
                     &h->stands[i]);
    h->now_tick = sp_tick_now();
    sp_recording_anchor(recording, true);
    sp_recording_unlock(recording, own);
    if (recording->instruments != NULL)
        sp_recording_take_counters(recording, &h->counters);
}

/* What is there need not stay any longer. Totals of calls that are in no file come with the next. */
static void harvest_release(harvest *h, sp_recording *recording, bool is_published)
{
    sp_counter_sums_release(&h->counters);
    sp_lane *own = sp_recording_lock(recording);
    if (!is_published && sp_sums_move(&recording->unkept, &h->unkept) > 0)
        sp_recording_lose(recording, SP_LOSS_OUT_OF_MEMORY, 1);
    atomic_fetch_sub(&recording->memory.held, 1);
    sp_recording_unlock(recording, own);
    sp_sums_release(&h->unkept);
    free(h->marks);
    free(h->stands);
    sp_vector_release(&h->blocks);
    sp_vector_release(&h->open_calls);
    sp_vector_release(&h->threads);
    sp_vector_release(&h->tasks);
    sp_vector_release(&h->lanes);
    sp_arena_release(&h->names);
    sp_region_snapshot_release(&h->regions);
}

static void ticks_to_ns(const void *context, const uint64_t *ticks, int64_t *out_ns, size_t count)
{
    sp_timeline_ns_many(context, ticks, out_ns, count);
}

/* A publication may take what the packed calls leave of their ceiling, and 64 MiB more: the more it
 * has, the fewer times it decodes them. */
static size_t publication_budget(sp_memory_sink *sink)
{
    enum { EXTRA = 64 << 20, MOST = 1 << 30 };
    size_t limit = atomic_load(&sink->limit), used = atomic_load(&sink->used);
    size_t left = limit > used ? limit - used : 0;
    return left > MOST ? MOST : left + EXTRA;
}

static void fill_assembly(sp_assembly *assembly, const harvest *h, sp_profiler *profiler,
                          const sp_binding_publication *what)
{
    *assembly = (sp_assembly){
        .rank = profiler->settings.rank,
        .id_base = profiler->next_id,
        .memory_budget = publication_budget(&profiler->recording.memory),
        .blocks = h->blocks.items,
        .num_blocks = h->blocks.count,
        .blocks_are_unsummed = !profiler->recording.sink->table->wants_sums,
        .lanes = h->lanes.items,
        .num_lanes = h->lanes.count,
        .num_task_lanes = h->tasks.count,
        .open_calls = h->open_calls.items,
        .num_open_calls = h->open_calls.count,
        .with_open_calls = what->with_open_calls,
        .now_tick = h->now_tick,
        .ticks = {.to_ns = ticks_to_ns, .context = &profiler->recording.timeline},
        .region = sp_region_snapshot_look_up,
        .region_context = &h->regions,
        .track_threads = profiler->settings.track_threads,
        .threads = h->threads.items,
        .num_threads = h->threads.count,
        .track_tasks = profiler->settings.track_tasks,
        .tasks = h->tasks.items,
        .num_tasks = h->tasks.count,
        .metadata = what->metadata,
        .num_metadata = what->num_metadata,
        .num_scopes = what->num_scopes,
        .instruments = sp_publish_instruments(&profiler->recording, &h->counters),
        .device_times = h->device_times,
        .num_device_times = h->num_device_times,
    };
}

/* Scopes are the same in both vocabularies. NULL: memory is short. */
static sp_assemble_scope *copy_scopes(const sp_binding_publication *what)
{
    sp_assemble_scope *scopes = malloc((what->num_scopes + 1) * sizeof *scopes);
    for (size_t i = 0; scopes != NULL && i < what->num_scopes; i++)
        scopes[i] = (sp_assemble_scope){.start_ns = what->scopes[i].start_ns,
                                        .end_ns = what->scopes[i].end_ns,
                                        .thread = what->scopes[i].thread,
                                        .json = what->scopes[i].json};
    return scopes;
}

static void fill_report(sp_binding_report *report, const sp_recording *recording,
                        const sp_assembly_result *result, const harvest *h)
{
    report->calls_written = result->num_calls;
    report->calls_open = h->open_calls.count;
    report->calls_unkept = sp_unkept_calls(&h->unkept);
    report->calls_crossing = result->num_crossing;
    sp_losses_report(recording, report);
    report->unmatched_ends = atomic_load(&recording->unmatched_ends);
    report->several_threads = result->several_threads;
}

/* Under the lock of the recording. */
static bool nothing_was_summed(const sp_recording *recording)
{
    for (size_t i = 0; i < recording->lanes.count; i++) {
        sp_lane *lane = recording->lanes.items[i];
        sp_mutex_lock(&lane->lock);
        bool none = sp_lane_sums_none(lane);
        sp_mutex_unlock(&lane->lock);
        if (!none)
            return false;
    }
    return true;
}

/* The sums of what was written, which took no further pass over it. */
static void add_rows(sp_recording *recording, const sp_assembly_result *result)
{
    for (size_t i = 0; i < result->num_rows; i++) {
        const sp_assembly_row *row = &result->rows[i];
        sp_sum sum = {.count = row->count, .resumptions = row->resumptions, .total = row->total,
                      .minimum = row->minimum, .maximum = row->maximum};
        sp_sum *cell = sp_sums_cell(&recording->past, row->region);
        if (cell != NULL)
            sp_sum_add(cell, &sum);
        else
            sp_recording_lose(recording, SP_LOSS_OUT_OF_MEMORY, row->count);
    }
}

/* The blocks go; the sums of their calls stay. Rows with open calls in them do not say what ended,
 * and once somebody has asked about a part of the blocks, the rest is added up one by one. */
static void drop_blocks(harvest *h, sp_recording *recording, const sp_assembly_result *result,
                        bool with_open_calls)
{
    sp_lane *own = sp_recording_lock(recording);
    bool has_rows = !with_open_calls && nothing_was_summed(recording);
    if (has_rows)
        add_rows(recording, result);
    for (size_t i = 0; i < h->num_rings; i++) {
        sp_lane *lane = recording->lanes.items[i];
        sp_mutex_lock(&lane->lock);
        if (!has_rows)
            sp_lane_update_sums(lane);
        recording->sink->table->drop(lane->sink, &h->marks[i], &lane->summed);
        lane->forgotten = 0; /* nothing was pushed out meanwhile */
        sp_mutex_unlock(&lane->lock);
    }
    sp_recording_unlock(recording, own);
}

/* The calls are in the file: the next publication goes on after them. */
static void settle(sp_profiler *profiler, harvest *h, sp_assembly_result *result,
                   bool with_open_calls)
{
    drop_blocks(h, &profiler->recording, result, with_open_calls);
    sp_recording_count_only(&profiler->recording, false); /* there is room again */
    sp_profiler_release_states(profiler);
    profiler->states = result->states;
    profiler->num_states = result->num_states;
    profiler->num_task_states = h->tasks.count;
    profiler->next_id = result->next_id;
    result->states = NULL;
    result->num_states = 0;
    sp_profiler_journal_published(profiler, h->generation, h->stands, h->num_rings);
}

/* The cost of the recorder itself, what was not kept, then what the caller brings along; free() it. */
static sp_extra *gather_extras(const sp_binding_publication *what, const sp_extra *cost,
                               const sp_unkept_extras *unkept, size_t *out_count)
{
    size_t count = 1 + unkept->count;
    sp_extra *extras = malloc((count + what->num_extras) * sizeof *extras);
    if (extras == NULL)
        return NULL;
    extras[0] = *cost;
    memcpy(extras + 1, unkept->extras, unkept->count * sizeof *extras);
    for (size_t i = 0; i < what->num_extras; i++)
        extras[count++] = what->extras[i];
    *out_count = count;
    return extras;
}

static int assemble(sp_profiler *profiler, const harvest *h, const sp_binding_publication *what,
                    const sp_outputs *outputs, sp_assembly_result *result, sp_error *error)
{
    sp_assemble_loss losses[SP_NUM_LOSSES];
    double pair_cost = sp_pair_cost_ns();
    sp_extra cost = {.name = "pair_cost_ns", .rank = profiler->settings.rank, .length = 1,
                     .reals = &pair_cost};
    sp_unkept_extras unkept = {.count = 0};
    sp_assemble_scope *scopes = copy_scopes(what);
    size_t num_extras = 0;
    sp_extra *extras = NULL;
    int status;
    if (!h->failed && scopes != NULL &&
        sp_unkept_fill(&h->unkept, &h->regions, profiler->settings.rank, &unkept))
        extras = gather_extras(what, &cost, &unkept, &num_extras);
    if (extras != NULL) {
        sp_assembly assembly;
        fill_assembly(&assembly, h, profiler, what);
        sp_losses_fill(&profiler->recording, losses);
        assembly.scopes = scopes;
        assembly.losses = losses;
        assembly.num_losses = SP_NUM_LOSSES;
        assembly.extras = extras;
        assembly.num_extras = num_extras;
        assembly.outputs = outputs->items;
        assembly.num_outputs = outputs->count;
        status = sp_assemble(&assembly, result, error);
    } else {
        status = sp_fail_memory(error, "collecting the recorded calls");
    }
    sp_unkept_release(&unkept);
    free(scopes);
    free(extras);
    return status;
}

/* The instrument with device times, NULL: there is none. */
static const sp_instrument *device_of(const sp_recording *recording)
{
    const sp_instruments *set = recording->instruments;
    for (size_t i = 0; set != NULL && i < set->count; i++)
        if (set->items[i].device_times != NULL)
            return &set->items[i];
    return NULL;
}

int sp_profiler_publish_calls(sp_profiler *profiler, const sp_binding_publication *what,
                              sp_outputs *outputs, sp_binding_report *report, sp_error *error)
{
    harvest h = {0};
    sp_assembly_result result = {0};
    const sp_instrument *device = device_of(&profiler->recording);
    /* Calls that go to nobody need no times. */
    device = outputs->count > 0 ? device : NULL;
    if (device != NULL)
        device->device_times(device->context, NULL);
    harvest_all(&h, profiler, what->keep_calls);
    if (device != NULL)
        h.device_times = device->device_times(device->context, &h.num_device_times);
    int status = assemble(profiler, &h, what, outputs, &result, error);
    if (status == SP_OK)
        status = sp_outputs_commit(outputs, error);
    if (status == SP_OK)
        fill_report(report, &profiler->recording, &result, &h);
    if (status == SP_OK && !what->keep_calls)
        settle(profiler, &h, &result, what->with_open_calls);
    if (status == SP_OK && !what->keep_calls && device != NULL && device->device_times_taken != NULL)
        device->device_times_taken(device->context);
    if (status != SP_OK)
        sp_profiler_journal_failed(profiler, h.generation);
    if (status != SP_OK || what->keep_calls)
        sp_recording_put_counters(&profiler->recording, &h.counters);
    sp_assembly_result_release(&result);
    harvest_release(&h, &profiler->recording, status == SP_OK && !what->keep_calls);
    return status;
}
