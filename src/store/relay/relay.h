/* relay.h - a run handed from one process to another: a store writer whose file is a stream of bytes,
 * and the other end, which replays the stream into other writers. Nothing is kept: both ends need a
 * piece of the stream and the tables of one rank, however many calls pass through.
 *
 * Both ends are the same build on machines of the same byte order; the stream is not a file format.
 */
#ifndef SP_STORE_RELAY_H
#define SP_STORE_RELAY_H

#include "store/assemble.h"

/* Where a stream goes. */
typedef struct sp_relay_sender {
    /* Sends bytes that the next receive gives in the same order, in pieces of any size. A status. */
    int (*send)(void *context, const void *bytes, size_t size, sp_error *error);
    void *context;
} sp_relay_sender;

enum { SP_RELAY_PIECE = 256 * 1024 }; /* most bytes of one send */

/* Starts a stream. The writer's commit sends its last piece and an end mark; abort sends nothing. */
int sp_relay_create(const sp_relay_sender *to, sp_store_writer **out, sp_error *error);
extern const sp_store_table sp_relay_writer;

/* Where a stream comes from. */
typedef struct sp_relay_receiver {
    /* The next piece, valid until the next call. A status. */
    int (*receive)(void *context, const void **out_bytes, size_t *out_size, sp_error *error);
    void *context;
} sp_relay_receiver;

/* How the times of the sender become those of the run they join. */
typedef struct sp_relay_shift {
    int64_t clock_ns; /* added to absolute times */
    int64_t start_ns; /* added to times relative to the start of the run */
} sp_relay_shift;

/* Replays one stream up to its end mark into writers that have their metadata; that of the stream is
 * left out. Statuses of receive and of the writers, SP_ERR_DAMAGED, SP_ERR_NO_MEMORY. */
int sp_relay_replay(const sp_relay_receiver *from, const sp_relay_shift *shift,
                    const sp_assemble_output *outputs, size_t num_outputs, sp_error *error);

#endif
