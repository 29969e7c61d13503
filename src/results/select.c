/* select.c - selection by counting: the values are counted into buckets of equal width, only those
 * of the bucket that holds the wanted one are counted again, and so on. Each round divides the
 * range by the number of buckets, so five rounds are the most that 64-bit values need, whatever
 * their order and distribution. Several order statistics are looked for in the same rounds, so that values
 * that have to be read from a file are read as rarely as can be. */
#include "results/select.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>

enum { BUCKET_BITS = 14, BUCKETS = 1 << BUCKET_BITS, MAX_PERCENTS = 8, MAX_WANTED = 2 * MAX_PERCENTS };

/* Order-preserving, so that ranges are differences of unsigned numbers. */
static uint64_t key_of(int64_t value)
{
    return (uint64_t)value ^ (UINT64_C(1) << 63);
}

static int64_t value_of(uint64_t key)
{
    return (int64_t)(key ^ (UINT64_C(1) << 63));
}

/* Keys from `low` to `low + width`, counted. */
typedef struct range {
    uint64_t low, width;
    int shift;
    uint64_t *counts; /* BUCKETS */
} range;

/* One order statistic: the value at `position` (0: smallest) within a range. */
typedef struct wanted {
    uint64_t position, low, width;
    size_t range; /* of this round */
    bool is_found;
} wanted;

typedef struct search {
    wanted wanted[MAX_WANTED];
    size_t num_wanted;
    range ranges[MAX_WANTED];
    size_t num_ranges;
    uint64_t *counts;
} search;

static int shift_of(uint64_t width)
{
    int shift = 0;
    while (width >> shift >= BUCKETS)
        shift++;
    return shift;
}

/* ---- Rounds ----------------------------------------------------------------------------------*/

static void take_extremes(void *taker, const int64_t *items, size_t count)
{
    range *all = taker; /* low and high, until all are seen */
    for (size_t i = 0; i < count; i++) {
        uint64_t key = key_of(items[i]);
        all->low = key < all->low ? key : all->low;
        all->width = key > all->width ? key : all->width;
    }
}

static void count_values(void *taker, const int64_t *items, size_t count)
{
    search *s = taker;
    for (size_t r = 0; r < s->num_ranges; r++) {
        const range of = s->ranges[r];
        for (size_t i = 0; i < count; i++) {
            uint64_t offset = key_of(items[i]) - of.low;
            if (offset <= of.width)
                of.counts[offset >> of.shift]++;
        }
    }
}

/* The ranges that are still to be narrowed, each once. */
static void choose_ranges(search *s)
{
    s->num_ranges = 0;
    for (size_t i = 0; i < s->num_wanted; i++) {
        wanted *w = &s->wanted[i];
        size_t r = 0;
        if (w->is_found)
            continue;
        while (r < s->num_ranges &&
               (s->ranges[r].low != w->low || s->ranges[r].width != w->width))
            r++;
        w->range = r;
        if (r < s->num_ranges)
            continue;
        s->ranges[s->num_ranges++] = (range){w->low, w->width, shift_of(w->width),
                                             s->counts + r * BUCKETS};
        for (size_t b = 0; b < BUCKETS; b++)
            s->ranges[r].counts[b] = 0;
    }
}

/* Goes down into the bucket that holds the value; false when the counts do not add up. */
static bool narrow(const search *s, wanted *w)
{
    const range *of = &s->ranges[w->range];
    size_t bucket = 0;
    while (bucket < BUCKETS && w->position >= of->counts[bucket])
        w->position -= of->counts[bucket++];
    w->low += (uint64_t)bucket << of->shift;
    w->width = (UINT64_C(1) << of->shift) - 1;
    w->is_found = of->shift == 0;
    return bucket < BUCKETS;
}

static int find_all(search *s, const sp_value_source *source, sp_error *error)
{
    range all = {.low = UINT64_MAX};
    int status = source->each(source->context, take_extremes, &all, error);
    for (size_t i = 0; i < s->num_wanted; i++) {
        s->wanted[i].low = all.low;
        s->wanted[i].width = all.width - all.low;
    }
    choose_ranges(s);
    while (status == SP_OK && s->num_ranges > 0) {
        status = source->each(source->context, count_values, s, error);
        for (size_t i = 0; status == SP_OK && i < s->num_wanted; i++)
            if (!s->wanted[i].is_found && !narrow(s, &s->wanted[i]))
                status = sp_fail(error, SP_ERR_DAMAGED, "values changed while they were read");
        choose_ranges(s);
    }
    return status;
}

/* ---- Percentiles -----------------------------------------------------------------------------*/

static double between(double value, double above, double weight)
{
    return weight < 0.5 ? value + (above - value) * weight
                        : above - (above - value) * (1.0 - weight);
}

/* At most MAX_PERCENTS of them: the values on both sides of each. */
static int select_some(const sp_value_source *source, const double *percents, size_t count,
                       double *out, sp_error *error)
{
    search s = {.num_wanted = 2 * count, .counts = malloc(2 * count * BUCKETS * sizeof *s.counts)};
    double weights[MAX_PERCENTS];
    if (s.counts == NULL)
        return sp_fail_memory(error, "computing percentiles");
    for (size_t i = 0; i < count; i++) {
        double position = (double)(source->count - 1) * (percents[i] / 100.0);
        uint64_t below = (uint64_t)floor(position);
        weights[i] = position - (double)below;
        s.wanted[2 * i].position = below;
        s.wanted[2 * i + 1].position = below + (weights[i] > 0 && below + 1 < source->count);
    }
    int status = find_all(&s, source, error);
    for (size_t i = 0; status == SP_OK && i < count; i++)
        out[i] = between((double)value_of(s.wanted[2 * i].low),
                         (double)value_of(s.wanted[2 * i + 1].low), weights[i]);
    free(s.counts);
    return status;
}

int sp_select_percentiles(const sp_value_source *source, const double *percents, size_t count,
                          double *out, sp_error *error)
{
    int status = SP_OK;
    for (size_t i = 0; status == SP_OK && i < count; i += MAX_PERCENTS) {
        size_t some = count - i < MAX_PERCENTS ? count - i : MAX_PERCENTS;
        status = select_some(source, percents + i, some, out + i, error);
    }
    return status;
}

typedef struct pool {
    const sp_values *pieces;
    size_t count;
} pool;

static int each_in_memory(void *context, sp_take_values take, void *taker, sp_error *error)
{
    const pool *of = context;
    (void)error;
    for (size_t p = 0; p < of->count; p++)
        take(taker, of->pieces[p].items, of->pieces[p].count);
    return SP_OK;
}

int sp_select_percentile(const sp_values *pieces, size_t num_pieces, double percent, double *out,
                         sp_error *error)
{
    pool of = {pieces, num_pieces};
    sp_value_source source = {.each = each_in_memory, .context = &of};
    for (size_t p = 0; p < num_pieces; p++)
        source.count += pieces[p].count;
    return sp_select_percentiles(&source, &percent, 1, out, error);
}
