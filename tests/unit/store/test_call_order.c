/* Sorting the calls of a row, and ranks of begin numbers. */
#include "check.h"

#include "../call_model.h"
#include "store/call_numbers.h"
#include "store/call_order.h"

enum { MOST = 400 };

static int compare(const void *left, const void *right)
{
    const sp_ordered_call *a = left, *b = right;
    return sp_call_before(a, b) ? -1 : sp_call_before(b, a);
}

static void check_sorting(sp_ordered_call *calls, size_t count)
{
    static sp_ordered_call expected[MOST], spare[MOST / 2];
    memcpy(expected, calls, count * sizeof *calls);
    qsort(expected, count, sizeof *expected, compare);
    sp_sort_calls(calls, count, spare);
    CHECK(count == 0 || memcmp(calls, expected, count * sizeof *calls) == 0);
}

static void every_shape_is_sorted(void)
{
    static sp_ordered_call calls[MOST];
    model m;
    model_begin(&m, 4, 0);
    for (int round = 0; round < 2000; round++) {
        size_t count = (size_t)model_random(&m, MOST);
        unsigned shape = (unsigned)model_random(&m, 5);
        for (size_t i = 0; i < count; i++) {
            int64_t values[] = {(int64_t)i, -(int64_t)i, (int64_t)model_random(&m, 50),
                                (int64_t)(i % 60), (int64_t)(i ^ 31)};
            calls[i] = (sp_ordered_call){.start = values[shape], .id = (int64_t)i,
                                         .duration = (int64_t)i};
        }
        check_sorting(calls, count);
    }
}

static void ranks_by_hand(void)
{
    /* Post-order of 3 { 4 5 { 6 } } 8: five numbers of 3..8 without 7. */
    const uint64_t order[] = {4, 6, 5, 3, 8};
    sp_call_numbers numbers = {0};
    size_t hint = 0;
    for (size_t i = 0; i < 5; i++)
        CHECK(sp_call_numbers_add(&numbers, order[i]));
    CHECK(sp_call_numbers_finish(&numbers));
    CHECK_INT(numbers.count, 5);
    CHECK_INT(numbers.runs.count, 2);
    CHECK_INT(sp_call_numbers_rank(&numbers, 3, &hint), 0);
    CHECK_INT(sp_call_numbers_rank(&numbers, 8, &hint), 4);
    CHECK_INT(sp_call_numbers_rank(&numbers, 6, &hint), 3);
    CHECK_INT(sp_call_numbers_rank(&numbers, 7, &hint), -1);
    CHECK_INT(sp_call_numbers_rank(&numbers, 2, &hint), -1);
    CHECK_INT(sp_call_numbers_rank(&numbers, 9, &hint), -1);
    sp_call_numbers_release(&numbers);
}

static void any_order_and_any_numbers(void)
{
    model m;
    model_begin(&m, 6, 0);
    for (int round = 0; round < 300; round++) {
        bool is_there[64] = {false};
        sp_call_numbers numbers = {0};
        uint64_t base = model_random(&m, 2) ? 0 : UINT64_MAX - 63;
        for (int i = 0; i < 40; i++) {
            size_t number = (size_t)model_random(&m, 64);
            if (is_there[number])
                continue;
            is_there[number] = true;
            CHECK(sp_call_numbers_add(&numbers, base + number));
        }
        CHECK(sp_call_numbers_finish(&numbers));
        size_t hint = 0;
        int64_t rank = 0;
        for (size_t number = 0; number < 64; number++) {
            int64_t expected = is_there[number] ? rank++ : -1;
            CHECK_INT(sp_call_numbers_rank(&numbers, base + number, &hint), expected);
        }
        CHECK_INT(numbers.count, rank);
        sp_call_numbers_release(&numbers);
    }
}

static void a_number_twice_is_noticed(void)
{
    sp_call_numbers numbers = {0};
    for (uint64_t i = 0; i < 5; i++)
        CHECK(sp_call_numbers_add(&numbers, i));
    CHECK(sp_call_numbers_add(&numbers, 2));
    CHECK(!sp_call_numbers_finish(&numbers));
    sp_call_numbers_release(&numbers);
}

int main(void)
{
    RUN(every_shape_is_sorted);
    RUN(ranks_by_hand);
    RUN(any_order_and_any_numbers);
    RUN(a_number_twice_is_noticed);
    return check_result();
}
