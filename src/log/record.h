/* record.h - what a ring holds: 64-bit words, written by the recorder, read by the packer.
 *
 * A call is written when it ends, so calls stand in post-order: children before their parent. A
 * side record (metadata, outcome, await, ...) follows the call it belongs to in the same ring.
 *
 * First word of every record:   bits 0-31   region id (or as the kind says)
 *                               bit  32     SP_RECORD_RESUMPTION (regular calls)
 *                               bits 33-55  depth (or as the kind says)
 *                               bits 56-63  kind
 */
#ifndef SP_LOG_RECORD_H
#define SP_LOG_RECORD_H

#include <stdbool.h>
#include <stdint.h>

typedef enum sp_record_kind {
    /* 3 words: first, start tick, end tick. Ended in order, in a lane without flagged calls, depth
     * below SP_RECORD_MAX_DEPTH: number and parent follow from order and depth. It may be a
     * resumption. */
    SP_RECORD_CALL = 0,
    /* 10 words, see below. Everything the short form cannot say. */
    SP_RECORD_CALL_MARKED = 1,
    /* 1 word: the records that follow belong to lane <region field>. The depth field is the recorder's
     * own: the slot of the lane's task within its thread, 0: the lane is the thread's. */
    SP_RECORD_LANE = 2,
    /* 3 words: first, start tick, end tick: time this thread spent draining. Not a call. */
    SP_RECORD_DRAIN = 3,
    /* 1 word + payload padded to words: belongs to the call before it. Region field: payload bytes;
     * depth field: sp_side_kind. Readers skip kinds they do not know. */
    SP_RECORD_SIDE = 4,
    /* 2 words: first, count: so many calls of this lane ended before this point and their records
     * are lost. Every call that was open then is written marked when it ends, and so is every call
     * begun while one of those is open. */
    SP_RECORD_LOST = 5
} sp_record_kind;

typedef enum sp_side_kind {
    SP_SIDE_METADATA = 1, /* a JSON object, UTF-8 */
    SP_SIDE_COUNTERS = 2, /* number of an instrument, then its values: see log/counters.h */
    SP_SIDE_PAYLOAD = 3,  /* number of an instrument, then bytes of its own */
    /* Numbers as in base/number_bytes.h: ticket of the call plus one (0: it has none), then pairs of
     * ticket and ns of device time, of calls that ended earlier on any lane. */
    SP_SIDE_DEVICE = 4,
    SP_SIDE_AWAIT = 5 /* u64, ticks of the call in which its task did not run */
} sp_side_kind;

enum {
    SP_RECORD_CALL_WORDS = 3,
    SP_RECORD_MARKED_WORDS = 10,
    SP_RECORD_LOST_WORDS = 2,
    SP_RECORD_DEPTH_SHIFT = 33,
    SP_RECORD_MAX_DEPTH = (1 << 23) - 1
};

/* In the first word of a regular call: it is a later interval of a generator or coroutine call. The
 * bit lies below the depth, so that packing sees it as a small part of the step to the next call. */
#define SP_RECORD_RESUMPTION (UINT64_C(1) << 32)

/* Words of SP_RECORD_CALL_MARKED. A call is written marked when it has a flag besides RESUMPTION,
 * when a call with CROSSING history (an outlived one) is under or above it on the stack, or when a
 * loss hit it.
 *
 * The last three words keep exclusive times right. Exclusive time of a call is the time in which it
 * was the innermost open call of its lane. When the call at stack position i ends at tick t while
 * position i + 1 is still open (a crossing end), position i + 1 counts for position i - 1 only from
 * t on: that t is its OUTER_FROM when it ends in turn. */
enum {
    SP_MARKED_FIRST = 0,
    SP_MARKED_START = 1,
    SP_MARKED_END = 2,
    SP_MARKED_FLAGS = 3,
    SP_MARKED_NUMBER = 4, /* begin number within the lane */
    SP_MARKED_PARENT = 5, /* begin number of the parent, SP_RECORD_NO_PARENT: none */
    SP_MARKED_DEPTH = 6,  /* the depth field of the first word is 0 */
    /* depth + 1 of the nearest call under it on the stack that is still open, 0: none. Of an
     * appended call: depth + 1 of the innermost open call of the lane, 0: none. */
    SP_MARKED_BELOW = 7,
    /* Tick from which on its time counts for that call below: its start, or the end of the last
     * call that ended from directly under it. */
    SP_MARKED_OUTER_FROM = 8,
    /* Tick since which the calls above it have covered it: OUTER_FROM of the call directly above,
     * its own end when nothing was open above. */
    SP_MARKED_INNER_FROM = 9
};

/* Flags of a call; 0 is fine. All but RESUMPTION are of SP_RECORD_CALL_MARKED alone. */
enum {
    SP_CALL_CROSSING = 1u << 0,   /* ended while calls opened inside it were still open */
    SP_CALL_OUTLIVED = 1u << 1,   /* a call below it in the stack ended first */
    SP_CALL_RESUMPTION = 1u << 2, /* a later interval of a generator or coroutine call */
    SP_CALL_APPENDED = 1u << 3,   /* given as finished: its four "ticks" are ns (int64), it has no
                                     parent, takes the next begin number, covers nobody's time */
    SP_CALL_OPEN = 1u << 4        /* still open when nothing could follow: end = last known time */
};

/* Lanes of threads are numbered from 0, those of tasks from here. */
#define SP_RECORD_TASK_LANES (UINT32_C(1) << 24)

#define SP_RECORD_NO_PARENT (~UINT64_C(0))

static inline uint64_t sp_record_first(sp_record_kind kind, uint32_t region, uint32_t depth)
{
    return (uint64_t)kind << 56 | (uint64_t)depth << SP_RECORD_DEPTH_SHIFT | region;
}

static inline sp_record_kind sp_record_kind_of(uint64_t first)
{
    return (sp_record_kind)(first >> 56);
}

static inline uint32_t sp_record_region(uint64_t first)
{
    return (uint32_t)first;
}

static inline uint32_t sp_record_depth(uint64_t first)
{
    return (uint32_t)(first >> SP_RECORD_DEPTH_SHIFT) & SP_RECORD_MAX_DEPTH;
}

/* Regular or marked. */
static inline bool sp_record_is_call(uint64_t first)
{
    return sp_record_kind_of(first) <= SP_RECORD_CALL_MARKED;
}

/* A regular call that is no resumption. */
static inline bool sp_record_is_plain(uint64_t first)
{
    return (first & (UINT64_C(0xff) << 56 | SP_RECORD_RESUMPTION)) == 0;
}

/* SP_CALL_ flags of the regular call that starts with `first`. */
static inline uint32_t sp_record_flags(uint64_t first)
{
    return (first & SP_RECORD_RESUMPTION) != 0 ? SP_CALL_RESUMPTION : 0;
}

/* Words of the record that starts with `first`. */
static inline uint32_t sp_record_words(uint64_t first)
{
    switch (sp_record_kind_of(first)) {
    case SP_RECORD_CALL_MARKED:
        return SP_RECORD_MARKED_WORDS;
    case SP_RECORD_LANE:
        return 1;
    case SP_RECORD_LOST:
        return SP_RECORD_LOST_WORDS;
    case SP_RECORD_SIDE:
        return 1 + (sp_record_region(first) + 7u) / 8u;
    default:
        return SP_RECORD_CALL_WORDS;
    }
}

#endif
