#include "export/rank_paths.h"

#include "base/error.h"

int sp_rank_paths_init(sp_call_paths *paths, sp_results *results, const sp_selection *selection,
                       uint32_t rank, sp_error *error)
{
    if (selection->num_regions == 0 && results->regions.count > 0)
        return sp_fail(error, SP_ERR_NOT_FOUND, "No regions matched the selected filters.");
    uint32_t num_ranks = results->num_ranks > 0 ? results->num_ranks : 1;
    if (rank >= num_ranks && sp_run_first_row_of_rank(results, rank) == SP_NO_ROW)
        return sp_fail(error, SP_ERR_NOT_FOUND, "Invalid rank requested: %u", rank);
    int status = sp_call_paths_init(paths, results, selection->regions, rank, error);
    if (status == SP_OK && paths->nodes.count == 1) {
        sp_call_paths_release(paths);
        return sp_fail(error, SP_ERR_NOT_FOUND, "No calls recorded for the requested ranks.");
    }
    return status;
}

void sp_add_root_name(sp_text *out, const sp_results *results, const sp_selection *selection,
                      uint32_t rank)
{
    sp_text_add(out, "<");
    sp_selection_add_label(selection, results, out);
    sp_text_format(out, " rank %u>", rank);
}
