#include "store/journal/load.h"

#include "log/pack.h"
#include "log/unpack.h"

#include <stdlib.h>
#include <string.h>

bool sp_load_lies_in(const sp_loaded_segment *segment, uint64_t at, uint64_t bytes)
{
    return at % 8 == 0 && at >= SP_SEGMENT_BODY_AT && at <= segment->bytes &&
           bytes <= segment->bytes - at;
}

static uint64_t word(const sp_loaded_segment *segment, uint64_t at)
{
    uint64_t value;
    memcpy(&value, segment->memory + at, sizeof value);
    return value;
}

static sp_segment_state state_of(const sp_loaded_segment *segment)
{
    sp_segment_state state;
    memcpy(&state, segment->memory + segment->header.state_at, sizeof state);
    return state;
}

bool sp_load_is_lane(const sp_loaded_segment *segment)
{
    const sp_segment_header *header = &segment->header;
    return header->state_at != 0 && sp_load_lies_in(segment, header->state_at, sizeof(sp_segment_state)) &&
           sp_load_lies_in(segment, header->head_at, 8) && sp_load_lies_in(segment, header->top_at, 8) &&
           header->ring_words <= segment->bytes / 8 &&
           sp_load_lies_in(segment, header->ring_at, header->ring_words * 8);
}

/* ---- Rings -----------------------------------------------------------------------------------*/

/* Words at the beginning of a ring that a block or a profile has already. */
static size_t words_handed_on(const sp_loaded *loaded, const sp_segment_state *state)
{
    size_t words = 0;
    for (size_t i = 0; i < loaded->blocks.count; i++) {
        const sp_loaded_block *block = &loaded->blocks.items[i];
        if (block->ring == state->ring && block->epoch == state->epoch && block->to > words)
            words = block->to;
    }
    for (size_t i = 0; i < loaded->marks.count; i++) {
        const sp_loaded_mark *mark = &loaded->marks.items[i];
        if (mark->ring == state->ring && mark->epoch == state->epoch && mark->words > words)
            words = mark->words;
    }
    return words;
}

/* Nothing that a recorder writes is all zero, as pages are that never reached their file. */
static bool is_sound(const uint64_t *words, size_t left)
{
    sp_record_kind kind = sp_record_kind_of(words[0]);
    if (sp_record_words(words[0]) > left)
        return false;
    bool is_call = kind == SP_RECORD_CALL || kind == SP_RECORD_CALL_MARKED;
    return !is_call || (words[1] != 0 && words[2] != 0 &&
                        sp_record_region(words[0]) < SP_LOADED_REGIONS);
}

size_t sp_load_measure(const uint64_t *words, size_t at, size_t end, uint64_t *out_calls,
                       uint32_t *lane)
{
    *out_calls = 0;
    while (at < end && is_sound(words + at, end - at)) {
        sp_record_kind kind = sp_record_kind_of(words[at]);
        *out_calls += kind == SP_RECORD_CALL || kind == SP_RECORD_CALL_MARKED;
        if (kind == SP_RECORD_LANE)
            *lane = sp_record_region(words[at]);
        at += sp_record_words(words[at]);
    }
    return at;
}

/* Packs what no block has into one. */
static bool pack_rest(sp_loaded *loaded, const sp_segment_state *state, const uint64_t *words,
                      size_t from, size_t to, uint64_t first_call)
{
    size_t room = sp_pack_bound(to - from);
    uint8_t *memory = sp_arena_alloc(&loaded->arena, room);
    sp_pack *pack = malloc(sizeof *pack);
    if (memory == NULL || pack == NULL) {
        free(pack);
        return false;
    }
    sp_pack_begin(pack, memory, room, state->ring, state->lane, first_call);
    bool is_whole = sp_pack_words(pack, words + from, to - from);
    size_t bytes = sp_pack_end(pack);
    free(pack);
    sp_loaded_block block = {.ring = state->ring, .epoch = state->epoch, .from = (uint32_t)from,
                             .to = (uint32_t)to, .bytes = memory, .is_from_ring = true};
    bool is_sound_block = sp_block_read_header(memory, bytes, &block.header, NULL) == SP_OK &&
                          sp_load_check(loaded, memory, bytes);
    if (!is_whole || !is_sound_block)
        loaded->damaged_rings++;
    return !is_sound_block || sp_load_block(loaded, &block);
}

static bool take_ring(sp_loaded *loaded, const sp_loaded_segment *segment)
{
    const sp_segment_header *header = &segment->header;
    sp_segment_state state = state_of(segment);
    uint64_t pointer = word(segment, header->head_at);
    uint64_t head = pointer - segment->address - header->ring_at;
    if (pointer == 0 || state.epoch % 2 != 0 || head == 0)
        return true; /* the lane was being made, all of it is in a block, or there is nothing */
    if (head % 8 != 0 || head / 8 > header->ring_words || !sp_load_is_lane_number(state.lane)) {
        loaded->damaged_rings++;
        return true;
    }
    const uint64_t *words = (const uint64_t *)(const void *)(segment->memory + header->ring_at);
    size_t count = (size_t)(head / 8), from = words_handed_on(loaded, &state);
    uint64_t skipped, calls;
    if (from > count || sp_load_measure(words, 0, from, &skipped, &state.lane) != from) {
        loaded->damaged_rings += from < count;
        return true;
    }
    uint32_t last = state.lane;
    size_t to = sp_load_measure(words, from, count, &calls, &last);
    loaded->damaged_rings += to < count;
    return to == from || pack_rest(loaded, &state, words, from, to, state.calls + skipped);
}

/* ---- Stacks ----------------------------------------------------------------------------------*/

static const sp_loaded_segment *segment_at(const sp_loaded *loaded, uint64_t address)
{
    for (size_t i = 0; i < loaded->segments.count; i++) {
        const sp_loaded_segment *segment = &loaded->segments.items[i];
        if (address >= segment->address && address - segment->address < segment->bytes)
            return segment;
    }
    return NULL;
}

/* The call that ended last in a ring. */
static bool last_ended(const sp_loaded *loaded, uint32_t ring, sp_event *out)
{
    for (size_t i = loaded->blocks.count; i-- > 0;) {
        const sp_loaded_block *block = &loaded->blocks.items[i];
        sp_unpack unpack;
        sp_event event;
        bool is_found = false;
        if (block->ring != ring || block->header.calls == 0 ||
            sp_unpack_begin(&unpack, block->bytes, sp_block_bytes(&block->header), false, NULL) !=
                SP_OK)
            continue;
        while (sp_unpack_next(&unpack, &event))
            if (event.kind == SP_RECORD_CALL || event.kind == SP_RECORD_CALL_MARKED) {
                *out = event;
                is_found = true;
            }
        if (is_found)
            return true;
    }
    return false;
}

static uint64_t parent_of(const uint64_t *stack, size_t frame)
{
    while (--frame > 0)
        if (stack[frame * SP_STACK_WORDS + SP_STACK_KEY] != SP_STACK_IGNORED)
            return stack[frame * SP_STACK_WORDS + SP_STACK_NUMBER];
    return SP_RECORD_NO_PARENT;
}

/* A call is on the stack for a moment after its record is complete. */
static bool has_ended(const sp_event *last, uint32_t lane, const uint64_t *frame, uint32_t depth)
{
    return last->lane == lane && last->region == (uint32_t)frame[SP_STACK_KEY] &&
           last->start == frame[SP_STACK_START] && last->depth == depth;
}

static bool take_stack(sp_loaded *loaded, const sp_event *last, uint32_t lane,
                       const uint64_t *stack, size_t top)
{
    uint32_t before = 0;
    bool has_before = false;
    for (size_t i = 1; i <= top; i++) {
        const uint64_t *frame = stack + i * SP_STACK_WORDS;
        uint64_t key = frame[SP_STACK_KEY];
        uint32_t depth = (uint32_t)(i - 1) - SP_STACK_IGNORED_BELOW(key);
        if (SP_STACK_IS_NO_CALL(key) || has_ended(last, lane, frame, depth))
            continue;
        if (frame[SP_STACK_START] == 0 || (has_before && depth <= before) ||
            sp_number_map_get(&loaded->region_index, (uint32_t)key) == SP_NUMBER_NONE) {
            loaded->damaged_rings++;
            break;
        }
        if (!sp_load_lane(loaded, lane) || !sp_vector_reserve(&loaded->open_calls, 1))
            return false;
        loaded->open_calls.items[loaded->open_calls.count++] = (sp_assemble_open_call){
            .lane = lane,
            .region = (uint32_t)key,
            .depth = depth,
            .flags = SP_STACK_FLAGS(key),
            .number = frame[SP_STACK_NUMBER],
            .parent = parent_of(stack, i),
            .start_tick = frame[SP_STACK_START],
            .outer_from_tick =
                SP_STACK_IS_MARKED(key) ? frame[SP_STACK_EXTRA] : frame[SP_STACK_START],
        };
        before = depth;
        has_before = true;
        sp_load_tick(loaded, frame[SP_STACK_START]);
    }
    return true;
}

/* The stack from the frame below `outermost` up to `top`; NULL: there is none. */
static const uint64_t *find_stack(const sp_loaded *loaded, const sp_waiting_stack *of,
                                  size_t *out_top)
{
    enum { FRAME = SP_STACK_WORDS * 8 };
    const sp_loaded_segment *holder = segment_at(loaded, of->top);
    if (holder == NULL || holder->header.stack_frames > holder->bytes / FRAME ||
        !sp_load_lies_in(holder, holder->header.stack_at, holder->header.stack_frames * FRAME))
        return NULL;
    uint64_t first = holder->address + holder->header.stack_at;
    uint64_t bottom = of->outermost - FRAME;
    if (bottom < first || of->top < bottom || (bottom - first) % FRAME != 0 ||
        (of->top - bottom) % FRAME != 0 ||
        (of->top - first) / FRAME >= holder->header.stack_frames)
        return NULL;
    *out_top = (size_t)((of->top - bottom) / FRAME);
    return (const uint64_t *)(const void *)(holder->memory + (bottom - holder->address));
}

/* The process may have died while one took the turn of another, and then a stack is found twice. */
static bool take_found(sp_loaded *loaded, sp_number_map *seen, const sp_event *last,
                       const sp_waiting_stack *found)
{
    size_t top;
    if (found->top == 0 || sp_number_map_get(seen, found->lane) != SP_NUMBER_NONE)
        return true; /* it does not wait, or the lane was being made */
    const uint64_t *stack = sp_load_is_lane_number(found->lane) ? find_stack(loaded, found, &top) : NULL;
    if (stack == NULL) {
        loaded->damaged_rings++;
        return true;
    }
    return sp_number_map_set(seen, found->lane, 1) &&
           take_stack(loaded, last, found->lane, stack, top);
}

/* What has a lane. */
static bool take_current(sp_loaded *loaded, sp_number_map *seen, const sp_loaded_segment *segment)
{
    const sp_segment_header *header = &segment->header;
    if (!sp_load_lies_in(segment, header->outermost_at, 8) || header->lane_at % 4 != 0 ||
        !sp_load_lies_in(segment, header->lane_at / 8 * 8, 8)) {
        loaded->damaged_rings++;
        return true;
    }
    sp_event last = {.lane = UINT32_MAX};
    sp_waiting_stack current = {.top = word(segment, header->top_at),
                                .outermost = word(segment, header->outermost_at)};
    memcpy(&current.lane, segment->memory + header->lane_at, sizeof current.lane);
    last_ended(loaded, state_of(segment).ring, &last);
    return take_found(loaded, seen, &last, &current);
}

static bool take_waiting(sp_loaded *loaded, sp_number_map *seen, const sp_loaded_segment *segment)
{
    const sp_segment_header *header = &segment->header;
    const sp_event none = {.lane = UINT32_MAX};
    for (uint32_t i = 0; header->waiting_at != 0 && i < header->num_waiting; i++) {
        sp_waiting_stack waiting;
        uint64_t at = header->waiting_at + (uint64_t)i * header->waiting_step;
        if (!sp_load_lies_in(segment, at, sizeof waiting)) {
            loaded->damaged_rings++;
            return true;
        }
        memcpy(&waiting, segment->memory + at, sizeof waiting);
        if (!take_found(loaded, seen, &none, &waiting))
            return false;
    }
    return true;
}

bool sp_load_open_calls(sp_loaded *loaded)
{
    sp_number_map seen = {0};
    bool fits = true;
    for (size_t i = 0; i < loaded->segments.count && fits; i++)
        if (sp_load_is_lane(&loaded->segments.items[i]))
            fits = take_current(loaded, &seen, &loaded->segments.items[i]);
    for (size_t i = 0; i < loaded->segments.count && fits; i++)
        fits = take_waiting(loaded, &seen, &loaded->segments.items[i]);
    sp_number_map_release(&seen);
    return fits;
}

/* ---- The file --------------------------------------------------------------------------------*/

static bool find_segments(sp_loaded *loaded, const sp_loaded_file *file, uint64_t at)
{
    sp_segment_header header;
    while (at % 8 == 0 && at <= file->size && file->size - at >= SP_SEGMENT_BODY_AT) {
        memcpy(&header, file->bytes + at, sizeof header);
        if (memcmp(header.magic, SP_SEGMENT_MAGIC, 4) != 0)
            return true;
        if (header.bytes < SP_SEGMENT_BODY_AT || header.bytes > file->size - at) {
            loaded->damaged_rings++;
            return true;
        }
        if (header.address == 0) {
            at += header.bytes;
            continue;
        }
        if (!sp_vector_reserve(&loaded->segments, 1))
            return false;
        loaded->segments.items[loaded->segments.count++] =
            (sp_loaded_segment){.address = header.address, .bytes = header.bytes,
                                .memory = file->bytes + at, .header = header};
        at += header.bytes;
    }
    return true;
}

bool sp_load_rings(sp_loaded *loaded, const sp_loaded_file *file)
{
    sp_rings_header header;
    memcpy(&header, file->bytes, sizeof header);
    if (!find_segments(loaded, file, header.segments_at))
        return false;
    loaded->has_rings = true;
    for (size_t i = 0; i < loaded->segments.count; i++) {
        const sp_loaded_segment *segment = &loaded->segments.items[i];
        if (sp_load_is_lane(segment) && !take_ring(loaded, segment))
            return false;
    }
    return true;
}
