#include "log/pack.h"

#include "log/block_layout.h"
#include "log/packing.h"

/* A record of w words takes at most 10 w bytes: a short one-word side record is the worst. */
enum { WORST_BYTES_PER_WORD = 10, MARKED_BYTES = 1 + 9 * SP_NUMBER_BYTES };

size_t sp_pack_bound(size_t words)
{
    return SP_BLOCK_HEADER_BYTES + words * WORST_BYTES_PER_WORD + MARKED_BYTES + SP_PACK_SLACK;
}

void sp_pack_begin(sp_pack *pack, void *buffer, size_t size, uint32_t ring, uint32_t lane,
                   uint64_t first_call)
{
    size_t most = (size_t)UINT32_MAX + SP_BLOCK_HEADER_BYTES;
    pack->block = buffer;
    pack->at = pack->block + SP_BLOCK_HEADER_BYTES;
    pack->limit = pack->block + (size < most ? size : most);
    pack->header = (sp_block_header){
        .ring = ring, .lane = lane, .first_call = first_call, .first_tick = UINT64_MAX};
    pack->lane = lane;
    sp_prediction_reset(&pack->prediction);
}

static inline unsigned width_code(uint64_t value)
{
    return (value > 0xff) + (value > 0xffff) + (value > 0xffffff);
}

static inline uint8_t *put_time(uint8_t *at, uint64_t value, unsigned code)
{
    sp_store_u64(at, value);
    return at + sp_pack_width[code];
}

/* Puts region and depth where the two remembered steps miss; returns the step code. */
static inline unsigned put_step(uint8_t **at, sp_prediction *prediction, uint32_t region,
                                uint32_t depth)
{
    uint64_t *steps = sp_prediction_steps(prediction);
    uint64_t step = sp_pack_step(region, depth, prediction->depth);
    if (steps[0] == step)
        return SP_PACK_STEP_LAST;
    unsigned code = SP_PACK_STEP_BEFORE;
    if (steps[1] != step) {
        code = SP_PACK_STEP_EXPLICIT;
        *at = sp_put_number(*at, region);
        *at = sp_put_number(*at, sp_zigzag((int64_t)depth - prediction->depth));
    }
    steps[1] = steps[0];
    steps[0] = step;
    return code;
}

static inline void pack_call(sp_pack *pack, const uint64_t *words)
{
    sp_prediction *prediction = &pack->prediction;
    uint32_t region = sp_record_region(words[0]), depth = sp_record_depth(words[0]);
    uint64_t start = words[1], end = words[2];
    uint8_t *control = pack->at, *at = control + 1;
    unsigned step = put_step(&at, prediction, region, depth), meaning = 0;
    uint64_t first = start - prediction->last_end, second = end - start;
    unsigned inner = (depth + 1) % SP_PREDICTION_LEVELS;
    if (prediction->has_first >> inner & 1 && start <= prediction->first_start[inner] &&
        end >= prediction->last_end) {
        meaning = SP_PACK_FROM_FIRST;
        first = end - prediction->last_end;
        second = prediction->first_start[inner] - start;
    }
    unsigned first_code = width_code(first), second_code = width_code(second);
    at = put_time(at, first, first_code);
    pack->at = put_time(at, second, second_code);
    *control = (uint8_t)(step << SP_PACK_STEP_SHIFT | meaning | second_code << 2 | first_code);
    sp_prediction_note(prediction, region, depth, start, end);
}

static void note_times(sp_block_header *header, uint64_t start, uint64_t end)
{
    header->first_tick = start < header->first_tick ? start : header->first_tick;
    header->last_tick = end > header->last_tick ? end : header->last_tick;
}

static uint8_t *put_time_of_other(sp_pack *pack, uint8_t *at, uint64_t start, uint64_t end)
{
    at = sp_put_number(at, sp_zigzag((int64_t)(start - pack->prediction.last_end)));
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
    note_times(&pack->header, start, end);
    pack->prediction.last_end = end;
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
    *at++ = (uint8_t)(SP_PACK_STEP_OTHER << SP_PACK_STEP_SHIFT | kind);
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
        pack->prediction.last_end = words[2];
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

bool sp_pack_words(sp_pack *pack, const uint64_t *words, size_t count)
{
    const uint64_t *end = words + count;
    while (words < end) {
        size_t length = sp_record_words(words[0]);
        if (length > (size_t)(end - words))
            return false;
        if (sp_record_kind_of(words[0]) == SP_RECORD_CALL) {
            if (pack->limit - pack->at < SP_PACK_CALL_BYTES + SP_PACK_SLACK)
                return false;
            pack_call(pack, words);
            note_times(&pack->header, words[1], words[2]);
            pack->header.calls++;
        } else if (!other_fits(pack, words[0]) || !pack_other(pack, words)) {
            return false;
        }
        pack->header.records++;
        words += length;
    }
    return true;
}

size_t sp_pack_end(sp_pack *pack)
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
    sp_store_u32(block + SP_BLOCK_AT_SUM, sp_block_sum(block, header->payload_bytes));
    return SP_BLOCK_HEADER_BYTES + (size_t)header->payload_bytes;
}
