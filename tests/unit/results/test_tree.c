/* Call trees worked out by hand, from ids and from intervals. */
#include "results/run.h"

/* Checks one call of a tree: region row, position in it, depth, parent and exclusive ns. */
static void check_call(const sp_call_tree *tree, size_t i, uint32_t row, uint64_t call,
                       int32_t depth, int64_t parent, int64_t exclusive)
{
    if (!CHECK(i < tree->count))
        return;
    CHECK_INT(tree->row[i], row);
    CHECK_INT(tree->call_index[i], call);
    CHECK_INT(tree->depth[i], depth);
    CHECK_INT(tree->parent[i], parent);
    CHECK_INT(tree->exclusive_ns[i], exclusive);
}

/* outer [0,100] holds inner [10,30] and [40,60]; the second inner holds leaf [45,50]. */
static void check_small_nest(sp_results *run)
{
    sp_call_tree tree = {0};
    if (!CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_OK))
        return;
    CHECK_INT(tree.count, 4);
    check_call(&tree, 0, 0, 0, 0, -1, 60);
    check_call(&tree, 1, 1, 0, 1, 0, 20);
    check_call(&tree, 2, 1, 1, 1, 0, 15);
    check_call(&tree, 3, 2, 0, 2, 2, 5);
    CHECK_INT(tree.start_ns[3], 45);
    CHECK_INT(tree.end_ns[3], 50);
    CHECK(tree.lane == NULL);
}

static void nests_by_intervals(void)
{
    sp_results *run = run_new();
    RUN_ADD(run, "outer", 0, RUN_PLAIN, {0, 100});
    RUN_ADD(run, "inner", 0, RUN_PLAIN, {10, 30}, {40, 60});
    RUN_ADD(run, "leaf", 0, RUN_PLAIN, {45, 50});
    check_small_nest(run);
    sp_results_close(run);
}

static void nests_by_dense_ids(void)
{
    sp_results *run = run_new();
    RUN_ADD(run, "outer", 0, RUN_IDS, {0, 100, 7, -1});
    RUN_ADD(run, "inner", 0, RUN_IDS, {10, 30, 8, 7}, {40, 60, 9, 7});
    RUN_ADD(run, "leaf", 0, RUN_IDS, {45, 50, 10, 9});
    check_small_nest(run);
    sp_results_close(run);
}

static void nests_by_arbitrary_ids(void)
{
    sp_results *run = run_new();
    RUN_ADD(run, "outer", 0, RUN_IDS, {0, 100, INT64_MAX, -1});
    RUN_ADD(run, "inner", 0, RUN_IDS, {10, 30, 5, INT64_MAX}, {40, 60, 3, INT64_MAX});
    RUN_ADD(run, "leaf", 0, RUN_IDS, {45, 50, 4000000000, 3});
    check_small_nest(run);
    sp_results_close(run);
}

/* The recorded parent counts, not the interval: b runs inside a but was begun elsewhere. */
static void recorded_parents_win(void)
{
    sp_results *run = run_new();
    sp_call_tree tree = {0}, guessed = {0};
    RUN_ADD(run, "a", 0, RUN_IDS, {0, 100, 0, -1});
    RUN_ADD(run, "b", 0, RUN_IDS, {20, 50, 1, -1});
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_OK);
    check_call(&tree, 0, 0, 0, 0, -1, 100);
    check_call(&tree, 1, 1, 0, 0, -1, 30);
    CHECK_INT(sp_results_reconstruct(run, 0, &guessed, NULL), SP_OK);
    check_call(&guessed, 0, 0, 0, 0, -1, 70);
    check_call(&guessed, 1, 1, 0, 1, 0, 30);
    sp_results_close(run);
}

static void unknown_parent_is_a_root(void)
{
    sp_results *run = run_new();
    sp_call_tree tree = {0};
    RUN_ADD(run, "a", 0, RUN_IDS, {0, 100, 10, 3});
    RUN_ADD(run, "b", 0, RUN_IDS, {20, 50, 11, 10});
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_OK);
    check_call(&tree, 0, 0, 0, 0, -1, 70);
    check_call(&tree, 1, 1, 0, 1, 0, 30);
    sp_results_close(run);
}

static void touching_calls_are_siblings(void)
{
    sp_results *run = run_new();
    sp_call_tree tree = {0};
    RUN_ADD(run, "a", 0, RUN_PLAIN, {0, 10}, {10, 20});
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_OK);
    check_call(&tree, 0, 0, 0, 0, -1, 10);
    check_call(&tree, 1, 0, 1, 0, -1, 10);
    sp_results_close(run);
}

/* Calls of no length lie inside the call that covers their instant, its ends included. */
static void calls_of_no_length_nest(void)
{
    sp_results *run = run_new();
    sp_call_tree tree = {0};
    RUN_ADD(run, "long", 0, RUN_PLAIN, {0, 10});
    RUN_ADD(run, "empty", 0, RUN_PLAIN, {0, 0}, {5, 5}, {10, 10});
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_OK);
    check_call(&tree, 0, 0, 0, 0, -1, 10);
    check_call(&tree, 1, 1, 0, 1, 0, 0);
    check_call(&tree, 2, 1, 1, 1, 0, 0);
    check_call(&tree, 3, 1, 2, 1, 0, 0);
    sp_results_close(run);
}

/* Of equal intervals the earlier row is the outer call, and within a row the earlier call. */
static void equal_intervals_nest_by_row(void)
{
    sp_results *run = run_new();
    sp_call_tree tree = {0};
    RUN_ADD(run, "first", 0, RUN_PLAIN, {0, 10}, {0, 10});
    RUN_ADD(run, "second", 0, RUN_PLAIN, {0, 10});
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_OK);
    check_call(&tree, 0, 0, 0, 0, -1, 0);
    check_call(&tree, 1, 0, 1, 1, 0, 0);
    check_call(&tree, 2, 1, 0, 2, 1, 10);
    sp_results_close(run);
}

/* Order of the arrays: start, then the later end first, then row. */
static void orders_by_start_end_and_row(void)
{
    sp_results *run = run_new();
    sp_call_tree tree = {0};
    RUN_ADD(run, "short", 0, RUN_PLAIN, {5, 6}, {8, 9});
    RUN_ADD(run, "long", 0, RUN_PLAIN, {5, 9});
    RUN_ADD(run, "also", 0, RUN_PLAIN, {5, 6});
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_OK);
    check_call(&tree, 0, 1, 0, 0, -1, 2);
    check_call(&tree, 1, 0, 0, 1, 0, 0);
    check_call(&tree, 2, 2, 0, 2, 1, 1);
    check_call(&tree, 3, 0, 1, 1, 0, 1);
    sp_results_close(run);
}

static void crossing_intervals_are_named(void)
{
    sp_results *run = run_new();
    sp_call_tree tree = {0};
    sp_error error = {0};
    RUN_ADD(run, "late", 3, RUN_PLAIN, {10, 200});
    RUN_ADD(run, "early", 3, RUN_PLAIN, {-5, -1}, {0, 50});
    CHECK_INT(sp_results_call_tree(run, 3, &tree, &error), SP_ERR_NESTING);
    CHECK_TEXT(error.text,
               "recorded calls are not properly nested on rank 3: 'early' call 1 [0, 50] ns and "
               "'late' call 0 [10, 200] ns overlap, yet neither lies inside the other");
    sp_results_close(run);
}

static void call_that_ends_early_is_named(void)
{
    sp_results *run = run_new();
    sp_call_tree tree = {0};
    sp_error error = {0};
    RUN_ADD(run, "x", 0, RUN_PLAIN, {0, 5}, {20, 10});
    CHECK_INT(sp_results_call_tree(run, 0, &tree, &error), SP_ERR_NESTING);
    CHECK_TEXT(error.text,
               "a recorded call ends before it starts: 'x' call 1 on rank 0 [20, 10] ns");
    sp_results_close(run);
}

/* a [0,50] and b [10,80], begun inside a, outlives it; c [60,70] was begun inside b. Only the part
 * of b that a covers is taken off a. */
static void crossing_calls_with_ids_subtract_overlap(void)
{
    sp_results *run = run_new();
    sp_call_tree tree = {0};
    RUN_ADD(run, "a", 0, RUN_IDS, {0, 50, 0, -1});
    RUN_ADD(run, "b", 0, RUN_IDS, {10, 80, 1, 0});
    RUN_ADD(run, "c", 0, RUN_IDS, {60, 70, 2, 1});
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_OK);
    check_call(&tree, 0, 0, 0, 0, -1, 10);
    check_call(&tree, 1, 1, 0, 1, 0, 60);
    check_call(&tree, 2, 2, 0, 2, 1, 10);
    sp_results_close(run);
}

/* The outer call begins in the same instant as the inner one that outlives it, so the order puts
 * the inner one first. */
static void parent_may_come_later_in_the_order(void)
{
    sp_results *run = run_new();
    sp_call_tree tree = {0};
    RUN_ADD(run, "outer", 0, RUN_IDS, {0, 10, 0, -1});
    RUN_ADD(run, "inner", 0, RUN_IDS, {0, 30, 1, 0});
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_OK);
    check_call(&tree, 0, 1, 0, 1, 1, 30);
    check_call(&tree, 1, 0, 0, 0, -1, 0);
    sp_results_close(run);
}

/* Children that overlap each other, as those of tasks can, are not taken off twice:
 * [0,100] less [10,60] and [30,80] leaves 30. */
static void overlapping_children_count_once(void)
{
    sp_results *run = run_new();
    sp_call_tree tree = {0};
    RUN_ADD(run, "outer", 0, RUN_IDS, {0, 100, 0, -1});
    RUN_ADD(run, "task", 0, RUN_IDS, {10, 60, 1, 0}, {30, 80, 2, 0}, {40, 50, 3, 0});
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_OK);
    check_call(&tree, 0, 0, 0, 0, -1, 30);
    check_call(&tree, 1, 1, 0, 1, 0, 50);
    check_call(&tree, 2, 1, 1, 1, 0, 50);
    check_call(&tree, 3, 1, 2, 1, 0, 10);
    sp_results_close(run);
}

static void hostile_ids_are_refused(void)
{
    sp_call_tree tree = {0};
    sp_error error = {0};
    sp_results *run = run_new();
    RUN_ADD(run, "a", 0, RUN_IDS, {0, 9, 4, -1});
    RUN_ADD(run, "b", 0, RUN_IDS, {1, 20, 4, 4});
    CHECK_INT(sp_results_call_tree(run, 0, &tree, &error), SP_ERR_DAMAGED);
    CHECK_TEXT(error.text, "call id 4 belongs to two calls: 'a' call 0 and 'b' call 0");
    sp_results_close(run);

    run = run_new();
    RUN_ADD(run, "a", 0, RUN_IDS, {0, 9, 0, 1}, {1, 2, 1, 2}, {3, 4, 2, 0});
    CHECK_INT(sp_results_call_tree(run, 0, &tree, &error), SP_ERR_DAMAGED);
    CHECK_TEXT(error.text, "the parents of 'a' call 0 form a circle");
    sp_results_close(run);

    run = run_new();
    RUN_ADD(run, "a", 0, RUN_IDS, {0, 9, 0, 0});
    CHECK_INT(sp_results_call_tree(run, 0, &tree, &error), SP_ERR_DAMAGED);
    sp_results_close(run);
}

/* Two calls of one id that nobody needs to look up do no harm. */
static void repeated_id_of_regular_calls(void)
{
    sp_call_tree tree = {0};
    sp_results *run = run_new();
    RUN_ADD(run, "a", 0, RUN_IDS, {0, 9, 4, -1});
    RUN_ADD(run, "b", 0, RUN_IDS, {1, 2, 4, 4});
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_OK);
    check_call(&tree, 0, 0, 0, 0, -1, 8);
    check_call(&tree, 1, 1, 0, 1, 0, 1);
    sp_results_close(run);
}

/* One place taken twice while another stays empty looks dense at first. */
static void repeated_id_in_a_dense_range_is_refused(void)
{
    sp_call_tree tree = {0};
    sp_results *run = run_new();
    RUN_ADD(run, "a", 0, RUN_IDS, {0, 1, 0, -1}, {4, 5, 2, -1});
    RUN_ADD(run, "b", 0, RUN_IDS, {2, 3, 2, -1}, {6, 7, 3, -1});
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_ERR_DAMAGED);
    sp_results_close(run);
}

/* A row without ids, or with missing ones, makes the whole rank a reconstruction. */
static void missing_ids_mean_intervals(void)
{
    sp_call_tree tree = {0};
    sp_results *run = run_new();
    RUN_ADD(run, "a", 0, RUN_IDS, {0, 100, 0, -1});
    RUN_ADD(run, "b", 0, RUN_PLAIN, {20, 50});
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_OK);
    check_call(&tree, 1, 1, 0, 1, 0, 30);
    sp_results_close(run);

    run = run_new();
    RUN_ADD(run, "a", 0, RUN_IDS, {0, 100, 0, -1});
    RUN_ADD(run, "b", 0, RUN_IDS, {20, 50, -1, -1});
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_OK);
    check_call(&tree, 1, 1, 0, 1, 0, 30);
    sp_results_close(run);
}

/* Thread 0 runs a [0,100] with b [10,20]; thread 1 runs c [5,150]; the task 4 runs d [15,60] on
 * thread 1; e has no lane. Lanes cross freely. */
static void each_lane_nests_on_its_own(void)
{
    sp_call_tree tree = {0};
    sp_results *run = run_new();
    int lanes = RUN_THREADS | RUN_TASKS;
    RUN_ADD(run, "a", 0, lanes, {0, 100, 0, 0, 0, -1});
    RUN_ADD(run, "b", 0, lanes, {10, 20, 0, 0, 0, -1});
    RUN_ADD(run, "c", 0, lanes, {5, 150, 0, 0, 1, -1});
    RUN_ADD(run, "d", 0, lanes, {15, 60, 0, 0, 1, 4});
    RUN_ADD(run, "e", 0, lanes, {16, 120, 0, 0, -1, -1});
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_OK);
    CHECK_INT(tree.count, 5);
    check_call(&tree, 0, 0, 0, 0, -1, 90);
    check_call(&tree, 1, 2, 0, 0, -1, 145);
    check_call(&tree, 2, 1, 0, 1, 0, 10);
    check_call(&tree, 3, 3, 0, 0, -1, 45);
    check_call(&tree, 4, 4, 0, 0, -1, 104);
    if (!CHECK(tree.lane != NULL))
        return;
    CHECK_INT(tree.lane[0], -2);
    CHECK_INT(tree.lane[1], -3);
    CHECK_INT(tree.lane[2], -2);
    CHECK_INT(tree.lane[3], 4);
    CHECK_INT(tree.lane[4], -1);
    sp_results_close(run);
}

/* Ids run through thread 0 first, then thread 1, while the calls of both alternate in time. */
static void ids_of_two_threads(void)
{
    sp_call_tree tree = {0};
    sp_results *run = run_new();
    int columns = RUN_IDS | RUN_THREADS;
    RUN_ADD(run, "a", 0, columns, {0, 100, 0, -1, 0}, {1, 90, 2, -1, 1});
    RUN_ADD(run, "b", 0, columns, {2, 20, 3, 2, 1}, {3, 30, 1, 0, 0});
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_OK);
    check_call(&tree, 0, 0, 0, 0, -1, 73);
    check_call(&tree, 1, 0, 1, 0, -1, 71);
    check_call(&tree, 2, 1, 0, 1, 1, 18);
    check_call(&tree, 3, 1, 1, 1, 0, 27);
    CHECK_INT(tree.lane[2], -3);
    sp_results_close(run);
}

/* A row whose starts step back, as older files of several threads have it. */
static void unsorted_rows_are_sorted(void)
{
    sp_call_tree tree = {0};
    sp_results *run = run_new();
    RUN_ADD(run, "a", 0, RUN_PLAIN, {50, 60}, {0, 40}, {10, 20});
    RUN_ADD(run, "b", 0, RUN_PLAIN, {12, 14}, {52, 53});
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_OK);
    CHECK_INT(tree.count, 5);
    check_call(&tree, 0, 0, 1, 0, -1, 30);
    check_call(&tree, 1, 0, 2, 1, 0, 8);
    check_call(&tree, 2, 1, 0, 2, 1, 2);
    check_call(&tree, 3, 0, 0, 0, -1, 9);
    check_call(&tree, 4, 1, 1, 1, 3, 1);
    sp_results_close(run);
}

static void extreme_times_are_survived(void)
{
    sp_call_tree tree = {0};
    sp_results *run = run_new();
    RUN_ADD(run, "a", 0, RUN_PLAIN, {INT64_MIN, INT64_MIN + 1}, {INT64_MAX - 1, INT64_MAX});
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_OK);
    CHECK_INT(tree.start_ns[0], INT64_MIN);
    CHECK_INT(tree.start_ns[1], INT64_MAX - 1);
    sp_results_close(run);

    /* start + duration does not fit: the call seems to end before it starts. */
    run = run_new();
    RUN_ADD(run, "a", 0, RUN_PLAIN, {INT64_MAX, INT64_MIN + 5});
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_ERR_NESTING);
    sp_results_close(run);

    run = run_new();
    RUN_ADD(run, "a", 0, RUN_IDS, {INT64_MAX, INT64_MIN + 5, 0, -1}, {3, -4, 1, 0});
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_OK);
    CHECK_INT(tree.count, 2);
    sp_results_close(run);
}

enum { DEEP = 100000 };

static void check_deep(int columns)
{
    sp_call_tree tree = {0};
    sp_results *run = run_new();
    run_call *calls = calloc(DEEP, sizeof *calls);
    for (int64_t i = 0; i < DEEP; i++)
        calls[i] = (run_call){i, 2 * DEEP - i, i, i - 1, 0, 0};
    CHECK_INT(run_add_calls(run, "down", 0, calls, DEEP, columns), SP_OK);
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_OK);
    CHECK_INT(tree.count, DEEP);
    check_call(&tree, 0, 0, 0, 0, -1, 2);
    check_call(&tree, DEEP - 1, 0, DEEP - 1, DEEP - 1, DEEP - 2, 2);
    sp_results_close(run);
    free(calls);
}

static void deep_recursion(void)
{
    check_deep(RUN_PLAIN);
    check_deep(RUN_IDS);
}

static void ranks_are_apart(void)
{
    sp_call_tree tree = {0};
    sp_results *run = run_new();
    RUN_ADD(run, "a", 0, RUN_PLAIN, {0, 10});
    RUN_ADD(run, "a", 7, RUN_PLAIN, {5, 30}, {40, 41});
    CHECK_INT(sp_results_call_tree(run, 7, &tree, NULL), SP_OK);
    CHECK_INT(tree.count, 2);
    CHECK_INT(tree.row[0], 1);
    CHECK_INT(sp_results_call_tree(run, 3, &tree, NULL), SP_OK);
    CHECK_INT(tree.count, 0);
    sp_results_close(run);
}

/* A tree lives until close even when later rows made it out of date. */
static void later_rows_make_a_new_tree(void)
{
    sp_call_tree before = {0}, after = {0};
    const int64_t *exclusive = NULL;
    size_t count = 0;
    sp_results *run = run_new();
    RUN_ADD(run, "a", 0, RUN_PLAIN, {0, 10});
    CHECK_INT(sp_results_call_tree(run, 0, &before, NULL), SP_OK);
    CHECK_INT(sp_results_exclusive(run, 0, &exclusive, &count, NULL), SP_OK);
    CHECK_INT(exclusive[0], 10);
    RUN_ADD(run, "b", 0, RUN_PLAIN, {2, 5});
    CHECK_INT(sp_results_call_tree(run, 0, &after, NULL), SP_OK);
    CHECK_INT(before.count, 1);
    CHECK_INT(before.exclusive_ns[0], 10);
    CHECK_INT(after.count, 2);
    CHECK_INT(after.exclusive_ns[0], 7);
    CHECK_INT(sp_results_exclusive(run, 0, &exclusive, &count, NULL), SP_OK);
    CHECK_INT(count, 1);
    CHECK_INT(exclusive[0], 7);
    sp_results_close(run);
}

int main(void)
{
    RUN(nests_by_intervals);
    RUN(nests_by_dense_ids);
    RUN(nests_by_arbitrary_ids);
    RUN(recorded_parents_win);
    RUN(unknown_parent_is_a_root);
    RUN(touching_calls_are_siblings);
    RUN(calls_of_no_length_nest);
    RUN(equal_intervals_nest_by_row);
    RUN(orders_by_start_end_and_row);
    RUN(crossing_intervals_are_named);
    RUN(call_that_ends_early_is_named);
    RUN(crossing_calls_with_ids_subtract_overlap);
    RUN(parent_may_come_later_in_the_order);
    RUN(overlapping_children_count_once);
    RUN(hostile_ids_are_refused);
    RUN(repeated_id_of_regular_calls);
    RUN(repeated_id_in_a_dense_range_is_refused);
    RUN(missing_ids_mean_intervals);
    RUN(each_lane_nests_on_its_own);
    RUN(ids_of_two_threads);
    RUN(unsorted_rows_are_sorted);
    RUN(extreme_times_are_survived);
    RUN(deep_recursion);
    RUN(ranks_are_apart);
    RUN(later_rows_make_a_new_tree);
    return check_result();
}
