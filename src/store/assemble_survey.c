#include "store/assemble_int.h"

#include <stdlib.h>
#include <string.h>

static bool key_before(const sp_call_key *a, const sp_call_key *b)
{
    if (a->start != b->start)
        return a->start < b->start;
    return a->lane != b->lane ? a->lane < b->lane : a->number < b->number;
}

/* Adds a row for a region that is met for the first time. */
static int add_row(sp_assembler *a, uint32_t region, sp_assemble_row **out)
{
    const sp_assembly *in = a->in;
    sp_assemble_region info = {0};
    if (!in->region(in->region_context, region, &info))
        return sp_fail(a->error, SP_ERR_DAMAGED,
                       "log block: a call of region %u, which the run does not know", region);
    if (region >= a->row_of.count) {
        size_t missing = (size_t)region + 1 - a->row_of.count;
        if (!sp_vector_reserve(&a->row_of, missing))
            return sp_fail_memory(a->error, "the table of regions");
        memset(a->row_of.items + a->row_of.count, 0xff, missing * sizeof *a->row_of.items);
        a->row_of.count += missing;
    }
    if (!sp_vector_reserve(&a->rows, 1))
        return sp_fail_memory(a->error, "the table of regions");
    a->row_of.items[region] = (uint32_t)a->rows.count;
    *out = &a->rows.items[a->rows.count++];
    **out = (sp_assemble_row){.region = region, .info = info, .is_sorted = true,
                              .minimum = INT64_MAX, .maximum = INT64_MIN,
                              .end_maximum = INT64_MIN};
    return SP_OK;
}

/* A duration whose square would use up the exact sum. */
static void add_huge(sp_assemble_row *row, int64_t duration)
{
    double value = (double)duration, from_mean = value - row->huge_mean;
    row->num_huge++;
    row->huge_total += (uint64_t)duration;
    row->huge_mean += from_mean / (double)row->num_huge;
    row->huge_m2 += from_mean * (value - row->huge_mean);
}

/* A call that does not start after all earlier ones of its row. */
static void add_unordered(sp_assemble_row *row, const sp_call_key *key, int64_t duration)
{
    if (row->count == 1 || key_before(key, &row->first)) {
        row->first = *key;
        row->first_duration = duration;
    }
    if (row->count == 1 || key_before(&row->last, key)) {
        row->last = *key;
        row->last_duration = duration;
    } else {
        row->is_sorted = false;
    }
}

static inline void add_call(sp_assemble_row *row, const sp_walk_call *call)
{
    int64_t duration = call->duration;
    int64_t end = (int64_t)((uint64_t)call->start + (uint64_t)duration);
    sp_call_key key = {call->start, call->lane, call->number};
    row->count++;
    if (row->count > 1 && call->start > row->last.start) {
        row->last = key;
        row->last_duration = duration;
    } else {
        add_unordered(row, &key, duration);
    }
    row->minimum = duration < row->minimum ? duration : row->minimum;
    row->maximum = duration > row->maximum ? duration : row->maximum;
    row->end_maximum = end > row->end_maximum ? end : row->end_maximum;
    row->total += (uint64_t)duration;
    row->exclusive += (uint64_t)call->exclusive;
    if (duration < SP_SQUARE_LIMIT)
        row->squares += (sp_wide)(uint64_t)duration * (uint64_t)duration;
    else
        add_huge(row, duration);
}

static int note_flags(sp_assembler *a, sp_assemble_row *row, const sp_walk_call *call)
{
    row->resumptions += (call->flags & SP_CALL_RESUMPTION) != 0;
    a->result.num_crossing += (call->flags & SP_CALL_CROSSING) != 0;
    if (!sp_vector_reserve(&a->flagged, 1))
        return sp_fail_memory(a->error, "the list of flagged calls");
    a->flagged.items[a->flagged.count++] =
        (sp_flagged_call){.lane = call->lane, .flags = call->flags, .number = call->number};
    return SP_OK;
}

static int survey_calls(void *context, const sp_walk_call *calls, size_t count, sp_error *error)
{
    sp_assembler *a = context;
    for (size_t i = 0; i < count; i++) {
        const sp_walk_call *call = &calls[i];
        uint32_t at = sp_assembler_row_of(a, call->region);
        sp_assemble_row *row = at != SP_ROW_NONE ? &a->rows.items[at] : NULL;
        int status = row != NULL ? SP_OK : add_row(a, call->region, &row);
        if (status == SP_OK && call->flags != 0)
            status = note_flags(a, row, call);
        if (status != SP_OK)
            return status;
        if (a->kept.is_on)
            sp_keep_call(&a->kept, row, call);
        add_call(row, call);
        a->result.num_clamped += call->is_clamped;
        if (!sp_call_numbers_add(&a->lanes[call->lane].numbers, call->number))
            return sp_fail_memory(error, "the numbers of calls");
    }
    a->result.num_calls += count;
    return SP_OK;
}

static int survey_side(void *context, const sp_walk_side *side, sp_error *error)
{
    sp_assembler *a = context;
    if (!sp_vector_reserve(&a->sides, 1))
        return sp_fail_memory(error, "the metadata of calls");
    a->sides.items[a->sides.count++] = (sp_side_metadata){
        .lane = side->lane, .bytes = side->bytes, .number = side->number,
        .payload = side->payload};
    a->rows.items[a->row_of.items[side->region]].has_sides = true;
    return SP_OK;
}

static int survey_measured(void *context, const sp_walk_side *side, sp_error *error)
{
    sp_assembler *a = context;
    if (side->kind == SP_SIDE_DEVICE)
        return sp_assemble_device_side(a, side);
    return sp_measured_take(&a->measured, &a->in->instruments, side, error);
}

static int survey_await(void *context, uint32_t lane, uint64_t number, int64_t ns, sp_error *error)
{
    sp_assembler *a = context;
    if (!sp_vector_reserve(&a->awaits, 1))
        return sp_fail_memory(error, "the await times of calls");
    a->awaits.items[a->awaits.count++] = (sp_await){.lane = lane, .number = number, .ns = ns};
    return SP_OK;
}

static int survey_drain(void *context, uint32_t lane, int64_t duration, sp_error *error)
{
    sp_assembler *a = context;
    (void)error;
    a->lanes[lane].drains++;
    a->lanes[lane].drain_ns += duration;
    return SP_OK;
}

static int survey_lost(void *context, uint32_t lane, uint64_t count, sp_error *error)
{
    sp_assembler *a = context;
    (void)lane;
    (void)error;
    a->result.num_lost += count;
    return SP_OK;
}

static int compare_rows(const void *left, const void *right)
{
    const sp_assemble_row *a = left, *b = right;
    if (a->info.position != b->info.position)
        return a->info.position < b->info.position ? -1 : 1;
    return key_before(&a->first, &b->first) ? -1 : key_before(&b->first, &a->first);
}

/* Rows in the order that assemble.h tells. */
static void order_rows(sp_assembler *a)
{
    if (a->rows.count > 1)
        qsort(a->rows.items, a->rows.count, sizeof *a->rows.items, compare_rows);
    for (size_t i = 0; i < a->rows.count; i++)
        a->row_of.items[a->rows.items[i].region] = (uint32_t)i;
}

/* Gives every lane its ids. */
static int number_lanes(sp_assembler *a)
{
    int64_t next = a->in->id_base;
    for (size_t i = 0; i < a->in->num_lanes; i++) {
        sp_assemble_lane_work *work = &a->lanes[i];
        if (!sp_call_numbers_finish(&work->numbers))
            return sp_fail(a->error, SP_ERR_DAMAGED,
                           "log blocks: two calls of lane %zu have the same number", i);
        work->first_id = next;
        if (work->numbers.count == 0)
            continue;
        next += (int64_t)work->numbers.count;
        a->lane_ids[a->num_lane_ids++] =
            (sp_lane_ids){.first = work->first_id, .end = next, .thread = a->in->lanes[i].thread,
                          .task = a->in->lanes[i].task};
        if (a->in->lanes[i].thread != a->lane_ids[0].thread)
            a->result.several_threads = true;
    }
    a->result.next_id = next;
    return SP_OK;
}

static int compare_awaits(const void *left, const void *right)
{
    const sp_await *a = left, *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

static void order_awaits(sp_assembler *a)
{
    for (size_t i = 0; i < a->awaits.count; i++) {
        sp_await *await = &a->awaits.items[i];
        await->id = sp_assembler_id(a, await->lane, await->number);
    }
    if (a->awaits.count > 1)
        qsort(a->awaits.items, a->awaits.count, sizeof *a->awaits.items, compare_awaits);
}

const sp_lane_ids *sp_assembler_search_lane(sp_assembler *a, int64_t id)
{
    size_t low = 0, high = a->num_lane_ids;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (a->lane_ids[middle].first <= id)
            low = middle;
        else
            high = middle;
    }
    a->lane_hint = low;
    return &a->lane_ids[low];
}

int sp_assemble_survey(sp_assembler *a)
{
    sp_walk_visitor visitor = {.context = a, .calls = survey_calls, .side = survey_side,
                               .await = survey_await, .measured = survey_measured,
                               .drain = survey_drain, .lost = survey_lost, .check_sums = true};
    sp_keep_begin(a);
    int status = sp_walk(a->in, &visitor, a->result.states, a->error);
    if (status == SP_OK)
        status = number_lanes(a);
    if (status == SP_OK)
        order_awaits(a);
    if (status == SP_OK)
        order_rows(a);
    return status;
}

static int64_t narrow(sp_wide value)
{
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

int64_t sp_assemble_row_exclusive(const sp_assemble_row *row)
{
    return narrow(row->exclusive);
}

/* Sum of squared deviations from the mean. Without huge durations it is exact: with total = q n + r
 * it is squares - q (total + r) - r r / n in integers; the huge ones join by the difference of
 * means. */
static double squared_deviations(const sp_assemble_row *row)
{
    sp_wide n = row->count - row->num_huge, total = row->total - row->huge_total;
    if (n == 0)
        return row->huge_m2;
    sp_wide q = total / n, r = total % n;
    double plain = (double)(row->squares - q * (total + r)) - (double)r * ((double)r / (double)n);
    plain = plain < 0 ? 0 : plain;
    if (row->num_huge == 0)
        return plain;
    double apart = row->huge_mean - (double)total / (double)n;
    double weight = (double)n * (double)row->num_huge / (double)row->count;
    return plain + row->huge_m2 + apart * apart * weight;
}

void sp_assemble_row_statistics(const sp_assemble_row *row, sp_row_statistics *out)
{
    *out = (sp_row_statistics){
        .total = narrow(row->total),
        .minimum = row->minimum,
        .maximum = row->maximum,
        .first = row->first_duration,
        .last = row->last_duration,
        .start_minimum = row->first.start,
        .end_maximum = row->end_maximum,
        .gpu_count = row->device_count,
        .gpu_total = narrow(row->device_total),
        .mean = (double)row->total / (double)row->count,
        .m2 = squared_deviations(row),
    };
}
