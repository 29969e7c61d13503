#include "export/costs.h"

#include "results/moments.h"

#include <string.h>

const sp_extra *sp_next_extra(const sp_results *results, const sp_rank_filter *ranks,
                              const char *name, size_t *at)
{
    while (*at < results->extras.count) {
        const sp_extra *extra = results->extras.items[(*at)++];
        if (strcmp(extra->name, name) == 0 && sp_rank_filter_takes(ranks, extra->rank))
            return extra;
    }
    return NULL;
}

/* ---- Losses ----------------------------------------------------------------------------------*/

static void add_loss(sp_loss_sums *sums, const char *kind, int64_t count)
{
    size_t i = 0;
    while (i < sums->used && strcmp(sums->kinds[i], kind) != 0)
        i++;
    if (i == SP_MAX_LOSS_KINDS || count <= 0)
        return;
    if (i == sums->used) {
        sums->kinds[sums->used] = kind;
        sums->counts[sums->used++] = 0;
    }
    sums->counts[i] = sp_wrap_add(sums->counts[i], count);
}

/* Kinds and counts of a rank are two arrays; both lists name the ranks in the same order. */
void sp_sum_losses(const sp_results *results, const sp_rank_filter *ranks, sp_loss_sums *out)
{
    size_t kinds_at = 0, counts_at = 0;
    const sp_extra *kinds, *counts;
    out->used = 0;
    while ((kinds = sp_next_extra(results, ranks, "loss_kinds", &kinds_at)) != NULL &&
           (counts = sp_next_extra(results, ranks, "loss_counts", &counts_at)) != NULL) {
        if (kinds->rank != counts->rank || kinds->length != counts->length ||
            kinds->texts == NULL || counts->integers == NULL)
            continue;
        for (size_t i = 0; i < kinds->length; i++)
            add_loss(out, kinds->texts[i], counts->integers[i]);
    }
}

/* ---- Costs -----------------------------------------------------------------------------------*/

static uint64_t calls_of_rank(const sp_results *results, uint32_t rank)
{
    uint64_t calls = 0;
    for (uint32_t r = sp_run_first_row_of_rank(results, rank); r != SP_NO_ROW;
         r = results->rows.items[r].next_in_rank) {
        const sp_row *row = results->rows.items[r].row;
        calls += row->has_aggregate ? row->aggregate.count : row->count;
    }
    return calls;
}

sp_recording_costs sp_sum_costs(const sp_results *results, const sp_rank_filter *ranks)
{
    sp_recording_costs costs = {0};
    size_t at = 0;
    const sp_extra *extra;
    while ((extra = sp_next_extra(results, ranks, "pair_cost_ns", &at)) != NULL)
        if (extra->reals != NULL && extra->length > 0 && extra->reals[0] > 0) {
            uint64_t of_rank = calls_of_rank(results, extra->rank);
            costs.pairs += extra->reals[0] * (double)of_rank;
            costs.calls += of_rank;
        }
    at = 0;
    while ((extra = sp_next_extra(results, ranks, "drain_ns", &at)) != NULL)
        for (size_t i = 0; extra->integers != NULL && i < extra->length; i++)
            costs.drains += (double)extra->integers[i];
    return costs;
}
