/* costs.h - what the recording of a run cost and what it lost, from the extra arrays of the run. */
#ifndef SP_EXPORT_COSTS_H
#define SP_EXPORT_COSTS_H

#include "results/model.h"

/* Next array of that name of those ranks from `*at` on (0: the first); NULL at the end. */
const sp_extra *sp_next_extra(const sp_results *results, const sp_rank_filter *ranks,
                              const char *name, size_t *at);

enum { SP_MAX_LOSS_KINDS = 32 };

/* Losses by kind, in order of appearance; kinds are borrowed from the run. */
typedef struct sp_loss_sums {
    const char *kinds[SP_MAX_LOSS_KINDS];
    int64_t counts[SP_MAX_LOSS_KINDS];
    size_t used;
} sp_loss_sums;

void sp_sum_losses(const sp_results *results, const sp_rank_filter *ranks, sp_loss_sums *out);

/* Measured cost of a begin and its end times the calls, and time spent in drains, in ns. */
typedef struct sp_recording_costs {
    double pairs, drains;
    uint64_t calls; /* those of ranks whose cost is known */
} sp_recording_costs;

sp_recording_costs sp_sum_costs(const sp_results *results, const sp_rank_filter *ranks);

#endif
