/* region_table.h - what one profiler knows of each region: whether it records, where it was
 * defined, its tags, the order of creation. Indexed by the process-wide id; cleared by each
 * configuration.
 *
 * Thread rules: states are read by any thread at any time without a lock; everything else belongs
 * to whoever holds the lock of the profiler.
 */
#ifndef SP_REGISTRY_REGION_TABLE_H
#define SP_REGISTRY_REGION_TABLE_H

#include "base/arena.h"
#include "base/number_map.h"
#include "registry/names.h"

#include <stdatomic.h>

/* One byte a region. Only RECORD lets the fast path of a begin through. */
typedef enum sp_region_state {
    SP_REGION_UNKNOWN = 0,
    SP_REGION_RECORD = 1,
    SP_REGION_DISABLED = 2,
    SP_REGION_COUNTED = 3 /* its calls are counted, and that is all */
} sp_region_state;

typedef struct sp_region_entry {
    int32_t region;
    const char *source_file, *source_text; /* NULL unknown */
    int64_t source_line;                   /* -1 unknown */
    const char *tags_json;                 /* NULL none */
    bool is_native; /* defined by native code, which knows its tags; not by a binding */
    bool is_told; /* whoever keeps a copy (a journal) has it as it is; for the owner of the table */
} sp_region_entry;

typedef struct sp_region_table {
    /* SP_REGION_LIMIT bytes of address space, so an id never needs a bound that can change and the
     * table never moves. */
    _Atomic uint8_t *states;
    sp_region_state record_as; /* what regions that are to record get: RECORD or COUNTED */
    sp_region_entry *entries; /* in order of creation */
    size_t count, room;
    sp_number_map index; /* region -> position in entries */
    sp_arena texts;
} sp_region_table;

/* A table of which every state is UNKNOWN for ever: what a paused or ended profiler shows. NULL
 * when memory is short. */
const _Atomic uint8_t *sp_region_states_unknown(void);

bool sp_region_table_init(sp_region_table *table);
void sp_region_table_clear(sp_region_table *table);
void sp_region_table_release(sp_region_table *table);

static inline sp_region_state sp_region_table_state(const sp_region_table *table, uint32_t region)
{
    return region < SP_REGION_LIMIT
               ? (sp_region_state)atomic_load_explicit(&table->states[region], memory_order_relaxed)
               : SP_REGION_UNKNOWN;
}

/* Whether it belongs to those that record, in whatever way. */
static inline bool sp_region_state_is_on(sp_region_state state)
{
    return state == SP_REGION_RECORD || state == SP_REGION_COUNTED;
}

/* Regions that record do so in another way, those made later too. */
void sp_region_table_record_as(sp_region_table *table, sp_region_state state);

/* Makes the region known, or changes its state. False when memory is short. */
bool sp_region_table_set(sp_region_table *table, int32_t region, sp_region_state state);
/* NULL when this profiler does not know the region. Valid until the next set or clear. */
sp_region_entry *sp_region_table_find(const sp_region_table *table, int32_t region);
/* First site wins. `text` may be NULL. False when memory is short. */
bool sp_region_table_source(sp_region_table *table, sp_region_entry *entry, const char *file,
                            int64_t line, const char *text);
bool sp_region_table_tags(sp_region_table *table, sp_region_entry *entry, const char *tags_json);

#endif
