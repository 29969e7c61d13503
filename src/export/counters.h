/* counters.h - what was counted beside the calls, as tables. */
#ifndef SP_EXPORT_COUNTERS_H
#define SP_EXPORT_COUNTERS_H

#include "base/text.h"
#include "results/model.h"

/* LIKWID counters, one group of tables for each rank and event group, and totals of perf events, one table
 * a rank, of the selected ranks. Nothing when there are none. SP_ERR_NO_MEMORY. */
int sp_add_counter_tables(sp_text *out, sp_results *results, const sp_summary_options *options,
                          sp_error *error);

#endif
