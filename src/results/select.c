/* select.c - selection by counting: the values are counted into buckets of equal width, only those
 * of the bucket that holds the wanted one are counted again, and so on. Each round divides the
 * range by the number of buckets, so five rounds are the most that 64-bit values need, whatever
 * their order and distribution. */
#include "results/select.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>

enum { BUCKET_BITS = 14, BUCKETS = 1 << BUCKET_BITS };

/* Order-preserving, so that ranges are differences of unsigned numbers. */
static uint64_t key_of(int64_t value)
{
    return (uint64_t)value ^ (UINT64_C(1) << 63);
}

static int64_t value_of(uint64_t key)
{
    return (int64_t)(key ^ (UINT64_C(1) << 63));
}

/* The keys from `low` to `low + width` and where they came from. */
typedef struct selection {
    const sp_values *pool;
    size_t num_pieces;
    uint64_t low, width;
    size_t *counts; /* BUCKETS */
} selection;

static int shift_of(uint64_t width)
{
    int shift = 0;
    while (width >> shift >= BUCKETS)
        shift++;
    return shift;
}

static void count_buckets(selection *s, int shift)
{
    for (size_t b = 0; b < BUCKETS; b++)
        s->counts[b] = 0;
    for (size_t p = 0; p < s->num_pieces; p++) {
        const int64_t *items = s->pool[p].items;
        for (size_t i = 0; i < s->pool[p].count; i++) {
            uint64_t offset = key_of(items[i]) - s->low;
            if (offset <= s->width)
                s->counts[offset >> shift]++;
        }
    }
}

/* Smallest and largest key of the pool. */
static void find_range(selection *s)
{
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t p = 0; p < s->num_pieces; p++)
        for (size_t i = 0; i < s->pool[p].count; i++) {
            uint64_t key = key_of(s->pool[p].items[i]);
            low = key < low ? key : low;
            high = key > high ? key : high;
        }
    s->low = low;
    s->width = high - low;
}

/* The value at `wanted` (0: smallest) among the selected ones. */
static int64_t narrow(selection *s, size_t wanted)
{
    for (;;) {
        int shift = shift_of(s->width);
        count_buckets(s, shift);
        size_t bucket = 0;
        while (wanted >= s->counts[bucket])
            wanted -= s->counts[bucket++];
        s->low += (uint64_t)bucket << shift;
        if (shift == 0)
            return value_of(s->low);
        s->width = (UINT64_C(1) << shift) - 1;
    }
}

int sp_select_percentile(const sp_values *pool, size_t num_pieces, double percent, double *out,
                         sp_error *error)
{
    size_t count = 0;
    for (size_t p = 0; p < num_pieces; p++)
        count += pool[p].count;
    selection s = {.pool = pool, .num_pieces = num_pieces,
                   .counts = malloc(BUCKETS * sizeof *s.counts)};
    if (s.counts == NULL)
        return sp_fail_memory(error, "computing percentiles");
    double position = (double)(count - 1) * (percent / 100.0);
    size_t below = (size_t)floor(position);
    double weight = position - (double)below;
    find_range(&s);
    selection again = s;
    double value = (double)narrow(&s, below);
    if (weight > 0 && below + 1 < count) {
        double above = (double)narrow(&again, below + 1);
        value = weight < 0.5 ? value + (above - value) * weight
                             : above - (above - value) * (1.0 - weight);
    }
    free(s.counts);
    *out = value;
    return SP_OK;
}
