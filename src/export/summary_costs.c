/* summary_costs.c - what the recording lost and what it cost, as sentences. */
#include "export/costs.h"
#include "export/number.h"
#include "export/summary.h"
#include "export/width.h"

#include <inttypes.h>

void sp_summary_write_losses(const sp_summary *summary, sp_text *out)
{
    sp_loss_sums sums;
    sp_sum_losses(summary->results, &summary->request.ranks, &sums);
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
    while ((flags = sp_next_extra(summary->results, &summary->request.ranks,
                                  "call_flags", &at)) != NULL)
        for (size_t i = 0; flags->integers != NULL && i < flags->length; i++)
            count += (flags->integers[i] & OPEN) != 0;
    if (count > 0)
        sp_text_format(out, "%" PRId64 " %s still open when the recording ended; %s until then.",
                       count, count == 1 ? "call was" : "calls were",
                       count == 1 ? "it counts" : "they count");
}

void sp_summary_write_costs(const sp_summary *summary, sp_text *out)
{
    sp_recording_costs costs = sp_sum_costs(summary->results, &summary->request.ranks);
    if (costs.calls == 0)
        return;
    sp_text_add(out, "Recording cost about ");
    sp_text_add_fixed(out, costs.pairs / (double)costs.calls, 0);
    sp_text_add(out, " ns a call, ");
    sp_text_add_fixed(out, costs.pairs / 1e9, 6);
    sp_text_add(out, " s in all, and ");
    sp_text_add_fixed(out, costs.drains / 1e9, 6);
    sp_text_add(out, " s in drains.");
}
