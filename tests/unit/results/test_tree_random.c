/* Random programs against a builder that compares every call with every other. */
#include "results/program.h"

enum { ROUNDS = 400 };

/* Everything that a tree promises, checked call against call. */
static void check_order(const sp_call_tree *t)
{
    int wrong = 0;
    for (size_t i = 1; i < t->count; i++) {
        bool ordered =
            t->start_ns[i - 1] != t->start_ns[i] ? t->start_ns[i - 1] < t->start_ns[i]
            : t->end_ns[i - 1] != t->end_ns[i]   ? t->end_ns[i - 1] > t->end_ns[i]
            : t->row[i - 1] != t->row[i]         ? t->row[i - 1] < t->row[i]
                                                 : t->call_index[i - 1] < t->call_index[i];
        wrong += !ordered;
    }
    CHECK_INT(wrong, 0);
}

static void check_depth_and_exclusive(const sp_call_tree *t)
{
    int wrong = 0;
    for (size_t i = 0; i < t->count; i++) {
        int64_t left = t->end_ns[i] - t->start_ns[i];
        int32_t depth = 0;
        for (size_t c = 0; c < t->count; c++)
            if (t->parent[c] == (int64_t)i)
                left -= t->end_ns[c] - t->start_ns[c];
        for (int64_t at = t->parent[i]; at >= 0; at = t->parent[at])
            depth++;
        wrong += depth != t->depth[i] || left != t->exclusive_ns[i];
    }
    CHECK_INT(wrong, 0);
}

/* The naive parent of an interval: among the calls of its lane that come before it in the order and
 * cover it, the last one. A touching call does not cover; one of no length is covered by its
 * instant. */
static void check_parents_by_interval(const sp_call_tree *t)
{
    int wrong = 0;
    for (size_t i = 0; i < t->count; i++) {
        int64_t parent = -1;
        for (size_t o = 0; o < i; o++) {
            bool is_empty = t->start_ns[i] == t->end_ns[i];
            bool covers = t->start_ns[o] <= t->start_ns[i] && t->end_ns[o] >= t->end_ns[i] &&
                          (is_empty || t->end_ns[o] > t->start_ns[i]);
            if (t->lane[o] == t->lane[i] && covers)
                parent = (int64_t)o;
        }
        wrong += parent != t->parent[i];
    }
    CHECK_INT(wrong, 0);
}

/* Recorded parents are kept exactly: ids of calls lead from the tree back to the program. */
static void check_parents_by_id(sp_results *run, const sp_call_tree *t, const program *p,
                                int64_t first_id, int64_t stride)
{
    int wrong = 0;
    for (size_t i = 0; i < t->count; i++) {
        const int64_t *ids = NULL;
        size_t count = 0;
        CHECK_INT(sp_results_column(run, t->row[i], SP_COLUMN_CALL_ID, &ids, &count, NULL), SP_OK);
        int call = (int)((ids[t->call_index[i]] - first_id) / stride);
        int parent = -1;
        if (t->parent[i] >= 0) {
            CHECK_INT(sp_results_column(run, t->row[t->parent[i]], SP_COLUMN_CALL_ID, &ids, &count,
                                        NULL), SP_OK);
            parent = (int)((ids[t->call_index[t->parent[i]]] - first_id) / stride);
        }
        wrong += parent != p->calls[call].parent || t->start_ns[i] != p->calls[call].start ||
                 t->end_ns[i] != p->calls[call].end;
    }
    CHECK_INT(wrong, 0);
}

static void check_ids(const program *p, int64_t first_id, int64_t stride)
{
    sp_call_tree tree = {0};
    sp_results *run = build_run(p, true, first_id, stride);
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_OK);
    CHECK_INT(tree.count, p->count);
    check_order(&tree);
    check_depth_and_exclusive(&tree);
    check_parents_by_id(run, &tree, p, first_id, stride);
    sp_results_close(run);
}

static void check_intervals(const program *p)
{
    sp_call_tree tree = {0};
    sp_results *run = build_run(p, false, 0, 1);
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_OK);
    CHECK_INT(tree.count, p->count);
    check_order(&tree);
    check_depth_and_exclusive(&tree);
    check_parents_by_interval(&tree);
    sp_results_close(run);
}

static void random_programs(void)
{
    static program p;
    for (int round = 0; round < ROUNDS && check_failures == 0; round++) {
        make_program(&p, 1 + (uint32_t)round % 4);
        check_ids(&p, 0, 1);
        check_ids(&p, 1000, 1);
        check_ids(&p, 5, INT64_C(1000000007));
        check_intervals(&p);
        if (check_failures > 0)
            fprintf(stderr, "in round %d\n", round);
    }
}

/* Many windows of the merge: a long run whose reconstruction equals its recording. */
static void long_run(void)
{
    enum { CALLS = 120000, REGIONS = 5 };
    static const char *const names[REGIONS] = {"p", "q", "r", "s", "t"};
    run_call *calls[REGIONS];
    size_t counts[REGIONS] = {0};
    int64_t open[64], open_region[64], open_at[64], now = 0, id = 0;
    int depth = 0;
    for (int r = 0; r < REGIONS; r++)
        calls[r] = calloc(CALLS, sizeof **calls);
    while (id < CALLS || depth > 0) {
        now += 1 + (dice(2000) == 0 ? 1000000 : dice(30));
        if (id < CALLS && (depth == 0 || (depth < 60 && dice(2) == 0))) {
            uint32_t r = dice(REGIONS);
            calls[r][counts[r]] = (run_call){now, 0, id, depth == 0 ? -1 : open[depth - 1], 0, -1};
            open_region[depth] = r;
            open_at[depth] = (int64_t)counts[r]++;
            open[depth++] = id++;
        } else {
            depth--;
            calls[open_region[depth]][open_at[depth]].end = now;
        }
    }
    sp_results *run = run_new();
    for (int r = 0; r < REGIONS; r++)
        CHECK_INT(run_add_calls(run, names[r], 0, calls[r], counts[r], RUN_IDS), SP_OK);
    sp_call_tree exact = {0}, guessed = {0};
    CHECK_INT(sp_results_call_tree(run, 0, &exact, NULL), SP_OK);
    CHECK_INT(sp_results_reconstruct(run, 0, &guessed, NULL), SP_OK);
    CHECK_INT(exact.count, CALLS);
    CHECK_INT(guessed.count, CALLS);
    size_t bytes = CALLS * sizeof(int64_t);
    CHECK(memcmp(exact.start_ns, guessed.start_ns, bytes) == 0);
    CHECK(memcmp(exact.end_ns, guessed.end_ns, bytes) == 0);
    CHECK(memcmp(exact.parent, guessed.parent, bytes) == 0);
    CHECK(memcmp(exact.exclusive_ns, guessed.exclusive_ns, bytes) == 0);
    CHECK(memcmp(exact.call_index, guessed.call_index, bytes) == 0);
    CHECK(memcmp(exact.depth, guessed.depth, CALLS * sizeof(int32_t)) == 0);
    CHECK(memcmp(exact.row, guessed.row, CALLS * sizeof(uint32_t)) == 0);
    sp_results_close(run);
    for (int r = 0; r < REGIONS; r++)
        free(calls[r]);
}

/* A clock that never moves: all calls fall into one window, larger than a key can number. */
static void frozen_clock(void)
{
    enum { CALLS = 1200000 };
    run_call *calls = calloc(CALLS, sizeof *calls);
    for (int i = 0; i < CALLS; i++)
        calls[i] = (run_call){5, 5, i, -1, 0, 0};
    sp_results *run = run_new();
    sp_call_tree tree = {0};
    CHECK_INT(run_add_calls(run, "x", 0, calls, CALLS, RUN_PLAIN), SP_OK);
    CHECK_INT(sp_results_call_tree(run, 0, &tree, NULL), SP_OK);
    CHECK_INT(tree.count, CALLS);
    CHECK_INT(tree.call_index[CALLS - 1], CALLS - 1);
    CHECK_INT(tree.depth[CALLS - 1], CALLS - 1);
    sp_results_close(run);
    free(calls);
}

int main(void)
{
    RUN(random_programs);
    RUN(long_run);
    RUN(frozen_clock);
    return check_result();
}
