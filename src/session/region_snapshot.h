/* region_snapshot.h - the regions of a profiler as they were at one moment, so that a publication
 * needs no lock. The texts belong to the profiler and live until its next configuration. */
#ifndef SP_SESSION_REGION_SNAPSHOT_H
#define SP_SESSION_REGION_SNAPSHOT_H

#include "registry/region_table.h"
#include "store/assemble.h"

typedef struct sp_region_snapshot {
    sp_region_entry *entries; /* in order of creation */
    size_t count;
    sp_number_map index;
} sp_region_snapshot;

/* Under the lock of the table's recording. False: memory is short. */
bool sp_region_snapshot_take(sp_region_snapshot *snapshot, const sp_region_table *table);
void sp_region_snapshot_release(sp_region_snapshot *snapshot);

/* For sp_assembly: `context` is the snapshot. */
bool sp_region_snapshot_look_up(const void *context, uint32_t region, sp_assemble_region *out);

#endif
