/* publish_int.h - the two kinds of publication, shared by the files of this layer. */
#ifndef SP_SESSION_PUBLISH_INT_H
#define SP_SESSION_PUBLISH_INT_H

#include "session/outputs.h"
#include "session/profiler.h"
#include "session/region_snapshot.h"

enum { SP_NUM_LOSSES = SP_LOSS_COUNT + 1 };

/* Under the profiler's lock: the writers that the settings ask for; a publication into writers, which
 * it commits or aborts. */
int sp_publish_open(sp_profiler *profiler, const sp_binding_publication *what, sp_outputs *outputs,
                    sp_error *error);
int sp_publish_into(sp_profiler *profiler, const sp_binding_publication *what, sp_outputs *outputs,
                    sp_binding_report *report, sp_error *error);
/* The publication of all ranks of what->communicator. */
int sp_publish_together(sp_profiler *profiler, const sp_binding_publication *what,
                        sp_binding_report *report, sp_error *error);
/* Whether this thread is inside it: the calls of MPI that it makes are not the program's. */
bool sp_publish_is_talking(void);

/* Under the profiler's lock. The outputs are committed, or aborted by the caller on failure. */
int sp_profiler_publish_calls(sp_profiler *profiler, const sp_binding_publication *what,
                              sp_outputs *outputs, sp_binding_report *report, sp_error *error);
int sp_profiler_publish_totals(sp_profiler *profiler, const sp_binding_publication *what,
                               sp_outputs *outputs, sp_binding_report *report, sp_error *error);

/* Counts of what was lost, as they are now. */
void sp_losses_fill(const sp_recording *recording, sp_assemble_loss out[SP_NUM_LOSSES]);
void sp_losses_report(const sp_recording *recording, sp_binding_report *report);

/* What measures the calls of the configuration; `more`: of calls that are in no block. */
sp_assemble_instruments sp_publish_instruments(const sp_recording *recording,
                                               const sp_counter_sums *more);

/* The thread table, names in `names`; a thread that no language named has the system's name. Under the
 * lock of the recording. False: memory is short. */
typedef SP_VECTOR(sp_thread_row) sp_thread_rows;
typedef SP_VECTOR(sp_task_row) sp_task_rows;
bool sp_tasks_fill(sp_profiler *profiler, sp_task_rows *out, sp_arena *names);
bool sp_threads_fill(sp_profiler *profiler, sp_thread_rows *out, sp_arena *names);

#endif
