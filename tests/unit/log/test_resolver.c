/* Numbers, parents and exclusive times from records in order of the ends. */
#include "check.h"

#include "call_model.h"
#include "log/resolver.h"

static void check_call(sp_resolver *r, uint32_t depth, int64_t duration, uint64_t number,
                       uint64_t parent, int64_t exclusive)
{
    sp_resolved out = {0};
    CHECK(sp_resolver_call(r, depth, duration, &out));
    CHECK_INT(out.number, number);
    CHECK_INT(out.parent, parent);
    CHECK_INT(out.exclusive_ns, exclusive);
}

static void a_tree_worked_by_hand(void)
{
    /* 0 [0,100] { 1 [10,40] { 2 [15,20]  3 [25,35] }  4 [50,60] }  5 [110,115] */
    sp_resolver r = {0};
    check_call(&r, 2, 5, 2, 1, 5);
    check_call(&r, 2, 10, 3, 1, 10);
    check_call(&r, 1, 30, 1, 0, 15);
    check_call(&r, 1, 10, 4, 0, 10);
    check_call(&r, 0, 100, 0, SP_RECORD_NO_PARENT, 60);
    check_call(&r, 0, 5, 5, SP_RECORD_NO_PARENT, 5);
    CHECK_INT(r.ended, 6);
    sp_resolver_release(&r);
}

static void crossing_calls_worked_by_hand(void)
{
    /* x(0) [0,100] { a(1) [0,10] { b(2) [5,15] { c(3) [6,20] } } }; a ends before b, b before c.
     * Then d(4) [30,40] inside x as if nothing had been. Innermost: a 0-5, b 5-6, c 6-20, x after. */
    sp_resolver r = {0};
    sp_resolved out;
    sp_marked_call a = {.flags = SP_CALL_CROSSING, .depth = 1, .below = 1, .number = 1,
                        .parent = 0, .start_ns = 0, .end_ns = 10, .outer_from_ns = 0,
                        .inner_from_ns = 5};
    sp_marked_call b = {.flags = SP_CALL_CROSSING | SP_CALL_OUTLIVED, .depth = 2, .below = 1,
                        .number = 2, .parent = 1, .start_ns = 5, .end_ns = 15,
                        .outer_from_ns = 10, .inner_from_ns = 6};
    sp_marked_call c = {.flags = SP_CALL_OUTLIVED, .depth = 3, .below = 1, .number = 3,
                        .parent = 2, .start_ns = 6, .end_ns = 20, .outer_from_ns = 15,
                        .inner_from_ns = 20};
    CHECK(sp_resolver_marked(&r, &a, &out));
    CHECK_INT(out.exclusive_ns, 5);
    CHECK(sp_resolver_marked(&r, &b, &out));
    CHECK_INT(out.exclusive_ns, 1);
    CHECK_INT(out.number, 2);
    CHECK_INT(out.parent, 1);
    CHECK(sp_resolver_marked(&r, &c, &out));
    CHECK_INT(out.exclusive_ns, 14);
    CHECK_INT(sp_resolver_child_ns(&r, 0), 20);
    check_call(&r, 1, 10, 4, 0, 10);
    check_call(&r, 0, 100, 0, SP_RECORD_NO_PARENT, 70);
    sp_resolver_release(&r);
}

static void appended_calls_take_numbers_and_no_time(void)
{
    /* p(0) [0,50] { 1 appended; 2 [10,20] } */
    sp_resolver r = {0};
    sp_resolved out;
    sp_marked_call appended = {.flags = SP_CALL_APPENDED, .below = 1, .number = 1,
                               .parent = SP_RECORD_NO_PARENT, .start_ns = -7, .end_ns = 1000};
    CHECK(sp_resolver_marked(&r, &appended, &out));
    CHECK_INT(out.exclusive_ns, 1007);
    check_call(&r, 1, 10, 2, 0, 10);
    check_call(&r, 0, 50, 0, SP_RECORD_NO_PARENT, 40);
    sp_resolver_release(&r);
}

static void copies_are_independent(void)
{
    sp_resolver r = {0}, copy = {0};
    check_call(&r, 3, 5, 3, 2, 5);
    CHECK(sp_resolver_copy(&copy, &r));
    check_call(&r, 2, 9, 2, 1, 4);
    check_call(&copy, 3, 1, 4, 2, 1);
    check_call(&copy, 2, 9, 2, 1, 3);
    CHECK(sp_resolver_copy(&copy, &r));
    check_call(&r, 1, 20, 1, 0, 11);
    check_call(&copy, 1, 20, 1, 0, 11);
    sp_resolver empty = {0};
    CHECK(sp_resolver_copy(&copy, &empty));
    check_call(&copy, 1, 20, 1, 0, 20);
    sp_resolver_release(&r);
    sp_resolver_release(&copy);
}

static void an_impossible_depth_is_refused(void)
{
    sp_resolver r = {0};
    sp_resolved out;
    sp_marked_call deep = {.depth = UINT32_MAX};
    CHECK(!sp_resolver_marked(&r, &deep, &out));
    CHECK_INT(r.ended, 0);
    check_call(&r, 100000, 5, 100000, 99999, 5);
    sp_resolver_release(&r);
}

/* Feeds the words of a model and compares with its calls. */
static void check_against_model(const model *m, sp_resolver *states, uint32_t *lane)
{
    size_t call = 0;
    for (size_t i = 0; i < m->records.count; i++) {
        const uint64_t *w = m->words.items + m->records.items[i];
        sp_record_kind kind = sp_record_kind_of(w[0]);
        if (kind == SP_RECORD_LANE)
            *lane = sp_record_region(w[0]);
        if (kind == SP_RECORD_LOST)
            sp_resolver_lost(&states[*lane], w[1]);
        if (kind != SP_RECORD_CALL && kind != SP_RECORD_CALL_MARKED)
            continue;
        const model_call *expected = &m->calls.items[call++];
        sp_resolved out = {0};
        bool is_appended = expected->flags & SP_CALL_APPENDED;
        if (kind == SP_RECORD_CALL) {
            int64_t duration = (int64_t)(expected->end - expected->start);
            CHECK(sp_resolver_call(&states[*lane], sp_record_depth(w[0]), duration, &out));
        } else {
            sp_marked_call marked = {
                .flags = (uint32_t)w[SP_MARKED_FLAGS], .depth = (uint32_t)w[SP_MARKED_DEPTH],
                .below = (uint32_t)w[SP_MARKED_BELOW], .number = w[SP_MARKED_NUMBER],
                .parent = w[SP_MARKED_PARENT], .start_ns = model_ns(expected->start),
                .end_ns = model_ns(expected->end),
                .outer_from_ns = is_appended ? 0 : model_ns(w[SP_MARKED_OUTER_FROM]),
                .inner_from_ns = is_appended ? 0 : model_ns(w[SP_MARKED_INNER_FROM])};
            CHECK(sp_resolver_marked(&states[*lane], &marked, &out));
        }
        CHECK_INT(out.number, expected->number);
        CHECK_INT(out.parent, expected->parent);
        if (expected->exclusive >= 0)
            CHECK_INT(out.exclusive_ns, expected->exclusive);
    }
    CHECK_INT(call, m->calls.count);
}

static void random_programs(const model_habits *habits, uint64_t seeds)
{
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        model m;
        model_begin(&m, seed, UINT64_C(1) << 62);
        sp_resolver states[MODEL_LANES] = {{0}};
        uint32_t lane = 0;
        for (int part = 0; part < 4; part++) {
            model_run(&m, 400, habits);
            check_against_model(&m, states, &lane);
            model_forget(&m);
        }
        for (int i = 0; i < MODEL_LANES; i++)
            sp_resolver_release(&states[i]);
        model_release(&m);
    }
}

static void regular_programs_agree(void)
{
    const model_habits regular = {.open = 50, .close = 45, .switch_lane = 5, .regions = 5,
                                  .depth = 40, .time_step = 50};
    random_programs(&regular, 60);
}

static void crossing_programs_agree(void)
{
    const model_habits crossing = {.open = 45, .close = 40, .crossing = 12, .resumption = 3,
                                   .append = 2, .switch_lane = 5, .regions = 5, .depth = 12,
                                   .time_step = 50};
    random_programs(&crossing, 150);
}

static void lossy_programs_agree(void)
{
    const model_habits lossy = {.open = 45, .close = 45, .crossing = 3, .append = 1, .lose = 2,
                                .switch_lane = 5, .regions = 5, .depth = 10, .time_step = 50};
    random_programs(&lossy, 100);
}

int main(void)
{
    RUN(a_tree_worked_by_hand);
    RUN(crossing_calls_worked_by_hand);
    RUN(appended_calls_take_numbers_and_no_time);
    RUN(copies_are_independent);
    RUN(an_impossible_depth_is_refused);
    RUN(regular_programs_agree);
    RUN(crossing_programs_agree);
    RUN(lossy_programs_agree);
    return check_result();
}
