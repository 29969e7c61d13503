/* native_job.h - native programs as ranks of an MPI job, which write one file together. They do when
 * sp_finalize is called while MPI is up, and else when MPI ends; never at the exit of a process, which the
 * other ranks know nothing of.
 *
 * The MPI of the program is found among what the process has loaded, and a module made for it speaks with
 * it; without either each rank writes a file of its own.
 */
#ifndef SP_SESSION_NATIVE_JOB_H
#define SP_SESSION_NATIVE_JOB_H

#include "session/profiler.h"

/* Once MPI is up, sees to it that the default recording is published before it ends. Costs a look at a
 * variable when there is nothing to do; called where something new turns up. Any thread. */
void sp_job_watch(void);

typedef struct sp_job {
    const sp_mpi_table *mpi;
    sp_communicator ranks;
} sp_job;

/* True: this rank publishes with the others, until sp_job_close. Under the profiler's lock. */
bool sp_job_open(sp_job *job, sp_profiler *profiler);
void sp_job_close(sp_job *job);

/* Says, on one rank of several, that each writes its own file and how they become one. */
void sp_job_say_alone(const sp_profiler *profiler);

/* Number of ranks, as the launcher has it; 0: it does not say. */
int64_t sp_job_launched_size(void);

#endif
