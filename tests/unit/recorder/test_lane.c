/* One thread with a scripted clock: what stands in the file is worked out by hand. */
#include "check.h"
#include "lane_reader.h"
#include "recorder_case.h"

#include "clock/clock.h"

static sp_recording recording;
static uint32_t a, b, c;

static void start(size_t ring_words)
{
    sp_fake_tick = 100;
    case_start(&recording, ring_words, SIZE_MAX / 2);
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

static void check_call(const read_run *run, size_t i, uint32_t region, uint64_t start_tick,
                       uint64_t end_tick, int64_t parent, uint32_t depth, uint32_t flags,
                       int64_t exclusive)
{
    if (!CHECK(i < run->calls.count))
        return;
    const read_call *call = &run->calls.items[i];
    CHECK_INT(call->number, i);
    CHECK_INT(call->region, region);
    CHECK_INT(call->start, start_tick);
    CHECK_INT(call->end, end_tick);
    CHECK_INT(call->parent, parent);
    CHECK_INT(call->depth, depth);
    CHECK_INT(call->flags, flags);
    CHECK_INT(call->exclusive, exclusive);
}

static void ring_words_of_a_call(void)
{
    start(0);
    begin_at(1000, a);
    begin_at(1010, b);
    end_at(1030, b);
    end_at(1100, a);
    const sp_lane *lane = sp_lane_of(&recording);
    size_t count;
    const uint64_t *words = sp_drain_pending(lane, &count);
    if (!CHECK_INT(count, 6))
        return;
    CHECK_INT(words[0], sp_record_first(SP_RECORD_CALL, b, 1));
    CHECK_INT(words[1], 1010);
    CHECK_INT(words[2], 1030);
    CHECK_INT(words[3], sp_record_first(SP_RECORD_CALL, a, 0));
    CHECK_INT(words[4], 1000);
    CHECK_INT(words[5], 1100);
}

/* By the fast path and by the slow one: the same three words. */
static void ring_words_of_a_resumption(void)
{
    start(0);
    sp_lane *lane = sp_lane_of(&recording);
    begin_at(1000, a);
    sp_fake_tick = 1010;
    CHECK(sp_fast_begin_resumed(SP_PHASE_RECORDING, lane, b));
    CHECK(!sp_fast_end(SP_PHASE_RECORDING, lane, b));
    sp_fake_tick = 1030;
    CHECK(sp_fast_end_resumed(SP_PHASE_RECORDING, lane, b));
    sp_fake_tick = 1040;
    CHECK_INT(sp_path_begin(&recording, c, SP_CALL_RESUMPTION), SP_OK);
    end_at(1050, c);
    CHECK(!sp_fast_end_resumed(SP_PHASE_RECORDING, lane, a));
    end_at(1100, a);
    size_t count;
    const uint64_t *words = sp_drain_pending(lane, &count);
    if (!CHECK_INT(count, 9))
        return;
    CHECK_INT(words[0], sp_record_first(SP_RECORD_CALL, b, 1) | SP_RECORD_RESUMPTION);
    CHECK_INT(words[1], 1010);
    CHECK_INT(words[2], 1030);
    CHECK_INT(words[3], sp_record_first(SP_RECORD_CALL, c, 1) | SP_RECORD_RESUMPTION);
    CHECK_INT(words[4], 1040);
    CHECK_INT(words[5], 1050);
    CHECK_INT(words[6], sp_record_first(SP_RECORD_CALL, a, 0));
    read_run run = read_recording(&recording);
    CHECK_INT(run.calls.count, 3);
    check_call(&run, 0, a, 1000, 1100, -1, 0, 0, 70);
    check_call(&run, 1, b, 1010, 1030, 0, 1, SP_CALL_RESUMPTION, 20);
    check_call(&run, 2, c, 1040, 1050, 0, 1, SP_CALL_RESUMPTION, 10);
    sp_vector_release(&run.calls);
}

static void nesting_and_recursion(void)
{
    start(0);
    begin_at(1000, a);
    begin_at(1010, b);
    begin_at(1020, b);
    end_at(1025, b);
    end_at(1040, b);
    begin_at(1050, c);
    end_at(1060, c);
    end_at(1100, a);
    read_run run = read_recording(&recording);
    CHECK_INT(run.calls.count, 4);
    check_call(&run, 0, a, 1000, 1100, -1, 0, 0, 60);
    check_call(&run, 1, b, 1010, 1040, 0, 1, 0, 25);
    check_call(&run, 2, b, 1020, 1025, 1, 2, 0, 5);
    check_call(&run, 3, c, 1050, 1060, 0, 1, 0, 10);
    CHECK_INT(sp_recording_num_calls(&recording, b), 2);
    sp_vector_release(&run.calls);
}

/* a [b (c] a) c: a ends while b and c are open. */
static void crossing_ends(void)
{
    start(0);
    begin_at(1000, a);
    begin_at(1010, b);
    begin_at(1020, c);
    end_at(1040, b); /* c is open */
    end_at(1070, a); /* c is open */
    begin_at(1080, b);
    end_at(1090, b);
    end_at(1100, c);
    begin_at(1110, a);
    end_at(1115, a);
    read_run run = read_recording(&recording);
    CHECK_INT(run.calls.count, 5);
    check_call(&run, 0, a, 1000, 1070, -1, 0, SP_CALL_CROSSING, 10);
    check_call(&run, 1, b, 1010, 1040, 0, 1, SP_CALL_CROSSING, 10);
    check_call(&run, 2, c, 1020, 1100, 1, 2, SP_CALL_OUTLIVED, 70);
    check_call(&run, 3, b, 1080, 1090, 2, 3, 0, 10);
    check_call(&run, 4, a, 1110, 1115, -1, 0, 0, 5);
    CHECK_INT(atomic_load(&recording.crossing), 2);
    sp_vector_release(&run.calls);
}

static void unmatched_ends(void)
{
    start(0);
    CHECK_INT(case_end(&recording, a), SP_ERR_UNMATCHED_END); /* before any begin of the thread */
    begin_at(1000, a);
    CHECK_INT(case_end(&recording, b), SP_ERR_UNMATCHED_END);
    end_at(1010, a);
    CHECK_INT(case_end(&recording, a), SP_ERR_UNMATCHED_END);
    CHECK_INT(sp_path_end_last(&recording), SP_ERR_UNMATCHED_END);
    CHECK_INT(atomic_load(&recording.unmatched_ends), 3);
    CHECK_INT(case_end(&recording, SP_REGION_LIMIT - 1), SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(case_begin(&recording, SP_REGION_LIMIT - 1), SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(case_begin(&recording, UINT32_MAX), SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(case_end(&recording, UINT32_MAX), SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(sp_recording_num_calls(&recording, a), 1);
}

/* a is open at the pause and ends during it; b begins and ends paused; c begins paused and ends after
 * the resume, with a whole call of b in between. */
static void pausing(void)
{
    start(0);
    begin_at(1000, a);
    sp_recording_pause(&recording);
    begin_at(1010, b);
    end_at(1020, b);
    begin_at(1030, b);
    begin_at(1031, b);
    end_at(1032, b);
    end_at(1033, b);
    end_at(1040, a);
    begin_at(1050, c);
    sp_recording_resume(&recording);
    begin_at(1060, b);
    end_at(1070, b);
    end_at(1080, c); /* of the ignored call */
    begin_at(1090, c);
    end_at(1100, c);
    CHECK_INT(case_end(&recording, c), SP_ERR_UNMATCHED_END);
    read_run run = read_recording(&recording);
    CHECK_INT(run.calls.count, 3);
    check_call(&run, 0, a, 1000, 1040, -1, 0, 0, 40);
    check_call(&run, 1, b, 1060, 1070, -1, 0, 0, 10);
    check_call(&run, 2, c, 1090, 1100, -1, 0, 0, 10);
    sp_vector_release(&run.calls);
}

static void disabled_regions(void)
{
    start(0);
    sp_region_table_set(&recording.regions, (int32_t)b, SP_REGION_DISABLED);
    begin_at(1000, a);
    begin_at(1010, b);
    end_at(1020, b);
    sp_recording_pause(&recording);
    begin_at(1030, b);
    end_at(1040, b);
    sp_recording_resume(&recording);
    end_at(1050, a);
    read_run run = read_recording(&recording);
    CHECK_INT(run.calls.count, 1);
    check_call(&run, 0, a, 1000, 1050, -1, 0, 0, 50);
    CHECK_INT(atomic_load(&recording.unmatched_ends), 0);
    sp_vector_release(&run.calls);
}

static void tokens(void)
{
    int64_t first, second, ignored, none;
    start(0);
    sp_fake_tick = 1000;
    CHECK_INT(sp_path_begin_token(&recording, a, &first), SP_OK);
    sp_fake_tick = 1010;
    CHECK_INT(sp_path_begin_token(&recording, a, &second), SP_OK);
    CHECK(first >= 0 && second >= 0 && first != second);
    sp_fake_tick = 1020;
    CHECK_INT(sp_path_end_token(&recording, first), SP_ERR_OPEN_SCOPES);
    CHECK_INT(sp_path_end_token(&recording, first), SP_ERR_UNMATCHED_END);
    sp_fake_tick = 1030;
    CHECK_INT(sp_path_end_token(&recording, second), SP_OK);
    sp_recording_pause(&recording);
    CHECK_INT(sp_path_begin_token(&recording, a, &ignored), SP_OK);
    CHECK_INT(ignored, SP_PATH_IGNORED);
    sp_recording_resume(&recording);
    CHECK_INT(sp_path_end_token(&recording, ignored), SP_OK);
    CHECK_INT(sp_path_begin_token(&recording, SP_REGION_LIMIT - 2, &none), SP_ERR_INVALID_ARGUMENT);
    CHECK_INT(none, SP_PATH_NOTHING);
    CHECK_INT(sp_path_end_token(&recording, none), SP_ERR_UNMATCHED_END);
    read_run run = read_recording(&recording);
    CHECK_INT(run.calls.count, 2);
    check_call(&run, 0, a, 1000, 1020, -1, 0, SP_CALL_CROSSING, 10);
    check_call(&run, 1, a, 1010, 1030, 0, 1, SP_CALL_OUTLIVED, 20);
    sp_vector_release(&run.calls);
    case_start(&recording, 0, SIZE_MAX / 2);
    a = case_region(&recording, "a");
    CHECK_INT(sp_path_begin_token(&recording, a, &none), SP_OK);
    CHECK_INT(sp_path_end_token(&recording, first), SP_ERR_UNMATCHED_END); /* of another run */
    CHECK_INT(sp_path_end_token(&recording, none), SP_OK);
}

/* Metadata stays with its call whatever the ring: one too large for it, many in small ones. */
static void side_records(void)
{
    start(SP_RING_MIN_WORDS);
    char text[4000];
    memset(text, 'x', sizeof text);
    for (uint64_t i = 0; i < 50; i++) {
        sp_attachment side = {.kind = SP_SIDE_METADATA, .payload = text,
                              .bytes = i == 20 ? sizeof text : 1 + i};
        begin_at(1000 + 20 * i, a);
        sp_fake_tick += 10;
        CHECK_INT(sp_path_end_with(&recording, a, &side), SP_OK);
    }
    read_run run = read_recording(&recording);
    CHECK_INT(run.calls.count, 50);
    for (size_t i = 0; i < run.calls.count; i++) {
        size_t expected = i == 20 ? sizeof run.calls.items[i].metadata - 1 : 1 + i;
        CHECK_INT(strlen(run.calls.items[i].metadata), expected);
    }
    CHECK(run.drains > 0);
    sp_vector_release(&run.calls);
}

enum { DEEP = 100000 };

static void deep_recursion(void)
{
    start(0);
    for (uint64_t i = 0; i < DEEP; i++)
        begin_at(1000 + i, a);
    CHECK_INT(sp_recording_num_calls(&recording, a), DEEP);
    int32_t regions[3];
    CHECK_INT(sp_path_open_regions(&recording, regions, 3), DEEP);
    for (uint64_t i = DEEP; i-- > 0;)
        end_at(1000 + 2 * DEEP - i, a);
    read_run run = read_recording(&recording);
    CHECK_INT(run.calls.count, DEEP);
    for (size_t i = 0; i < run.calls.count; i++) {
        const read_call *call = &run.calls.items[i];
        if (call->depth != i || call->parent != i - 1 || call->start != 1000 + i) {
            CHECK_INT(call->number, i);
            CHECK_INT(call->depth, i);
            break;
        }
    }
    sp_vector_release(&run.calls);
}

/* Calls left open by one configuration end without trouble in the next. */
static void open_over_a_restart(void)
{
    start(0);
    begin_at(1000, a);
    begin_at(1010, b);
    start(0);
    end_at(1020, b); /* nothing begun yet in the new one */
    begin_at(1030, a);
    end_at(1040, a);
    CHECK_INT(case_end(&recording, a), SP_OK); /* of the old one */
    read_run run = read_recording(&recording);
    CHECK_INT(run.calls.count, 1);
    check_call(&run, 0, a, 1030, 1040, -1, 0, 0, 10);
    CHECK_INT(atomic_load(&recording.unmatched_ends), 0);
    sp_vector_release(&run.calls);
}

static void off(void)
{
    start(0);
    begin_at(1000, a);
    end_at(1010, a);
    sp_recording_stop(&recording);
    CHECK_INT(case_begin(&recording, a), SP_ERR_INACTIVE);
    CHECK_INT(case_end(&recording, a), SP_ERR_INACTIVE);
    sp_recording_pause(&recording);
    CHECK_INT(sp_recording_phase(&recording), SP_PHASE_OFF);
    CHECK_INT(sp_recording_num_calls(&recording, a), 1);
    sp_recording_continue(&recording, SP_PHASE_RECORDING);
    begin_at(1020, a);
    end_at(1030, a);
    CHECK_INT(sp_recording_num_calls(&recording, a), 2);
}

/* Half a second, a suspend of an hour, half a second: durations are without it. */
static uint64_t slept;

static int64_t awake_ns(uint64_t tick)
{
    return (int64_t)(tick - slept);
}

static int64_t boot_ns(uint64_t tick)
{
    return (int64_t)tick;
}

static void suspend_inside_a_call(void)
{
    const uint64_t second = 1000000000, hour = 3600 * second;
    slept = 0;
    sp_fake_monotonic = awake_ns;
    sp_fake_boottime = boot_ns;
    sp_fake_tick = second;
    case_start(&recording, 0, SIZE_MAX / 2);
    sp_fake_tick += second;
    sp_recording_anchor(&recording, true);
    a = case_region(&recording, "a");
    b = case_region(&recording, "b");
    begin_at(2 * second + second / 4, a);
    begin_at(2 * second + second / 2, b);
    slept = hour;
    end_at(2 * second + second / 2 + hour + second / 4, b);
    begin_at(sp_fake_tick + second / 8, b);
    end_at(sp_fake_tick + second / 8, b);
    end_at(3 * second + hour, a);
    sp_sum sum;
    sp_recording_sum(&recording, b, &sum);
    CHECK_INT(atomic_load(&recording.timeline.discontinuities), 1);
    CHECK_INT(sum.maximum, second / 4);
    CHECK_INT(sum.minimum, second / 8);
    sp_recording_sum(&recording, a, &sum);
    CHECK_INT(sum.total, second - second / 4);
    sp_fake_monotonic = boot_ns;
    sp_fake_boottime = NULL;
}

int main(void)
{
    CHECK(sp_recording_init(&recording));
    RUN(ring_words_of_a_call);
    RUN(ring_words_of_a_resumption);
    RUN(nesting_and_recursion);
    RUN(crossing_ends);
    RUN(unmatched_ends);
    RUN(pausing);
    RUN(disabled_regions);
    RUN(tokens);
    RUN(side_records);
    RUN(deep_recursion);
    RUN(open_over_a_restart);
    RUN(off);
    RUN(suspend_inside_a_call);
    sp_recording_release(&recording);
    return check_result();
}
