/* Totals straight from ring words. */
#include "check.h"

#include "call_model.h"
#include "log/totals.h"

static void one_nest_by_hand(void)
{
    /* Region 1 [0,100] holds region 2 [10,30] and [40,45]. */
    const uint64_t base = UINT64_C(1) << 63; /* model ns 0 */
    uint64_t words[] = {sp_record_first(SP_RECORD_CALL, 2, 1), base + 10, base + 30,
                        sp_record_first(SP_RECORD_CALL, 2, 1), base + 40, base + 45,
                        sp_record_first(SP_RECORD_DRAIN, 0, 0), base + 50, base + 57,
                        sp_record_first(SP_RECORD_CALL, 1, 0), base, base + 100};
    sp_totals totals = {0};
    uint32_t lane = 0;
    CHECK(sp_totals_add_words(&totals, words, 12, &lane, &model_ticks));
    sp_row_aggregate sum;
    CHECK(sp_totals_of_region(&totals, 1, &sum));
    CHECK_INT(sum.count, 1);
    CHECK_INT(sum.total, 100);
    CHECK_INT(sum.exclusive, 75);
    CHECK(sp_totals_of_region(&totals, 2, &sum));
    CHECK_INT(sum.count, 2);
    CHECK_INT(sum.total, 25);
    CHECK_INT(sum.minimum, 5);
    CHECK_INT(sum.maximum, 20);
    CHECK_INT(sum.exclusive, 25);
    CHECK_INT(totals.cells.items[0].first_start_ns, 10);
    CHECK_INT(totals.drain_ns, 7);
    CHECK(!sp_totals_of_region(&totals, 3, &sum));
    CHECK_INT(sum.count, 0);
    CHECK(!sp_totals_add_words(&totals, words, 2, &lane, &model_ticks));
    sp_totals_clear(&totals);
    CHECK(!sp_totals_of_region(&totals, 1, &sum));
    sp_totals_release(&totals);
}

static void random_programs_agree(void)
{
    const model_habits habits = {.open = 45, .close = 40, .crossing = 5, .resumption = 5,
                                 .append = 2, .switch_lane = 5, .drain = 2, .metadata = 10,
                                 .regions = 6, .depth = 12, .time_step = 50};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        model m;
        model_begin(&m, seed, UINT64_C(1) << 62);
        model_run(&m, 2000, &habits);
        sp_totals totals = {0};
        uint32_t lane = 0;
        size_t half = m.records.items[m.records.count / 2];
        CHECK(sp_totals_add_words(&totals, m.words.items, half, &lane, &model_ticks));
        CHECK(sp_totals_add_words(&totals, m.words.items + half, m.words.count - half, &lane,
                                  &model_ticks));
        for (uint32_t region = 0; region < habits.regions; region++) {
            int64_t count = 0, total = 0, exclusive = 0;
            for (size_t i = 0; i < m.calls.count; i++) {
                const model_call *call = &m.calls.items[i];
                count += call->region == region;
                total += call->region == region ? (int64_t)(call->end - call->start) : 0;
                exclusive += call->region == region ? call->exclusive : 0;
            }
            sp_row_aggregate sum;
            sp_totals_of_region(&totals, region, &sum);
            CHECK_INT(sum.count, count);
            CHECK_INT(sum.total, total);
            CHECK_INT(sum.exclusive, exclusive);
        }
        sp_totals_release(&totals);
        model_release(&m);
    }
}

static void losses_are_counted(void)
{
    model m;
    model_begin(&m, 3, 0);
    model_open(&m, 0, 1);
    model_lose(&m, 0, 40);
    m.now += 10;
    model_close(&m, 0, 0, 0);
    model_open(&m, 0, 2);
    model_close(&m, 0, 0, 0);
    sp_totals totals = {0};
    uint32_t lane = 0;
    CHECK(sp_totals_add_words(&totals, m.words.items, m.words.count, &lane, &model_ticks));
    CHECK_INT(totals.lost, 40);
    CHECK_INT(totals.lanes.items[0].ended, 42);
    sp_totals_release(&totals);
    model_release(&m);
}

int main(void)
{
    RUN(one_nest_by_hand);
    RUN(random_programs_agree);
    RUN(losses_are_counted);
    return check_result();
}
