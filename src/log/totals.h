/* totals.h - count, total, minimum, maximum and exclusive time per (lane, region), straight from
 * ring words: the whole memory of a run in aggregate mode, and the running figures of any other. */
#ifndef SP_LOG_TOTALS_H
#define SP_LOG_TOTALS_H

#include "log/record.h"
#include "log/resolver.h"
#include "log/tick_map.h"
#include "scope_plugin.h"

/* Totals of one region on one lane. The layout of sp_row_aggregate and the moment it first began. */
typedef struct sp_totals_cell {
    uint32_t region;
    bool is_used;
    int64_t first_start_ns;
    uint64_t resumptions; /* of the calls counted, later intervals of a generator or coroutine */
    sp_row_aggregate sum;
} sp_totals_cell;

typedef struct sp_totals_lane {
    sp_resolver resolver;
    sp_totals_cell *cells; /* open addressing by region; room is 0 or a power of two */
    size_t count, room;
} sp_totals_lane;

/* Zeroed memory is empty. One thread at a time. */
typedef struct sp_totals {
    sp_totals_lane *lanes; /* by lane */
    size_t num_lanes, room;
    uint64_t lost;     /* calls whose records were lost, or that found no memory here */
    uint64_t drain_ns; /* time of the drain records seen */
} sp_totals;

/* Adds the records of a span (whole records, as for sp_pack_words). `lane`: of the first record;
 * holds that of the last one on return. False: memory was short, some calls count as lost. */
bool sp_totals_add_words(sp_totals *totals, const uint64_t *words, size_t count, uint32_t *lane,
                         const sp_tick_map *map);

/* Sum over the lanes; false when that region has no calls (`out` is then all zero, exclusive 0). */
bool sp_totals_of_region(const sp_totals *totals, uint32_t region, sp_row_aggregate *out);

/* Forgets the sums and keeps what is known of open calls. */
void sp_totals_clear(sp_totals *totals);
void sp_totals_release(sp_totals *totals);

#endif
