/* summary_costs.c - what the recording lost and what it cost, from the extra arrays of a run. */
#include "export/number.h"
#include "export/summary.h"
#include "export/width.h"

#include <inttypes.h>
#include <string.h>

static bool is_selected(const sp_summary *summary, const sp_extra *extra, const char *name)
{
    return strcmp(extra->name, name) == 0 &&
           sp_rank_filter_takes(&summary->request.ranks, extra->rank);
}

/* Next array of that name from `*at` on; NULL at the end. */
static const sp_extra *next_extra(const sp_summary *summary, const char *name, size_t *at)
{
    const sp_results *results = summary->results;
    while (*at < results->extras.count) {
        const sp_extra *extra = results->extras.items[(*at)++];
        if (is_selected(summary, extra, name))
            return extra;
    }
    return NULL;
}

/* ---- Losses ----------------------------------------------------------------------------------*/

enum { MAX_KINDS = 32 };

typedef struct loss_sums {
    const char *kinds[MAX_KINDS];
    int64_t counts[MAX_KINDS];
    size_t used;
} loss_sums;

static void add_loss(loss_sums *sums, const char *kind, int64_t count)
{
    size_t i = 0;
    while (i < sums->used && strcmp(sums->kinds[i], kind) != 0)
        i++;
    if (i == MAX_KINDS || count <= 0)
        return;
    if (i == sums->used) {
        sums->kinds[sums->used] = kind;
        sums->counts[sums->used++] = 0;
    }
    sums->counts[i] = sp_wrap_add(sums->counts[i], count);
}

/* Kinds and counts of a rank are two arrays; both lists name the ranks in the same order. */
static void sum_losses(const sp_summary *summary, loss_sums *sums)
{
    size_t kinds_at = 0, counts_at = 0;
    const sp_extra *kinds, *counts;
    while ((kinds = next_extra(summary, "loss_kinds", &kinds_at)) != NULL &&
           (counts = next_extra(summary, "loss_counts", &counts_at)) != NULL) {
        if (kinds->rank != counts->rank || kinds->length != counts->length ||
            kinds->texts == NULL || counts->integers == NULL)
            continue;
        for (size_t i = 0; i < kinds->length; i++)
            add_loss(sums, kinds->texts[i], counts->integers[i]);
    }
}

void sp_summary_write_losses(const sp_summary *summary, sp_text *out)
{
    loss_sums sums = {.used = 0};
    sum_losses(summary, &sums);
    for (size_t i = 0; i < sums.used; i++) {
        size_t at = out->length;
        sp_text_add(out, i == 0 ? "Missing or mended in this recording: " : ", ");
        sp_text_add_visible(out, sums.kinds[i]);
        sp_text_format(out, " %" PRId64, sums.counts[i]);
        for (; at < out->length; at++)
            if (out->bytes[at] == '_')
                out->bytes[at] = ' ';
    }
    sp_text_add(out, sums.used == 0 ? "" : ".");
}

void sp_summary_write_open_calls(const sp_summary *summary, sp_text *out)
{
    enum { OPEN = 16 }; /* docs/FORMATS.md, flags of calls */
    size_t at = 0;
    int64_t count = 0;
    const sp_extra *flags;
    while ((flags = next_extra(summary, "call_flags", &at)) != NULL)
        for (size_t i = 0; flags->integers != NULL && i < flags->length; i++)
            count += (flags->integers[i] & OPEN) != 0;
    if (count > 0)
        sp_text_format(out, "%" PRId64 " %s still open when the recording ended; %s until then.",
                       count, count == 1 ? "call was" : "calls were",
                       count == 1 ? "it counts" : "they count");
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

void sp_summary_write_costs(const sp_summary *summary, sp_text *out)
{
    double pairs = 0, drains = 0;
    uint64_t calls = 0;
    size_t at = 0;
    const sp_extra *extra;
    while ((extra = next_extra(summary, "pair_cost_ns", &at)) != NULL)
        if (extra->reals != NULL && extra->length > 0 && extra->reals[0] > 0) {
            uint64_t of_rank = calls_of_rank(summary->results, extra->rank);
            pairs += extra->reals[0] * (double)of_rank;
            calls += of_rank;
        }
    at = 0;
    while ((extra = next_extra(summary, "drain_ns", &at)) != NULL)
        for (size_t i = 0; extra->integers != NULL && i < extra->length; i++)
            drains += (double)extra->integers[i];
    if (calls == 0)
        return;
    sp_text_add(out, "Recording cost about ");
    sp_text_add_fixed(out, pairs / (double)calls, 0);
    sp_text_add(out, " ns a call, ");
    sp_text_add_fixed(out, pairs / 1e9, 6);
    sp_text_add(out, " s in all, and ");
    sp_text_add_fixed(out, drains / 1e9, 6);
    sp_text_add(out, " s in drains.");
}
