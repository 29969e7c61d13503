#include "store/journal/recover.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MOST_ENTRIES = 8, NUM_LOSSES = 4, SECOND_NS = 1000000000, MICROSECOND_NS = 1000 };

typedef struct own_metadata {
    sp_metadata_entry entries[MOST_ENTRIES];
    size_t count;
    char timestamp[48];
} own_metadata;

static bool has_key(const sp_loaded *loaded, const char *key)
{
    for (size_t i = 0; i < loaded->metadata.count; i++)
        if (strcmp(loaded->metadata.items[i].key, key) == 0)
            return true;
    return false;
}

static void add(const sp_loaded *loaded, own_metadata *to, sp_metadata_entry entry)
{
    if (!has_key(loaded, entry.key))
        to->entries[to->count++] = entry;
}

/* ISO 8601, to the microsecond, in UTC. */
static void format_timestamp(int64_t at_ns, char *out, size_t room)
{
    time_t seconds = (time_t)(at_ns / SECOND_NS);
    struct tm parts;
    char date[24];
    if (gmtime_r(&seconds, &parts) == NULL)
        parts = (struct tm){.tm_mday = 1, .tm_year = 70};
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(out, room, "%s.%06d+00:00", date, (int)(at_ns % SECOND_NS / MICROSECOND_NS));
}

/* What a profile always says, where the recording itself has left no word of it. */
static void fill_metadata(const sp_loaded *loaded, own_metadata *out)
{
    const sp_owner_frame *owner = &loaded->owner;
    format_timestamp(owner->started_at_ns, out->timestamp, sizeof out->timestamp);
    add(loaded, out, (sp_metadata_entry){.key = "timestamp", .kind = SP_VALUE_TEXT,
                                         .text = out->timestamp});
    if (owner->label.length > 0)
        add(loaded, out, (sp_metadata_entry){.key = "label", .kind = SP_VALUE_TEXT,
                                             .text = owner->label.bytes});
    add(loaded, out, (sp_metadata_entry){.key = "mpi_rank", .kind = SP_VALUE_INTEGER,
                                         .integer = owner->rank});
    add(loaded, out, (sp_metadata_entry){.key = "start_time_ns", .kind = SP_VALUE_INTEGER,
                                         .integer = owner->started_ns});
    add(loaded, out,
        (sp_metadata_entry){.key = "finalize_time_ns", .kind = SP_VALUE_INTEGER,
                            .integer = sp_timeline_ns(&loaded->timeline, loaded->last_tick)});
    add(loaded, out, (sp_metadata_entry){.key = "recovered_from_pid", .kind = SP_VALUE_INTEGER,
                                         .integer = owner->owner.pid});
}

/* A name that was lost stays told from others. */
static bool look_up(const void *context, uint32_t region, sp_assemble_region *out)
{
    sp_loaded *loaded = (sp_loaded *)(uintptr_t)context;
    uint32_t i = sp_number_map_get(&loaded->region_index, region);
    if (i != SP_NUMBER_NONE) {
        *out = loaded->regions.items[i].info;
        return true;
    }
    char name[48];
    snprintf(name, sizeof name, "(region %u, name lost)", region);
    *out = (sp_assemble_region){.name = sp_arena_text(&loaded->arena, name), .source_file = "",
                                .source_text = "", .source_line = -1, .tags_json = "[]"};
    return out->name != NULL;
}

static void ticks_to_ns(const void *context, const uint64_t *ticks, int64_t *out_ns, size_t count)
{
    sp_timeline_ns_many(context, ticks, out_ns, count);
}

int sp_recover(sp_loaded *loaded, const sp_assemble_output *outputs, size_t num_outputs,
               sp_assembly_result *out, sp_error *error)
{
    own_metadata own = {.count = 0};
    fill_metadata(loaded, &own);
    if (!sp_vector_reserve(&loaded->metadata, own.count))
        own.count = 0;
    for (size_t i = 0; i < own.count; i++)
        loaded->metadata.items[loaded->metadata.count + i] = own.entries[i];
    const sp_assemble_loss found[NUM_LOSSES] = {
        {.kind = "journal_calls_missing", .count = (int64_t)loaded->missing_calls},
        {.kind = "journal_blocks_damaged", .count = (int64_t)loaded->damaged_blocks},
        {.kind = "journal_bytes_damaged",
         .count = (int64_t)(loaded->damaged_bytes + loaded->torn_bytes)},
        {.kind = "journal_rings_damaged", .count = (int64_t)loaded->damaged_rings},
    };
    size_t told = loaded->losses.count;
    if (!sp_vector_reserve(&loaded->losses, NUM_LOSSES))
        return sp_fail_memory(error, "the counts of losses");
    memcpy(loaded->losses.items + told, found, sizeof found);
    sp_assembly assembly = {
        .rank = (uint32_t)loaded->owner.rank,
        .id_base = loaded->next_id,
        .blocks = loaded->assembled.items,
        .num_blocks = loaded->assembled.count,
        .blocks_are_unsummed = true, /* checked when they were loaded */
        .lanes = loaded->lanes.items,
        .num_lanes = loaded->lanes.count,
        .num_task_lanes = loaded->task_rows.count,
        .track_tasks = loaded->owner.track_tasks,
        .tasks = loaded->task_rows.items,
        .num_tasks = loaded->task_rows.count,
        .open_calls = loaded->open_calls.items,
        .num_open_calls = loaded->open_calls.count,
        .with_open_calls = true,
        .now_tick = loaded->last_tick,
        .ticks = {.to_ns = ticks_to_ns, .context = &loaded->timeline},
        .region = look_up,
        .region_context = loaded,
        .track_threads = loaded->owner.track_threads,
        .threads = loaded->threads.items,
        .num_threads = loaded->threads.count,
        .metadata = loaded->metadata.items,
        .num_metadata = loaded->metadata.count + own.count,
        .instruments = {.items = loaded->instruments.items, .count = loaded->instruments.count},
        .losses = loaded->losses.items,
        .num_losses = told + NUM_LOSSES,
        .outputs = outputs,
        .num_outputs = num_outputs,
    };
    return sp_assemble(&assembly, out, error);
}
