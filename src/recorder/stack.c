#include "recorder/stack.h"

#include "clock/clock.h"
#include "log/record.h"
#include "recorder/recording.h"

#include <stdlib.h>
#include <string.h>

/* The lowest frame is the bottom; the highest is kept for ignored calls. */
enum { BOTTOM = 1, SPARE = 1 };

static void set_frame(sp_frame *frame, uint64_t key)
{
    atomic_store_explicit(&frame->start, 0, memory_order_relaxed);
    atomic_store_explicit(&frame->number, SP_RECORD_NO_PARENT, memory_order_relaxed);
    sp_frame_set_extra(frame, 0);
    sp_frame_set_key(frame, key);
}

static sp_frame *stack_of(const sp_lane *lane)
{
    return lane->outermost - BOTTOM;
}

/* Topmost frame that a call may get. */
static sp_frame *last_frame(const sp_lane *lane)
{
    return stack_of(lane) + lane->stack_room - SPARE - 1;
}

/* The fast path stops where a depth no longer fits the short record. It reads the counter and
 * nothing else, so without one, or with instruments to read, it never runs. */
static sp_frame *plain_ceiling_of(const sp_lane *lane, sp_frame *outermost, size_t room)
{
    if (!sp_clock_uses_counter() || lane->is_instrumented)
        return NULL;
    sp_frame *last = outermost - BOTTOM + room - SPARE - 1;
    return last - outermost <= SP_RECORD_MAX_DEPTH ? last : outermost + SP_RECORD_MAX_DEPTH;
}

static void set_plain_ceiling(sp_lane *lane)
{
    lane->plain_ceiling = plain_ceiling_of(lane, lane->outermost, lane->stack_room);
}

static void adopt(sp_lane *lane, sp_frame *stack, size_t room)
{
    lane->outermost = stack + BOTTOM;
    lane->stack_room = room;
    set_plain_ceiling(lane);
}

static void set_ceiling(sp_lane *lane)
{
    bool is_plain = lane->num_ignored == 0 && lane->outer_marked == NULL;
    lane->ceiling = is_plain ? lane->plain_ceiling : NULL;
}

void sp_stack_settle_ceiling(sp_lane *lane)
{
    set_plain_ceiling(lane);
    set_ceiling(lane);
}

bool sp_stack_init(sp_lane *lane)
{
    if (lane->stack_room == 0) {
        sp_frame *stack = malloc(SP_STACK_FIRST_ROOM * sizeof *stack);
        if (stack == NULL)
            return false;
        adopt(lane, stack, SP_STACK_FIRST_ROOM);
        set_frame(stack, SP_KEY_BOTTOM);
    }
    sp_notes_clear(&lane->notes);
    lane->num_ignored = 0;
    lane->outer_marked = NULL;
    set_plain_ceiling(lane);
    atomic_store_explicit(&lane->top, stack_of(lane), memory_order_release);
    set_ceiling(lane);
    return true;
}

void sp_stack_adopt_first(sp_lane *lane, sp_frame *stack)
{
    adopt(lane, stack, SP_STACK_FIRST_ROOM);
    set_frame(stack, SP_KEY_BOTTOM);
    lane->is_first_stack = true;
}

static void free_stack(const sp_lane *lane, sp_frame *stack, size_t room_bytes)
{
    if (room_bytes > 0)
        lane->free_room(stack, room_bytes);
    else if (!lane->is_first_stack)
        free(stack);
}

void sp_stack_release(sp_lane *lane)
{
    sp_notes_release(&lane->notes);
    if (lane->stack_room > 0)
        free_stack(lane, stack_of(lane), lane->stack_bytes);
    lane->stack_room = 0;
}

void sp_stack_park(sp_lane *lane)
{
    sp_strand *strand = lane->strand;
    strand->outermost = lane->outermost;
    strand->plain_ceiling = lane->plain_ceiling;
    strand->outer_marked = lane->outer_marked;
    strand->stack_room = lane->stack_room;
    strand->stack_bytes = lane->stack_bytes;
    strand->is_first_stack = lane->is_first_stack;
    strand->num_ignored = lane->num_ignored;
    strand->next_number = lane->next_number;
    strand->notes = lane->notes;
    atomic_store_explicit(&strand->top, atomic_load_explicit(&lane->top, memory_order_relaxed),
                          memory_order_release);
}

void sp_stack_unpark(sp_lane *lane, sp_strand *strand)
{
    lane->strand = strand;
    lane->outermost = strand->outermost;
    lane->plain_ceiling = strand->plain_ceiling;
    lane->outer_marked = strand->outer_marked;
    lane->stack_room = strand->stack_room;
    lane->stack_bytes = strand->stack_bytes;
    lane->is_first_stack = strand->is_first_stack;
    lane->num_ignored = strand->num_ignored;
    lane->next_number = strand->next_number;
    lane->notes = strand->notes;
    lane->index = strand->index;
    atomic_store_explicit(&lane->top, atomic_load_explicit(&strand->top, memory_order_relaxed),
                          memory_order_release);
    atomic_store_explicit(&strand->top, NULL, memory_order_relaxed);
    set_ceiling(lane);
}

void sp_stack_adopt_strand(sp_strand *strand, sp_frame *stack)
{
    set_frame(stack, SP_KEY_BOTTOM);
    strand->outermost = stack + BOTTOM;
    strand->stack_room = SP_STACK_TASK_ROOM;
    strand->is_first_stack = true;
}

void sp_stack_init_strand(const sp_lane *lane, sp_strand *strand)
{
    strand->plain_ceiling = plain_ceiling_of(lane, strand->outermost, strand->stack_room);
    strand->outer_marked = NULL;
    strand->num_ignored = 0;
    strand->next_number = 0;
    strand->lost = 0;
    sp_notes_clear(&strand->notes);
    atomic_store_explicit(&strand->top, strand->outermost - BOTTOM, memory_order_release);
}

void sp_stack_release_strand(const sp_lane *lane, sp_strand *strand)
{
    sp_notes_release(&strand->notes);
    if (strand->stack_room > 0) {
        sp_frame *stack = strand->outermost - BOTTOM;
        if (strand->stack_bytes > 0)
            lane->free_room(stack, strand->stack_bytes);
        else if (!strand->is_first_stack)
            free(stack);
    }
    strand->stack_room = strand->stack_bytes = 0;
}

/* Memory for a stack, of the same kind as the lane's while its configuration lasts. Under the drain
 * lock. */
static sp_frame *allocate(const sp_lane *lane, size_t frames, size_t *out_room_bytes)
{
    size_t bytes = frames * sizeof(sp_frame);
    *out_room_bytes = 0;
    if (lane->free_room != NULL && lane->generation != 0) {
        sp_sink *sink = lane->recording->sink;
        sp_sink_room room = {.bytes = bytes, .state = SP_ROOM_NONE, .head = SP_ROOM_NONE,
                             .top = SP_ROOM_NONE, .ring = SP_ROOM_NONE, .stack_frames = frames,
                             .outermost = SP_ROOM_NONE, .lane = SP_ROOM_NONE,
                             .waiting = SP_ROOM_NONE};
        sp_frame *stack = sink->table->take_room(sink, &room);
        if (stack != NULL) {
            *out_room_bytes = bytes;
            return stack;
        }
    }
    return malloc(bytes);
}

uint64_t sp_stack_count_due(const sp_lane *lane)
{
    uint64_t due = 0;
    const sp_frame *top = atomic_load_explicit(&lane->top, memory_order_relaxed);
    for (const sp_frame *frame = lane->outermost; frame <= top; frame++) {
        if (sp_frame_is_call(frame))
            due++;
        else if (sp_frame_key(frame) == SP_KEY_IGNORED)
            due += sp_frame_extra(frame);
    }
    return due;
}

bool sp_stack_make_room(sp_lane *lane, sp_frame **top)
{
    if (*top < last_frame(lane))
        return true;
    sp_frame *old = stack_of(lane);
    size_t used = (size_t)(*top - old) + 1, room = lane->stack_room * 2, room_bytes;
    ptrdiff_t marked = lane->outer_marked == NULL ? 0 : lane->outer_marked - old;
    sp_mutex_lock(&lane->lock); /* others may be looking at the open calls */
    sp_frame *stack = allocate(lane, room, &room_bytes);
    if (stack == NULL) {
        sp_mutex_unlock(&lane->lock);
        return false;
    }
    memcpy((void *)stack, (const void *)old, used * sizeof *stack);
    *top = stack + used - 1;
    adopt(lane, stack, room);
    atomic_store_explicit(&lane->top, *top, memory_order_release);
    size_t old_bytes = lane->stack_bytes;
    lane->stack_bytes = room_bytes;
    sp_mutex_unlock(&lane->lock);
    if (lane->outer_marked != NULL)
        lane->outer_marked = stack + marked;
    set_ceiling(lane);
    free_stack(lane, old, old_bytes);
    lane->is_first_stack = false;
    return true;
}

sp_frame *sp_stack_call(const sp_lane *lane, sp_frame *frame)
{
    while (frame >= lane->outermost && !sp_frame_is_call(frame))
        frame--;
    return frame < lane->outermost ? NULL : frame;
}

sp_frame *sp_stack_find(const sp_lane *lane, sp_frame *top, uint32_t region)
{
    for (; top >= lane->outermost; top--)
        if ((uint32_t)sp_frame_key(top) == region && sp_frame_is_call(top))
            return top;
    return NULL;
}

sp_frame *sp_stack_find_number(const sp_lane *lane, sp_frame *top, uint64_t number)
{
    for (; top >= lane->outermost; top--)
        if (sp_frame_number(top) == number && sp_frame_is_call(top))
            return top;
    return NULL;
}

uint32_t sp_stack_level_below(const sp_lane *lane, sp_frame *frame)
{
    const sp_frame *below = sp_stack_call(lane, frame - 1);
    return below == NULL ? 0 : sp_frame_depth(lane, below) + 1;
}

uint64_t sp_stack_parent_from(const sp_frame *outermost, const sp_frame *frame)
{
    for (frame--; frame >= outermost; frame--)
        if (sp_frame_key(frame) != SP_KEY_IGNORED)
            return sp_frame_number(frame);
    return SP_RECORD_NO_PARENT;
}

bool sp_stack_is_covered(const sp_frame *top, const sp_frame *frame)
{
    while (top > frame && !sp_frame_is_call(top))
        top--;
    return top > frame;
}

sp_frame *sp_stack_push(sp_lane *lane, sp_frame *top, uint32_t region, uint32_t flags)
{
    sp_frame *frame = top + 1;
    uint64_t key = region | (uint64_t)flags << SP_KEY_FLAGS_SHIFT;
    if ((flags & ~(uint32_t)SP_CALL_RESUMPTION) != 0 || lane->outer_marked != NULL ||
        frame - lane->outermost > SP_RECORD_MAX_DEPTH)
        key |= SP_KEY_MARKED;
    if (lane->num_ignored > 0 || lane->plain_ceiling == NULL)
        key |= SP_KEY_SLOW | (uint64_t)lane->num_ignored << SP_KEY_IGNORED_SHIFT;
    atomic_store_explicit(&frame->number, lane->next_number++, memory_order_relaxed);
    sp_frame_set_key(frame, key);
    return frame;
}

sp_frame *sp_stack_ignore(sp_lane *lane, sp_frame *top)
{
    if (sp_frame_key(top) != SP_KEY_IGNORED) {
        set_frame(++top, SP_KEY_IGNORED);
        lane->num_ignored++;
        set_ceiling(lane);
    }
    sp_frame_set_extra(top, sp_frame_extra(top) + 1);
    return top;
}

static void copy_frame(sp_frame *to, const sp_frame *from)
{
    atomic_store_explicit(&to->number, sp_frame_number(from), memory_order_relaxed);
    sp_frame_set_extra(to, sp_frame_extra(from));
    sp_frame_set_key(to, sp_frame_key(from));
}

/* Above the innermost open call only ignored calls that have not ended may stand: what begins next
 * takes its depth and its parent from what is below it. */
sp_frame *sp_stack_settle(sp_lane *lane, sp_frame *top)
{
    if (sp_frame_is_call(top))
        return top;
    sp_frame *kept = top;
    while (kept >= lane->outermost && !sp_frame_is_call(kept))
        kept--;
    for (sp_frame *frame = kept + 1; frame <= top; frame++) {
        if (sp_frame_key(frame) != SP_KEY_IGNORED)
            continue;
        if (sp_frame_extra(frame) == 0)
            lane->num_ignored--;
        else if (++kept != frame)
            copy_frame(kept, frame);
    }
    if (lane->outer_marked != NULL && kept < lane->outer_marked)
        lane->outer_marked = NULL;
    set_ceiling(lane);
    return kept;
}

sp_frame *sp_stack_unignore(sp_lane *lane, sp_frame *top)
{
    sp_frame *frame = top;
    while (frame >= lane->outermost &&
           (sp_frame_key(frame) != SP_KEY_IGNORED || sp_frame_extra(frame) == 0))
        frame--;
    if (frame < lane->outermost)
        return top;
    sp_frame_set_extra(frame, sp_frame_extra(frame) - 1);
    return sp_stack_settle(lane, top);
}

static void mark(sp_frame *frame, uint32_t flags)
{
    uint64_t key = sp_frame_key(frame);
    if (!(key & SP_KEY_MARKED))
        sp_frame_set_extra(frame, sp_frame_start(frame));
    sp_frame_set_key(frame, key | SP_KEY_MARKED | (uint64_t)flags << SP_KEY_FLAGS_SHIFT);
}

/* The nearest call above a frame; NULL: none. */
static const sp_frame *nearest_above(const sp_frame *top, const sp_frame *frame)
{
    const sp_frame *above = NULL;
    for (; top > frame; top--)
        if (sp_frame_is_call(top))
            above = top;
    return above;
}

uint64_t sp_stack_covered_from(const sp_frame *top, const sp_frame *frame, uint64_t tick)
{
    const sp_frame *above = nearest_above(top, frame);
    return above == NULL ? tick : sp_frame_outer_from(above);
}

sp_frame *sp_stack_end(sp_lane *lane, sp_frame *top, sp_frame *frame, uint64_t tick)
{
    if (!sp_stack_is_covered(top, frame)) {
        sp_frame_set_key(frame, SP_KEY_ENDED);
        return sp_stack_settle(lane, top);
    }
    sp_frame *above = NULL; /* of the calls above, the nearest */
    for (sp_frame *other = top; other > frame; other--) {
        if (!sp_frame_is_call(other))
            continue;
        mark(other, SP_CALL_OUTLIVED);
        above = other;
    }
    sp_frame_set_extra(above, tick);
    sp_frame_set_key(frame, SP_KEY_ENDED);
    if (lane->outer_marked == NULL || frame < lane->outer_marked)
        lane->outer_marked = frame;
    set_ceiling(lane);
    return top;
}

void sp_stack_mark_all(sp_lane *lane, sp_frame *top)
{
    for (; top >= lane->outermost; top--) {
        if (!sp_frame_is_call(top))
            continue;
        mark(top, 0);
        lane->outer_marked = top;
    }
    set_ceiling(lane);
}
