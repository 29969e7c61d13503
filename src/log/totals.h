/* totals.h - count, total, minimum, maximum and exclusive time per (lane, region), straight from
 * ring words: the whole memory of a run in aggregate mode, and the running figures of any other. */
#ifndef SP_LOG_TOTALS_H
#define SP_LOG_TOTALS_H

#include "base/number_map.h"
#include "base/vector.h"
#include "log/record.h"
#include "log/resolver.h"
#include "log/tick_map.h"
#include "scope_plugin.h"

/* Totals of one region on one lane. */
typedef struct sp_totals_cell {
    uint32_t lane, region;
    int64_t first_start_ns; /* earliest begin of a call that ended */
    uint64_t resumptions;   /* of the calls counted, later intervals of a generator or coroutine */
    sp_row_aggregate sum;
} sp_totals_cell;

/* Zeroed memory is empty. One thread at a time. */
typedef struct sp_totals {
    SP_VECTOR(sp_resolver) lanes;    /* by lane */
    SP_VECTOR(sp_totals_cell) cells; /* in order of first end */
    sp_number_map cell_of;           /* lane << 32 | region to cell */
    uint64_t lost;     /* calls that lost records speak of, or that found no memory here */
    uint64_t drain_ns; /* time of the drain records seen */
} sp_totals;

/* Adds the records of a span (whole records, as for sp_pack_words). `lane`: of the first record;
 * holds that of the last one on return. False: memory was short, some calls count as lost, or the
 * span held no whole records, and the rest of it was left out. */
bool sp_totals_add_words(sp_totals *totals, const uint64_t *words, size_t count, uint32_t *lane,
                         const sp_tick_map *map);

/* Sum over the lanes; false when that region has no calls (`out` is then all zero, exclusive 0). */
bool sp_totals_of_region(const sp_totals *totals, uint32_t region, sp_row_aggregate *out);

/* Forgets the sums and keeps what is known of open calls. */
void sp_totals_clear(sp_totals *totals);
void sp_totals_release(sp_totals *totals);

#endif
