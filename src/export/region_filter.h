/* region_filter.h - which regions a table or an export is about. */
#ifndef SP_EXPORT_REGION_FILTER_H
#define SP_EXPORT_REGION_FILTER_H

#include "scope_results.h"

/* One entry a region of the run, true where it is selected; free() it. A region is selected when a
 * pattern of `include` fits (or there is none), none of `exclude` does, and its name is one of
 * `include_names` (or that is NULL). */
int sp_region_filter(const sp_results *results, const sp_summary_options *options,
                     bool **out_selected, sp_error *error);

#endif
