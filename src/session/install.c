#include "session/profiler.h"

#include "base/os/final_signal.h"
#include "recorder/attach.h"
#include "registry/registry_lock.h"
#include "session/checkpoint.h"
#include "session/flusher.h"
#include "session/journal.h"
#include "session/native_job.h"
#include "session/tags.h"

static _Atomic(sp_binding_thread_hook) thread_hook;

void sp_binding_on_new_thread(sp_binding_thread_hook hook)
{
    atomic_store(&thread_hook, hook);
}

/* The recording is the first member of its profiler. */
void sp_session_thread_starts(sp_recording *recording)
{
    sp_profiler *profiler = (sp_profiler *)recording;
    if (profiler->is_run)
        sp_run_claim_output(profiler);
    if (profiler->settings.is_joint)
        sp_job_watch();
    sp_profiler_journal_look_around(profiler);
    sp_binding_thread_hook hook = atomic_load(&thread_hook);
    if (hook != NULL)
        hook(profiler);
}

static void before_fork(void)
{
    sp_checkpoint_fork_prepare();
    sp_flusher_fork_prepare();
    sp_os_final_signals_fork_prepare();
    sp_registry_fork_prepare();
    sp_recordings_fork_prepare();
}

static void after_fork_in_parent(void)
{
    sp_recordings_fork_parent();
    sp_registry_fork_parent();
    sp_os_final_signals_fork_parent();
    sp_checkpoint_fork_parent();
}

/* What another thread of the parent was changing may be half done: nothing of it is freed, only
 * what the child needs is made new. The files stay the parent's. */
static void after_fork_in_child(void)
{
    sp_registry_fork_child();
    sp_tags_fork_child();
    sp_pair_cost_fork_child();
    sp_flusher_fork_child();
    sp_checkpoint_fork_child();
    sp_os_final_signals_fork_child();
    sp_recordings_fork_child(sp_profiler_start_over);
}

/* After everything that the program and its languages do at their end. */
static __attribute__((destructor)) void at_end(void)
{
    sp_checkpoint_end();
    sp_recordings_visit(sp_profiler_journal_exit, NULL);
}

static void install(void)
{
    sp_os_at_fork(before_fork, after_fork_in_parent, after_fork_in_child);
}

void sp_session_install(void)
{
    static sp_once once = SP_ONCE_INIT;
    sp_once_run(&once, install);
}
