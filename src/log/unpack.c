#include "log/unpack.h"

#include "log/block_layout.h"
#include "log/packing.h"

/* A regular call is read without a check of each byte while so many are left; the last bytes of a
 * block are read from a copy with zeros behind it. */
enum { UNCHECKED_BYTES = SP_LONGEST_CALL };

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

static uint64_t low_bits(uint64_t value, unsigned bits)
{
    return value & ((UINT64_C(1) << bits) - 1);
}

/* Reads a spelled-out step; false when it makes no sense. */
static bool get_step(const uint8_t **at, const uint8_t *end, uint64_t *out)
{
    uint64_t region, change;
    if (!sp_get_number(at, end, &region) || region > UINT32_MAX ||
        !sp_get_number(at, end, &change) || change > UINT32_MAX)
        return false;
    *out = region | (uint64_t)(uint32_t)sp_unzigzag(change) << 32;
    return true;
}

/* A call as it is packed. */
typedef struct packed_call {
    uint64_t step, gap, duration, is_around;
    unsigned step_code;
} packed_call;

/* Any call but a short one with a foreseen step. Returns where the next record begins, NULL when it
 * makes no sense. */
static __attribute__((noinline)) const uint8_t *get_rare(const uint8_t *at, const uint8_t *end,
                                                         packed_call *out)
{
    uint64_t word = sp_load_u64(at), from_last;
    unsigned form = (unsigned)low_bits(word, SP_FORM_BITS), gap_bits = SP_SHORT_GAP_BITS;
    if (form == SP_FORM_OTHER) {
        at++;
        if (!get_step(&at, end, &out->step) || !sp_get_number(&at, end, &from_last) ||
            !sp_get_number(&at, end, &out->duration))
            return NULL;
        out->step_code = SP_STEP_EXPLICIT;
        out->is_around = 0;
        out->gap = (uint64_t)sp_unzigzag(from_last);
        return at;
    }
    out->step_code = form % SP_FORM_MEDIUM;
    out->is_around = word >> SP_PACK_AROUND_BIT & 1;
    if (form < SP_FORM_MEDIUM) {
        word = low_bits(word, 8 * SP_SHORT_BYTES);
        at += SP_SHORT_BYTES;
    } else {
        gap_bits = SP_MEDIUM_GAP_BITS;
        at += SP_MEDIUM_BYTES;
    }
    out->gap = low_bits(word >> SP_PACK_GAP_BIT, gap_bits);
    out->duration = word >> (SP_PACK_GAP_BIT + gap_bits);
    bool is_explicit = out->step_code == SP_STEP_EXPLICIT;
    if (form >= 2 * SP_FORM_MEDIUM || at > end || (is_explicit && !get_step(&at, end, &out->step)))
        return NULL;
    return at;
}

/* Reads a regular call, of which SP_LONGEST_CALL bytes can be read; returns where the next record
 * begins, NULL when it makes no sense. The call is then in `now`. */
static inline const uint8_t *get_call(const uint8_t *at, const uint8_t *end,
                                      sp_prediction_now *now, sp_prediction *prediction,
                                      uint64_t *ticks)
{
    uint64_t word = sp_load_u64(at);
    uint64_t *steps = sp_prediction_steps(prediction, now);
    uint64_t step = steps[word & 1], other = steps[~word & 1];
    uint64_t is_around = word >> SP_PACK_AROUND_BIT & 1;
    uint64_t gap = low_bits(word >> SP_PACK_GAP_BIT, SP_SHORT_GAP_BITS);
    uint64_t duration =
        low_bits(word >> (SP_PACK_GAP_BIT + SP_SHORT_GAP_BITS), SP_SHORT_DURATION_BITS);
    at += SP_SHORT_BYTES;
    if (__builtin_expect(low_bits(word, SP_FORM_BITS) > SP_STEP_BEFORE, 0)) {
        packed_call rare;
        at = get_rare(at - SP_SHORT_BYTES, end, &rare);
        if (at == NULL)
            return NULL;
        step = rare.step_code == SP_STEP_EXPLICIT ? rare.step : steps[rare.step_code];
        other = steps[step == steps[0]]; /* a long call spells out also the step seen last */
        is_around = rare.is_around;
        gap = rare.gap;
        duration = rare.duration;
    }
    steps[0] = step;
    steps[1] = other;
    uint64_t moment = now->last_end + gap;
    ticks[0] = moment - (duration & -is_around);
    ticks[1] = ticks[0] + duration;
    now->last = sp_prediction_apply(now, step);
    now->last_end = ticks[1];
    return sp_record_kind_of(now->last) == SP_RECORD_CALL && at <= end ? at : NULL;
}

/* Whether the record there is a regular call. */
static inline bool is_call(const uint8_t *at)
{
    unsigned first = *at;
    return (first & SP_FORM_OTHER) != SP_FORM_OTHER || first >> SP_FORM_BITS == SP_RECORD_CALL;
}

void sp_unpack_calls(sp_unpack *unpack, sp_call_batch *out)
{
    size_t most = unpack->calls_left < unpack->left ? unpack->calls_left : unpack->left;
    most = most < SP_CALL_BATCH ? most : SP_CALL_BATCH;
    const uint8_t *at = unpack->at, *end = unpack->end;
    sp_prediction_now now = unpack->prediction.now;
    size_t count = 0;
    while (count < most && end - at >= UNCHECKED_BYTES && is_call(at)) {
        at = get_call(at, end, &now, &unpack->prediction, &out->ticks[2 * count]);
        if (at == NULL) {
            unpack->damaged = true;
            break;
        }
        out->firsts[count++] = now.last;
    }
    unpack->prediction.now = now;
    unpack->at = at;
    unpack->left -= (uint32_t)count;
    unpack->calls_left -= (uint32_t)count;
    out->lane = unpack->lane;
    out->count = unpack->damaged ? 0 : count;
}

static bool get_one_call(sp_unpack *unpack, sp_event *event)
{
    uint64_t ticks[2];
    sp_prediction *prediction = &unpack->prediction;
    if (unpack->calls_left == 0)
        return false;
    unpack->calls_left--;
    const uint8_t *at = get_call(unpack->at, unpack->end, &prediction->now, prediction, ticks);
    if (at == NULL)
        return false;
    unpack->at = at;
    event->kind = SP_RECORD_CALL;
    event->lane = unpack->lane;
    event->region = sp_record_region(prediction->now.last);
    event->depth = sp_record_depth(prediction->now.last);
    event->flags = sp_record_flags(prediction->now.last);
    event->start = ticks[0];
    event->end = ticks[1];
    return true;
}

static bool get_times_of_other(sp_unpack *unpack, sp_event *event)
{
    uint64_t from, length;
    if (!sp_get_number(&unpack->at, unpack->end, &from) ||
        !sp_get_number(&unpack->at, unpack->end, &length))
        return false;
    event->start = unpack->prediction.now.last_end + (uint64_t)sp_unzigzag(from);
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
        unpack->prediction.now.last_end = event->end;
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
static bool get_other(sp_unpack *unpack, sp_event *event)
{
    event->kind = (sp_record_kind)(*unpack->at++ >> SP_FORM_BITS);
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
        unpack->prediction.now.last_end = event->end;
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
    bool is_good;
    if (is_call(unpack->at))
        is_good = get_one_call(unpack, event);
    else
        is_good = get_other(unpack, event);
    unpack->damaged = !is_good || unpack->at > unpack->end;
    return !unpack->damaged;
}
