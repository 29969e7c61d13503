/* publish_unkept.h - calls of which a file has no rows, because there was no room for them: counts and
 * totals region by region, as extra arrays. */
#ifndef SP_SESSION_PUBLISH_UNKEPT_H
#define SP_SESSION_PUBLISH_UNKEPT_H

#include "recorder/sums.h"
#include "session/region_snapshot.h"

enum { SP_UNKEPT_ARRAYS = 6 };

/* Zeroed memory is none. */
typedef struct sp_unkept_extras {
    sp_extra extras[SP_UNKEPT_ARRAYS];
    size_t count;
    const char **names;
    int64_t *numbers; /* five arrays, one after the other */
} sp_unkept_extras;

/* Names are borrowed from the process-wide table. False: memory is short. */
bool sp_unkept_fill(const sp_sums *sums, const sp_region_snapshot *regions, uint32_t rank,
                    sp_unkept_extras *out);
/* How many calls these are. */
uint64_t sp_unkept_calls(const sp_sums *sums);
void sp_unkept_release(sp_unkept_extras *extras);

#endif
