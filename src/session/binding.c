/* What a language binding uses, as binding.h declares it: regions, calls, queries. */
#include "session/binding.h"

#include "base/error.h"
#include "recorder/attach.h"
#include "recorder/end_shorter.h"
#include "recorder/fast.h"
#include "recorder/path.h"
#include "recorder/query.h"
#include "session/journal.h"

#include <stdint.h>

uint64_t sp_binding_generation(void)
{
    return sp_recordings_generation();
}

int32_t sp_binding_intern(const char *name, size_t length, sp_error *error)
{
    return sp_names_intern(name, length, error);
}

const char *sp_binding_region_name(int32_t region)
{
    return sp_names_get(region);
}

int sp_binding_set_region(sp_profiler *profiler, int32_t region,
                          const sp_binding_region_spec *spec, sp_error *error)
{
    if (sp_names_get(region) == NULL)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "region id %d was never given",
                       (int)region);
    sp_recording *recording = &profiler->recording;
    sp_region_table *table = &recording->regions;
    sp_lane *own = sp_recording_lock(recording);
    bool fits = sp_region_table_set(table, region,
                                    spec->enabled ? SP_REGION_RECORD : SP_REGION_DISABLED);
    sp_region_entry *entry = fits ? sp_region_table_find(table, region) : NULL;
    if (entry != NULL)
        entry->is_native = false;
    if (entry != NULL && spec->source_file != NULL)
        fits = sp_region_table_source(table, entry, spec->source_file, spec->source_line,
                                      spec->source_text);
    if (fits && spec->tags_json != NULL)
        fits = sp_region_table_tags(table, entry, spec->tags_json);
    if (entry != NULL)
        sp_profiler_journal_region(profiler, entry);
    sp_recording_unlock(recording, own);
    return fits ? SP_OK : sp_fail_memory(error, "adding a region");
}

void sp_binding_begin(sp_profiler *profiler, int32_t region)
{
    sp_recording *recording = &profiler->recording;
    sp_phase phase = sp_recording_phase(recording);
    if (SP_IN_LINE(phase == SP_PHASE_OFF))
        return;
    if (SP_UNLIKELY(!sp_fast_begin(phase, sp_lane_of(recording), (uint32_t)region)))
        sp_path_begin(recording, (uint32_t)region, 0);
}

void sp_binding_end(sp_profiler *profiler, int32_t region)
{
    sp_recording *recording = &profiler->recording;
    sp_phase phase = sp_recording_phase(recording);
    if (SP_IN_LINE(phase == SP_PHASE_OFF))
        return;
    if (SP_UNLIKELY(!sp_fast_end(phase, sp_lane_of(recording), (uint32_t)region)))
        sp_path_end(recording, (uint32_t)region);
}

void sp_binding_resume(sp_profiler *profiler, int32_t region)
{
    sp_recording *recording = &profiler->recording;
    sp_phase phase = sp_recording_phase(recording);
    if (SP_IN_LINE(phase == SP_PHASE_OFF))
        return;
    if (SP_UNLIKELY(!sp_fast_begin_resumed(phase, sp_lane_of(recording), (uint32_t)region)))
        sp_path_begin(recording, (uint32_t)region, SP_CALL_RESUMPTION);
}

void sp_binding_end_resumed(sp_profiler *profiler, int32_t region)
{
    sp_recording *recording = &profiler->recording;
    sp_phase phase = sp_recording_phase(recording);
    if (SP_IN_LINE(phase == SP_PHASE_OFF))
        return;
    if (SP_UNLIKELY(!sp_fast_end_resumed(phase, sp_lane_of(recording), (uint32_t)region)))
        sp_path_end(recording, (uint32_t)region);
}

bool sp_binding_end_unless_shorter(sp_profiler *profiler, int32_t region, int64_t least_ns)
{
    return sp_path_end_unless_shorter(&profiler->recording, (uint32_t)region, least_ns);
}

void sp_binding_end_with_metadata(sp_profiler *profiler, int32_t region, const char *json,
                                  size_t length)
{
    sp_attachment side = {.kind = SP_SIDE_METADATA, .payload = json, .bytes = length};
    bool fits = length > 0 && length <= INT32_MAX;
    sp_path_end_with(&profiler->recording, (uint32_t)region, fits ? &side : NULL);
}

int sp_binding_append(sp_profiler *profiler, int32_t region, int64_t start_ns, int64_t end_ns)
{
    return sp_path_append(&profiler->recording, (uint32_t)region, start_ns, end_ns);
}

void sp_binding_pause(sp_profiler *profiler)
{
    sp_recording_pause(&profiler->recording);
}

void sp_binding_unpause(sp_profiler *profiler)
{
    sp_recording_resume(&profiler->recording);
}

bool sp_binding_is_paused(const sp_profiler *profiler)
{
    return sp_recording_phase(&profiler->recording) == SP_PHASE_PAUSED;
}

size_t sp_binding_open_regions(sp_profiler *profiler, int32_t *regions, size_t room)
{
    return sp_path_open_regions(&profiler->recording, regions, room);
}

void sp_binding_name_thread(sp_profiler *profiler, const char *name, int64_t ident,
                            bool is_daemon)
{
    sp_thread_describe(&profiler->recording, name, ident, is_daemon);
}

int64_t sp_binding_num_calls(sp_profiler *profiler, int32_t region)
{
    return region < 0 ? 0 : sp_recording_num_calls(&profiler->recording, (uint32_t)region);
}

size_t sp_binding_num_regions(sp_profiler *profiler)
{
    sp_lane *own = sp_recording_lock(&profiler->recording);
    size_t count = profiler->recording.regions.count;
    sp_recording_unlock(&profiler->recording, own);
    return count;
}

int32_t sp_binding_region_at(sp_profiler *profiler, size_t i)
{
    const sp_region_table *table = &profiler->recording.regions;
    sp_lane *own = sp_recording_lock(&profiler->recording);
    int32_t region = i < table->count ? table->entries[i].region : SP_INVALID_REGION;
    sp_recording_unlock(&profiler->recording, own);
    return region;
}

int sp_binding_region_totals(sp_profiler *profiler, int32_t region, sp_row_aggregate *out)
{
    if (sp_names_get(region) == NULL)
        return SP_ERR_NOT_FOUND;
    sp_sum sum;
    sp_recording_sum(&profiler->recording, (uint32_t)region, &sum);
    *out = (sp_row_aggregate){
        .count = sum.count,
        .total = sum.total,
        .minimum = sum.minimum,
        .maximum = sum.maximum,
        .exclusive = profiler->recording.is_aggregate ? sum.exclusive : -1,
    };
    return SP_OK;
}
