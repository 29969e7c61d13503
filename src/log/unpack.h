/* unpack.h - a cursor over the records of one block. Never reads outside the block, whatever is in
 * it; a block that contradicts itself ends early with `damaged` set.
 *
 *     status = sp_unpack_begin(&unpack, block, size, true, &error);
 *     while (sp_unpack_next(&unpack, &event)) ...
 *     if (unpack.damaged) ...
 */
#ifndef SP_LOG_UNPACK_H
#define SP_LOG_UNPACK_H

#include "log/block.h"
#include "log/prediction.h"
#include "log/record.h"

#include <stdbool.h>

/* One record. `kind` says which fields are set; lane always is. */
typedef struct sp_event {
    sp_record_kind kind;
    uint32_t lane;
    uint32_t region; /* calls */
    uint32_t depth;  /* calls */
    uint32_t flags;  /* calls, SP_CALL_ */
    uint64_t start, end; /* calls and drains, ticks (appended calls: ns as int64) */

    /* SP_RECORD_CALL_MARKED, see record.h */
    uint32_t below;
    uint64_t number, parent, outer_from, inner_from;

    /* SP_RECORD_SIDE: sp_side_kind (or one not known), bytes inside the block, not terminated */
    uint32_t side_kind, payload_bytes;
    const char *payload;

    uint64_t lost; /* SP_RECORD_LOST */
} sp_event;

enum { SP_UNPACK_TAIL_BYTES = 128 };

typedef struct sp_unpack {
    sp_block_header header;
    bool damaged;
    /* private */
    const uint8_t *block_end; /* of the block itself */
    const uint8_t *at, *end;  /* in the block, or in `tail` at the end of it */
    bool in_tail;
    uint32_t left, calls_left, lane;
    sp_prediction prediction;
    uint8_t tail[SP_UNPACK_TAIL_BYTES];
} sp_unpack;

/* `check_sum` false: the caller has checked this very block before (sp_block_check). */
int sp_unpack_begin(sp_unpack *unpack, const void *bytes, size_t size, bool check_sum,
                    sp_error *error);

/* Regular calls of one lane, which most of a log is. */
enum { SP_CALL_BATCH = 64 };

typedef struct sp_call_batch {
    size_t count;
    uint32_t lane;
    uint64_t firsts[SP_CALL_BATCH];    /* first word of each record: region, depth, flags */
    uint64_t ticks[2 * SP_CALL_BATCH]; /* start and end of each */
} sp_call_batch;

/* Takes the regular calls that follow, as many as there is room for; none when the next record is
 * another, or near the end of the block: then sp_unpack_next goes on. */
void sp_unpack_calls(sp_unpack *unpack, sp_call_batch *out);

/* The next record of any kind. False at the end or when the block is damaged. */
bool sp_unpack_next(sp_unpack *unpack, sp_event *event);

#endif
