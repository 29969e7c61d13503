/* Ends that leave short calls out, with a scripted clock of one ns a tick: what is left must be as if
 * the others had never begun. */
#include "check.h"
#include "lane_reader.h"
#include "recorder_case.h"

#include "recorder/end_shorter.h"

static sp_recording recording;
static uint32_t a, b, c;

static void start(void)
{
    sp_fake_tick = 100;
    case_start(&recording, 0, SIZE_MAX / 2);
    a = case_region(&recording, "a");
    b = case_region(&recording, "b");
    c = case_region(&recording, "c");
}

static void begin_at(uint64_t tick, uint32_t region)
{
    sp_fake_tick = tick;
    CHECK_INT(case_begin(&recording, region), SP_OK);
}

static void end_at(uint64_t tick, uint32_t region)
{
    sp_fake_tick = tick;
    CHECK_INT(case_end(&recording, region), SP_OK);
}

/* Ends with a threshold of 50 ns. */
static bool vanished_at(uint64_t tick, uint32_t region)
{
    sp_fake_tick = tick;
    return sp_path_end_unless_shorter(&recording, region, 50);
}

static void check_call(const read_run *run, size_t i, uint32_t region, uint64_t number,
                       int64_t parent, uint32_t depth, int64_t exclusive)
{
    if (!CHECK(i < run->calls.count))
        return;
    const read_call *call = &run->calls.items[i];
    CHECK_INT(call->region, region);
    CHECK_INT(call->number, number);
    CHECK_INT((int64_t)call->parent, parent);
    CHECK_INT(call->depth, depth);
    CHECK_INT(call->exclusive, exclusive);
}

/* a [ b(10) b(60) [c(20)] b(49) ] : one b is left. */
static void short_calls_leave_no_trace(void)
{
    start();
    begin_at(1000, a);
    begin_at(1010, b);
    CHECK(vanished_at(1020, b));
    begin_at(1030, b);
    begin_at(1040, c);
    CHECK(vanished_at(1060, c));
    CHECK(!vanished_at(1090, b));
    begin_at(1100, b);
    CHECK(vanished_at(1149, b));
    begin_at(1200, c);
    CHECK(!vanished_at(1250, c));
    end_at(1300, a);
    read_run run = read_recording(&recording);
    CHECK_INT(run.calls.count, 3);
    check_call(&run, 0, a, 0, (int64_t)SP_RECORD_NO_PARENT, 0, 300 - 60 - 50);
    check_call(&run, 1, b, 1, 0, 1, 60);
    check_call(&run, 2, c, 2, 0, 1, 50);
    CHECK_INT(sp_recording_num_calls(&recording, b), 1);
    free(run.calls.items);
}

/* A short call with a recorded call inside stays: the inner one needs its parent. */
static void a_call_with_recorded_calls_inside_stays(void)
{
    start();
    begin_at(1000, a);
    begin_at(1005, b);
    end_at(1010, b);
    CHECK(!vanished_at(1020, a));
    read_run run = read_recording(&recording);
    CHECK_INT(run.calls.count, 2);
    check_call(&run, 0, a, 0, (int64_t)SP_RECORD_NO_PARENT, 0, 15);
    check_call(&run, 1, b, 1, 0, 1, 5);
    free(run.calls.items);
}

/* Later intervals of a generator may vanish too; a call that outlived another may not. */
static void flagged_calls(void)
{
    start();
    sp_fake_tick = 1000;
    CHECK_INT(sp_path_begin(&recording, b, SP_CALL_RESUMPTION), SP_OK);
    CHECK(vanished_at(1010, b));
    begin_at(1100, a);
    begin_at(1110, b);
    end_at(1120, a);
    CHECK(!vanished_at(1130, b));
    begin_at(1200, c);
    CHECK(vanished_at(1210, c));
    begin_at(1300, c);
    end_at(1310, c);
    read_run run = read_recording(&recording);
    CHECK_INT(run.calls.count, 3);
    check_call(&run, 0, a, 0, (int64_t)SP_RECORD_NO_PARENT, 0, 10);
    check_call(&run, 1, b, 1, 0, 1, 20);
    check_call(&run, 2, c, 2, (int64_t)SP_RECORD_NO_PARENT, 0, 10);
    free(run.calls.items);
}

/* What is no call of that region ends as usual. */
static void other_ends(void)
{
    start();
    CHECK(!vanished_at(1000, a));
    CHECK_INT(recording.unmatched_ends, 1);
    begin_at(1010, a);
    begin_at(1015, b);
    CHECK(!vanished_at(1020, a)); /* crosses b */
    CHECK_INT(recording.crossing, 1);
    end_at(1030, b);
    sp_recording_pause(&recording);
    begin_at(1040, a);
    CHECK(!vanished_at(1045, a));
    sp_recording_resume(&recording);
    begin_at(1050, c);
    CHECK(vanished_at(1055, c));
    read_run run = read_recording(&recording);
    CHECK_INT(run.calls.count, 2);
    free(run.calls.items);
    sp_recording_stop(&recording);
    CHECK(!vanished_at(1060, a));
}

int main(void)
{
    CHECK(sp_recording_init(&recording));
    RUN(short_calls_leave_no_trace);
    RUN(a_call_with_recorded_calls_inside_stays);
    RUN(flagged_calls);
    RUN(other_ends);
    sp_recording_release(&recording);
    return check_result();
}
