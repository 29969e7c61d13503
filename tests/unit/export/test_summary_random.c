/* Summaries of random programs against sums over calls whose paths are spelled out. */
#include "results/program.h"

enum { ROUNDS = 300, MAX_PATH = 4 * MAX_CALLS, MAX_ROWS = MAX_CALLS };

typedef struct path_sum {
    char path[MAX_PATH];
    uint64_t calls;
    int64_t total, exclusive, coverage;
} path_sum;

static path_sum sums[MAX_ROWS];
static int num_sums;

/* Names of the call and those around it, one for each run of equal ones; `excluded` regions are
 * left out. */
static void spell_path(const program *p, int call, int excluded, char *out)
{
    int chain[MAX_CALLS], length = 0;
    for (int at = call; at >= 0; at = p->calls[at].parent)
        if (p->calls[at].region != excluded)
            chain[length++] = p->calls[at].region;
    out[0] = '\0';
    for (int i = length - 1; i >= 0; i--)
        if (i == length - 1 || chain[i] != chain[i + 1])
            strcat(strcat(out, i == length - 1 ? "" : " > "), program_regions[chain[i]]);
}

/* Whether the call is not directly below one of its own region, left-out ones aside. */
static bool is_outermost(const program *p, int call, int excluded)
{
    int above = p->calls[call].parent;
    while (above >= 0 && p->calls[above].region == excluded)
        above = p->calls[above].parent;
    return above < 0 || p->calls[above].region != p->calls[call].region;
}

static path_sum *sum_of(const char *path)
{
    for (int i = 0; i < num_sums; i++)
        if (strcmp(sums[i].path, path) == 0)
            return &sums[i];
    path_sum *sum = &sums[num_sums++];
    memset(sum, 0, sizeof *sum);
    strcpy(sum->path, path);
    return sum;
}

/* Whether any call of that path is active in the nanosecond that begins at t. */
static bool is_active(const program *p, char paths[][MAX_PATH], const char *path, int64_t t)
{
    for (int i = 0; i < p->count; i++)
        if (p->calls[i].start <= t && t < p->calls[i].end && strcmp(paths[i], path) == 0)
            return true;
    return false;
}

static void sum_up(const program *p, int excluded)
{
    static char paths[MAX_CALLS][MAX_PATH];
    int64_t last = 0;
    num_sums = 0;
    for (int i = 0; i < p->count; i++) {
        paths[i][0] = '\0';
        last = p->calls[i].end > last ? p->calls[i].end : last;
        if (p->calls[i].region == excluded)
            continue;
        spell_path(p, i, excluded, paths[i]);
        path_sum *sum = sum_of(paths[i]);
        sum->calls++;
        if (is_outermost(p, i, excluded))
            sum->total += p->calls[i].end - p->calls[i].start;
        sum->exclusive += p->calls[i].end - p->calls[i].start;
        for (int c = 0; c < p->count; c++)
            if (p->calls[c].parent == i)
                sum->exclusive -= p->calls[c].end - p->calls[c].start;
    }
    for (int s = 0; s < num_sums; s++)
        for (int64_t t = 0; t < last; t++)
            sums[s].coverage += is_active(p, paths, sums[s].path, t);
}

static void check_summary(sp_results *run, const char *exclude)
{
    const char *const patterns[] = {exclude};
    sp_summary_options options = {.size = sizeof options, .exclude = patterns,
                                  .num_exclude = exclude == NULL ? 0 : 1};
    sp_summary *summary = NULL;
    int wrong = 0;
    if (!CHECK_INT(sp_summary_create(run, &options, &summary, NULL), SP_OK))
        return;
    CHECK_INT(sp_summary_num_rows(summary), num_sums);
    for (size_t i = 0; i < sp_summary_num_rows(summary); i++) {
        const sp_summary_row *row = sp_summary_get_row(summary, i);
        const path_sum *sum = sum_of(row->call_path);
        wrong += row->calls != sum->calls || llround(row->total * 1e9) != sum->total ||
                 llround(row->exclusive * 1e9) != sum->exclusive ||
                 llround(row->coverage * 1e9) != sum->coverage;
    }
    CHECK_INT(wrong, 0);
    sp_summary_free(summary);
}

/* A region without calls is listed too; random programs may leave one out. */
static bool uses_all_regions(const program *p)
{
    unsigned used = 0;
    for (int i = 0; i < p->count; i++)
        used |= 1u << p->calls[i].region;
    return used == (1u << MAX_REGIONS) - 1;
}

static void random_summaries(void)
{
    static program p;
    int compared = 0;
    for (int round = 0; round < ROUNDS && check_failures == 0; round++) {
        make_program(&p, 1 + (uint32_t)round % 3);
        if (p.count > 120 || !uses_all_regions(&p))
            continue;
        compared++;
        for (int excluded = -1; excluded < 2; excluded++) {
            sp_results *dense = build_run(&p, true, 0, 1);
            sp_results *sparse = build_run(&p, true, 9, INT64_C(1000000007));
            const char *pattern = excluded < 0 ? NULL : program_regions[excluded];
            sum_up(&p, excluded);
            check_summary(dense, pattern);
            check_summary(sparse, pattern);
            sp_results_close(dense);
            sp_results_close(sparse);
        }
    }
    CHECK(compared > 20);
}

int main(void)
{
    RUN(random_summaries);
    return check_result();
}
