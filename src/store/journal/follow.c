#include "store/journal/follow.h"

#include "base/json_reader.h"
#include "base/os/journal_file.h"
#include "clock/clock.h"
#include "log/bytes.h"
#include "log/unpack.h"
#include "store/journal/load.h"

#include <stdlib.h>
#include <string.h>

/* ---- Tables ----------------------------------------------------------------------------------*/

sp_follow_lane *sp_follow_lane_of(sp_follow *follow, uint32_t lane)
{
    if (lane >= SP_LOADED_LANES)
        return NULL;
    size_t missing = lane < follow->lanes.count ? 0 : lane + 1 - follow->lanes.count;
    if (missing > 0 && !sp_vector_reserve(&follow->lanes, missing)) {
        follow->is_short = true;
        return NULL;
    }
    for (; missing > 0; missing--)
        follow->lanes.items[follow->lanes.count++] =
            (sp_follow_lane){.name = "", .native_id = -1, .since_ns = INT64_MIN};
    return &follow->lanes.items[lane];
}

sp_follow_ring *sp_follow_ring_of(sp_follow *follow, uint32_t ring)
{
    if (ring >= SP_LOADED_LANES)
        return NULL;
    size_t missing = ring < follow->places.count ? 0 : ring + 1 - follow->places.count;
    if (missing > 0 && !sp_vector_reserve(&follow->places, missing)) {
        follow->is_short = true;
        return NULL;
    }
    for (; missing > 0; missing--)
        follow->places.items[follow->places.count++] = (sp_follow_ring){.is_known = false};
    return &follow->places.items[ring];
}

sp_follow_region *sp_follow_region_of(sp_follow *follow, uint32_t region)
{
    uint32_t i = sp_number_map_get(&follow->region_index, region);
    if (i != SP_NUMBER_NONE)
        return &follow->regions.items[i];
    if (!sp_vector_reserve(&follow->regions, 1) ||
        !sp_number_map_set(&follow->region_index, region, (uint32_t)follow->regions.count)) {
        follow->is_short = true;
        return NULL;
    }
    sp_follow_region *added = &follow->regions.items[follow->regions.count++];
    *added = (sp_follow_region){.region = region};
    return added;
}

/* ---- Now -------------------------------------------------------------------------------------*/

/* The clock of the recording is that of the machine, so what it says now is known. */
static void look_at_clock(sp_follow *follow)
{
    sp_anchor now;
    follow->now_ns = sp_clock_monotonic_ns();
    sp_timeline_release(&follow->timeline);
    if (follow->has_first) {
        follow->is_short |= !sp_timeline_add(&follow->timeline, &follow->first) ||
                            !sp_timeline_add(&follow->timeline, &follow->last);
    }
    if (!follow->has_first || !sp_clock_prepare() ||
        strcmp(follow->owner.clock, sp_clock_name()) != 0)
        return;
    sp_anchor_take(&now);
    follow->is_short |= !sp_timeline_add(&follow->timeline, &now);
}

/* ---- Frames ----------------------------------------------------------------------------------*/

/* A text in the arena; what was there before when it says the same. */
static const char *kept_text(sp_follow *follow, sp_json_text value, const char *before)
{
    sp_text text = {0};
    sp_json_decode(&text, value);
    const char *words = text.bytes == NULL ? "" : text.bytes, *kept = before;
    if (text.failed)
        follow->is_short = true;
    else if (before == NULL || strcmp(before, words) != 0)
        kept = sp_arena_text(&follow->arena, words);
    sp_text_release(&text);
    return kept;
}

static void take_region(sp_follow *follow, const sp_frame_view *frame)
{
    sp_json_reader reader;
    sp_json_text key, value;
    sp_follow_region *region = sp_follow_region_of(follow, sp_load_u32(frame->payload));
    sp_json_reader_init(&reader, (const char *)frame->payload + SP_REGION_BYTES,
                        frame->payload_bytes - SP_REGION_BYTES);
    if (region == NULL || sp_json_next(&reader, NULL) != SP_JSON_OBJECT)
        return;
    while (sp_json_next(&reader, &key) == SP_JSON_KEY) {
        sp_json_token kind = sp_json_next(&reader, &value);
        if (kind == SP_JSON_STRING && sp_json_equals(key, "name"))
            region->name = kept_text(follow, value, region->name);
        else
            sp_json_skip(&reader, kind);
    }
}

static void take_thread(sp_follow *follow, const sp_frame_view *frame)
{
    sp_json_reader reader;
    sp_json_text key, value;
    int64_t end_ns = -1;
    sp_follow_lane *lane = sp_follow_lane_of(follow, sp_load_u32(frame->payload));
    sp_json_reader_init(&reader, (const char *)frame->payload + SP_THREAD_BYTES,
                        frame->payload_bytes - SP_THREAD_BYTES);
    if (lane == NULL || sp_json_next(&reader, NULL) != SP_JSON_OBJECT)
        return;
    lane->is_there = true;
    while (sp_json_next(&reader, &key) == SP_JSON_KEY) {
        sp_json_token kind = sp_json_next(&reader, &value);
        if (kind == SP_JSON_STRING && sp_json_equals(key, "name"))
            lane->name = kept_text(follow, value, lane->name);
        else if (kind == SP_JSON_NUMBER && sp_json_equals(key, "native_id"))
            sp_json_integer_of(value, &lane->native_id);
        else if (kind == SP_JSON_NUMBER && sp_json_equals(key, "end_ns"))
            sp_json_integer_of(value, &end_ns);
        else
            sp_json_skip(&reader, kind);
    }
    lane->has_ended = end_ns >= 0;
    lane->name = lane->name == NULL ? "" : lane->name;
}

static void take_anchor(sp_follow *follow, const sp_frame_view *frame)
{
    sp_anchor anchor = {.tick = sp_load_u64(frame->payload),
                        .ns = (int64_t)sp_load_u64(frame->payload + 8),
                        .suspended_ns = (int64_t)sp_load_u64(frame->payload + 16)};
    if (!follow->has_first || anchor.tick < follow->first.tick)
        follow->first = anchor;
    if (!follow->has_first || anchor.tick > follow->last.tick)
        follow->last = anchor;
    follow->has_first = true;
    if (sp_timeline_num_anchors(&follow->timeline) < 2)
        look_at_clock(follow);
}

static void take_owner(sp_follow *follow, const sp_frame_view *frame)
{
    follow->has_owner = sp_owner_frame_read(frame, &follow->owner) || follow->has_owner;
    if (sp_timeline_num_anchors(&follow->timeline) < 2)
        look_at_clock(follow);
}

void sp_follow_frame(sp_follow *follow, const sp_frame_view *frame)
{
    switch ((sp_frame_kind)frame->kind) {
    case SP_FRAME_OWNER:
        take_owner(follow, frame);
        break;
    case SP_FRAME_REGION:
        if (frame->payload_bytes >= SP_REGION_BYTES)
            take_region(follow, frame);
        break;
    case SP_FRAME_THREAD:
        if (frame->payload_bytes >= SP_THREAD_BYTES)
            take_thread(follow, frame);
        break;
    case SP_FRAME_ANCHOR:
        if (frame->payload_bytes == SP_ANCHOR_BYTES)
            take_anchor(follow, frame);
        break;
    case SP_FRAME_BLOCK:
        if (frame->payload_bytes > SP_PLACE_BYTES)
            sp_follow_block(follow, frame->payload + SP_PLACE_BYTES,
                            frame->payload_bytes - SP_PLACE_BYTES);
        break;
    default:
        break;
    }
}

/* ---- Sums ------------------------------------------------------------------------------------*/

static bool add_to_nesting(sp_resolver *nesting, const sp_event *event, const sp_timeline_rate *rate,
                           int64_t length, sp_resolved *out)
{
    bool is_appended = (event->flags & SP_CALL_APPENDED) != 0;
    if (event->kind == SP_RECORD_CALL)
        return sp_resolver_call(nesting, event->depth, length, out);
    /* Only differences of these times count, so they may be measured from the call's start. */
    sp_marked_call call = {
        .flags = event->flags, .depth = event->depth, .below = event->below,
        .number = event->number, .parent = event->parent, .end_ns = length,
        .outer_from_ns = is_appended ? 0 : sp_timeline_span_ns(rate, event->start, event->outer_from),
        .inner_from_ns =
            is_appended ? length : sp_timeline_span_ns(rate, event->start, event->inner_from)};
    return sp_resolver_marked(nesting, &call, out);
}

static void add_call(sp_follow *follow, const sp_event *event, const sp_timeline_rate *rate)
{
    sp_follow_lane *lane = sp_follow_lane_of(follow, event->lane);
    sp_follow_region *region = sp_follow_region_of(follow, event->region);
    bool is_task = event->lane >= SP_RECORD_TASK_LANES;
    if ((lane == NULL && !is_task) || region == NULL || event->depth > SP_LOADED_DEPTH ||
        (event->kind == SP_RECORD_CALL_MARKED && event->below > SP_LOADED_DEPTH))
        return;
    bool is_appended = (event->flags & SP_CALL_APPENDED) != 0;
    int64_t length = is_appended ? (int64_t)(event->end - event->start)
                                 : sp_timeline_span_ns(rate, event->start, event->end);
    sp_resolved resolved = {.exclusive_ns = 0};
    if (lane != NULL) { /* tasks are counted, and not shown as lanes */
        if (!add_to_nesting(&lane->nesting, event, rate, length, &resolved))
            follow->is_short = true;
        lane->is_there = true;
        lane->calls++;
    }
    follow->num_calls++;
    region->calls++;
    region->total_ns += length;
    region->own_ns += resolved.exclusive_ns;
}

/* Calls before those of the block are not known: what they would have told of open calls neither. */
static void begin_anew(sp_follow *follow, const sp_block_header *header, bool is_loss,
                       sp_follow_ring *ring)
{
    sp_follow_lane *lane = sp_follow_lane_of(follow, header->lane);
    if (is_loss)
        follow->missing_calls += header->first_call - ring->next_call;
    if (lane != NULL) {
        sp_resolver_forget(&lane->nesting, 0);
        lane->since_ns = sp_timeline_ns(&follow->timeline, header->first_tick);
    }
}

void sp_follow_block(sp_follow *follow, const uint8_t *block, size_t size)
{
    sp_unpack unpack;
    sp_event event;
    if (sp_unpack_begin(&unpack, block, size, true, NULL) != SP_OK)
        return;
    const sp_block_header *header = &unpack.header;
    sp_follow_ring *ring = sp_follow_ring_of(follow, header->ring);
    if (ring == NULL)
        return;
    if (header->first_call > ring->next_call)
        begin_anew(follow, header, ring->is_known, ring);
    ring->is_known = true;
    uint64_t skip = ring->next_call > header->first_call ? ring->next_call - header->first_call : 0;
    if (skip >= header->calls && header->calls > 0)
        return;
    sp_timeline_rate rate = sp_timeline_current_rate(&follow->timeline);
    while (sp_unpack_next(&unpack, &event)) {
        if (event.kind != SP_RECORD_CALL && event.kind != SP_RECORD_CALL_MARKED)
            continue;
        if (skip > 0)
            skip--;
        else
            add_call(follow, &event, &rate);
    }
    ring->next_call = header->first_call + header->calls;
}

/* ---- Life ------------------------------------------------------------------------------------*/

void sp_follow_init(sp_follow *follow, const uint8_t id[SP_JOURNAL_ID_BYTES])
{
    *follow = (sp_follow){.rings = -1};
    memcpy(follow->id, id, SP_JOURNAL_ID_BYTES);
}

void sp_follow_add(sp_follow *follow, const char *path, bool is_rings)
{
    uint64_t size;
    if (is_rings && follow->rings >= 0)
        return;
    for (size_t i = 0; i < follow->files.count; i++)
        if (follow->files.items[i].is_named && strcmp(follow->files.items[i].path, path) == 0)
            return;
    if (!sp_vector_reserve(&follow->files, 1)) {
        follow->is_short = true;
        return;
    }
    int descriptor = sp_os_journal_open(path, &size);
    char *copy = descriptor < 0 ? NULL : strdup(path);
    if (copy == NULL) {
        if (descriptor >= 0)
            sp_os_journal_close(descriptor);
        return;
    }
    if (is_rings) {
        follow->rings = descriptor;
        follow->rings_path = copy;
    } else {
        follow->files.items[follow->files.count++] =
            (sp_follow_file){.path = copy, .descriptor = descriptor, .is_named = true};
    }
}

bool sp_follow_look(sp_follow *follow)
{
    sp_follow_copies copies = {.count = 0};
    sp_follow_notes(follow);
    look_at_clock(follow);
    /* Rings first: everything before what they hold is in the files by then. */
    sp_follow_copy_rings(follow, &copies);
    bool is_whole = sp_follow_files(follow);
    sp_follow_notes(follow);
    look_at_clock(follow);
    for (size_t i = 0; i < follow->lanes.count; i++)
        follow->lanes.items[i].open.count = 0;
    for (size_t i = 0; i < copies.count; i++) {
        sp_follow_take_ring(follow, &copies.items[i], is_whole);
        sp_follow_take_stack(follow, &copies.items[i]);
    }
    sp_follow_release_copies(&copies);
    bool is_fine = !follow->is_short;
    follow->is_short = false;
    return is_fine;
}

void sp_follow_release(sp_follow *follow)
{
    sp_follow_release_files(follow);
    if (follow->rings >= 0)
        sp_os_journal_close(follow->rings);
    free(follow->rings_path);
    for (size_t i = 0; i < follow->lanes.count; i++) {
        sp_resolver_release(&follow->lanes.items[i].nesting);
        sp_vector_release(&follow->lanes.items[i].open);
    }
    sp_vector_release(&follow->lanes);
    sp_vector_release(&follow->places);
    sp_vector_release(&follow->regions);
    sp_number_map_release(&follow->region_index);
    sp_timeline_release(&follow->timeline);
    sp_owner_frame_release(&follow->owner);
    sp_arena_release(&follow->arena);
}
