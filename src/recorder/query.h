/* query.h - looking at a recording while it runs: counts, sums, open calls.
 *
 * Any thread. What is asked about other threads is a snapshot; about the calling thread it is exact.
 */
#ifndef SP_RECORDER_QUERY_H
#define SP_RECORDER_QUERY_H

#include "recorder/recording.h"

/* Calls entered, open ones included. */
int64_t sp_recording_num_calls(sp_recording *recording, uint32_t region);

/* Sums of the calls that ended; all zero when there are none. */
void sp_recording_sum(sp_recording *recording, uint32_t region, sp_sum *out);

/* Takes the sums of the calls that ended out of the recording (the counts of open calls stay), for
 * a publication of totals. Then they are put back, or kept as published: they go on counting in the
 * two questions above, and never come out again. */
void sp_recording_take_sums(sp_recording *recording, sp_sums *out);
void sp_recording_put_sums(sp_recording *recording, sp_sums *sums, bool are_published);

/* The same with what instruments measured of calls that are in no block. */
void sp_recording_take_counters(sp_recording *recording, sp_counter_sums *out);
void sp_recording_put_counters(sp_recording *recording, sp_counter_sums *sums);

/* Whether a thread is recorded as running whose ident (sp_thread_describe) is not among these;
 * threads without an ident do not count. */
bool sp_recording_has_other_thread(sp_recording *recording, const int64_t *idents, size_t count);

/* A call that is open now. Ticks as in a record. */
typedef struct sp_open_call {
    uint32_t lane, region, depth, flags;
    uint64_t number, parent, start, outer_from;
    uint64_t awaited; /* ticks in which its task did not run */
} sp_open_call;

typedef SP_VECTOR(sp_open_call) sp_open_calls;

/* Appends the open calls of a lane, outermost first, under its drain lock. False: memory is
 * short. */
bool sp_lane_open_calls(sp_lane *lane, sp_open_calls *out);
/* Those of every lane. */
bool sp_recording_open_calls(sp_recording *recording, sp_open_calls *out);

#endif
