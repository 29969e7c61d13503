/* sums.h - count, total, minimum and maximum of the calls of each region on one lane, and where
 * asked for their exclusive time, from ring words or one by one. */
#ifndef SP_RECORDER_SUMS_H
#define SP_RECORDER_SUMS_H

#include "clock/timeline.h"
#include "log/resolver.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sp_sum {
    uint64_t count;  /* calls that ended */
    uint64_t untimed; /* calls that were only counted, beside the count */
    uint64_t opened; /* calls that were open when their thread ended or was taken away */
    uint64_t resumptions; /* of the count: later intervals of a generator or coroutine call */
    int64_t total, minimum, maximum; /* ns; minimum and maximum mean something with a count only */
    int64_t exclusive;               /* ns; 0 where nesting was not followed */
} sp_sum;

#define SP_SUM_EMPTY ((sp_sum){.minimum = INT64_MAX, .maximum = INT64_MIN})

/* Zeroed memory is empty. One thread at a time. */
typedef struct sp_sums {
    sp_sum **pages; /* by region / SP_SUMS_PAGE, NULL where nothing was */
    size_t num_pages;
} sp_sums;

enum { SP_SUMS_PAGE = 64 };

/* Cell of a region, made if need be; NULL when memory is short. */
sp_sum *sp_sums_cell(sp_sums *sums, uint32_t region);
/* NULL when there is none. */
const sp_sum *sp_sums_find(const sp_sums *sums, uint32_t region);

/* Adds the calls of whole records. `nesting`: what is known of the open calls of the lane, for
 * exclusive times; NULL: they are not wanted. Returns how many calls found no memory. */
uint64_t sp_sums_add_words(sp_sums *sums, const uint64_t *words, size_t count,
                           const sp_timeline *timeline, sp_resolver *nesting);

/* Adds one call that ended; `flags` as in a marked record. False: memory is short. */
bool sp_sums_add_call(sp_sums *sums, uint32_t region, uint32_t flags, int64_t ns);

void sp_sum_add(sp_sum *to, const sp_sum *from);
/* Adds all of `from` and empties it. Returns how many calls found no memory. */
uint64_t sp_sums_move(sp_sums *to, sp_sums *from);
void sp_sums_release(sp_sums *sums);

#endif
