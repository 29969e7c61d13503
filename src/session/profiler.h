/* profiler.h - a profiler: a recording, its settings and its files. Inside this layer. */
#ifndef SP_SESSION_PROFILER_H
#define SP_SESSION_PROFILER_H

#include "base/arena.h"
#include "base/os/claim.h"
#include "recorder/recording.h"
#include "session/binding.h"
#include "session/run_metadata.h"

/* Settings of one configuration. Texts are borrowed until sp_profiler_start copies them. */
typedef struct sp_settings {
    const char *output; /* absolute path, NULL: in memory only */
    const char *label;  /* for the metadata of runs of native code, NULL: none */
    uint32_t rank;
    sp_output_format format;
    bool is_joint;            /* native: the ranks of a job write one file */
    const char *joint_output; /* that file; NULL: in memory only */
    int64_t timeout_ns;       /* how long they wait for a rank, 0: for ever */
    bool is_aggregate, track_threads, track_tasks;
    bool has_details; /* native: metadata_detail is 'full' */
    size_t max_memory; /* bytes for calls that are in no journal; 0: the default */
    const char *on_full; /* a choice of that setting; NULL: the default */
    const char *journal; /* "off", a folder, or NULL and "auto": beside the output */
    double journal_flush; /* seconds between drains by the helper, 0: none; below: the default */
    double checkpoint_interval; /* seconds between profiles written while it records, 0: none */
    sp_store_options store;
    /* Taken over by sp_profiler_start, whatever comes of it; NULL: none. Not kept in the profiler. */
    sp_instruments *instruments;
} sp_settings;

typedef struct sp_profiler_journal sp_profiler_journal;

/* Of a profiler that writes checkpoints; see checkpoint.h. */
typedef struct sp_checkpoints {
    int64_t interval_ns, due_ns; /* interval 0: none */
    int number;                  /* of the last one */
    bool has_failed;             /* it did */
    sp_profiler *next;           /* in the list of those that want some */
} sp_checkpoints;

struct sp_profiler {
    sp_recording recording; /* first, so that the hot functions need one address */

    sp_mutex lock; /* for what follows; taken before the lock of the recording */
    bool is_configured;
    bool is_host;    /* whoever configured it ends it; native code joins and leaves */
    const void *host; /* who that is */
    bool is_run;     /* configured by the environment of `scope-profiler run` */
    bool is_muted;   /* sp_finalize has nothing to do: profiling is disabled, or MPI's end was the run's */
    int joins;       /* sp_init calls not yet left by sp_finalize */
    bool was_joined; /* there was one in this configuration */
    sp_settings settings;
    sp_arena texts; /* of every configuration: callers may still hold the path of an earlier one */
    sp_run_metadata metadata; /* of a binding, for what is published without it; empty: none */
    int64_t start_ns;
    atomic_bool was_started;
    sp_checkpoints checkpoints;
    sp_profiler_journal *journal; /* of the configuration, NULL: none */
    sp_os_claim claim;
    atomic_bool has_claimed; /* the output name was settled among processes */

    /* Carried from one publication to the next. */
    int64_t next_id;
    uint64_t num_rounds; /* publications with other ranks, since the process started */
    sp_resolver *states; /* of threads, then of tasks */
    size_t num_states, num_task_states; /* of num_states */

    atomic_bool said_unmatched;
    sp_error last_error;
};

/* The profiler of the process's own; ready from the first call of sp_profiler_default on. */
extern sp_profiler sp_default;
/* NULL when memory is short. */
sp_profiler *sp_profiler_default(void);

/* Starts a configuration. Under the profiler's lock. */
int sp_profiler_start(sp_profiler *profiler, const sp_settings *settings, sp_error *error);
/* Changes the settings of the configuration that runs. Under the profiler's lock. */
int sp_profiler_set(sp_profiler *profiler, const sp_settings *settings, sp_error *error);
/* Has the recording keep to the settings' bounds of memory. Under the profiler's lock. */
void sp_profiler_bound(sp_profiler *profiler);
/* Ends it; what was recorded can still be asked for. Under the profiler's lock. */
void sp_profiler_stop(sp_profiler *profiler);

/* Publishes (see sp_binding_publish). Under the profiler's lock. */
int sp_profiler_publish(sp_profiler *profiler, const sp_binding_publication *what,
                        sp_binding_report *report, sp_error *error);
/* Whether a thread of our own may publish. */
bool sp_profiler_may_publish_aside(const sp_profiler *profiler);
/* Drops the closed calls as if they had been published. Under the profiler's lock. */
int sp_profiler_forget(sp_profiler *profiler, sp_error *error);
void sp_profiler_release_states(sp_profiler *profiler);

/* Says on standard error which calls are open, because they are left out. */
void sp_profiler_report_open(sp_profiler *profiler);

/* Cost of one begin+end pair, measured once in the life of the process. */
double sp_pair_cost_ns(void);
void sp_pair_cost_fork_child(void);

/* In the child of a fork, where the profiler is as if never configured. */
void sp_profiler_start_over(sp_recording *recording);

/* Settles the name of a run's output among the processes of the run: called when the first call of
 * the process is recorded. */
void sp_run_claim_output(sp_profiler *profiler);

/* Once for the life of the process: what happens around forks. */
void sp_session_install(void);
/* On a thread that starts to record: settles the output of a run, lets the binding name it. */
void sp_session_thread_starts(sp_recording *recording);

#endif
