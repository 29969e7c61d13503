#include "registry/region_table.h"

#include "base/os/memory.h"

#include <stdlib.h>
#include <string.h>

static _Atomic(void *) unknown_states;

const _Atomic uint8_t *sp_region_states_unknown(void)
{
    void *states = atomic_load(&unknown_states);
    if (states != NULL)
        return states;
    void *fresh = sp_os_reserve(SP_REGION_LIMIT);
    if (fresh != NULL && !atomic_compare_exchange_strong(&unknown_states, &states, fresh)) {
        sp_os_reserve_release(fresh, SP_REGION_LIMIT);
        return states;
    }
    return fresh;
}

bool sp_region_table_init(sp_region_table *table)
{
    *table = (sp_region_table){.states = sp_os_reserve(SP_REGION_LIMIT),
                               .record_as = SP_REGION_RECORD};
    return table->states != NULL;
}

/* Entries go state by state: giving the whole range back to the system would cost a system call
 * over 16 MiB for a handful of regions. */
void sp_region_table_clear(sp_region_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        atomic_store_explicit(&table->states[table->entries[i].region], SP_REGION_UNKNOWN,
                              memory_order_relaxed);
    free(table->entries);
    sp_number_map_release(&table->index);
    sp_arena_release(&table->texts);
    table->entries = NULL;
    table->record_as = SP_REGION_RECORD;
    table->count = table->room = 0;
}

void sp_region_table_release(sp_region_table *table)
{
    sp_region_table_clear(table);
    sp_os_reserve_release(table->states, SP_REGION_LIMIT);
    table->states = NULL;
}

sp_region_entry *sp_region_table_find(const sp_region_table *table, int32_t region)
{
    uint32_t i = region < 0 ? SP_NUMBER_NONE : sp_number_map_get(&table->index, (uint64_t)region);
    return i == SP_NUMBER_NONE ? NULL : &table->entries[i];
}

static bool add(sp_region_table *table, int32_t region)
{
    if (table->count == table->room) {
        size_t room = table->room == 0 ? 32 : table->room * 2;
        sp_region_entry *grown = realloc(table->entries, room * sizeof *grown);
        if (grown == NULL)
            return false;
        table->entries = grown;
        table->room = room;
    }
    if (!sp_number_map_set(&table->index, (uint64_t)region, (uint32_t)table->count))
        return false;
    table->entries[table->count++] = (sp_region_entry){.region = region, .source_line = -1};
    return true;
}

bool sp_region_table_set(sp_region_table *table, int32_t region, sp_region_state state)
{
    if (region < 0 || region >= SP_REGION_LIMIT)
        return false;
    if (sp_region_table_find(table, region) == NULL && !add(table, region))
        return false;
    state = state == SP_REGION_RECORD ? table->record_as : state;
    atomic_store_explicit(&table->states[region], (uint8_t)state, memory_order_relaxed);
    return true;
}

void sp_region_table_record_as(sp_region_table *table, sp_region_state state)
{
    table->record_as = state;
    for (size_t i = 0; i < table->count; i++) {
        int32_t region = table->entries[i].region;
        if (sp_region_state_is_on(sp_region_table_state(table, (uint32_t)region)))
            atomic_store_explicit(&table->states[region], (uint8_t)state, memory_order_relaxed);
    }
}

bool sp_region_table_source(sp_region_table *table, sp_region_entry *entry, const char *file,
                            int64_t line, const char *text)
{
    if (entry->source_file != NULL)
        return true;
    const char *file_copy = sp_arena_text(&table->texts, file);
    const char *text_copy = text == NULL ? NULL : sp_arena_text(&table->texts, text);
    if (file_copy == NULL || (text != NULL && text_copy == NULL))
        return false;
    entry->source_file = file_copy;
    entry->source_text = text_copy;
    entry->source_line = line;
    entry->is_told = false;
    return true;
}

bool sp_region_table_tags(sp_region_table *table, sp_region_entry *entry, const char *tags_json)
{
    if (entry->tags_json != NULL && strcmp(entry->tags_json, tags_json) == 0)
        return true;
    const char *copy = sp_arena_text(&table->texts, tags_json);
    if (copy == NULL)
        return false;
    entry->tags_json = copy;
    entry->is_told = false;
    return true;
}
