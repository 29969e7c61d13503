/* recording.h - one recording: the lanes of its threads, its regions, its clock, its blocks. What a
 * profiler consists of below the session, which adds settings, names and files.
 *
 * A recording outlives its configurations. sp_recording_start begins one, sp_recording_stop ends it
 * and leaves everything to be read until the next start.
 *
 * Thread rules: begin, end and what else records (record.h of this folder) from any thread at any
 * time. The functions here from any thread; start, stop and release of one recording not at the
 * same time as each other.
 */
#ifndef SP_RECORDER_RECORDING_H
#define SP_RECORDER_RECORDING_H

#include "base/vector.h"
#include "clock/timeline.h"
#include "recorder/lane.h"
#include "recorder/memory_sink.h"
#include "registry/region_table.h"

/* What begins and ends do. */
typedef enum sp_phase {
    SP_PHASE_OFF,       /* nothing: not started, or stopped */
    SP_PHASE_RECORDING, /* record */
    SP_PHASE_PAUSED,    /* begins are ignored, call by call, until their ends */
    SP_PHASE_ELSEWHERE  /* nothing is recorded here: another copy of the library does */
} sp_phase;

/* Why calls were lost. The order is that of sp_loss_names. */
typedef enum sp_loss {
    SP_LOSS_MEMORY_FULL,    /* the ceiling was reached: their totals are exact, the calls not kept */
    SP_LOSS_OUT_OF_MEMORY,  /* the system had no memory */
    SP_LOSS_SIGNAL_REENTRY, /* begins in a signal handler that interrupted the recorder itself */
    SP_LOSS_THREAD_EXIT,    /* open when their thread ended */
    SP_LOSS_METADATA,       /* calls kept without their metadata: no memory for it */
    SP_LOSS_COUNTERS,       /* times that counters found no memory: calls kept without them */
    SP_LOSS_COUNT
} sp_loss;

extern const char *const sp_loss_names[SP_LOSS_COUNT];

/* One thread that recorded; the position is the lane's index. */
struct sp_thread_info {
    int64_t native_id, ident; /* ident -1 unknown */
    int64_t start_ns, end_ns, cpu_ns; /* absolute, -1 unknown or alive */
    bool is_daemon;
    char *name; /* NULL unknown */
};

typedef enum sp_task_kind { SP_TASK_ASYNC, SP_TASK_GREENLET } sp_task_kind;

/* One task; the position is its lane number from SP_RECORD_TASK_LANES on. The texts under the lock of
 * the recording. Written by the thread that makes its steps. */
typedef struct sp_task_info {
    sp_task_kind kind;
    uint32_t number; /* the position */
    char *name, *coroutine; /* NULL unknown */
    int64_t created_ns;     /* absolute */
    _Atomic int64_t done_ns;          /* -1: it is not */
    _Atomic int64_t thread;           /* of its first step, -1: it has made none */
    _Atomic uint64_t steps;
    _Atomic uint64_t running, suspended; /* ticks since its first step; up to its last change */
} sp_task_info;

/* Takes the system's name of a thread that still runs, unless a language named it. Under the lock of
 * the recording. */
void sp_thread_info_name(sp_thread_info *info);

typedef struct sp_recording_settings {
    bool is_aggregate; /* totals only */
    size_t max_memory; /* bytes for blocks in memory */
    sp_on_full on_full;
    const char *spill_folders[SP_SPILL_FOLDERS]; /* see sp_memory_settings */
    void (*say)(const char *what, const char *folder);
    sp_sink *sink; /* where blocks go; NULL: they stay in memory */
    size_t ring_words; /* 0: the default */
    sp_instruments *instruments; /* taken over, whatever becomes of the start; NULL: none */
} sp_recording_settings;

enum { SP_RING_WORDS = 256 * 1024 / 8, SP_RING_MIN_WORDS = 64 };

struct sp_recording {
    /* Read by the paths. */
    _Atomic uint8_t phase;
    uint32_t slot;               /* position in the tables of the threads */
    _Atomic uint64_t generation; /* of the configuration; never the same twice in a process */
    bool is_aggregate;
    sp_region_table regions;
    sp_timeline timeline;
    _Atomic uint64_t ticks_per_second;
    sp_mutex clock_lock; /* for adding anchors */
    atomic_size_t lost[SP_LOSS_COUNT];
    atomic_size_t unmatched_ends, crossing;

    sp_memory_sink memory;
    atomic_bool is_full; /* there was no room, and calls are to be counted from now on */
    sp_sink *sink; /* of this configuration */
    size_t ring_words;
    sp_instruments *instruments; /* of this configuration, NULL: none */
    /* Called on every thread that starts to record, before its first call is; NULL: not wanted. */
    void (*on_thread)(sp_recording *recording);
    bool is_lasting; /* goes on to exist in the child of a fork */

    /* For what follows; taken before any drain lock, by sp_recording_lock. */
    sp_mutex lock;
    SP_VECTOR(sp_lane *) lanes; /* of this configuration, those that wait for a thread included */
    SP_VECTOR(sp_thread_info) threads;
    SP_VECTOR(sp_task_info *) tasks;
    sp_sums past;       /* of threads that ended, and calls they left open */
    sp_counter_sums past_counters; /* of threads that ended, of calls that are in no block */
    sp_sums unkept;     /* those of ended threads: see lane.h */
    sp_sums published;  /* sums taken out (sp_recording_take_sums) for good */
    sp_recording *next; /* in the list of all */
};

/* Reserves what does not depend on a configuration and takes a slot. False: memory is short. */
bool sp_recording_init(sp_recording *recording);
/* No other thread may be inside; what others still hold of it they find out at their next call. */
void sp_recording_release(sp_recording *recording);

/* Starts afresh: no regions, no calls, a new generation. SP_ERR_NO_MEMORY, SP_ERR_NO_CLOCK. */
int sp_recording_start(sp_recording *recording, const sp_recording_settings *settings,
                       sp_error *error);
/* From now on begins and ends do nothing. */
void sp_recording_stop(sp_recording *recording);
/* After stop: the phase that there was, in the same configuration. */
void sp_recording_continue(sp_recording *recording, sp_phase phase);

/* Calls open at a pause end normally, later ones are ignored, balanced call by call. Nothing while
 * the recording is off. */
void sp_recording_pause(sp_recording *recording);
void sp_recording_resume(sp_recording *recording);

/* Locks a recording. While this thread has the lock, or the drain lock of a lane, nothing is recorded
 * on it: a signal handler that tried would wait for its own thread for ever. Its calls are counted as
 * SP_LOSS_SIGNAL_REENTRY. `before`: what the lock returned. */
sp_lane *sp_recording_lock(sp_recording *recording);
void sp_recording_unlock(sp_recording *recording, sp_lane *before);

/* The memory of a recording has other bounds from now on. */
void sp_recording_bound(sp_recording *recording, const sp_recording_settings *settings);

/* Grows with each start and stop of any recording. */
uint64_t sp_recordings_generation(void);

/* While this is held no recording goes away. Taken before the lock of a recording. */
void sp_recordings_lock(void);
void sp_recordings_unlock(void);
/* Visits every recording of the process while it is held. */
void sp_recordings_visit(void (*visit)(sp_recording *recording, void *context), void *context);

/* Adds an anchor of the clock if the last one is old, or (`always`) anyway. */
void sp_recording_anchor(sp_recording *recording, bool always);
/* The same for a lane that found one due; it is told when the next one is. Owner only. */
void sp_recording_anchor_lane(sp_lane *lane);

static inline sp_phase sp_recording_phase(const sp_recording *recording)
{
    return (sp_phase)atomic_load_explicit(&recording->phase, memory_order_relaxed);
}

static inline void sp_recording_lose(sp_recording *recording, sp_loss why, size_t count)
{
    atomic_fetch_add_explicit(&recording->lost[why], count, memory_order_relaxed);
}

/* Around fork, in the thread that forks. In the child every lasting recording is as if never
 * started, and is visited; the others are forgotten. */
void sp_recordings_fork_prepare(void);
void sp_recordings_fork_parent(void);
void sp_recordings_fork_child(void (*visit)(sp_recording *recording));

#endif
