#include "recorder/call_record.h"

#include "recorder/drain.h"
#include "recorder/stack.h"
#include "recorder/task.h"

#include <stdlib.h>
#include <string.h>

enum { AWAIT_WORDS = 2 };

/* The ring says whose the next record is before it. A lane of which calls were lost says so, too, and
 * what is open on it is marked. */
static uint64_t *tell(sp_lane *lane, sp_frame *top, uint64_t *head)
{
    sp_strand *strand = lane->strand;
    if (lane->told != lane->index)
        *head++ = sp_record_first(SP_RECORD_LANE, lane->index, strand->slot);
    lane->told = lane->index;
    if (strand->lost > 0 && !lane->is_losing) {
        *head++ = sp_record_first(SP_RECORD_LOST, 0, 0);
        *head++ = strand->lost;
        strand->lost = 0;
        sp_stack_mark_all(lane, top);
    }
    atomic_store_explicit(&lane->head, head, memory_order_release);
    sp_lane_set_limit(lane);
    return head;
}

/* Place for `count` words: in the ring, drained if need be, or on its own (`*out_own`) when the ring
 * is not made for so many. NULL: there is no memory for that. */
static uint64_t *reserve(sp_lane *lane, sp_frame *top, size_t count, uint64_t **out_own)
{
    enum { TELL_WORDS = 1 + SP_RECORD_LOST_WORDS };
    uint64_t *head = atomic_load_explicit(&lane->head, memory_order_relaxed);
    *out_own = NULL;
    bool is_long = count > lane->num_words / 2;
    if (head + (is_long ? 0 : count) + TELL_WORDS > lane->words + lane->num_words) {
        sp_drain_own(lane, top);
        head = atomic_load_explicit(&lane->head, memory_order_relaxed);
    }
    if (sp_lane_must_tell(lane))
        head = tell(lane, top, head);
    return is_long ? (*out_own = malloc(count * sizeof *head)) : head;
}

static void put_marked(uint64_t *words, const sp_lane *lane, sp_frame *frame)
{
    uint64_t key = sp_frame_key(frame);
    words[0] = sp_record_first(SP_RECORD_CALL_MARKED, (uint32_t)key, 0);
    words[SP_MARKED_FLAGS] = key >> SP_KEY_FLAGS_SHIFT & SP_KEY_FLAGS_MASK;
    words[SP_MARKED_NUMBER] = sp_frame_number(frame);
    words[SP_MARKED_PARENT] = sp_stack_parent(lane, frame);
    words[SP_MARKED_DEPTH] = sp_frame_depth(lane, frame);
    words[SP_MARKED_BELOW] = sp_stack_level_below(lane, frame);
    words[SP_MARKED_OUTER_FROM] = sp_frame_outer_from(frame);
}

/* How long the task did not run during the call. */
static size_t put_await(uint64_t *words, const sp_lane *lane, const sp_frame *frame)
{
    words[0] = sp_record_first(SP_RECORD_SIDE, sizeof(uint64_t), SP_SIDE_AWAIT);
    sp_strand_view view;
    sp_lane_view(lane, 0, &view);
    words[1] = sp_task_awaited(&view, frame, 0);
    return AWAIT_WORDS;
}

static size_t put_side(uint64_t *words, const sp_attachment *side)
{
    words[0] = sp_record_first(SP_RECORD_SIDE, (uint32_t)side->bytes, side->kind);
    if (side->bytes % 8 != 0)
        words[side->bytes / 8 + 1] = 0;
    memcpy(words + 1, side->payload, side->bytes);
    return 1 + (side->bytes + 7) / 8;
}

/* The side records of what instruments measured, which are whole words. */
static size_t measured_words(const sp_lane *lane)
{
    return lane->instruments == NULL ? 0 : lane->instruments->side_used;
}

static size_t put_measured(uint64_t *words, const sp_lane *lane)
{
    size_t count = measured_words(lane);
    if (count > 0)
        memcpy(words, lane->instruments->side, count * sizeof *words);
    return count;
}

/* Metadata given to the call while it was open goes before what its end brings. NULL: there is none,
 * or no memory for it. */
static const sp_attachment *join_notes(sp_lane *lane, const sp_frame *frame,
                                       const sp_attachment *side, sp_attachment *joined)
{
    *joined = (sp_attachment){.kind = SP_SIDE_METADATA};
    if ((sp_frame_key(frame) & SP_KEY_NOTED) == 0)
        return side;
    bool is_metadata = side != NULL && side->kind == SP_SIDE_METADATA;
    joined->payload = sp_notes_take(&lane->notes, sp_frame_number(frame),
                                    is_metadata ? side->payload : NULL,
                                    is_metadata ? side->bytes : 0, &joined->bytes);
    if (joined->payload != NULL && joined->bytes <= INT32_MAX)
        return joined;
    sp_recording_lose(lane->recording, SP_LOSS_METADATA, 1);
    return side;
}

sp_frame *sp_call_finish(sp_lane *lane, sp_frame *top, sp_frame *frame, uint64_t tick,
                         const sp_attachment *side, bool *out_crossed)
{
    sp_attachment joined;
    side = join_notes(lane, frame, side, &joined);
    size_t most = SP_RECORD_MARKED_WORDS + AWAIT_WORDS + measured_words(lane);
    size_t side_words = side == NULL ? 0 : 1 + (side->bytes + 7) / 8;
    uint64_t *own, *words = reserve(lane, top, most + side_words, &own);
    if (words == NULL) {
        sp_recording_lose(lane->recording, SP_LOSS_METADATA, 1);
        side = NULL;
        words = reserve(lane, top, most, &own);
    }
    /* Looked at only now: a drain that lost calls has marked the frame. */
    *out_crossed = sp_stack_is_covered(top, frame);
    bool is_marked = *out_crossed || (sp_frame_key(frame) & SP_KEY_MARKED) != 0;
    size_t count = is_marked ? SP_RECORD_MARKED_WORDS : SP_RECORD_CALL_WORDS;
    words[0] = sp_record_first(SP_RECORD_CALL, (uint32_t)sp_frame_key(frame),
                               sp_frame_depth(lane, frame) & SP_RECORD_MAX_DEPTH);
    if (sp_frame_key(frame) & SP_KEY_RESUMPTION)
        words[0] |= SP_RECORD_RESUMPTION;
    if (is_marked)
        put_marked(words, lane, frame);
    words[1] = sp_frame_start(frame);
    words[2] = tick;
    if (is_marked) {
        words[SP_MARKED_FLAGS] |= *out_crossed ? SP_CALL_CROSSING : 0;
        words[SP_MARKED_INNER_FROM] = sp_stack_covered_from(top, frame, tick);
    }
    if (sp_frame_key(frame) & SP_KEY_AWAITED)
        count += put_await(words + count, lane, frame);
    if (side != NULL)
        count += put_side(words + count, side);
    count += put_measured(words + count, lane);
    if (own != NULL)
        sp_drain_own_with(lane, top, own, count);
    else
        atomic_store_explicit(&lane->head, words + count, memory_order_release);
    free(own);
    free((void *)(uintptr_t)joined.payload);
    /* Only now: whoever looks from outside sees a call open, ended, or for a moment both, and tells by
     * its number. */
    atomic_signal_fence(memory_order_seq_cst);
    return sp_stack_end(lane, top, frame, tick);
}

void sp_call_append(sp_lane *lane, sp_frame *top, uint32_t region, int64_t start_ns,
                    int64_t end_ns)
{
    uint64_t *own, *words = reserve(lane, top, SP_RECORD_MARKED_WORDS, &own);
    words[0] = sp_record_first(SP_RECORD_CALL_MARKED, region, 0);
    words[SP_MARKED_START] = words[SP_MARKED_OUTER_FROM] = (uint64_t)start_ns;
    words[SP_MARKED_END] = words[SP_MARKED_INNER_FROM] = (uint64_t)end_ns;
    words[SP_MARKED_FLAGS] = SP_CALL_APPENDED;
    words[SP_MARKED_NUMBER] = lane->next_number++;
    words[SP_MARKED_PARENT] = SP_RECORD_NO_PARENT;
    words[SP_MARKED_DEPTH] = 0;
    words[SP_MARKED_BELOW] = sp_stack_level_below(lane, top + 1);
    atomic_store_explicit(&lane->head, words + SP_RECORD_MARKED_WORDS, memory_order_release);
}
