/* native_run.h - runs that native code starts and ends: what sp_init and sp_create have in common.
 * All under the profiler's lock. */
#ifndef SP_SESSION_NATIVE_RUN_H
#define SP_SESSION_NATIVE_RUN_H

#include "session/profiler.h"

/* Starts a recording that writes <prefix>_rank<five digits>.h5 (prefix NULL: the default one). A
 * relative path counts from the folder that is current now. */
int sp_native_start(sp_profiler *profiler, const char *prefix, int rank, sp_error *error);

/* Publishes with the metadata of a native run: minimal, no user, host or folder. */
int sp_profiler_publish_native(sp_profiler *profiler, bool with_open_calls, bool want_image,
                               sp_binding_report *report, sp_error *error);

/* Publishes and stops. SP_ERR_OPEN_SCOPES when calls were open (they are left out); on any other
 * failure the recording goes on with everything it has. */
int sp_native_finalize(sp_profiler *profiler, sp_error *error);

#endif
