#include "log/pack.h"

#include "log/block_layout.h"
#include "log/packing.h"

/* A record of w words takes at most 10 w bytes: a short one-word side record is the worst. */
enum { WORST_BYTES_PER_WORD = 10, MARKED_BYTES = 1 + 9 * SP_NUMBER_BYTES };

size_t sp_pack_bound(size_t words)
{
    return SP_BLOCK_HEADER_BYTES + words * WORST_BYTES_PER_WORD + MARKED_BYTES + SP_LONGEST_CALL;
}

void sp_pack_begin(sp_pack *pack, void *buffer, size_t size, uint32_t ring, uint32_t lane,
                   uint64_t first_call)
{
    size_t most = (size_t)UINT32_MAX + SP_BLOCK_HEADER_BYTES;
    pack->block = buffer;
    pack->at = pack->block + SP_BLOCK_HEADER_BYTES;
    pack->limit = pack->block + (size < most ? size : most);
    pack->header = (sp_block_header){
        .ring = ring, .lane = lane, .first_call = first_call, .first_tick = 0};
    pack->lane = lane;
    sp_prediction_reset(&pack->prediction);
}

/* Puts region and change of level. */
static uint8_t *put_step(uint8_t *at, uint64_t step)
{
    at = sp_put_number(at, (uint32_t)step);
    return sp_put_number(at, sp_zigzag((int32_t)(step >> 32)));
}

/* A call whose times fit no word. */
static __attribute__((noinline)) uint8_t *put_long(uint8_t *at, uint64_t step, uint64_t from_last,
                                                   uint64_t duration)
{
    *at++ = (uint8_t)(SP_FORM_OTHER | SP_RECORD_CALL << SP_FORM_BITS);
    at = put_step(at, step);
    at = sp_put_number(at, sp_zigzag((int64_t)from_last));
    return sp_put_number(at, duration);
}

/* A call that is not short, or whose step is spelled out. */
static __attribute__((noinline)) uint8_t *put_rare(uint8_t *at, uint64_t step, unsigned step_code,
                                                   uint64_t gap, uint64_t duration,
                                                   uint64_t is_around)
{
    unsigned form = step_code, bytes = SP_SHORT_BYTES, shift = SP_SHORT_GAP_BITS;
    if (gap >> SP_SHORT_GAP_BITS | duration >> SP_SHORT_DURATION_BITS) {
        if (gap >> SP_MEDIUM_GAP_BITS | duration >> SP_MEDIUM_DURATION_BITS)
            return put_long(at, step, is_around ? gap - duration : gap, duration);
        form += SP_FORM_MEDIUM;
        bytes = SP_MEDIUM_BYTES;
        shift = SP_MEDIUM_GAP_BITS;
    }
    sp_store_u64(at, form | is_around << SP_PACK_AROUND_BIT | gap << SP_PACK_GAP_BIT |
                         duration << (shift + SP_PACK_GAP_BIT));
    at += bytes;
    return step_code == SP_STEP_EXPLICIT ? put_step(at, step) : at;
}

/* Which of the steps seen after a region this one is; they are brought up to date. In the common
 * case nothing is stored, so that the next call with that region need not wait for a store. */
static inline unsigned step_code_of(uint64_t *steps, uint64_t step)
{
    uint64_t last = steps[0], before = steps[1];
    if (last == step)
        return SP_STEP_LAST;
    steps[0] = step;
    steps[1] = last;
    return before == step ? SP_STEP_BEFORE : SP_STEP_EXPLICIT;
}

static inline uint8_t *pack_call(uint8_t *at, sp_prediction_now *now, sp_prediction *prediction,
                                 const uint64_t *words)
{
    uint64_t call = words[0], start = words[1], end = words[2];
    unsigned code = step_code_of(sp_prediction_steps(prediction, now),
                                 sp_prediction_step(now, call));
    uint64_t is_around = start < now->last_end;
    uint64_t gap = (is_around ? end : start) - now->last_end, duration = end - start;
    uint64_t step = sp_prediction_step(now, call);
    now->last_end = end;
    now->last = call;
    uint64_t excess = (gap | duration >> (SP_SHORT_DURATION_BITS - SP_SHORT_GAP_BITS)) >>
                      SP_SHORT_GAP_BITS;
    if (__builtin_expect((excess | code >> 1) != 0, 0))
        return put_rare(at, step, code, gap, duration, is_around);
    sp_store_u64(at, code | is_around << SP_PACK_AROUND_BIT | gap << SP_PACK_GAP_BIT |
                         duration << (SP_SHORT_GAP_BITS + SP_PACK_GAP_BIT));
    return at + SP_SHORT_BYTES;
}

/* `end`: of a call, in ticks. */
static void note_end(sp_block_header *header, uint64_t end)
{
    if (header->first_tick == 0)
        header->first_tick = end;
    header->last_tick = end;
}

static uint8_t *put_time_of_other(sp_pack *pack, uint8_t *at, uint64_t start, uint64_t end)
{
    at = sp_put_number(at, sp_zigzag((int64_t)(start - pack->prediction.now.last_end)));
    return sp_put_number(at, end - start);
}

static uint8_t *put_marked(sp_pack *pack, uint8_t *at, const uint64_t *words)
{
    uint64_t start = words[SP_MARKED_START], end = words[SP_MARKED_END];
    at = sp_put_number(at, words[SP_MARKED_FLAGS]);
    at = sp_put_number(at, sp_record_region(words[SP_MARKED_FIRST]));
    at = sp_put_number(at, words[SP_MARKED_DEPTH]);
    at = sp_put_number(at, words[SP_MARKED_BELOW]);
    at = put_time_of_other(pack, at, start, end);
    at = sp_put_number(at, words[SP_MARKED_NUMBER]);
    at = sp_put_number(at, words[SP_MARKED_NUMBER] - words[SP_MARKED_PARENT]);
    if (words[SP_MARKED_FLAGS] & SP_CALL_APPENDED)
        return at;
    at = sp_put_number(at, words[SP_MARKED_OUTER_FROM] - start);
    at = sp_put_number(at, end - words[SP_MARKED_INNER_FROM]);
    note_end(&pack->header, end);
    pack->prediction.now.last_end = end;
    return at;
}

static uint8_t *put_side(uint8_t *at, const uint64_t *words)
{
    uint32_t bytes = sp_record_region(words[0]);
    at = sp_put_number(at, sp_record_depth(words[0]));
    at = sp_put_number(at, bytes);
    memcpy(at, words + 1, bytes);
    return at + bytes;
}

/* Any record but a regular call; it fits. */
static bool pack_other(sp_pack *pack, const uint64_t *words)
{
    sp_record_kind kind = sp_record_kind_of(words[0]);
    uint8_t *at = pack->at;
    *at++ = (uint8_t)(SP_FORM_OTHER | kind << SP_FORM_BITS);
    switch (kind) {
    case SP_RECORD_CALL_MARKED:
        at = put_marked(pack, at, words);
        pack->header.calls++;
        break;
    case SP_RECORD_LANE:
        pack->lane = sp_record_region(words[0]);
        at = sp_put_number(at, pack->lane);
        break;
    case SP_RECORD_DRAIN:
        at = put_time_of_other(pack, at, words[1], words[2]);
        pack->prediction.now.last_end = words[2];
        break;
    case SP_RECORD_SIDE:
        at = put_side(at, words);
        break;
    case SP_RECORD_LOST:
        at = sp_put_number(at, words[1]);
        break;
    default:
        return false;
    }
    pack->at = at;
    return true;
}

/* Room for any record but a regular call, its side payload included. */
static bool other_fits(const sp_pack *pack, uint64_t first)
{
    size_t payload = sp_record_kind_of(first) == SP_RECORD_SIDE ? sp_record_region(first) : 0;
    return (size_t)(pack->limit - pack->at) >= MARKED_BYTES + payload;
}

/* Packs regular calls up to the first other record, the end of the span or of the room. */
static const uint64_t *pack_calls(sp_pack *pack, const uint64_t *words, const uint64_t *end)
{
    sp_prediction_now now = pack->prediction.now;
    uint8_t *at = pack->at;
    const uint64_t *from = words;
    for (;;) {
        /* So many fit in any form, so the inner loop need not ask. */
        size_t calls = (size_t)(end - words) / SP_RECORD_CALL_WORDS;
        size_t room = (size_t)(pack->limit - at) / SP_LONGEST_CALL;
        const uint64_t *until = words + (calls < room ? calls : room) * SP_RECORD_CALL_WORDS;
        if (words == until)
            break;
        while (words < until && sp_record_kind_of(words[0]) == SP_RECORD_CALL) {
            at = pack_call(at, &now, &pack->prediction, words);
            words += SP_RECORD_CALL_WORDS;
        }
        if (words < until)
            break;
    }
    if (words > from) {
        note_end(&pack->header, from[2]);
        note_end(&pack->header, now.last_end);
    }
    pack->at = at;
    pack->prediction.now = now;
    uint32_t calls = (uint32_t)((words - from) / SP_RECORD_CALL_WORDS);
    pack->header.calls += calls;
    pack->header.records += calls;
    return words;
}

bool sp_pack_words(sp_pack *pack, const uint64_t *words, size_t count)
{
    const uint64_t *end = words + count;
    for (;;) {
        words = pack_calls(pack, words, end);
        if (words == end)
            return true;
        size_t length = sp_record_words(words[0]);
        if (length > (size_t)(end - words) || sp_record_kind_of(words[0]) == SP_RECORD_CALL ||
            !other_fits(pack, words[0]) || !pack_other(pack, words))
            return false;
        pack->header.records++;
        words += length;
    }
}

static size_t end_block(sp_pack *pack)
{
    uint8_t *block = pack->block;
    sp_block_header *header = &pack->header;
    header->payload_bytes = (uint32_t)(pack->at - block - SP_BLOCK_HEADER_BYTES);
    memset(block, 0, SP_BLOCK_HEADER_BYTES);
    memcpy(block, sp_block_magic, sizeof sp_block_magic);
    block[SP_BLOCK_AT_VERSION] = SP_BLOCK_VERSION;
    block[SP_BLOCK_AT_LENGTH] = SP_BLOCK_HEADER_BYTES;
    sp_store_u32(block + SP_BLOCK_AT_RING, header->ring);
    sp_store_u32(block + SP_BLOCK_AT_LANE, header->lane);
    sp_store_u64(block + SP_BLOCK_AT_FIRST_CALL, header->first_call);
    sp_store_u32(block + SP_BLOCK_AT_RECORDS, header->records);
    sp_store_u32(block + SP_BLOCK_AT_CALLS, header->calls);
    sp_store_u32(block + SP_BLOCK_AT_PAYLOAD_BYTES, header->payload_bytes);
    sp_store_u64(block + SP_BLOCK_AT_FIRST_TICK, header->first_tick);
    sp_store_u64(block + SP_BLOCK_AT_LAST_TICK, header->last_tick);
    return SP_BLOCK_HEADER_BYTES + (size_t)header->payload_bytes;
}

size_t sp_pack_end(sp_pack *pack)
{
    size_t bytes = end_block(pack);
    uint32_t sum = sp_block_sum(pack->block, pack->header.payload_bytes);
    sp_store_u32(pack->block + SP_BLOCK_AT_SUM, sum);
    return bytes;
}

size_t sp_pack_end_unsummed(sp_pack *pack)
{
    return end_block(pack);
}
