#include "results/significance.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_EXACT = 40 };
static const double WANTED_CONFIDENCE = 0.95;

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double sp_median_of(double *values, size_t count)
{
    if (count == 0)
        return (double)NAN;
    qsort(values, count, sizeof *values, compare_numbers);
    return count % 2 != 0 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* ---- Ranks -----------------------------------------------------------------------------------*/

typedef struct ranked {
    double value;
    int twice_rank; /* twice, because tied values share the mean of their ranks */
    bool is_b;
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    return compare_numbers(&((const ranked *)a)->value, &((const ranked *)b)->value);
}

/* Ranks all values; returns twice the rank sum of b. */
static int64_t rank_all(ranked *all, size_t count)
{
    int64_t sum = 0;
    qsort(all, count, sizeof *all, compare_ranked);
    for (size_t i = 0, to; i < count; i = to) {
        for (to = i + 1; to < count && all[to].value == all[i].value;)
            to++;
        for (size_t j = i; j < to; j++) {
            all[j].twice_rank = (int)(i + 1 + to);
            sum += all[j].is_b ? all[j].twice_rank : 0;
        }
    }
    return sum;
}

/* ---- The exact distribution ------------------------------------------------------------------*/

/* In how many ways `num_b` of the values have each possible (twice the) rank sum: row k of the table
 * is for k values. */
static double *count_sums(const ranked *all, size_t count, size_t num_b, size_t *out_sums)
{
    size_t sums = 1;
    for (size_t i = 0; i < count; i++)
        sums += (size_t)all[i].twice_rank;
    double *ways = calloc((num_b + 1) * sums, sizeof *ways);
    if (ways == NULL)
        return NULL;
    ways[0] = 1;
    for (size_t i = 0; i < count; i++) {
        size_t rank = (size_t)all[i].twice_rank;
        for (size_t k = i + 1 < num_b ? i + 1 : num_b; k > 0; k--)
            for (size_t s = sums; s-- > rank;)
                ways[k * sums + s] += ways[(k - 1) * sums + s - rank];
    }
    *out_sums = sums;
    return ways;
}

static void exact_test(const double *ways, size_t sums, int64_t sum, sp_rank_test *out)
{
    double all = 0, above = 0, below = 0;
    for (size_t s = 0; s < sums; s++) {
        all += ways[s];
        above += (int64_t)s >= sum ? ways[s] : 0;
        below += (int64_t)s <= sum ? ways[s] : 0;
    }
    double smaller = above < below ? above : below;
    out->p_greater = above / all;
    out->p_two_sided = 2 * smaller > all ? 1 : 2 * smaller / all;
}

static double normal_tail(double z)
{
    return erfc(z / sqrt(2)) / 2;
}

/* Mean and variance of twice the rank sum, ties included. */
static void normal_test(const ranked *all, size_t count, size_t num_b, int64_t sum,
                        sp_rank_test *out)
{
    double n = (double)count, m = (double)num_b, squares = 0;
    double mean = m * (n + 1);
    for (size_t i = 0; i < count; i++)
        squares += ((double)all[i].twice_rank - (n + 1)) * ((double)all[i].twice_rank - (n + 1));
    double deviation = sqrt(m * (n - m) / (n * (n - 1)) * squares);
    double distance = fabs((double)sum - mean) - 1; /* half a rank */
    double z = deviation > 0 && distance > 0 ? distance / deviation : 0;
    out->p_two_sided = 2 * normal_tail(z);
    out->p_greater = (double)sum > mean ? normal_tail(z) : 1 - normal_tail(z);
}

/* ---- The effect ------------------------------------------------------------------------------*/

/* How many of the sorted ratios may be left out at each end: the number of (a, b) pairs in order
 * that has less than half of the allowed error on its side. `*out_confidence` is what is reached. */
static size_t ratios_to_drop(size_t num_a, size_t num_b, double *out_confidence)
{
    size_t pairs = num_a * num_b, drop = 0;
    ranked *plain = calloc(num_a + num_b, sizeof *plain);
    double *ways = NULL, all = 0, tail = 0;
    size_t sums = 0, least = num_b * (num_b + 1);
    for (size_t i = 0; plain != NULL && i < num_a + num_b; i++)
        plain[i].twice_rank = 2 * (int)(i + 1);
    if (plain != NULL)
        ways = count_sums(plain, num_a + num_b, num_b, &sums);
    free(plain);
    *out_confidence = (double)NAN;
    if (ways == NULL)
        return pairs;
    const double *row = ways + num_b * sums;
    for (size_t s = 0; s < sums; s++)
        all += row[s];
    while (drop < pairs / 2 && (tail + row[least + 2 * drop]) / all <= (1 - WANTED_CONFIDENCE) / 2)
        tail += row[least + 2 * drop++];
    /* With few values even the whole range falls short of what was wanted. */
    *out_confidence = drop > 0 ? 1 - 2 * tail / all : 1 - 2 * row[least] / all;
    free(ways);
    return drop > 0 ? drop - 1 : 0;
}

static size_t ratios_to_drop_approximately(size_t num_a, size_t num_b, double *out_confidence)
{
    double pairs = (double)num_a * (double)num_b;
    double deviation = sqrt(pairs * (double)(num_a + num_b + 1) / 12);
    double drop = floor(pairs / 2 - 1.96 * deviation) - 1;
    *out_confidence = WANTED_CONFIDENCE;
    return drop > 0 ? (size_t)drop : 0;
}

static int estimate_effect(const double *a, size_t num_a, const double *b, size_t num_b,
                           sp_rank_test *out, sp_error *error)
{
    size_t pairs = num_a * num_b;
    out->effect = out->low = out->high = out->confidence = (double)NAN;
    for (size_t i = 0; i < num_a; i++)
        if (!(a[i] > 0))
            return SP_OK;
    double *ratios = malloc(pairs * sizeof *ratios);
    if (ratios == NULL)
        return sp_fail_memory(error, "comparing runs");
    for (size_t i = 0; i < num_a; i++)
        for (size_t j = 0; j < num_b; j++)
            ratios[i * num_b + j] = b[j] / a[i] - 1;
    out->effect = sp_median_of(ratios, pairs);
    size_t drop = num_a + num_b <= MAX_EXACT
                      ? ratios_to_drop(num_a, num_b, &out->confidence)
                      : ratios_to_drop_approximately(num_a, num_b, &out->confidence);
    if (drop < pairs) {
        out->low = ratios[drop];
        out->high = ratios[pairs - 1 - drop];
    }
    free(ratios);
    return SP_OK;
}

/* ---- Public ----------------------------------------------------------------------------------*/

int sp_rank_test_run(const double *a, size_t num_a, const double *b, size_t num_b,
                     sp_rank_test *out, sp_error *error)
{
    size_t count = num_a + num_b, sums = 0;
    ranked *all = calloc(count, sizeof *all);
    if (all == NULL)
        return sp_fail_memory(error, "comparing runs");
    for (size_t i = 0; i < count; i++)
        all[i] = (ranked){i < num_a ? a[i] : b[i - num_a], 0, i >= num_a};
    int64_t sum = rank_all(all, count);
    int status = SP_OK;
    if (count <= MAX_EXACT) {
        double *ways = count_sums(all, count, num_b, &sums);
        if (ways == NULL)
            status = sp_fail_memory(error, "comparing runs");
        else
            exact_test(ways + num_b * sums, sums, sum, out);
        free(ways);
    } else {
        normal_test(all, count, num_b, sum, out);
    }
    free(all);
    return status == SP_OK ? estimate_effect(a, num_a, b, num_b, out, error) : status;
}

typedef struct numbered {
    double p;
    size_t at;
} numbered;

static int compare_numbered(const void *a, const void *b)
{
    return compare_numbers(&((const numbered *)a)->p, &((const numbered *)b)->p);
}

int sp_false_discovery_rates(double *p_values, size_t count, sp_error *error)
{
    numbered *sorted = malloc((count + 1) * sizeof *sorted);
    size_t known = 0;
    double least = 1;
    if (sorted == NULL)
        return sp_fail_memory(error, "comparing runs");
    for (size_t i = 0; i < count; i++)
        if (!isnan(p_values[i]))
            sorted[known++] = (numbered){p_values[i], i};
    qsort(sorted, known, sizeof *sorted, compare_numbered);
    for (size_t i = known; i-- > 0;) {
        double rate = sorted[i].p * (double)known / (double)(i + 1);
        least = rate < least ? rate : least;
        p_values[sorted[i].at] = least;
    }
    free(sorted);
    return SP_OK;
}
