/* native_run.h - runs that native code starts and ends: what sp_init and sp_create have in common.
 * All under the profiler's lock. */
#ifndef SP_SESSION_NATIVE_RUN_H
#define SP_SESSION_NATIVE_RUN_H

#include "session/native_job.h"
#include "session/native_settings.h"

/* Starts a recording that writes <prefix>_rank<five digits>.h5 or .spt (prefix NULL: the default
 * one), the default profiler's what the environment says. Does nothing when the environment
 * disables profiling: the profiler is then muted, and ending it is no error. */
int sp_native_start(sp_profiler *profiler, const sp_native_settings *native, const char *prefix,
                    int rank, sp_error *error);

/* What sp_init does, under the profiler's lock. */
int sp_native_join(sp_profiler *profiler, const char *prefix, int rank, sp_error *error);

/* Publishes with the metadata of a native run: minimal, no user, host or folder. */
int sp_profiler_publish_native(sp_profiler *profiler, bool with_open_calls, bool want_image,
                               sp_binding_report *report, sp_error *error);

/* The same as one rank of a job: one file for all, written by rank 0. */
int sp_profiler_publish_jointly(sp_profiler *profiler, sp_job *job, bool with_open_calls,
                                bool want_image, sp_binding_report *report, sp_error *error);

/* The same, and nothing is consumed: with open calls for a program that may die now, without them
 * for one that goes on. */
int sp_profiler_publish_kept(sp_profiler *profiler, bool with_open_calls, sp_error *error);

/* Publishes and stops. SP_ERR_OPEN_SCOPES when calls were open (they are left out); on any other
 * failure the recording goes on with everything it has. */
int sp_native_finalize(sp_profiler *profiler, sp_error *error);

/* MPI is about to end: what is recorded is published with the other ranks, and the recording is over. Without
 * the profiler's lock. */
void sp_native_mpi_ends(void);
/* The part of a run that the environment started; under the lock. False: it goes on, for the exit. */
bool sp_run_end_jointly(sp_profiler *profiler, sp_job *job);

#endif
