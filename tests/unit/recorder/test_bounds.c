/* A ceiling for memory and what happens at it: nothing, the oldest or the newest calls are given up;
 * counts and totals are exact whatever it is. */
#include "check.h"
#include "lane_reader.h"
#include "recorder_case.h"

#include "clock/clock.h"
#include "recorder/lane_counts.h"

enum { CALLS = 500000, LIMIT = 1200 * 1024, LENGTH = 7, STEP = 12 };

static sp_recording recording;
static int complaints;

static void hear(const char *what, const char *folder)
{
    CHECK_TEXT(what, "no temporary file can be made");
    CHECK_TEXT(folder, "/nowhere/at/all");
    complaints++;
}

static uint32_t record(sp_on_full on_full, const char *folder)
{
    sp_recording_settings settings = {
        .max_memory = LIMIT, .on_full = on_full, .spill_folders = {folder}, .say = hear};
    complaints = 0;
    sp_fake_tick = 1000;
    sp_recording_start(&recording, &settings, NULL);
    uint32_t region = case_region(&recording, "a");
    for (int i = 0; i < CALLS; i++) {
        sp_fake_tick += STEP - LENGTH;
        case_begin(&recording, region);
        sp_fake_tick += LENGTH;
        case_end(&recording, region);
    }
    return region;
}

static const sp_lane *lane(void)
{
    return recording.lanes.items[0];
}

/* What is true whatever became of the calls: all are counted, and those of which there is no record
 * are in the totals. */
static void check_counts(uint32_t region, uint64_t kept)
{
    sp_sum sum;
    size_t lost = atomic_load(&recording.lost[SP_LOSS_MEMORY_FULL]);
    const sp_sum *unkept = sp_sums_find(&lane()->unkept, region);
    sp_recording_sum(&recording, region, &sum);
    CHECK_INT(sum.count, CALLS);
    CHECK_INT(sum.total, (int64_t)CALLS * LENGTH);
    CHECK_INT(sp_recording_num_calls(&recording, region), CALLS);
    CHECK_INT(kept + lost, CALLS);
    CHECK_INT(unkept == NULL ? 0 : unkept->count, lost);
    CHECK_INT(unkept == NULL ? 0 : unkept->total, (int64_t)lost * LENGTH);
    CHECK_INT(atomic_load(&recording.lost[SP_LOSS_OUT_OF_MEMORY]), 0);
    CHECK(atomic_load(&recording.memory.used) <= LIMIT);
}

/* Calls follow each other without a gap, the first one with that number. */
static void check_row(const read_run *run, uint64_t first)
{
    CHECK(!run->damaged);
    for (size_t i = 0; i < run->calls.count; i++) {
        const read_call *call = &run->calls.items[i];
        if (!CHECK_INT(call->start, 1000 + (first + i) * STEP + STEP - LENGTH) ||
            !CHECK_INT(call->end, call->start + LENGTH))
            break;
    }
}

static void calls_go_to_a_file(void)
{
    uint32_t region = record(SP_ON_FULL_SPILL, "/tmp");
    CHECK(sp_memory_sink_spilled(&recording.memory) > 0);
    read_run run = read_recording(&recording);
    CHECK_INT(run.calls.count, CALLS);
    check_row(&run, 0);
    check_counts(region, run.calls.count);
    CHECK_INT(complaints, 0);
    sp_vector_release(&run.calls);
}

/* What was in the file is given back with the calls. */
static void the_file_goes(void)
{
    const sp_sink_table *table = recording.sink->table;
    sp_sink_cursor all = {0}, summed = lane()->summed;
    size_t size;
    while (table->next(lane()->sink, &all, &size) != NULL)
        continue;
    table->drop(lane()->sink, &all, &summed);
    CHECK_INT(sp_memory_sink_spilled(&recording.memory), 0);
    CHECK_INT(recording.memory.descriptor, -1);
    CHECK_INT(atomic_load(&recording.memory.used), 0);
}

static void no_folder_takes_a_file(void)
{
    uint32_t region = record(SP_ON_FULL_SPILL, "/nowhere/at/all");
    read_run run = read_recording(&recording);
    CHECK(run.calls.count > 10000 && run.calls.count < CALLS);
    check_row(&run, 0);
    check_counts(region, run.calls.count);
    CHECK_INT(complaints, 1);
    sp_vector_release(&run.calls);
}

static void the_oldest_stay(void)
{
    uint32_t region = record(SP_ON_FULL_AGGREGATE, NULL);
    read_run run = read_recording(&recording);
    CHECK(run.calls.count > 10000 && run.calls.count < CALLS);
    check_row(&run, 0);
    check_counts(region, run.calls.count);
    sp_vector_release(&run.calls);
}

static void the_newest_stay(void)
{
    uint32_t region = record(SP_ON_FULL_RING, NULL);
    read_run run = read_recording(&recording);
    CHECK(run.calls.count > 10000 && run.calls.count < CALLS);
    check_row(&run, CALLS - run.calls.count);
    check_counts(region, run.calls.count);
    CHECK_INT(lane()->forgotten, CALLS - run.calls.count);
    sp_vector_release(&run.calls);
}

/* No time is taken once there is no room; every call counts, also those inside calls that are only
 * counted, and a call that was open before ends with its time. */
static void later_ones_are_counted(void)
{
    uint32_t region = record(SP_ON_FULL_STOP, NULL);
    sp_sum sum;
    sp_recording_sum(&recording, region, &sum);
    read_run run = read_recording(&recording);
    size_t lost = atomic_load(&recording.lost[SP_LOSS_MEMORY_FULL]);
    check_row(&run, 0);
    CHECK(run.calls.count > 10000);
    CHECK(sum.untimed > CALLS / 4);
    CHECK_INT(sum.count, run.calls.count + lost);
    CHECK_INT(sum.count + sum.untimed, CALLS);
    CHECK_INT(sum.total, (int64_t)sum.count * LENGTH);
    CHECK_INT(sp_sums_find(&lane()->unkept, region)->untimed, sum.untimed);
    CHECK_INT(sp_recording_num_calls(&recording, region), CALLS);
    CHECK_INT(atomic_load(&recording.unmatched_ends), 0);
    sp_vector_release(&run.calls);
}

static void counted_calls_nest_as_others(void)
{
    uint32_t a = case_region(&recording, "a"), b = case_region(&recording, "b");
    int64_t before = sp_recording_num_calls(&recording, a);
    CHECK_INT(case_begin(&recording, a), SP_OK);
    CHECK_INT(case_begin(&recording, b), SP_OK);
    CHECK_INT(case_begin(&recording, a), SP_OK);
    for (int i = 0; i < 2; i++)
        CHECK_INT(case_end(&recording, i == 0 ? a : b), SP_OK);
    CHECK_INT(case_end(&recording, a), SP_OK);
    CHECK_INT(case_end(&recording, a), SP_ERR_UNMATCHED_END);
    CHECK_INT(sp_recording_num_calls(&recording, a), before + 2);
    CHECK_INT(sp_recording_num_calls(&recording, b), 1);
    int64_t token;
    CHECK_INT(sp_path_begin_token(&recording, b, &token), SP_OK);
    CHECK_INT(sp_path_end_token(&recording, token), SP_OK);
    CHECK_INT(sp_recording_num_calls(&recording, b), 2);
    /* Recorded again, while one that is counted is open. */
    case_begin(&recording, a);
    sp_recording_count_only(&recording, false);
    sp_fake_tick += 3;
    case_begin(&recording, b);
    sp_fake_tick += 5;
    CHECK_INT(case_end(&recording, b), SP_OK);
    CHECK_INT(case_end(&recording, a), SP_OK);
    sp_sum sum;
    sp_recording_sum(&recording, b, &sum);
    CHECK_INT(sum.untimed, 2);
    CHECK_INT(sum.count, 1);
    CHECK_INT(sum.total, 5);
}

/* While a publication looks at them, old calls stay and new ones are added up. */
static void nothing_is_pushed_out_of_a_publication(void)
{
    atomic_store(&recording.memory.held, 1);
    uint64_t before = lane()->forgotten;
    uint32_t region = case_region(&recording, "a");
    for (int i = 0; i < CALLS; i++) {
        sp_fake_tick += STEP;
        case_begin(&recording, region);
        case_end(&recording, region);
    }
    CHECK_INT(lane()->forgotten, before);
    CHECK_INT(sp_recording_num_calls(&recording, region), 2 * CALLS);
    atomic_store(&recording.memory.held, 0);
}

int main(void)
{
    CHECK(sp_recording_init(&recording));
    RUN(calls_go_to_a_file);
    RUN(the_file_goes);
    RUN(no_folder_takes_a_file);
    RUN(the_oldest_stay);
    RUN(the_newest_stay);
    RUN(nothing_is_pushed_out_of_a_publication);
    RUN(later_ones_are_counted);
    RUN(counted_calls_nest_as_others);
    sp_recording_release(&recording);
    return check_result();
}
