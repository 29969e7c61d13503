#include "log/unpack.h"

#include "log/block_layout.h"
#include "log/packing.h"

/* A regular call is read without a check of each byte while so many are left; the last bytes of a
 * block are read from a copy with zeros behind it. */
enum { UNCHECKED_BYTES = SP_PACK_CALL_BYTES + SP_PACK_SLACK };

int sp_unpack_begin(sp_unpack *unpack, const void *bytes, size_t size, bool check_sum,
                    sp_error *error)
{
    sp_block_header header;
    int status = check_sum ? sp_block_check(bytes, size, &header, error)
                           : sp_block_read_header(bytes, size, &header, error);
    if (status != SP_OK)
        return status;
    unpack->header = header;
    unpack->damaged = false;
    unpack->at = (const uint8_t *)bytes + SP_BLOCK_HEADER_BYTES;
    unpack->end = unpack->at + header.payload_bytes;
    unpack->block_end = unpack->end;
    unpack->in_tail = false;
    unpack->left = header.records;
    unpack->calls_left = header.calls;
    unpack->lane = header.lane;
    sp_prediction_reset(&unpack->prediction);
    return SP_OK;
}

static void enter_tail(sp_unpack *unpack)
{
    size_t left = (size_t)(unpack->end - unpack->at);
    memset(unpack->tail, 0, sizeof unpack->tail);
    memcpy(unpack->tail, unpack->at, left);
    unpack->at = unpack->tail;
    unpack->end = unpack->tail + left;
    unpack->in_tail = true;
}

static inline uint64_t get_time(const uint8_t **at, unsigned code)
{
    static const uint64_t mask[4] = {0xff, 0xffff, 0xffffff, UINT64_MAX};
    uint64_t value = sp_load_u64(*at) & mask[code];
    *at += sp_pack_width[code];
    return value;
}

/* The step that an explicit code spells out; false when it makes no sense. */
static bool get_explicit(sp_unpack *unpack, uint64_t *steps)
{
    uint64_t region, change;
    if (!sp_get_number(&unpack->at, unpack->end, &region) || region > UINT32_MAX ||
        !sp_get_number(&unpack->at, unpack->end, &change) || change > UINT32_MAX)
        return false;
    steps[1] = steps[0];
    steps[0] = region | (uint64_t)(uint32_t)sp_unzigzag(change) << 32;
    return true;
}

static inline bool get_call(sp_unpack *unpack, unsigned control, sp_event *event)
{
    sp_prediction *prediction = &unpack->prediction;
    uint64_t *steps = sp_prediction_steps(prediction);
    unsigned code = control >> SP_PACK_STEP_SHIFT;
    if (code == SP_PACK_STEP_BEFORE) {
        uint64_t before = steps[1];
        steps[1] = steps[0];
        steps[0] = before;
    } else if (code != SP_PACK_STEP_LAST &&
               (code != SP_PACK_STEP_EXPLICIT || !get_explicit(unpack, steps))) {
        return false;
    }
    uint32_t region = (uint32_t)steps[0];
    uint32_t depth = prediction->depth + (uint32_t)(steps[0] >> 32);
    const uint8_t *at = unpack->at;
    uint64_t first = get_time(&at, control & 3), second = get_time(&at, control >> 2 & 3);
    unpack->at = at;
    uint64_t start = prediction->last_end + first, end = start + second;
    if (control & SP_PACK_FROM_FIRST) {
        end = start;
        start = prediction->first_start[(depth + 1) % SP_PREDICTION_LEVELS] - second;
    }
    sp_prediction_note(prediction, region, depth, start, end);
    event->kind = SP_RECORD_CALL;
    event->lane = unpack->lane;
    event->region = region;
    event->depth = depth;
    event->start = start;
    event->end = end;
    return depth <= SP_RECORD_MAX_DEPTH && at <= unpack->end;
}

static bool get_times_of_other(sp_unpack *unpack, sp_event *event)
{
    uint64_t from, length;
    if (!sp_get_number(&unpack->at, unpack->end, &from) ||
        !sp_get_number(&unpack->at, unpack->end, &length))
        return false;
    event->start = unpack->prediction.last_end + (uint64_t)sp_unzigzag(from);
    event->end = event->start + length;
    return true;
}

static bool get_u32(sp_unpack *unpack, uint32_t *out)
{
    uint64_t value;
    if (!sp_get_number(&unpack->at, unpack->end, &value) || value > UINT32_MAX)
        return false;
    *out = (uint32_t)value;
    return true;
}

static bool get_marked(sp_unpack *unpack, sp_event *event)
{
    uint64_t up, outer = 0, inner = 0;
    if (!get_u32(unpack, &event->flags) || !get_u32(unpack, &event->region) ||
        !get_u32(unpack, &event->depth) || !get_u32(unpack, &event->below) ||
        !get_times_of_other(unpack, event) ||
        !sp_get_number(&unpack->at, unpack->end, &event->number) ||
        !sp_get_number(&unpack->at, unpack->end, &up))
        return false;
    bool is_appended = (event->flags & SP_CALL_APPENDED) != 0;
    if (!is_appended && (!sp_get_number(&unpack->at, unpack->end, &outer) ||
                         !sp_get_number(&unpack->at, unpack->end, &inner)))
        return false;
    event->parent = event->number - up;
    event->outer_from = event->start + outer;
    event->inner_from = event->end - inner;
    if (!is_appended)
        unpack->prediction.last_end = event->end;
    return is_appended || event->below <= event->depth;
}

static bool get_side(sp_unpack *unpack, sp_event *event)
{
    uint32_t bytes;
    if (!get_u32(unpack, &event->side_kind) || !get_u32(unpack, &bytes) ||
        bytes > (size_t)(unpack->end - unpack->at))
        return false;
    event->payload = (const char *)(unpack->block_end - (unpack->end - unpack->at));
    event->payload_bytes = bytes;
    unpack->at += bytes;
    return true;
}

/* Any record but a regular call. */
static bool get_other(sp_unpack *unpack, unsigned control, sp_event *event)
{
    event->kind = (sp_record_kind)(control & 0x1f);
    bool is_good = false;
    switch (event->kind) {
    case SP_RECORD_CALL_MARKED:
        is_good = unpack->calls_left-- > 0 && get_marked(unpack, event);
        break;
    case SP_RECORD_LANE:
        is_good = get_u32(unpack, &unpack->lane);
        break;
    case SP_RECORD_DRAIN:
        is_good = get_times_of_other(unpack, event);
        unpack->prediction.last_end = event->end;
        break;
    case SP_RECORD_SIDE:
        is_good = get_side(unpack, event);
        break;
    case SP_RECORD_LOST:
        is_good = sp_get_number(&unpack->at, unpack->end, &event->lost);
        break;
    case SP_RECORD_CALL:
        break;
    }
    event->lane = unpack->lane;
    return is_good;
}

static bool at_end(sp_unpack *unpack)
{
    unpack->damaged = unpack->damaged || unpack->at != unpack->end || unpack->calls_left != 0;
    return false;
}

bool sp_unpack_next(sp_unpack *unpack, sp_event *event)
{
    if (unpack->left == 0 || unpack->damaged)
        return at_end(unpack);
    if (unpack->end - unpack->at < UNCHECKED_BYTES && !unpack->in_tail)
        enter_tail(unpack);
    unpack->left--;
    unsigned control = *unpack->at++;
    bool is_good;
    if (control >> SP_PACK_STEP_SHIFT == SP_PACK_STEP_OTHER) {
        is_good = get_other(unpack, control, event);
    } else {
        is_good = unpack->calls_left > 0 && get_call(unpack, control, event);
        unpack->calls_left--;
    }
    if (!is_good || unpack->at > unpack->end) {
        unpack->damaged = true;
        return false;
    }
    return true;
}
