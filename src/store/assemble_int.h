/* assemble_int.h - what the parts of assembling share. Private to them.
 *
 * assemble.c           the order of the steps, ids, result
 * assemble_walk.c      one pass over the records
 * assemble_survey.c    first pass: rows, statistics, which calls there are
 * assemble_keep.c      what the first pass decodes, kept when the budget holds it all
 * assemble_gather.c    otherwise further passes: the calls of some rows, sorted
 * assemble_emit.c      calls to columns to writers
 * assemble_metadata.c  event_metadata of the rows
 * assemble_counters.c  what instruments measured
 * assemble_device.c    device times, which are known later than their calls
 * assemble_extras.c    what the schema has no place for
 */
#ifndef SP_STORE_ASSEMBLE_INT_H
#define SP_STORE_ASSEMBLE_INT_H

#include "base/error.h"
#include "base/text.h"
#include "base/vector.h"
#include "store/assemble.h"
#include "store/assemble_counters.h"
#include "store/assemble_walk.h"
#include "store/call_numbers.h"
#include "store/call_order.h"

__extension__ typedef unsigned __int128 sp_wide;

#define SP_ROW_NONE UINT32_MAX

/* A call as the first pass leaves it. */
typedef struct sp_kept_call {
    int64_t start, duration;
    uint64_t number;
    uint32_t up; /* number minus the parent's, 0: none */
    uint32_t lane;
} sp_kept_call;

/* Zeroed memory keeps nothing. */
typedef struct sp_kept_calls {
    sp_kept_call *calls; /* num_chunks chunks */
    uint32_t *next;      /* chunk of the same row that follows each chunk */
    size_t num_chunks, used_chunks;
    bool is_on;
} sp_kept_calls;

/* Order of the calls of a file: by start, then by id, which is by lane and number. */
typedef struct sp_call_key {
    int64_t start;
    uint32_t lane;
    uint64_t number;
} sp_call_key;

/* One region of this file while it is worked on. */
typedef struct sp_assemble_row {
    uint32_t region;
    sp_assemble_region info;
    uint64_t count, resumptions;
    sp_call_key first, last; /* in file order */
    int64_t first_duration, last_duration, minimum, maximum, end_maximum;
    sp_wide total, exclusive;
    /* Exact sum of the squares of durations below SP_SQUARE_LIMIT. Of the others, which are days
     * long: their number and sum, running mean and sum of squared deviations. */
    sp_wide squares;
    uint64_t num_huge;
    sp_wide huge_total;
    double huge_mean, huge_m2;
    bool is_sorted; /* in the order in which a pass meets its calls */
    bool has_sides;
    uint64_t device_count; /* calls with a device time */
    sp_wide device_total;
    sp_kept_call *keep_at, *keep_end; /* where the next call is kept */
    uint32_t first_chunk, last_chunk;
    sp_text metadata; /* JSON list, empty: no call has any */
} sp_assemble_row;

#define SP_SQUARE_LIMIT ((int64_t)1 << 48)

typedef struct sp_assemble_lane_work {
    sp_call_numbers numbers;
    size_t number_hint, parent_hint;
    int64_t first_id;
    uint64_t drains;
    int64_t drain_ns;
} sp_assemble_lane_work;

/* Ids of one lane that has calls. */
typedef struct sp_lane_ids {
    int64_t first, end;
    int64_t thread, task;
} sp_lane_ids;

typedef struct sp_flagged_call {
    uint32_t lane, flags;
    uint64_t number;
} sp_flagged_call;

/* Metadata that came with one call. */
typedef struct sp_side_metadata {
    uint32_t lane, bytes;
    uint64_t number;
    int64_t id; /* once ids are known */
    const char *payload;
} sp_side_metadata;

/* A call of which the device time was asked for. `id` holds its number until ids are known. */
typedef struct sp_device_call {
    int64_t id;
    uint64_t ticket;
    int64_t ns; /* -1: not known */
    uint32_t lane, region;
} sp_device_call;

typedef struct sp_device_calls {
    SP_VECTOR(sp_device_call) calls; /* by id once ids are known */
    SP_VECTOR(sp_device_time) times; /* of any call, as they came */
    size_t hint;                     /* most likely place of the next call */
} sp_device_calls;

/* How long a call waited. */
typedef struct sp_await {
    uint32_t lane;
    uint64_t number;
    int64_t id; /* once ids are known */
    int64_t ns;
} sp_await;

/* Rows [first, last) whose calls are held together. */
typedef struct sp_row_group {
    size_t first, last;
    bool is_windowed; /* one row, larger than the room */
} sp_row_group;

typedef struct sp_assembler {
    const sp_assembly *in;
    sp_error *error;
    SP_VECTOR(sp_assemble_row) rows;
    SP_VECTOR(uint32_t) row_of; /* by region id, SP_ROW_NONE */
    sp_assemble_lane_work *lanes;
    sp_lane_ids *lane_ids; /* of the lanes that have calls, in order */
    size_t num_lane_ids, lane_hint;
    SP_VECTOR(sp_flagged_call) flagged;
    SP_VECTOR(sp_side_metadata) sides; /* by id once ids are known */
    sp_device_calls device;
    SP_VECTOR(sp_await) awaits;        /* by id once ids are known */
    size_t await_hint;
    uint64_t bad_metadata;             /* texts that are no JSON object */
    sp_measured measured;
    sp_assembly_result result;

    sp_kept_calls kept;
    SP_VECTOR(sp_row_group) groups;
    sp_ordered_call *calls, *spare; /* room and (at need) room / 2 of them */
    size_t room;
    size_t held; /* group whose calls are in `calls`, sorted; SIZE_MAX: none */
    size_t piece; /* values of a column given to a writer at once */
} sp_assembler;

static inline uint32_t sp_assembler_row_of(const sp_assembler *a, uint32_t region)
{
    return region < a->row_of.count ? a->row_of.items[region] : SP_ROW_NONE;
}

/* Id of a call of the file, and of its parent: -1 when that is not in the file. */
static inline int64_t sp_assembler_id(sp_assembler *a, uint32_t lane, uint64_t number)
{
    sp_assemble_lane_work *work = &a->lanes[lane];
    return work->first_id + sp_call_numbers_rank(&work->numbers, number, &work->number_hint);
}

static inline int64_t sp_assembler_parent_id(sp_assembler *a, uint32_t lane, uint64_t parent)
{
    sp_assemble_lane_work *work = &a->lanes[lane];
    if (parent == SP_RECORD_NO_PARENT)
        return -1;
    int64_t rank = sp_call_numbers_rank(&work->numbers, parent, &work->parent_hint);
    return rank < 0 ? -1 : work->first_id + rank;
}

/* Lane of a call of the file. */
const sp_lane_ids *sp_assembler_search_lane(sp_assembler *a, int64_t id);

static inline const sp_lane_ids *sp_assembler_lane_of(sp_assembler *a, int64_t id)
{
    const sp_lane_ids *lane = &a->lane_ids[a->lane_hint];
    return id >= lane->first && id < lane->end ? lane : sp_assembler_search_lane(a, id);
}

/* First pass. Fills rows, row_of, lanes, lane_ids, flagged, sides, result counts and states. */
int sp_assemble_survey(sp_assembler *a);
void sp_assemble_row_statistics(const sp_assemble_row *row, sp_row_statistics *out);
int64_t sp_assemble_row_exclusive(const sp_assemble_row *row);

/* Gets `count` calls of row `row`, sorted and following those it got before. */
typedef int (*sp_row_sink)(void *context, size_t row, const sp_ordered_call *calls, size_t count);

/* Calls that the working arrays may hold. */
size_t sp_assemble_room(const sp_assembly *assembly);

/* Keeps the calls of the first pass if the budget allows it. */
void sp_keep_begin(sp_assembler *a);
/* Makes room for further calls of the row; false when there is none, and keeping is then off. */
bool sp_keep_chunk(sp_kept_calls *kept, sp_assemble_row *row);
/* After the first pass: whether all calls were kept and can be sorted within the budget (sets the
 * room for that); if not they are given up. */
bool sp_keep_settle(sp_assembler *a);
/* Gives the calls of a row to the sink. */
int sp_keep_gather(sp_assembler *a, size_t row, sp_row_sink sink, void *context);
void sp_keep_release(sp_kept_calls *kept);

static inline void sp_keep_call(sp_kept_calls *kept, sp_assemble_row *row, const sp_walk_call *call)
{
    uint64_t up = call->parent == SP_RECORD_NO_PARENT ? 0 : call->number - call->parent;
    if (row->keep_at == row->keep_end && !sp_keep_chunk(kept, row))
        return;
    kept->is_on = up <= UINT32_MAX;
    *row->keep_at++ = (sp_kept_call){.start = call->start, .duration = call->duration,
                                     .number = call->number, .up = (uint32_t)up,
                                     .lane = call->lane};
}

/* Divides the rows into groups that fit the budget and allocates the working arrays. */
int sp_assemble_plan(sp_assembler *a);
void sp_assemble_release_room(sp_assembler *a);

/* Gives the calls of a group to the sink, row by row. */
int sp_assemble_gather(sp_assembler *a, size_t group, sp_row_sink sink, void *context);

/* Fills rows[].metadata. */
int sp_assemble_metadata(sp_assembler *a);

/* Notes what a side record of kind SP_SIDE_DEVICE says. */
int sp_assemble_device_side(sp_assembler *a, const sp_walk_side *side);
/* Joins tickets with times, once ids are known; fills device_count and device_total of the rows. */
int sp_assemble_device_times(sp_assembler *a);
/* Device time of a call, -1: none. */
int64_t sp_assemble_device_ns(sp_assembler *a, int64_t id);
void sp_assemble_device_release(sp_device_calls *device);

/* Columns of this file, and everything from begin_rank to the last call. */
int sp_assemble_emit(sp_assembler *a);

int sp_assemble_extras(sp_assembler *a);
/* The losses that are not zero, to every output. */
int sp_assemble_losses(uint32_t rank, const sp_assemble_loss *losses, size_t count,
                       const sp_assemble_output *outputs, size_t num_outputs, sp_error *error);
/* Hands `extra` to every output. */
int sp_assemble_write_extra(const sp_assemble_output *outputs, size_t num_outputs,
                            const sp_extra *extra, sp_error *error);

#endif
