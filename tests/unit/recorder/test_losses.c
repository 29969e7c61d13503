/* What happens when there is no room: counts and totals stay exact, later calls are right again. */
#include "check.h"
#include "lane_reader.h"
#include "recorder_case.h"

#include "clock/clock.h"

static sp_recording recording;

static void pairs(uint32_t region, int count)
{
    for (int i = 0; i < count; i++) {
        sp_fake_tick += 5;
        case_begin(&recording, region);
        sp_fake_tick += 7;
        case_end(&recording, region);
    }
}

/* The ceiling lies below the first chunk: nothing is kept. Then it is lifted, while `outer` is open
 * and has ended calls in it that nobody will ever see. */
static void ceiling_reached_and_lifted(void)
{
    sp_fake_tick = 1000;
    case_start(&recording, SP_RING_MIN_WORDS, 1000);
    uint32_t outer = case_region(&recording, "outer"), inner = case_region(&recording, "inner");
    case_begin(&recording, outer);
    pairs(inner, 1000);
    size_t lost = atomic_load(&recording.lost[SP_LOSS_MEMORY_FULL]);
    CHECK(lost > 900 && lost <= 1000);
    CHECK_INT(sp_recording_num_calls(&recording, inner), 1000);
    sp_sum sum;
    sp_recording_sum(&recording, inner, &sum);
    CHECK_INT(sum.count, 1000);
    CHECK_INT(sum.total, 7000);

    atomic_store(&recording.memory.limit, SIZE_MAX / 2);
    pairs(inner, 1000);
    sp_fake_tick += 5;
    case_end(&recording, outer);
    lost = atomic_load(&recording.lost[SP_LOSS_MEMORY_FULL]);
    read_run run = read_recording(&recording);
    CHECK(!run.damaged);
    CHECK_INT(run.lost, lost);
    CHECK_INT(run.calls.count + lost, 2001);
    /* Outer began first; the others that are left are the last ones, children of it. */
    CHECK_INT(run.calls.items[0].region, outer);
    CHECK_INT(run.calls.items[0].number, 0);
    for (size_t i = 1; i < run.calls.count; i++) {
        const read_call *call = &run.calls.items[i];
        if (!CHECK_INT(call->number, lost + i) || !CHECK_INT(call->parent, 0) ||
            !CHECK_INT(call->depth, 1))
            break;
    }
    CHECK_INT(sp_recording_num_calls(&recording, inner), 2000);
    sp_vector_release(&run.calls);
}

/* Once every call that was open at the loss has ended, calls are written the short way again. */
static void short_records_come_back(void)
{
    uint32_t inner = case_region(&recording, "inner");
    pairs(inner, 1);
    CHECK(sp_lane_of(&recording)->outer_marked == NULL);
    CHECK(sp_lane_of(&recording)->ceiling != NULL);
}

/* The ceiling is met on the way: what was kept stays, the rest is in the totals. */
static void kept_and_totals(void)
{
    sp_fake_tick = 1000;
    case_start(&recording, 0, 600 * 1024); /* one chunk */
    uint32_t a = case_region(&recording, "a");
    pairs(a, 500000);
    size_t lost = atomic_load(&recording.lost[SP_LOSS_MEMORY_FULL]);
    read_run run = read_recording(&recording);
    lost = atomic_load(&recording.lost[SP_LOSS_MEMORY_FULL]);
    CHECK(run.calls.count > 10000);
    CHECK_INT(run.calls.count + lost, 500000);
    CHECK_INT(sp_recording_num_calls(&recording, a), 500000);
    sp_sum sum;
    sp_recording_sum(&recording, a, &sum);
    CHECK_INT(sum.total, 3500000);
    CHECK(atomic_load(&recording.memory.used) <= 600 * 1024);
    sp_vector_release(&run.calls);
}

int main(void)
{
    CHECK(sp_recording_init(&recording));
    RUN(ceiling_reached_and_lifted);
    RUN(short_records_come_back);
    RUN(kept_and_totals);
    sp_recording_release(&recording);
    return check_result();
}
