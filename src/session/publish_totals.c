#include "base/error.h"
#include "recorder/query.h"
#include "session/publish_int.h"

#include <stdlib.h>

static sp_row make_row(const sp_profiler *profiler, const sp_region_snapshot *regions, size_t i,
                       const sp_sum *sum)
{
    sp_assemble_region region;
    sp_region_snapshot_look_up(regions, (uint32_t)regions->entries[i].region, &region);
    return (sp_row){
        .region = region.name,
        .rank = profiler->settings.rank,
        .source_file = region.source_file,
        .source_text = region.source_text,
        .source_line = region.source_line,
        .tags_json = region.tags_json,
        .exclusive_total = -1,
        .has_aggregate = true,
        .aggregate = {.count = sum->count,
                      .total = sum->total,
                      .minimum = sum->minimum,
                      .maximum = sum->maximum,
                      .exclusive = profiler->recording.is_aggregate ? sum->exclusive : -1},
    };
}

/* Rows of the regions that have calls, in order of creation. */
static size_t fill_rows(const sp_profiler *profiler, const sp_region_snapshot *regions,
                        const sp_sums *sums, sp_row *rows, sp_binding_report *report)
{
    size_t count = 0;
    for (size_t i = 0; i < regions->count; i++) {
        const sp_sum *sum = sp_sums_find(sums, (uint32_t)regions->entries[i].region);
        if (sum == NULL || sum->count == 0)
            continue;
        rows[count++] = make_row(profiler, regions, i, sum);
        report->calls_written += sum->count;
    }
    return count;
}

static int write_totals(sp_profiler *profiler, const sp_binding_publication *what,
                        const sp_sums *sums, const sp_counter_sums *counters, sp_outputs *outputs,
                        sp_binding_report *report, sp_error *error)
{
    sp_region_snapshot regions = {0};
    sp_thread_rows threads = {0};
    sp_arena names = {0};
    sp_recording *recording = &profiler->recording;
    sp_lane *own = sp_recording_lock(recording);
    bool failed = !sp_region_snapshot_take(&regions, &recording->regions) ||
                  !sp_threads_fill(profiler, &threads, &names);
    sp_recording_unlock(recording, own);
    sp_row *rows = failed ? NULL : malloc((regions.count + 1) * sizeof *rows);
    int status = rows == NULL ? sp_fail_memory(error, "collecting the totals") : SP_OK;
    if (status == SP_OK) {
        sp_assemble_loss losses[SP_NUM_LOSSES];
        sp_losses_fill(recording, losses);
        sp_assembly_totals assembly = {
            .rank = profiler->settings.rank,
            .rows = rows,
            .num_rows = fill_rows(profiler, &regions, sums, rows, report),
            .track_threads = profiler->settings.track_threads,
            .threads = threads.items,
            .num_threads = threads.count,
            .metadata = what->metadata,
            .num_metadata = what->num_metadata,
            .losses = losses,
            .num_losses = SP_NUM_LOSSES,
            .instruments = sp_publish_instruments(recording, counters),
            .region = sp_region_snapshot_look_up,
            .region_context = &regions,
            .outputs = outputs->items,
            .num_outputs = outputs->count,
        };
        status = sp_assemble_totals(&assembly, error);
        report->several_threads = threads.count > 1;
    }
    free(rows);
    sp_vector_release(&threads);
    sp_arena_release(&names);
    sp_region_snapshot_release(&regions);
    return status;
}

static size_t count_open(sp_recording *recording)
{
    sp_open_calls open = {0};
    sp_recording_open_calls(recording, &open);
    size_t count = open.count;
    sp_vector_release(&open);
    return count;
}

/* The sums are taken out while they are written, so that the next publication holds only what came
 * after. */
int sp_profiler_publish_totals(sp_profiler *profiler, const sp_binding_publication *what,
                               sp_outputs *outputs, sp_binding_report *report, sp_error *error)
{
    sp_recording *recording = &profiler->recording;
    sp_sums sums = {0};
    sp_counter_sums counters = {0};
    sp_recording_take_sums(recording, &sums);
    sp_recording_take_counters(recording, &counters);
    int status = write_totals(profiler, what, &sums, &counters, outputs, report, error);
    if (status == SP_OK)
        status = sp_outputs_commit(outputs, error);
    bool is_done = status == SP_OK && !what->keep_calls;
    sp_recording_put_sums(recording, &sums, is_done);
    if (!is_done)
        sp_recording_put_counters(recording, &counters);
    sp_counter_sums_release(&counters);
    report->calls_open = count_open(recording);
    report->calls_crossing = atomic_load(&recording->crossing);
    sp_losses_report(recording, report);
    report->unmatched_ends = atomic_load(&recording->unmatched_ends);
    return status;
}
