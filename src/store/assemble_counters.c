#include "store/assemble_counters.h"

#include "base/error.h"
#include "base/json.h"
#include "store/assemble_int.h"

#include <stdlib.h>
#include <string.h>

static size_t width_of(const sp_instrument *instrument)
{
    return instrument->num_values + 2u * (size_t)instrument->num_groups;
}

static int keep_call(sp_measured *measured, const sp_walk_side *side, uint32_t instrument,
                     const int64_t *values, size_t count, sp_error *error)
{
    if (!sp_vector_reserve(&measured->calls, 1) || !sp_vector_reserve(&measured->values, count))
        return sp_fail_memory(error, "the counters of calls");
    measured->calls.items[measured->calls.count++] =
        (sp_counted_call){.instrument = instrument, .lane = side->lane, .number = side->number,
                          .first = measured->values.count};
    memcpy(&measured->values.items[measured->values.count], values, count * sizeof *values);
    measured->values.count += count;
    return SP_OK;
}

int sp_measured_take(sp_measured *measured, const sp_assemble_instruments *instruments,
                     const sp_walk_side *side, sp_error *error)
{
    int64_t values[SP_COUNTERS_MOST];
    uint32_t number;
    size_t used;
    if (!sp_counters_instrument(side->payload, side->bytes, &number, &used))
        return sp_fail(error, SP_ERR_DAMAGED, "log block: counters of no instrument");
    if (number >= instruments->count || side->kind != SP_SIDE_COUNTERS)
        return SP_OK;
    const sp_instrument *item = &instruments->items[number];
    if (item->name == NULL)
        return SP_OK;
    size_t width = width_of(item);
    if (!sp_counters_get(side->payload, side->bytes, values, width))
        return sp_fail(error, SP_ERR_DAMAGED,
                       "log block: counters of '%s' that are not its %zu values", item->name, width);
    if (!sp_counter_sums_add(&measured->sums, number, side->lane, side->region, 1, values, width))
        return sp_fail_memory(error, "the counters of regions");
    return item->keeps_calls
               ? keep_call(measured, side, number, values, item->num_values, error)
               : SP_OK;
}

int sp_measured_add(sp_measured *measured, const sp_assemble_instruments *instruments,
                    sp_error *error)
{
    const sp_counter_sums *more = instruments->more;
    for (size_t i = 0; more != NULL && i < more->items.count; i++) {
        const sp_counter_sum *sum = &more->items.items[i];
        if (!sp_counter_sums_add(&measured->sums, sum->instrument, sum->lane, sum->region,
                                 sum->calls, &more->values.items[sum->first],
                                 width_of(&instruments->items[sum->instrument])))
            return sp_fail_memory(error, "the counters of regions");
    }
    return SP_OK;
}

void sp_measured_release(sp_measured *measured)
{
    sp_counter_sums_release(&measured->sums);
    sp_vector_release(&measured->calls);
    sp_vector_release(&measured->values);
}

/* ---- The text --------------------------------------------------------------------------------*/

/* Totals of some lanes, each scaled by the part of the time that its group was counted. */
typedef struct total {
    uint64_t calls;
    double scaled[SP_INSTRUMENT_VALUES];
    int64_t values[SP_INSTRUMENT_VALUES];
    bool is_missing[SP_INSTRUMENT_VALUES]; /* it was never counted */
    bool is_scaled;
} total;

static void add_lane(total *to, const sp_instrument *item, const sp_counter_sum *sum,
                     const int64_t *values)
{
    to->calls += sum->calls;
    for (uint32_t i = 0; i < item->num_values; i++) {
        const int64_t *times = values + item->num_values;
        int64_t enabled = 0, running = 0;
        if (item->num_groups > 0) {
            size_t group = item->group_of == NULL ? 0 : item->group_of[i];
            enabled = times[2 * group];
            running = times[2 * group + 1];
        }
        if (running < enabled) {
            to->is_scaled = true;
            to->is_missing[i] |= running <= 0;
            if (running > 0)
                to->scaled[i] += (double)values[i] * ((double)enabled / (double)running);
        } else {
            to->values[i] += values[i];
        }
    }
}

static int64_t rounded(double value)
{
    return (int64_t)(value < 0 ? value - 0.5 : value + 0.5);
}

static void put_values(sp_text *text, const sp_instrument *item, const total *t)
{
    sp_text_format(text, "\"calls\": %llu, \"values\": {", (unsigned long long)t->calls);
    bool is_first = true;
    for (uint32_t i = 0; i < item->num_values; i++) {
        if (t->is_missing[i])
            continue;
        sp_text_add(text, is_first ? "" : ", ");
        is_first = false;
        sp_json_string(text, item->value_names[i], strlen(item->value_names[i]));
        sp_text_add(text, ": ");
        sp_json_integer(text, t->values[i] + rounded(t->scaled[i]));
    }
    sp_text_add(text, "}");
    if (t->is_scaled)
        sp_text_add(text, ", \"is_scaled\": true");
}

static int by_region(const void *left, const void *right)
{
    const sp_counter_sum *a = left, *b = right;
    if (a->instrument != b->instrument)
        return a->instrument < b->instrument ? -1 : 1;
    if (a->region != b->region)
        return a->region < b->region ? -1 : 1;
    return a->lane < b->lane ? -1 : a->lane > b->lane;
}

static void put_lanes(sp_text *text, const sp_instrument *item, const sp_counter_sum *sums,
                      size_t count, const int64_t *values, const sp_measured_place *place)
{
    sp_text_add(text, ", \"lanes\": [");
    for (size_t i = 0; i < count; i++) {
        total one = {0};
        add_lane(&one, item, &sums[i], values + sums[i].first);
        int64_t thread = sums[i].lane, task = -1;
        if (place->lanes != NULL && sums[i].lane < place->num_lanes) {
            thread = place->lanes[sums[i].lane].thread;
            task = place->lanes[sums[i].lane].task;
        }
        sp_text_format(text, "%s{\"thread\": %lld, ", i == 0 ? "" : ", ", (long long)thread);
        if (task >= 0)
            sp_text_format(text, "\"task\": %lld, ", (long long)task);
        put_values(text, item, &one);
        sp_text_add(text, "}");
    }
    sp_text_add(text, "]");
}

/* The sums of one region, lane by lane. */
static void put_region(sp_text *text, const sp_instrument *item, const sp_counter_sum *sums,
                       size_t count, const int64_t *values, const sp_measured_place *place)
{
    total all = {0};
    for (size_t i = 0; i < count; i++)
        add_lane(&all, item, &sums[i], values + sums[i].first);
    put_values(text, item, &all);
    if (count > 1)
        put_lanes(text, item, sums, count, values, place);
}

/* `sums`: sorted, those of one instrument. */
static char *totals_text(const sp_instrument *item, const sp_counter_sum *sums, size_t count,
                         const int64_t *values, const sp_measured_place *place)
{
    sp_text text = {0};
    bool is_first = true;
    sp_text_format(&text, "{\"%u\": {", (unsigned)place->rank);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && sums[next].region == sums[i].region; next++)
            ;
        sp_assemble_region region;
        if (!place->region(place->region_context, sums[i].region, &region))
            continue;
        sp_text_add(&text, is_first ? "" : ", ");
        is_first = false;
        sp_json_string(&text, region.name, strlen(region.name));
        sp_text_add(&text, ": {");
        put_region(&text, item, sums + i, next - i, values, place);
        sp_text_add(&text, "}");
    }
    sp_text_add(&text, "}}");
    return sp_text_take(&text);
}

static int write_text(const sp_instrument *item, char *json, const sp_measured_place *place,
                      sp_error *error)
{
    sp_text name = {0};
    sp_text_format(&name, "json_%s", item->name);
    const char *texts[1] = {json};
    sp_extra extra = {.name = name.bytes, .rank = place->rank, .length = 1, .texts = texts};
    int status = name.failed ? sp_fail_memory(error, "the text of an instrument")
                             : sp_assemble_write_extra(place->outputs, place->num_outputs, &extra,
                                                       error);
    sp_text_release(&name);
    return status;
}

/* `sums`: sorted, all instruments. */
static int write_instrument(const sp_instrument *item, uint32_t number, const sp_counter_sum *sums,
                            size_t count, const int64_t *values, const sp_measured_place *place,
                            sp_error *error)
{
    char *json = NULL;
    if (item->name == NULL)
        return SP_OK;
    if (item->results != NULL) {
        json = item->results(item->context, place->rank);
        if (json == NULL)
            return SP_OK;
    } else {
        size_t first = 0, own = 0;
        while (first < count && sums[first].instrument < number)
            first++;
        while (first + own < count && sums[first + own].instrument == number)
            own++;
        if (own == 0)
            return SP_OK;
        json = totals_text(item, sums + first, own, values, place);
    }
    int status = json == NULL ? sp_fail_memory(error, "the totals of an instrument")
                              : write_text(item, json, place, error);
    free(json);
    return status;
}

int sp_measured_write(const sp_measured *measured, const sp_assemble_instruments *instruments,
                      const sp_measured_place *place, sp_error *error)
{
    if (instruments->count == 0)
        return SP_OK;
    size_t count = measured->sums.items.count;
    sp_counter_sum *sums = malloc((count + 1) * sizeof *sums);
    if (sums == NULL)
        return sp_fail_memory(error, "the totals of instruments");
    if (count > 0) {
        memcpy(sums, measured->sums.items.items, count * sizeof *sums);
        qsort(sums, count, sizeof *sums, by_region);
    }
    int status = SP_OK;
    for (size_t i = 0; i < instruments->count && status == SP_OK; i++)
        status = write_instrument(&instruments->items[i], (uint32_t)i, sums, count,
                                  measured->sums.values.items, place, error);
    free(sums);
    return status;
}
