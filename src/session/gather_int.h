/* gather_int.h - messages between the ranks of a publication, and waiting for them; shared by the
 * files of gather.h. */
#ifndef SP_SESSION_GATHER_INT_H
#define SP_SESSION_GATHER_INT_H

#include "session/gather.h"

#define SP_GATHER_MAGIC UINT64_C(0x7265687461677073) /* "spgather" */

typedef enum sp_gather_kind {
    SP_GATHER_HELLO = 1, /* numbers: start_ns; texts: version, host name, clock domain */
    SP_GATHER_SEEN,
    SP_GATHER_PING,
    SP_GATHER_PONG, /* numbers: the rank's clock */
    SP_GATHER_GO,
    SP_GATHER_VERDICT, /* status; texts: why */
    SP_GATHER_PIECE,   /* data channel: bytes of the stream */
    SP_GATHER_LAST,    /* data channel: nothing follows in this turn */
    SP_GATHER_FAILED   /* data channel: nothing follows; bytes are a text */
} sp_gather_kind;

typedef struct sp_gather_control {
    uint64_t magic, round;
    uint32_t kind;
    int32_t status;
    int64_t number;
    char version[32], host_name[256], clock_domain[256], text[512];
} sp_gather_control;

typedef struct sp_gather_data {
    uint64_t magic, round;
    uint32_t kind, num_bytes;
    unsigned char bytes[SP_RELAY_PIECE];
} sp_gather_data;

/* What rank 0 has going on with a rank. */
typedef struct sp_gather_peer {
    sp_gather_control in, *out; /* `out`: NULL or in the hands of `sending` */
    void *receiving, *sending;
} sp_gather_peer;

struct sp_gather {
    sp_gather_spec spec;
    const sp_communicator *comm;
    sp_gather_rank *ranks; /* rank 0 */
    sp_gather_peer *peers; /* rank 0: by rank; others: one, rank 0 */
    sp_gather_data *data;
    sp_gather_control hello; /* this rank's own */
    uint32_t source;         /* rank 0: whose stream it reads */
    bool is_turn_over;       /* rank 0: its last message has come */
    bool is_seen, is_silent; /* others: rank 0 has answered; has given up */
};

/* A wait that goes on: who is waited for, and since when. */
typedef struct sp_gather_wait {
    int64_t since_ns, deadline_ns, next_word_ns; /* deadline 0: none */
    unsigned steps;
} sp_gather_wait;

/* Internal status: the deadline has passed. */
enum { SP_GATHER_LATE = -2 };

/* `patience`: how many timeouts the wait may take; SP_GATHER_BRIEFLY: a second, in any case. */
enum { SP_GATHER_BRIEFLY = 0 };
void sp_gather_wait_begin(const sp_gather *gather, sp_gather_wait *wait, uint32_t patience);
/* Rests a little before the next test; longer the longer it has gone on. SP_GATHER_LATE. */
int sp_gather_wait_step(sp_gather_wait *wait);
/* True once a minute: time for a word to the user. */
bool sp_gather_wait_is_long(sp_gather_wait *wait);
int64_t sp_gather_waited_s(const sp_gather_wait *wait);

/* Waits until a request is done. SP_GATHER_LATE: it was given up. */
int sp_gather_await(sp_gather *gather, void *request, uint32_t patience, sp_error *error);

/* Hands a copy of the message over to `peer`; returns at once unless the one before is still there. */
int sp_gather_tell(sp_gather *gather, uint32_t to, sp_gather_peer *peer,
                   const sp_gather_control *message, sp_error *error);
/* The next message of this round from a rank; older ones are passed over. */
int sp_gather_hear(sp_gather *gather, uint32_t from, sp_gather_peer *peer, uint32_t patience,
                   sp_error *error);

/* True for what belongs to this publication. */
bool sp_gather_is_current(const sp_gather *gather, const sp_gather_control *message);

sp_gather_control sp_gather_message(const sp_gather *gather, sp_gather_kind kind);
int64_t sp_gather_now_ns(const sp_gather *gather);

/* Rank 0: waits for the hello of every rank. */
int sp_gather_meet(sp_gather *gather, sp_error *error);
/* Rank 0: asks ranks of other clock domains for their time. */
int sp_gather_compare_clocks(sp_gather *gather, sp_error *error);

#endif
