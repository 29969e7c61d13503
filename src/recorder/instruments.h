/* instruments.h - the instruments (scope_plugin.h) of one configuration, and what a lane has of them.
 *
 * Whoever has a lane may still be inside an instrument when the configuration ends, so the set goes
 * with its last holder: the recording, and every lane that was attached to it.
 */
#ifndef SP_RECORDER_INSTRUMENTS_H
#define SP_RECORDER_INSTRUMENTS_H

#include "log/counters.h"
#include "scope_plugin.h"

#include <stdatomic.h>

typedef struct sp_lane sp_lane;
typedef struct sp_frame sp_frame;

typedef struct sp_instruments {
    atomic_size_t holders;
    atomic_uint complaints; /* bit of each instrument: its trouble was said */
    void (*say)(const char *text); /* one line for the user; NULL: nobody wants to know */
    size_t num_values; /* of all instruments, times of groups included */
    bool has_finish;   /* one of them has something to do before the end of a call */
    size_t side_words; /* that the records of one call take at most */
    size_t count;
    sp_instrument items[SP_INSTRUMENTS];
} sp_instruments;

/* Values that `read` gives. */
static inline size_t sp_instrument_width(const sp_instrument *instrument)
{
    return instrument->num_values + 2u * (size_t)instrument->num_groups;
}

/* SP_ERR_INVALID_ARGUMENT: a table that cannot be. `*out` is held once. The tables are copied and,
 * whatever becomes of them, released once: also when this fails. */
int sp_instruments_create(const sp_instrument *const *tables, size_t count,
                          void (*say)(const char *text), sp_instruments **out, sp_error *error);
sp_instruments *sp_instruments_hold(sp_instruments *instruments);
void sp_instruments_let_go(sp_instruments *instruments); /* NULL is fine */

/* What a lane has of them: the states of its thread, and what was read when its open calls began. */
typedef struct sp_lane_instruments {
    sp_instruments *set;
    bool is_attached[SP_INSTRUMENTS];
    void *states[SP_INSTRUMENTS];
    int64_t *begun;   /* num_values of each frame of the stack, by its place */
    size_t num_begun; /* frames that it has room for */
    int64_t *now;     /* num_values */
    uint64_t *side;   /* side_words: the records of the call that ends */
    size_t side_used;
} sp_lane_instruments;

/* On the lane's thread, on no path of it and with no lock. Memory that is short is counted, and the
 * lane then measures nothing. */
void sp_lane_instruments_attach(sp_lane *lane);
void sp_lane_instruments_detach(sp_lane *lane);

/* For every open call, as if it began now. */
void sp_lane_instruments_catch_up(sp_lane *lane);

/* The rest on a path, by the owner; they do nothing on a lane without instruments. */

/* Room for as many frames as the stack has. False: memory is short. */
bool sp_lane_instruments_make_room(sp_lane *lane);
/* A call was pushed, its clock is not read yet. */
void sp_lane_instruments_begin(sp_lane *lane, const sp_frame *frame);
/* The call of a frame is about to end. True: that took its time, and the clock has to be read again. */
bool sp_lane_instruments_finish(sp_lane *lane, const sp_frame *frame);
/* The call of a frame ends, its clock was read: its side records are then at hand. */
void sp_lane_instruments_end(sp_lane *lane, const sp_frame *frame);
/* The same for a call of which nothing is kept. */
void sp_lane_instruments_drop(sp_lane *lane, const sp_frame *frame);

#endif
