#include "log/counters.h"

#include "log/bytes.h"

#include <string.h>

size_t sp_counters_bound(size_t count)
{
    return (count + 1) * SP_NUMBER_BYTES;
}

size_t sp_counters_put(uint8_t *at, uint32_t instrument, const int64_t *values, size_t count)
{
    const uint8_t *first = at;
    at = sp_put_number(at, instrument);
    for (size_t i = 0; i < count; i++)
        at = sp_put_number(at, sp_zigzag(values[i]));
    return (size_t)(at - first);
}

bool sp_counters_instrument(const char *payload, size_t bytes, uint32_t *out, size_t *out_bytes)
{
    const uint8_t *at = (const uint8_t *)payload;
    uint64_t number;
    if (!sp_get_number(&at, at + bytes, &number) || number > UINT8_MAX)
        return false;
    *out = (uint32_t)number;
    *out_bytes = (size_t)(at - (const uint8_t *)payload);
    return true;
}

bool sp_counters_get(const char *payload, size_t bytes, int64_t *values, size_t count)
{
    const uint8_t *at = (const uint8_t *)payload, *end = at + bytes;
    uint64_t number;
    if (!sp_get_number(&at, end, &number))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!sp_get_number(&at, end, &number))
            return false;
        values[i] = sp_unzigzag(number);
    }
    return at == end;
}

/* Lanes are fewer than 2^24 and instruments fewer than 2^8, so that no two share a key. */
static uint64_t key_of(uint32_t instrument, uint32_t lane, uint32_t region)
{
    return (uint64_t)instrument << 56 | (uint64_t)lane << 32 | region;
}

static sp_counter_sum *make(sp_counter_sums *sums, uint32_t instrument, uint32_t lane,
                            uint32_t region, size_t count)
{
    if (!sp_vector_reserve(&sums->items, 1) || !sp_vector_reserve(&sums->values, count) ||
        !sp_number_map_set(&sums->index, key_of(instrument, lane, region),
                           (uint32_t)sums->items.count))
        return NULL;
    sp_counter_sum *sum = &sums->items.items[sums->items.count++];
    *sum = (sp_counter_sum){.instrument = instrument, .lane = lane, .region = region,
                            .first = sums->values.count};
    memset(&sums->values.items[sums->values.count], 0, count * sizeof(int64_t));
    sums->values.count += count;
    return sum;
}

bool sp_counter_sums_add(sp_counter_sums *sums, uint32_t instrument, uint32_t lane,
                         uint32_t region, uint64_t calls, const int64_t *values, size_t count)
{
    uint32_t at = sp_number_map_get(&sums->index, key_of(instrument, lane, region));
    sp_counter_sum *sum = at != SP_NUMBER_NONE ? &sums->items.items[at]
                                               : make(sums, instrument, lane, region, count);
    if (sum == NULL)
        return false;
    sum->calls += calls;
    for (size_t i = 0; i < count; i++) {
        int64_t *to = &sums->values.items[sum->first + i];
        *to = (int64_t)((uint64_t)*to + (uint64_t)values[i]);
    }
    return true;
}

void sp_counter_sums_release(sp_counter_sums *sums)
{
    sp_vector_release(&sums->items);
    sp_vector_release(&sums->values);
    sp_number_map_release(&sums->index);
}
