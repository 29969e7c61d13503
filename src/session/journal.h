/* journal.h - the journal of a profiler: when it has one, what goes into it beside blocks, when it
 * goes away. Inside this layer. Under the profiler's lock unless a function says otherwise. */
#ifndef SP_SESSION_JOURNAL_H
#define SP_SESSION_JOURNAL_H

#include "recorder/recording.h"
#include "session/profiler.h"

/* For the settings of the profiler; NULL: they want none, or memory is short. */
sp_profiler_journal *sp_profiler_journal_create(sp_profiler *profiler);
/* For sp_recording_start; NULL for none. */
sp_sink *sp_profiler_journal_sink(sp_profiler_journal *journal);
/* No lane uses it any more. NULL is fine. */
void sp_profiler_journal_destroy(sp_profiler_journal *journal);

/* The settings have changed. */
void sp_profiler_journal_change(sp_profiler *profiler);
/* The configuration ends: the files go, unless they hold what could not be published. */
void sp_profiler_journal_stop(sp_profiler *profiler);
/* The process ends: files that hold nothing which is in no profile go. For sp_recordings_visit. */
void sp_profiler_journal_exit(sp_recording *recording, void *context);
/* Whether calls have ended that no profile holds. */
bool sp_profiler_has_unpublished(sp_recording *recording);
/* In the child of a fork. */
void sp_profiler_journal_forget(sp_profiler *profiler);

/* Whether the helper thread drains it, and how often. */
bool sp_profiler_journal_flushes(const sp_profiler *profiler, double *out_seconds);
/* A copy of the descriptor of its newest file, to be closed; -1: it has none. */
int sp_profiler_journal_descriptor(const sp_profiler *profiler);

/* Says once a configuration what other journals of the same output there are. Without a lock, on the
 * thread that starts to record. */
void sp_profiler_journal_look_around(sp_profiler *profiler);

/* What the configuration measures, before it starts; NULL: nothing. */
void sp_profiler_journal_instruments(sp_profiler_journal *journal,
                                     const sp_instruments *instruments);

/* Under the lock of the recording: a region is new or has changed. */
void sp_profiler_journal_region(sp_profiler *profiler, sp_region_entry *entry);

/* ---- Around a publication --------------------------------------------------------------------*/

/* Where a ring stood when its lane was harvested. */
typedef struct sp_ring_mark {
    uint32_t ring, epoch, words;
    uint64_t calls;
} sp_ring_mark;

/* The generation for what is recorded from now on; 0: there is no journal. Under the lock of the
 * recording. */
uint32_t sp_profiler_journal_begin(sp_profiler *profiler);
/* Under the drain lock of a lane that was drained: what follows belongs to the next publication. */
void sp_profiler_journal_turn(sp_lane *lane, uint32_t generation, sp_ring_mark *out);
/* The profile is in its place: what it holds goes, and what the next one starts from is noted. */
void sp_profiler_journal_published(sp_profiler *profiler, uint32_t generation,
                                   const sp_ring_mark *marks, size_t num_marks);
void sp_profiler_journal_failed(sp_profiler *profiler, uint32_t generation);

#endif
