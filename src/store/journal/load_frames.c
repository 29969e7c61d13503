#include "store/journal/load.h"

#include "base/json.h"
#include "base/json_reader.h"
#include "log/bytes.h"

#include <stdlib.h>

static uint32_t u32(const sp_frame_view *frame, size_t at)
{
    return sp_load_u32(frame->payload + at);
}

static uint64_t u64(const sp_frame_view *frame, size_t at)
{
    return sp_load_u64(frame->payload + at);
}

/* ---- JSON members ----------------------------------------------------------------------------*/

typedef bool take_member(sp_loaded *loaded, void *target, sp_json_text key, sp_json_token kind,
                         sp_json_text value, sp_json_reader *reader);

/* Goes over the members of the object behind `head` bytes. False: memory is short. */
static bool read_object(sp_loaded *loaded, const sp_frame_view *frame, size_t head, void *target,
                        take_member *take)
{
    sp_json_reader reader;
    sp_json_text key, value;
    sp_json_reader_init(&reader, (const char *)frame->payload + head, frame->payload_bytes - head);
    if (sp_json_next(&reader, NULL) != SP_JSON_OBJECT)
        return true;
    while (sp_json_next(&reader, &key) == SP_JSON_KEY) {
        sp_json_token kind = sp_json_next(&reader, &value);
        if (!take(loaded, target, key, kind, value, &reader))
            return false;
    }
    return true;
}

/* A text in the arena, NULL: memory is short. */
static const char *decoded(sp_loaded *loaded, sp_json_text text)
{
    sp_text out = {0};
    sp_json_decode(&out, text);
    const char *copy =
        out.failed ? NULL : sp_arena_text(&loaded->arena, out.bytes == NULL ? "" : out.bytes);
    sp_text_release(&out);
    return copy;
}

static bool take_text(sp_loaded *loaded, const char **target, sp_json_token kind, sp_json_text value)
{
    if (kind != SP_JSON_STRING)
        return true;
    *target = decoded(loaded, value);
    return *target != NULL;
}

static bool take_region_member(sp_loaded *loaded, void *target, sp_json_text key,
                               sp_json_token kind, sp_json_text value, sp_json_reader *reader)
{
    sp_assemble_region *region = target;
    if (sp_json_equals(key, "name"))
        return take_text(loaded, &region->name, kind, value);
    if (sp_json_equals(key, "source_file"))
        return take_text(loaded, &region->source_file, kind, value);
    if (sp_json_equals(key, "source_text"))
        return take_text(loaded, &region->source_text, kind, value);
    if (kind == SP_JSON_NUMBER && sp_json_equals(key, "source_line")) {
        sp_json_integer_of(value, &region->source_line);
        return true;
    }
    if (kind != SP_JSON_ARRAY || !sp_json_equals(key, "tags"))
        return sp_json_skip(reader, kind) || true;
    sp_text tags = {0};
    bool is_whole = sp_json_copy(&tags, reader, kind, value, 0, 0) && !tags.failed;
    if (is_whole)
        region->tags_json = sp_arena_text(&loaded->arena, tags.bytes);
    sp_text_release(&tags);
    return !is_whole || region->tags_json != NULL;
}

static bool take_thread_member(sp_loaded *loaded, void *target, sp_json_text key,
                               sp_json_token kind, sp_json_text value, sp_json_reader *reader)
{
    sp_thread_row *thread = target;
    const struct {
        const char *key;
        int64_t *number;
    } numbers[] = {{"native_id", &thread->native_id}, {"ident", &thread->ident},
                   {"start_ns", &thread->start_ns},   {"end_ns", &thread->end_ns},
                   {"cpu_ns", &thread->cpu_ns}};
    for (size_t i = 0; kind == SP_JSON_NUMBER && i < sizeof numbers / sizeof *numbers; i++)
        if (sp_json_equals(key, numbers[i].key))
            sp_json_integer_of(value, numbers[i].number);
    if (kind == SP_JSON_TRUE && sp_json_equals(key, "is_daemon"))
        thread->is_daemon = true;
    if (sp_json_equals(key, "name"))
        return take_text(loaded, &thread->name, kind, value);
    sp_json_skip(reader, kind);
    return true;
}

static bool take_task_member(sp_loaded *loaded, void *target, sp_json_text key, sp_json_token kind,
                             sp_json_text value, sp_json_reader *reader)
{
    sp_loaded_task *task = target;
    const struct {
        const char *key;
        int64_t *number;
    } numbers[] = {{"thread", &task->row.thread_index},
                   {"created_ns", &task->row.created_ns},
                   {"done_ns", &task->row.done_ns},
                   {"steps", &task->row.steps},
                   {"running_ticks", &task->running_ticks},
                   {"suspended_ticks", &task->suspended_ticks}};
    const struct {
        const char *key, **text;
    } texts[] = {{"kind", &task->row.kind},
                 {"name", &task->row.name},
                 {"coroutine", &task->row.coroutine_name}};
    for (size_t i = 0; kind == SP_JSON_NUMBER && i < sizeof numbers / sizeof *numbers; i++)
        if (sp_json_equals(key, numbers[i].key))
            sp_json_integer_of(value, numbers[i].number);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (sp_json_equals(key, texts[i].key))
            return take_text(loaded, texts[i].text, kind, value);
    sp_json_skip(reader, kind);
    return true;
}

static bool take_metadata_member(sp_loaded *loaded, void *target, sp_json_text key,
                                 sp_json_token kind, sp_json_text value, sp_json_reader *reader)
{
    (void)target;
    sp_metadata_entry entry = {.kind = SP_VALUE_TEXT};
    if (kind == SP_JSON_NUMBER && sp_json_integer_of(value, &entry.integer))
        entry.kind = SP_VALUE_INTEGER;
    else if (kind == SP_JSON_NUMBER && sp_json_real_of(value, &entry.real))
        entry.kind = SP_VALUE_REAL;
    else if (kind == SP_JSON_STRING)
        entry.text = decoded(loaded, value);
    else {
        sp_json_skip(reader, kind);
        return true;
    }
    entry.key = decoded(loaded, key);
    if (entry.key == NULL || (entry.kind == SP_VALUE_TEXT && entry.text == NULL) ||
        !sp_vector_reserve(&loaded->metadata, 1))
        return false;
    size_t i = 0;
    while (i < loaded->metadata.count && strcmp(loaded->metadata.items[i].key, entry.key) != 0)
        i++;
    loaded->metadata.count += i == loaded->metadata.count;
    loaded->metadata.items[i] = entry;
    return true;
}

/* Strings or small numbers of a list, as many as an instrument may have; false: memory is short. */
static bool take_list(sp_loaded *loaded, sp_json_reader *reader, const char **texts,
                      uint8_t *numbers, uint32_t *out_count)
{
    sp_json_text value;
    sp_json_token kind;
    *out_count = 0;
    while ((kind = sp_json_next(reader, &value)) == SP_JSON_STRING || kind == SP_JSON_NUMBER) {
        int64_t number = 0;
        if (*out_count == SP_INSTRUMENT_VALUES)
            continue;
        uint32_t i = (*out_count)++;
        if (texts != NULL && !take_text(loaded, &texts[i], kind, value))
            return false;
        if (numbers != NULL && kind == SP_JSON_NUMBER && sp_json_integer_of(value, &number))
            numbers[i] = (uint8_t)(number < SP_INSTRUMENT_VALUES && number >= 0 ? number : 0);
    }
    return true;
}

/* An instrument while its frame is read. */
typedef struct told_instrument {
    const char *name;
    const char **value_names;
    uint8_t *group_of;
    uint32_t num_values, num_groups;
    bool keeps_calls;
} told_instrument;

static bool take_instrument_member(sp_loaded *loaded, void *target, sp_json_text key,
                                   sp_json_token kind, sp_json_text value, sp_json_reader *reader)
{
    told_instrument *told = target;
    uint32_t ignored;
    int64_t groups;
    if (sp_json_equals(key, "name"))
        return take_text(loaded, &told->name, kind, value);
    if (kind == SP_JSON_ARRAY && sp_json_equals(key, "values"))
        return take_list(loaded, reader, told->value_names, NULL, &told->num_values);
    if (kind == SP_JSON_ARRAY && sp_json_equals(key, "group_of"))
        return take_list(loaded, reader, NULL, told->group_of, &ignored);
    if (kind == SP_JSON_NUMBER && sp_json_equals(key, "groups") &&
        sp_json_integer_of(value, &groups) && groups >= 0 && groups <= SP_INSTRUMENT_VALUES)
        told->num_groups = (uint32_t)groups;
    if (kind == SP_JSON_TRUE && sp_json_equals(key, "keeps_calls"))
        told->keeps_calls = true;
    sp_json_skip(reader, kind);
    return true;
}

static bool take_loss_member(sp_loaded *loaded, void *target, sp_json_text key, sp_json_token kind,
                             sp_json_text value, sp_json_reader *reader)
{
    (void)target;
    sp_assemble_loss loss = {.count = 0};
    if (kind != SP_JSON_NUMBER || !sp_json_integer_of(value, &loss.count) || loss.count <= 0) {
        sp_json_skip(reader, kind);
        return true;
    }
    loss.kind = decoded(loaded, key);
    if (loss.kind == NULL || !sp_vector_reserve(&loaded->losses, 1))
        return false;
    loaded->losses.items[loaded->losses.count++] = loss;
    return true;
}

/* ---- Frames ----------------------------------------------------------------------------------*/

static bool take_region(sp_loaded *loaded, const sp_frame_view *frame)
{
    uint32_t region = u32(frame, 0);
    sp_assemble_region info = {.name = NULL, .source_file = "", .source_text = "",
                               .source_line = -1, .tags_json = "[]"};
    if (!read_object(loaded, frame, SP_REGION_BYTES, &info, take_region_member))
        return false;
    if (info.name == NULL || info.name[0] == '\0')
        return true;
    uint32_t i = sp_number_map_get(&loaded->region_index, region);
    if (i == SP_NUMBER_NONE) {
        i = (uint32_t)loaded->regions.count;
        if (!sp_vector_reserve(&loaded->regions, 1) ||
            !sp_number_map_set(&loaded->region_index, region, i))
            return false;
        loaded->regions.count++;
    }
    loaded->regions.items[i] = (sp_loaded_region){.region = region, .info = info};
    return true;
}

static bool take_thread(sp_loaded *loaded, const sp_frame_view *frame)
{
    uint32_t lane = u32(frame, 0);
    if (lane >= SP_LOADED_LANES)
        return true;
    if (!sp_load_lane(loaded, lane))
        return false;
    sp_thread_row *thread = &loaded->threads.items[lane];
    sp_thread_row fresh = {.index = lane, .ident = -1, .native_id = -1, .start_ns = -1,
                           .end_ns = -1, .cpu_ns = -1, .name = ""};
    *thread = fresh;
    return read_object(loaded, frame, SP_THREAD_BYTES, thread, take_thread_member);
}

/* Values without a name, and groups that there are not, are none. */
static bool is_whole(const told_instrument *told)
{
    bool is_good = told->name != NULL && told->num_groups <= told->num_values;
    for (uint32_t i = 0; i < told->num_values; i++)
        is_good = is_good && told->value_names[i] != NULL &&
                  (told->num_groups == 0 || told->group_of[i] < told->num_groups);
    return is_good;
}

static bool take_instrument(sp_loaded *loaded, const sp_frame_view *frame)
{
    uint32_t number = u32(frame, 0);
    if (number >= SP_INSTRUMENTS)
        return true;
    size_t names = SP_INSTRUMENT_VALUES * sizeof(char *);
    told_instrument told = {.value_names = sp_arena_alloc(&loaded->arena, names),
                            .group_of = sp_arena_alloc(&loaded->arena, SP_INSTRUMENT_VALUES)};
    if (told.value_names == NULL || told.group_of == NULL ||
        !sp_vector_reserve(&loaded->instruments, SP_INSTRUMENTS))
        return false;
    memset(told.value_names, 0, names);
    memset(told.group_of, 0, SP_INSTRUMENT_VALUES);
    if (!read_object(loaded, frame, SP_INSTRUMENT_BYTES, &told, take_instrument_member))
        return false;
    if (!is_whole(&told))
        return true;
    while (loaded->instruments.count <= number)
        loaded->instruments.items[loaded->instruments.count++] = (sp_instrument){.size = 0};
    loaded->instruments.items[number] = (sp_instrument){
        .size = sizeof(sp_instrument), .version = SP_INSTRUMENT_VERSION, .name = told.name,
        .num_values = told.num_values, .value_names = told.value_names,
        .num_groups = told.num_groups, .group_of = told.group_of,
        .keeps_calls = told.keeps_calls};
    return true;
}

static bool take_task(sp_loaded *loaded, const sp_frame_view *frame)
{
    uint32_t number = u32(frame, 0);
    if (number >= SP_LOADED_TASKS)
        return true;
    return sp_load_lane(loaded, SP_RECORD_TASK_LANES + number) &&
           read_object(loaded, frame, SP_TASK_BYTES, &loaded->tasks.items[number], take_task_member);
}

static bool take_anchor(sp_loaded *loaded, const sp_frame_view *frame)
{
    if (!sp_vector_reserve(&loaded->anchors, 1))
        return false;
    loaded->anchors.items[loaded->anchors.count++] =
        (sp_anchor){.tick = u64(frame, 0), .ns = (int64_t)u64(frame, 8),
                    .suspended_ns = (int64_t)u64(frame, 16)};
    sp_load_tick(loaded, u64(frame, 0));
    return true;
}

static bool take_block(sp_loaded *loaded, const sp_frame_view *frame)
{
    sp_loaded_block block = {.ring = u32(frame, 0), .epoch = u32(frame, 4), .from = u32(frame, 8),
                             .to = u32(frame, 12), .bytes = frame->payload + SP_PLACE_BYTES};
    size_t size = frame->payload_bytes - SP_PLACE_BYTES;
    if (sp_block_check(block.bytes, size, &block.header, NULL) != SP_OK ||
        block.header.ring != block.ring || !sp_load_check(loaded, block.bytes, size)) {
        loaded->damaged_blocks++;
        loaded->damaged_block_bytes += size;
        return true;
    }
    return sp_load_block(loaded, &block);
}

/* Whether the counts of a base fit its bytes. */
static bool base_fits(const sp_frame_view *frame)
{
    size_t left = frame->payload_bytes - SP_BASE_BYTES, at = SP_BASE_BYTES;
    uint32_t rings = u32(frame, 4), lanes = u32(frame, 8);
    if (rings > left / SP_BASE_RING_BYTES)
        return false;
    at += (size_t)rings * SP_BASE_RING_BYTES;
    for (uint32_t i = 0; i < lanes; i++) {
        left = frame->payload_bytes - at;
        if (left < SP_BASE_LANE_BYTES || !sp_load_is_lane_number(u32(frame, at)) ||
            u32(frame, at + 4) > SP_LOADED_DEPTH ||
            u32(frame, at + 4) > (left - SP_BASE_LANE_BYTES) / SP_BASE_LEVEL_BYTES)
            return false;
        at += SP_BASE_LANE_BYTES + (size_t)u32(frame, at + 4) * SP_BASE_LEVEL_BYTES;
    }
    return at == frame->payload_bytes;
}

static bool take_state(sp_loaded *loaded, const sp_frame_view *frame, size_t at)
{
    uint32_t lane = u32(frame, at), levels = u32(frame, at + 4);
    if (!sp_load_lane(loaded, lane))
        return false;
    sp_resolver *state = sp_load_state(loaded, lane);
    sp_resolver_release(state);
    state->ended = u64(frame, at + 8);
    if (levels > 0 && !sp_resolver_grow(state, levels))
        return false;
    for (uint32_t i = 0; i < levels; i++) {
        size_t from = at + SP_BASE_LANE_BYTES + (size_t)i * SP_BASE_LEVEL_BYTES;
        state->levels[i] = (sp_resolver_level){.pending = u64(frame, from),
                                               .child_ns = (int64_t)u64(frame, from + 8)};
    }
    return true;
}

static bool take_base(sp_loaded *loaded, const sp_frame_view *frame)
{
    if (!base_fits(frame) || u32(frame, 0) < loaded->base_generation)
        return true;
    uint32_t rings = u32(frame, 4), lanes = u32(frame, 8);
    loaded->base_generation = u32(frame, 0);
    loaded->next_id = (int64_t)u64(frame, 16);
    loaded->marks.count = 0;
    if (!sp_vector_reserve(&loaded->marks, rings))
        return false;
    for (uint32_t i = 0; i < rings; i++) {
        size_t from = SP_BASE_BYTES + (size_t)i * SP_BASE_RING_BYTES;
        loaded->marks.items[loaded->marks.count++] =
            (sp_loaded_mark){.ring = u32(frame, from), .epoch = u32(frame, from + 4),
                             .words = u32(frame, from + 8), .calls = u64(frame, from + 16)};
    }
    size_t at = SP_BASE_BYTES + (size_t)rings * SP_BASE_RING_BYTES;
    for (uint32_t i = 0; i < lanes; i++) {
        if (!take_state(loaded, frame, at))
            return false;
        at += SP_BASE_LANE_BYTES + (size_t)u32(frame, at + 4) * SP_BASE_LEVEL_BYTES;
    }
    return true;
}

static bool take_frame(sp_loaded *loaded, const sp_frame_view *frame)
{
    switch ((sp_frame_kind)frame->kind) {
    case SP_FRAME_ANCHOR:
        return frame->payload_bytes != SP_ANCHOR_BYTES || take_anchor(loaded, frame);
    case SP_FRAME_REGION:
        return frame->payload_bytes < SP_REGION_BYTES || take_region(loaded, frame);
    case SP_FRAME_THREAD:
        return frame->payload_bytes < SP_THREAD_BYTES || take_thread(loaded, frame);
    case SP_FRAME_INSTRUMENT:
        return frame->payload_bytes < SP_INSTRUMENT_BYTES || take_instrument(loaded, frame);
    case SP_FRAME_TASK:
        return frame->payload_bytes < SP_TASK_BYTES || take_task(loaded, frame);
    case SP_FRAME_METADATA:
        return read_object(loaded, frame, 0, NULL, take_metadata_member);
    case SP_FRAME_BLOCK:
        return frame->payload_bytes < SP_PLACE_BYTES || take_block(loaded, frame);
    case SP_FRAME_BASE:
        return frame->payload_bytes < SP_BASE_BYTES || take_base(loaded, frame);
    case SP_FRAME_OWNER:
        sp_owner_frame_read(frame, &loaded->owner);
        return true;
    case SP_FRAME_SEAL:
        loaded->is_sealed = true;
        return true;
    case SP_FRAME_LOSSES:
        loaded->losses.count = 0;
        return read_object(loaded, frame, 0, NULL, take_loss_member);
    }
    return true;
}

/* The next place at or after `at` where a whole frame begins; `size` when there is none. */
static size_t find_frame(const uint8_t *bytes, size_t size, size_t at)
{
    sp_frame_view frame;
    for (; at + SP_FRAME_HEADER_BYTES <= size; at += SP_FRAME_ALIGNMENT)
        if (memcmp(bytes + at, SP_FRAME_MAGIC, 4) == 0 &&
            sp_frame_read(bytes + at, size - at, &frame))
            return at;
    return size;
}

/* What is no frame at the end of a file is what its writer had not finished. */
bool sp_load_frames(sp_loaded *loaded, const uint8_t *bytes, size_t size, bool is_file)
{
    sp_frame_view frame;
    size_t at = 0;
    while (at < size) {
        if (sp_frame_read(bytes + at, size - at, &frame)) {
            if (!take_frame(loaded, &frame))
                return false;
            at += frame.bytes;
            continue;
        }
        size_t next = find_frame(bytes, size, at + SP_FRAME_ALIGNMENT);
        if (next == size && is_file)
            loaded->torn_bytes += size - at;
        else
            loaded->damaged_bytes += next - at;
        at = next;
    }
    return true;
}
