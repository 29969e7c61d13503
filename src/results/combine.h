/* combine.h - the rows of several runs in one. */
#ifndef SP_RESULTS_COMBINE_H
#define SP_RESULTS_COMBINE_H

#include "results/model.h"

/* How a rank of one run enters another. */
typedef struct sp_rank_plan {
    uint32_t rank;
    bool is_shared; /* more than one run has it: call ids of different recorders do not go together */
} sp_rank_plan;

/* Appends rows, threads, tasks and extra arrays of `plan->rank`, copied. Threads that both runs know
 * by their number within the system stay one thread. Of a shared rank the call ids are left out. A
 * region that the rank has already is SP_ERR_INVALID_ARGUMENT. */
int sp_run_append_rank(sp_results *results, sp_results *from, const sp_rank_plan *plan,
                       sp_error *error);

#endif
