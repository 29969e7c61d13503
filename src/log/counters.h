/* counters.h - what instruments measured of one call, as a side record carries it, and sums of it.
 *
 * A side record of kind SP_SIDE_COUNTERS is a row of numbers (bytes.h): which instrument, then each of
 * its values, small ones of either sign in one byte. One of kind SP_SIDE_PAYLOAD is the number of the
 * instrument and bytes that only it understands.
 */
#ifndef SP_LOG_COUNTERS_H
#define SP_LOG_COUNTERS_H

#include "base/number_map.h"
#include "base/vector.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An instrument has at most so many values, times of groups included. */
enum { SP_COUNTERS_MOST = 256 };

/* Bytes that a record of `count` values takes at most. */
size_t sp_counters_bound(size_t count);
/* Returns the bytes put. */
size_t sp_counters_put(uint8_t *at, uint32_t instrument, const int64_t *values, size_t count);

/* Number of the instrument, and how many bytes that took; false: it makes no sense. */
bool sp_counters_instrument(const char *payload, size_t bytes, uint32_t *out, size_t *out_bytes);
/* Exactly `count` values; false: there are more or fewer. */
bool sp_counters_get(const char *payload, size_t bytes, int64_t *values, size_t count);

/* Sums of the calls of one instrument, region and lane. */
typedef struct sp_counter_sum {
    uint32_t instrument, lane, region;
    uint64_t calls;
    size_t first; /* of its values, in `values` */
} sp_counter_sum;

/* Zeroed memory is empty. One thread at a time. */
typedef struct sp_counter_sums {
    SP_VECTOR(sp_counter_sum) items; /* in the order in which they came up */
    SP_VECTOR(int64_t) values;
    sp_number_map index;
} sp_counter_sums;

/* Adds what `calls` calls of a region came to. False: memory is short. */
bool sp_counter_sums_add(sp_counter_sums *sums, uint32_t instrument, uint32_t lane,
                         uint32_t region, uint64_t calls, const int64_t *values, size_t count);
void sp_counter_sums_release(sp_counter_sums *sums);

#endif
