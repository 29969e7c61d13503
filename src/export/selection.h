/* selection.h - what an export is about: regions, ranks, and how the run and its lanes are called. */
#ifndef SP_EXPORT_SELECTION_H
#define SP_EXPORT_SELECTION_H

#include "base/text.h"
#include "results/model.h"
#include "scope_results.h"

typedef struct sp_selection {
    sp_export_options options; /* never NULL ones */
    bool *regions;             /* selected ones */
    size_t num_regions;        /* how many are */
    sp_rank_filter ranks;
} sp_selection;

int sp_selection_init(sp_selection *selection, const sp_results *results,
                      const sp_export_options *options, sp_error *error);
void sp_selection_release(sp_selection *selection);

/* Ranks that are selected and have rows, ascending; free() them. */
int sp_selection_ranks(const sp_selection *selection, const sp_results *results,
                       uint32_t **out_ranks, size_t *out_count, sp_error *error);

/* Regions that are selected, by their first entry on any rank, those without calls last; free() them. */
int sp_selection_order(const sp_selection *selection, sp_results *results, size_t **out_regions,
                       size_t *out_count, sp_error *error);

/* Label of the options, else of the run, else the stem of its file, else "profile". */
void sp_selection_add_label(const sp_selection *selection, const sp_results *results, sp_text *out);

/* How a lane (as in sp_call_tree) is called. */
void sp_add_lane_label(sp_text *out, const sp_results *results, uint32_t rank, int64_t lane);

#endif
