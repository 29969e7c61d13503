/* gather.h - the ranks of a job publish into one file, which rank 0 writes.
 *
 *     rank 0                                      rank r
 *     sp_gather_open      <- hello -------------- sp_gather_open
 *                         -- seen ->
 *                         -- ping -> <- pong      (only when r reads another clock)
 *     own calls to the writers                    sp_gather_await_turn
 *     sp_gather_collect   -- go ->                own calls to a relay writer
 *                         <- pieces ... end -
 *     commit
 *     sp_gather_conclude  -- verdict ->           sp_gather_await_verdict
 *
 * One rank after the other has its turn, so rank 0 needs memory for the tables of one rank, and a rank
 * that waits needs none. A rank that does not answer for `timeout_ns` is missing: when it had begun to
 * send, everything starts again without it (SP_GATHER_AGAIN). Only the verdict makes a rank let go of
 * its calls.
 *
 * Clocks: rank 0 asks a rank of another clock domain for its time again and again; the answer with the
 * shortest round trip counts, taken to lie in the middle of it, so the error is at most half of it
 * (F. Cristian, Probabilistic clock synchronization, 1989).
 *
 * Thread rules: one thread of each rank, in the same order of publications on all ranks.
 */
#ifndef SP_SESSION_GATHER_H
#define SP_SESSION_GATHER_H

#include "store/relay/relay.h"

typedef struct sp_gather sp_gather;

/* Beside sp_status: nothing was concluded, the publication starts again. */
enum { SP_GATHER_AGAIN = -1 };

typedef struct sp_gather_spec {
    const sp_communicator *communicator;
    int64_t timeout_ns; /* 0: none */
    int64_t start_ns;   /* of this rank's run, on its clock */
    uint64_t round;     /* running number of the common publications of a profiler */
} sp_gather_spec;

/* What rank 0 knows of a rank. */
typedef struct sp_gather_rank {
    bool is_missing;
    int64_t start_ns;     /* on its own clock */
    sp_relay_shift shift; /* to the times of rank 0 */
    int64_t clock_error_ns; /* at most; 0: the same clock */
    char host_name[256];
} sp_gather_rank;

int sp_gather_open(const sp_gather_spec *spec, sp_gather **out, sp_error *error);
void sp_gather_close(sp_gather *gather);

bool sp_gather_is_root(const sp_gather *gather);

/* Rank 0, after open. */
const sp_gather_rank *sp_gather_ranks(const sp_gather *gather); /* by rank */
uint32_t sp_gather_num_nodes(const sp_gather *gather);

/* Rank 0: takes over the calls of all other ranks. SP_GATHER_AGAIN when one of them got lost. */
int sp_gather_collect(sp_gather *gather, const sp_assemble_output *outputs, size_t num_outputs,
                      sp_error *error);
/* Rank 0, last: tells every rank how the publication ended (`text`: why it failed), late ones
 * included. */
void sp_gather_conclude(sp_gather *gather, int status, const char *text);

/* Other ranks. SP_OK: now send; else the verdict came first. */
int sp_gather_await_turn(sp_gather *gather, sp_error *error);
/* Where the relay writer of this turn sends to. */
sp_relay_sender sp_gather_sender(sp_gather *gather);
/* Instead of the rest of the stream. */
void sp_gather_give_up(sp_gather *gather, const char *text);
/* After the stream: how the publication ended; SP_GATHER_AGAIN: await the next turn. */
int sp_gather_await_verdict(sp_gather *gather, sp_error *error);

#endif
