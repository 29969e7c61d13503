/* Rank tests against counting all arrangements, and how often they are wrong. */
#include "check.h"

#include "results/significance.h"

#include <stdlib.h>

/* Probability that a random choice of `num_b` of the values has a rank sum of at least that of b:
 * all choices are tried. */
static double count_arrangements(const double *values, size_t num_a, size_t num_b)
{
    size_t count = num_a + num_b;
    double ranks[16], sum = 0, above = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        double below = 0, equal = 0;
        for (size_t j = 0; j < count; j++) {
            below += values[j] < values[i];
            equal += values[j] == values[i];
        }
        ranks[i] = below + (equal + 1) / 2;
    }
    for (size_t i = num_a; i < count; i++)
        sum += ranks[i];
    for (unsigned choice = 0; choice < 1u << count; choice++) {
        double chosen = 0;
        if ((size_t)__builtin_popcount(choice) != num_b)
            continue;
        for (size_t i = 0; i < count; i++)
            chosen += choice >> i & 1 ? ranks[i] : 0;
        all++;
        above += chosen >= sum - 1e-9;
    }
    return above / all;
}

static uint64_t state = 12345;

/* Evenly distributed in [0, 1). */
static double uniform(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 11) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(1 - uniform())) * cos(6.283185307179586 * uniform());
}

static void agrees_with_all_arrangements(void)
{
    for (int trial = 0; trial < 60; trial++) {
        size_t num_a = 1 + (size_t)(uniform() * 6), num_b = 1 + (size_t)(uniform() * 6);
        double values[16];
        sp_rank_test test;
        for (size_t i = 0; i < num_a + num_b; i++) /* few values, so that there are ties */
            values[i] = 1 + floor(uniform() * (trial % 2 ? 5 : 1000));
        CHECK_INT(sp_rank_test_run(values, num_a, values + num_a, num_b, &test, NULL), SP_OK);
        CHECK_REAL(test.p_greater, count_arrangements(values, num_a, num_b), 1e-12);
    }
}

/* Worked out by hand: of the 20 ways to choose 3 of 6, one has the largest rank sum. */
static void knows_small_cases(void)
{
    const double low[] = {10, 11, 12}, high[] = {20, 22, 24};
    sp_rank_test test;
    CHECK_INT(sp_rank_test_run(low, 3, high, 3, &test, NULL), SP_OK);
    CHECK_REAL(test.p_greater, 1.0 / 20, 1e-15);
    CHECK_REAL(test.p_two_sided, 2.0 / 20, 1e-15);
    CHECK_REAL(test.effect, 22.0 / 11 - 1, 1e-12); /* the middle of the nine ratios */
    CHECK_REAL(test.low, 20.0 / 12 - 1, 1e-12);
    CHECK_REAL(test.high, 24.0 / 10 - 1, 1e-12);
    CHECK_REAL(test.confidence, 0.9, 1e-12);
    CHECK_INT(sp_rank_test_run(high, 3, low, 3, &test, NULL), SP_OK);
    CHECK_REAL(test.p_greater, 1, 1e-15);
    const double zero[] = {0, 1};
    CHECK_INT(sp_rank_test_run(zero, 2, low, 3, &test, NULL), SP_OK);
    CHECK(isnan(test.effect) && isnan(test.low));
}

static void approximates_large_groups(void)
{
    double values[80];
    sp_rank_test test;
    for (size_t i = 0; i < 80; i++)
        values[i] = 100 + (double)i;
    CHECK_INT(sp_rank_test_run(values, 40, values + 40, 40, &test, NULL), SP_OK);
    CHECK(test.p_greater < 1e-10);
    /* Every other one: rank sums differ by 40 of a deviation of 146 each. */
    for (size_t i = 0; i < 80; i++)
        values[i] = 100 + (double)(i < 40 ? 2 * i : 2 * (i - 40) + 1);
    CHECK_INT(sp_rank_test_run(values, 40, values + 40, 40, &test, NULL), SP_OK);
    CHECK(test.p_greater > 0.35 && test.p_greater < 0.5);
    CHECK(test.low < test.effect && test.effect < test.high);
}

/* The example of the method's authors has 15 hypotheses of which 4 are rejected at 5 %. */
static void controls_false_discoveries(void)
{
    double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                  0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000, NAN};
    int rejected = 0;
    CHECK_INT(sp_false_discovery_rates(p, 16, NULL), SP_OK);
    for (int i = 0; i < 15; i++)
        rejected += p[i] <= 0.05;
    CHECK_INT(rejected, 4);
    CHECK_REAL(p[0], 0.0015, 1e-12);
    CHECK_REAL(p[3], 0.0095 * 15 / 4, 1e-12);
    CHECK_REAL(p[14], 1, 0);
    CHECK(isnan(p[15]));
}

/* How often five runs against five are called slower at 5 %. */
static double share_called_slower(double deviation, double slowdown, int trials)
{
    int called = 0;
    for (int trial = 0; trial < trials; trial++) {
        double a[5], b[5];
        sp_rank_test test;
        for (int i = 0; i < 5; i++) {
            a[i] = 10 * (1 + deviation * normal());
            b[i] = 10 * (1 + slowdown) * (1 + deviation * normal());
        }
        CHECK_INT(sp_rank_test_run(a, 5, b, 5, &test, NULL), SP_OK);
        called += test.p_greater <= 0.05;
    }
    return (double)called / trials;
}

static void noise_seldom_alarms_and_slowness_mostly_does(void)
{
    static const double deviations[] = {0.002, 0.01, 0.02};
    for (int i = 0; i < 3; i++) {
        CHECK(share_called_slower(deviations[i], 0, 20000) < 0.05);
        CHECK(share_called_slower(deviations[i], 0.10, 2000) > 0.90);
    }
}

/* The interval holds the true change about as often as it says. */
static void intervals_hold_the_truth(void)
{
    int held = 0, trials = 5000;
    double confidence = 0;
    for (int trial = 0; trial < trials; trial++) {
        double a[6], b[5];
        sp_rank_test test;
        for (int i = 0; i < 6; i++)
            a[i] = 10 * (1 + 0.02 * normal());
        for (int i = 0; i < 5; i++)
            b[i] = 10.7 * (1 + 0.02 * normal());
        CHECK_INT(sp_rank_test_run(a, 6, b, 5, &test, NULL), SP_OK);
        held += test.low <= 0.07 && 0.07 <= test.high;
        confidence = test.confidence;
    }
    CHECK(confidence >= 0.95);
    CHECK((double)held / trials > confidence - 0.015);
}

int main(void)
{
    RUN(agrees_with_all_arrangements);
    RUN(knows_small_cases);
    RUN(approximates_large_groups);
    RUN(controls_false_discoveries);
    RUN(noise_seldom_alarms_and_slowness_mostly_does);
    RUN(intervals_hold_the_truth);
    return check_result();
}
