/* recover.h - what is left of a recording as the rows of a profile, for whatever writers. */
#ifndef SP_STORE_JOURNAL_RECOVER_H
#define SP_STORE_JOURNAL_RECOVER_H

#include "store/assemble.h"
#include "store/journal/load.h"

/* Writes everything but create and commit to every output, as sp_assemble does. `out` gets what
 * sp_assembly_result_release takes. */
int sp_recover(sp_loaded *loaded, const sp_assemble_output *outputs, size_t num_outputs,
               sp_assembly_result *out, sp_error *error);

#endif
