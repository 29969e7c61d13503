#include "session/publish_unkept.h"

#include <stdlib.h>

enum { CALLS, TOTALS, MINIMUMS, MAXIMUMS, UNTIMED, NUM_COLUMNS };

static void put(sp_unkept_extras *out, size_t room, size_t row, const char *name, const sp_sum *sum)
{
    out->names[row] = name;
    out->numbers[CALLS * room + row] = (int64_t)sum->count;
    out->numbers[TOTALS * room + row] = sum->total;
    out->numbers[MINIMUMS * room + row] = sum->count == 0 ? 0 : sum->minimum;
    out->numbers[MAXIMUMS * room + row] = sum->count == 0 ? 0 : sum->maximum;
    out->numbers[UNTIMED * room + row] = (int64_t)sum->untimed;
}

bool sp_unkept_fill(const sp_sums *sums, const sp_region_snapshot *regions, uint32_t rank,
                    sp_unkept_extras *out)
{
    static const char *const columns[NUM_COLUMNS] = {"totals_calls", "totals_ns",
                                                     "totals_minimum_ns", "totals_maximum_ns",
                                                     "totals_untimed"};
    size_t room = regions->count, rows = 0;
    if (sums->num_pages == 0)
        return true;
    out->names = malloc((room + 1) * sizeof *out->names);
    out->numbers = malloc((room + 1) * NUM_COLUMNS * sizeof *out->numbers);
    if (out->names == NULL || out->numbers == NULL)
        return false;
    for (size_t i = 0; i < room; i++) {
        sp_assemble_region region;
        const sp_sum *sum = sp_sums_find(sums, (uint32_t)regions->entries[i].region);
        if (sum != NULL && sum->count + sum->untimed > 0 &&
            sp_region_snapshot_look_up(regions, (uint32_t)regions->entries[i].region, &region))
            put(out, room, rows++, region.name, sum);
    }
    if (rows == 0)
        return true;
    out->extras[out->count++] = (sp_extra){
        .name = "totals_regions", .rank = rank, .length = rows, .texts = out->names};
    for (size_t i = 0; i < NUM_COLUMNS; i++)
        out->extras[out->count++] = (sp_extra){.name = columns[i], .rank = rank, .length = rows,
                                               .integers = out->numbers + i * room};
    return true;
}

uint64_t sp_unkept_calls(const sp_sums *sums)
{
    uint64_t calls = 0;
    for (size_t page = 0; page < sums->num_pages; page++)
        for (size_t i = 0; sums->pages[page] != NULL && i < SP_SUMS_PAGE; i++)
            calls += sums->pages[page][i].count + sums->pages[page][i].untimed;
    return calls;
}

void sp_unkept_release(sp_unkept_extras *extras)
{
    free(extras->names);
    free(extras->numbers);
    *extras = (sp_unkept_extras){.count = 0};
}
