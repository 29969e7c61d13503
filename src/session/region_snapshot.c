#include "session/region_snapshot.h"

#include <stdlib.h>
#include <string.h>

bool sp_region_snapshot_take(sp_region_snapshot *snapshot, const sp_region_table *table)
{
    snapshot->entries = malloc((table->count + 1) * sizeof *snapshot->entries);
    if (snapshot->entries == NULL)
        return false;
    if (table->count > 0)
        memcpy(snapshot->entries, table->entries, table->count * sizeof *snapshot->entries);
    snapshot->count = table->count;
    for (size_t i = 0; i < snapshot->count; i++)
        if (!sp_number_map_set(&snapshot->index, (uint64_t)snapshot->entries[i].region,
                               (uint32_t)i))
            return false;
    return true;
}

void sp_region_snapshot_release(sp_region_snapshot *snapshot)
{
    free(snapshot->entries);
    sp_number_map_release(&snapshot->index);
    *snapshot = (sp_region_snapshot){0};
}

static const char *or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

bool sp_region_snapshot_look_up(const void *context, uint32_t region, sp_assemble_region *out)
{
    const sp_region_snapshot *snapshot = context;
    uint32_t i = sp_number_map_get(&snapshot->index, region);
    if (i == SP_NUMBER_NONE)
        return false;
    const sp_region_entry *entry = &snapshot->entries[i];
    *out = (sp_assemble_region){
        .name = sp_names_get(entry->region),
        .source_file = or_empty(entry->source_file),
        .source_text = or_empty(entry->source_text),
        .source_line = entry->source_line,
        .tags_json = entry->tags_json == NULL ? "[]" : entry->tags_json,
        .position = i,
    };
    return true;
}
