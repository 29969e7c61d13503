/* follow_rings.c - what the lanes of a running process hold, copied while they change.
 *
 * A lane says with its epoch when its ring is being emptied: a copy of which the epoch was even and is
 * the same afterwards is whole up to the head that was read before. A stack is copied together with
 * the ring until neither has moved meanwhile; where it never stands still the last try is taken, and
 * frames that contradict each other are left out. The file is read, not mapped: nothing that its
 * process does to it can be felt here. */
#include "store/journal/follow.h"

#include "base/crc32c.h"
#include "base/os/journal_file.h"
#include "log/pack.h"
#include "store/journal/load.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 50, PATIENT_LOOKS = 3 };

static bool read_at(const sp_follow *follow, uint64_t at, void *out, size_t bytes)
{
    bool is_read = sp_os_journal_read(follow->rings, at, out, bytes);
    /* What is read next is not older. */
    atomic_thread_fence(memory_order_seq_cst);
    return is_read;
}

/* ---- Notes -----------------------------------------------------------------------------------*/

void sp_follow_notes(sp_follow *follow)
{
    sp_rings_header header;
    uint64_t size;
    bool is_named;
    if (follow->rings < 0 || !sp_os_journal_look(follow->rings, &size, &is_named) ||
        !read_at(follow, 0, &header, sizeof header) || header.version != SP_JOURNAL_VERSION ||
        header.order != SP_RINGS_ORDER || header.notes_bytes > header.notes_room ||
        header.notes_at > size || header.notes_bytes > size - header.notes_at)
        return;
    uint8_t *notes = malloc((size_t)header.notes_bytes + 1);
    if (notes == NULL) {
        follow->is_short = true;
        return;
    }
    sp_frame_view frame;
    size_t count = (size_t)header.notes_bytes, at = 0;
    bool is_read = read_at(follow, header.notes_at, notes, count);
    uint32_t sum = sp_crc32c(0, notes, is_read ? count : 0);
    if (is_read && sum != follow->notes_sum)
        for (; sp_frame_read(notes + at, count - at, &frame); at += frame.bytes)
            sp_follow_frame(follow, &frame);
    follow->notes_sum = sum;
    free(notes);
}

/* ---- Copies ----------------------------------------------------------------------------------*/

/* A segment and where it is in the file. */
typedef struct placed {
    sp_loaded_segment segment;
    uint64_t at;
} placed;

typedef SP_VECTOR(placed) placed_segments;

static void find_segments(sp_follow *follow, placed_segments *out)
{
    sp_rings_header header;
    uint64_t size;
    bool is_named;
    if (follow->rings < 0 || !sp_os_journal_look(follow->rings, &size, &is_named) ||
        !read_at(follow, 0, &header, sizeof header))
        return;
    uint64_t at = header.segments_at;
    while (at % 8 == 0 && at <= size && size - at >= SP_SEGMENT_BODY_AT) {
        placed found = {.at = at};
        sp_segment_header *segment = &found.segment.header;
        if (!read_at(follow, at, segment, sizeof *segment) ||
            memcmp(segment->magic, SP_SEGMENT_MAGIC, 4) != 0 ||
            segment->bytes < SP_SEGMENT_BODY_AT || segment->bytes > size - at)
            return;
        found.segment.address = segment->address;
        found.segment.bytes = segment->bytes;
        at += segment->bytes;
        if (segment->address == 0)
            continue;
        if (!sp_vector_reserve(out, 1)) {
            follow->is_short = true;
            return;
        }
        out->items[out->count++] = found;
    }
}

static uint64_t word(const sp_follow *follow, const placed *lane, uint64_t at)
{
    uint64_t value = 0;
    return read_at(follow, lane->at + at, &value, sizeof value) ? value : 0;
}

static sp_segment_state state_of(const sp_follow *follow, const placed *lane)
{
    sp_segment_state state = {.epoch = 1};
    if (!read_at(follow, lane->at + lane->segment.header.state_at, &state, sizeof state))
        state.epoch = 1;
    return state;
}

static const placed *segment_at(const placed_segments *segments, uint64_t address)
{
    for (size_t i = 0; i < segments->count; i++) {
        const placed *found = &segments->items[i];
        if (address >= found->segment.address &&
            address - found->segment.address < found->segment.bytes)
            return found;
    }
    return NULL;
}

static void copy_words(sp_follow *follow, const placed *lane, uint64_t head, sp_follow_copy *out)
{
    const sp_segment_header *header = &lane->segment.header;
    uint64_t bytes = head - lane->segment.address - header->ring_at;
    if (head == 0 || bytes % 8 != 0 || bytes / 8 > header->ring_words)
        return;
    if (out->words == NULL)
        out->words = malloc((size_t)header->ring_words * 8 + 8);
    follow->is_short |= out->words == NULL;
    out->has_words = out->words != NULL &&
                     read_at(follow, lane->at + header->ring_at, out->words, (size_t)bytes);
    out->num_words = out->has_words ? (size_t)bytes / 8 : 0;
}

static void copy_stack(sp_follow *follow, const placed_segments *segments, uint64_t top,
                       sp_follow_copy *out)
{
    const placed *holder = segment_at(segments, top);
    size_t frame = SP_STACK_WORDS * 8;
    out->depth = 0;
    if (top == 0 || holder == NULL)
        return;
    const sp_segment_header *header = &holder->segment.header;
    uint64_t place = top - holder->segment.address - header->stack_at;
    if (place % frame != 0 || place / frame >= header->stack_frames ||
        header->stack_frames > holder->segment.bytes / frame ||
        !sp_load_lies_in(&holder->segment, header->stack_at, header->stack_frames * frame))
        return;
    size_t depth = (size_t)(place / frame);
    uint64_t *grown = realloc(out->stack, (depth + 1) * frame);
    if (grown == NULL) {
        follow->is_short = true;
        return;
    }
    out->stack = grown;
    if (read_at(follow, holder->at + header->stack_at, grown, (depth + 1) * frame))
        out->depth = depth;
}

/* One look at a lane. True: nothing moved meanwhile. */
static bool copy_lane(sp_follow *follow, const placed_segments *segments, const placed *lane,
                      sp_follow_copy *out)
{
    const sp_segment_header *header = &lane->segment.header;
    sp_segment_state state = state_of(follow, lane);
    uint64_t head = word(follow, lane, header->head_at), top = word(follow, lane, header->top_at);
    out->ring = state.ring;
    out->lane = state.lane;
    out->epoch = state.epoch;
    out->first_call = state.calls;
    copy_words(follow, lane, head, out);
    /* A task has the lane: its stack is not the thread's. */
    uint64_t has_lane = word(follow, lane, header->lane_at / 8 * 8) >> (8 * (header->lane_at % 8));
    copy_stack(follow, segments, (uint32_t)has_lane < SP_RECORD_TASK_LANES ? top : 0, out);
    sp_segment_state after = state_of(follow, lane);
    bool is_whole = out->has_words && state.epoch % 2 == 0 && after.epoch == state.epoch;
    out->has_words = is_whole;
    return is_whole && word(follow, lane, header->head_at) == head &&
           word(follow, lane, header->top_at) == top;
}

void sp_follow_copy_rings(sp_follow *follow, sp_follow_copies *out)
{
    placed_segments segments = {.count = 0};
    find_segments(follow, &segments);
    for (size_t i = 0; i < segments.count; i++) {
        const placed *lane = &segments.items[i];
        sp_follow_copy copy = {.has_words = false};
        if (!sp_load_is_lane(&lane->segment) || !sp_vector_reserve(out, 1))
            continue;
        for (int k = 0; k < TRIES && !copy_lane(follow, &segments, lane, &copy); k++)
            continue;
        out->items[out->count++] = copy;
    }
    sp_vector_release(&segments);
}

void sp_follow_release_copies(sp_follow_copies *copies)
{
    for (size_t i = 0; i < copies->count; i++) {
        free(copies->items[i].words);
        free(copies->items[i].stack);
    }
    sp_vector_release(copies);
}

/* ---- What they tell --------------------------------------------------------------------------*/

/* Packed, so that records of rings and of blocks are read in one way. */
static void add_words(sp_follow *follow, const sp_follow_copy *copy, size_t count)
{
    size_t room = sp_pack_bound(count);
    uint8_t *block = malloc(room);
    sp_pack *pack = malloc(sizeof *pack);
    if (block != NULL && pack != NULL) {
        sp_pack_begin(pack, block, room, copy->ring, copy->lane, copy->first_call);
        sp_pack_words(pack, copy->words, count);
        sp_follow_block(follow, block, sp_pack_end(pack));
    } else {
        follow->is_short = true;
    }
    free(pack);
    free(block);
}

void sp_follow_take_ring(sp_follow *follow, const sp_follow_copy *copy, bool is_whole)
{
    sp_follow_ring *ring = sp_follow_ring_of(follow, copy->ring);
    uint64_t calls;
    uint32_t last = copy->lane;
    if (ring == NULL || !copy->has_words ||
        (ring->epoch == copy->epoch && ring->words == copy->num_words))
        return;
    /* A block before it is still being written: it is waited for, but not for ever. */
    bool is_ahead = ring->is_known && copy->first_call > ring->next_call;
    if (is_ahead && !is_whole && ring->gap_looks++ < PATIENT_LOOKS)
        return;
    size_t count = sp_load_measure(copy->words, 0, copy->num_words, &calls, &last);
    if (calls > 0)
        add_words(follow, copy, count);
    ring->gap_looks = 0;
    ring->epoch = copy->epoch;
    ring->words = (uint32_t)copy->num_words;
}

/* The call that ended last in a ring is on the stack for a moment after its record is complete. */
static bool has_ended(const sp_follow_copy *copy, const uint64_t *frame, uint32_t depth)
{
    size_t at = 0, last = SIZE_MAX;
    for (; at < copy->num_words && copy->has_words; at += sp_record_words(copy->words[at]))
        if (sp_record_kind_of(copy->words[at]) == SP_RECORD_CALL)
            last = at;
    return last != SIZE_MAX && copy->words[last + 1] == frame[SP_STACK_START] &&
           sp_record_region(copy->words[last]) == (uint32_t)frame[SP_STACK_KEY] &&
           sp_record_depth(copy->words[last]) == depth;
}

/* Time of its own of each open call: what neither ended calls in it nor the next open one took. */
static void add_own_times(const sp_follow *follow, sp_follow_lane *lane)
{
    int64_t inner = 0;
    for (size_t i = lane->open.count; i-- > 0;) {
        sp_follow_open *call = &lane->open.items[i];
        int64_t from = call->start_ns > lane->since_ns ? call->start_ns : lane->since_ns;
        int64_t known = follow->now_ns > from ? follow->now_ns - from : 0;
        int64_t own = known - sp_resolver_child_ns(&lane->nesting, call->depth) - inner;
        call->elapsed_ns = follow->now_ns > call->start_ns ? follow->now_ns - call->start_ns : 0;
        call->own_ns = own > 0 ? own : 0;
        inner = known;
    }
}

void sp_follow_take_stack(sp_follow *follow, const sp_follow_copy *copy)
{
    sp_follow_lane *lane = sp_follow_lane_of(follow, copy->lane);
    if (lane == NULL)
        return;
    int64_t before = INT64_MIN;
    lane->is_there |= copy->depth > 0;
    for (size_t i = 1; i <= copy->depth; i++) {
        const uint64_t *frame = copy->stack + i * SP_STACK_WORDS;
        uint64_t key = frame[SP_STACK_KEY];
        uint32_t depth = (uint32_t)(i - 1) - SP_STACK_IGNORED_BELOW(key);
        if (SP_STACK_IS_NO_CALL(key) || (i == copy->depth && has_ended(copy, frame, depth)))
            continue;
        int64_t start_ns = sp_timeline_ns(&follow->timeline, frame[SP_STACK_START]);
        if (frame[SP_STACK_START] == 0 || start_ns < before || depth > SP_LOADED_DEPTH ||
            sp_follow_region_of(follow, (uint32_t)key) == NULL)
            break;
        if (!sp_vector_reserve(&lane->open, 1)) {
            follow->is_short = true;
            break;
        }
        lane->open.items[lane->open.count++] =
            (sp_follow_open){.region = (uint32_t)key, .depth = depth, .start_ns = start_ns};
        before = start_ns;
    }
    add_own_times(follow, lane);
}
