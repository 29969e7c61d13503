/* rank_paths.h - the call paths of one rank for exports that are about one rank. */
#ifndef SP_EXPORT_RANK_PATHS_H
#define SP_EXPORT_RANK_PATHS_H

#include "export/call_paths.h"

/* Checks that something is selected, that the rank exists and has calls (SP_ERR_NOT_FOUND), then
 * walks through them. */
int sp_rank_paths_init(sp_call_paths *paths, sp_results *results, const sp_selection *selection,
                       uint32_t rank, sp_error *error);

/* "<LABEL rank N>" */
void sp_add_root_name(sp_text *out, const sp_results *results, const sp_selection *selection,
                      uint32_t rank);

#endif
