/* lane.h - what a thread writes while it records into one recording: the nesting stack and the
 * ring. One owner; others look at it under its drain lock. */
#ifndef SP_RECORDER_LANE_H
#define SP_RECORDER_LANE_H

#include "base/os/thread.h"
#include "base/vector.h"
#include "log/pack.h"
#include "log/resolver.h"
#include "recorder/instruments.h"
#include "recorder/notes.h"
#include "recorder/sink.h"
#include "recorder/sums.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct sp_recording sp_recording;
typedef struct sp_thread sp_thread;

/* A call that is open. 32 bytes: the distance from the outermost in bytes, shifted by 28, is the
 * depth in place for the first word of its record. Atomic because others look at open calls. */
struct sp_frame {
    _Atomic uint64_t start;  /* tick */
    _Atomic uint64_t key;    /* region; any bit above the lower 32 sends the end to the slow path */
    _Atomic uint64_t number; /* of the begin within the lane */
    _Atomic uint64_t extra;  /* marked: tick from which its time counts for the call below;
                                ignored calls: how many */
};

/* Bits of a key above the region. */
#define SP_KEY_FLAGS_SHIFT 32 /* SP_CALL_ flags */
#define SP_KEY_FLAGS_MASK 31u
#define SP_KEY_RESUMPTION ((uint64_t)SP_CALL_RESUMPTION << SP_KEY_FLAGS_SHIFT)
#define SP_KEY_NOTED (UINT64_C(1) << 37)  /* metadata waits for the end of the call */
#define SP_KEY_SLOW (UINT64_C(1) << 38)   /* nothing to say, but no short cut */
#define SP_KEY_MARKED (UINT64_C(1) << 39) /* to be written as a marked record */
#define SP_KEY_IGNORED_SHIFT 40           /* number of frames of ignored calls below */
#define SP_KEY_IGNORED_MASK ((UINT64_C(1) << 22) - 1)
#define SP_KEY_AWAITED (UINT64_C(1) << 62) /* its task was suspended while it was open */
#define SP_KEY_SPECIAL (UINT64_C(1) << 63)
/* Frames that are no calls. */
#define SP_KEY_BOTTOM (SP_KEY_SPECIAL | 1)
#define SP_KEY_ENDED (SP_KEY_SPECIAL | 2)   /* its call ended while later ones were open */
#define SP_KEY_IGNORED (SP_KEY_SPECIAL | 3) /* calls begun while paused and not ended yet */

/* What readers of the ring in other processes go by: the layout is part of the journal's format. */
typedef struct sp_ring_state {
    _Atomic uint32_t epoch; /* odd: what the ring held is handed on, and it is being emptied */
    uint32_t ring, lane;
    uint32_t settled; /* words that are in a profile already */
    uint64_t calls; /* running number of the first call in the ring */
} sp_ring_state;

/* Calls of a region that are only counted. */
typedef struct sp_lane_counter {
    _Atomic uint64_t count; /* by the owner */
    uint64_t collected;     /* of them are in the sums */
} sp_lane_counter;

/* What takes turns on a lane: the nesting stack of its thread, or that of a task (task.h). While
 * another one has the lane, its stack is kept here; the lane itself has that of the current one. */
typedef struct sp_strand {
    /* What readers in other processes go by: this is part of the journal's format. */
    _Atomic(sp_frame *) top; /* NULL: it has the lane, or has ended */
    sp_frame *outermost;
    uint32_t index;          /* lane number within the configuration */
    uint32_t slot;           /* of the task within its lane, 0: the thread's own */

    _Atomic uint64_t lost;   /* calls that the sink had no room for, and no record says so yet; written
                                under the drain lock, as is what follows */
    sp_frame *plain_ceiling, *outer_marked;
    size_t stack_room, stack_bytes;
    bool is_first_stack;
    uint32_t num_ignored;
    uint64_t next_number;
    sp_notes notes;
} sp_strand;

typedef struct sp_task sp_task;

struct sp_lane {
    /* Every call touches these. Written by the owner, `states` by whoever pauses and resumes. */
    alignas(128) atomic_bool is_inside; /* the owner is on a path; a dummy always is */
    _Atomic(sp_frame *) top;
    sp_frame *ceiling; /* a begin needs top below it; NULL: the slow path has a say */
    _Atomic(const _Atomic uint8_t *) states;
    uint64_t next_number;
    _Atomic(uint64_t *) head; /* next free word of the ring */
    uint64_t *limit;          /* a short record needs head below it */
    uint64_t anchor_due;      /* tick at which the clock wants a new anchor */
    sp_frame *outermost;      /* where a call of depth 0 goes; one below lies the bottom */

    /* The owner alone. */
    sp_recording *recording; /* NULL: an idle lane */
    sp_thread *thread;       /* NULL: its thread has ended, it waits for another */
    uint64_t attached_to;    /* generation of the configuration it was last set up for */
    size_t stack_room;       /* frames allocated */
    size_t stack_bytes;      /* of a stack in a room of its own, 0: it is in none */
    bool is_first_stack;     /* it lies in the room of the lane */
    void (*free_room)(void *room, size_t bytes); /* of the lane and its ring; NULL: in none */
    size_t room_bytes;
    sp_frame *plain_ceiling; /* what ceiling is while nothing special is on the stack */
    sp_frame *outer_marked;  /* outermost ended or marked frame on the stack, NULL: none */
    uint32_t num_ignored;    /* frames of ignored calls on the stack */
    uint64_t abandoned;      /* calls left open by an earlier configuration: their ends are due */
    sp_notes notes;          /* metadata of open calls */
    uint64_t *words;         /* the ring */
    size_t num_words;
    bool is_instrumented;    /* every begin and end takes the slow path */
    sp_lane_instruments *instruments; /* NULL: there are none */
    sp_strand *strand;       /* what has the lane */
    sp_strand own;           /* the thread's */
    uint64_t stamp;          /* never the same for two threads or configurations of a lane */
    uint32_t told;           /* lane number that the records at the head belong to */
    sp_task *free_tasks;     /* linked; of the slots */
    struct sp_task_block *task_blocks; /* what they lie in */

    /* Under the drain lock; the owner moves the stack under it too. */
    alignas(64) sp_mutex lock;
    sp_ring_state state;
    uint64_t generation; /* as attached_to, 0 once that configuration is gone */
    uint32_t index;      /* lane number within the configuration, of what has the lane */
    uint32_t thread_index;
    uint32_t ring;       /* ring number: stays when the lane goes on to another thread */
    uint64_t *published; /* words before it have been drained */
    uint64_t num_calls;  /* of the ring, drained so far */
    uint32_t packed;     /* lane number that the first word not drained yet belongs to */
    uint32_t packed_slot;
    atomic_bool is_losing; /* the sink had no room, and nothing is packed until it has */
    SP_VECTOR(sp_task *) tasks; /* by slot - 1 */
    sp_sink_ring *sink;
    sp_sums sums;          /* of drained calls; of those in blocks only as far as `summed` */
    sp_sink_cursor summed; /* see lane_sums.h */
    sp_counter_sums counters; /* of calls that are in no block: aggregate mode, and lost ones */
    sp_lane_counter *counts; /* by region; the owner counts without the lock */
    size_t num_counts;
    sp_sums unkept;        /* drained calls since the last publication that are in no block */
    uint64_t forgotten;    /* calls that were, before the oldest block there is */
    sp_resolver nesting; /* aggregate mode: child times of open calls, for exclusive times */
    sp_pack pack;        /* working memory of a drain */
};

/* What a thread has. */
struct sp_thread {
    sp_lane idle;    /* where the thread's pointer points while the default has no lane here */
    sp_lane **lanes; /* by slot of the recording; never NULL */
    uint32_t num_lanes;
    int64_t native_id, ident; /* ident: the language's own, -1 unknown */
    char *name;               /* NULL: not given */
    bool is_daemon;
};

/* The one thread-local: the calling thread's lane of the default recording, an idle lane, or (before
 * first use) the dummy. One pointer, so that it fits the static TLS space of a process that loads
 * this library late. */
extern _Thread_local sp_lane *sp_lane_current __attribute__((tls_model("initial-exec")));

extern sp_lane sp_lane_dummy; /* refuses everything */

#endif
