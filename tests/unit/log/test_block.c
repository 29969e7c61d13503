/* Packing and unpacking one block: bytes worked out by hand, damage, and random programs. */
#include "check.h"

#include "base/crc32c.h"
#include "call_model.h"
#include "log/pack.h"
#include "log/unpack.h"

enum { BUFFER = 1 << 16 };

static uint8_t buffer[BUFFER];

static size_t pack_words(const uint64_t *words, size_t count, uint32_t lane)
{
    sp_pack pack;
    sp_pack_begin(&pack, buffer, BUFFER, 7, lane, 1000);
    CHECK(sp_pack_words(&pack, words, count));
    return sp_pack_end(&pack);
}

static void checksum_is_castagnoli(void)
{
    /* The check value that the definition of CRC-32C gives for these nine bytes. */
    CHECK_INT(sp_crc32c_plain(0, "123456789", 9), 0xE3069283);
    CHECK_INT(sp_crc32c(0, "123456789", 9), 0xE3069283);
    CHECK_INT(sp_crc32c(sp_crc32c(0, "1234", 4), "56789", 5), 0xE3069283);
    uint8_t zeros[32] = {0};
    CHECK_INT(sp_crc32c(0, zeros, 32), 0x8A9136AA);
}

/* The five bytes of a short call: form, around, gap, duration. */
static void put_short(uint8_t *at, unsigned form, uint64_t around, uint64_t gap, uint64_t duration)
{
    uint64_t word = form | around << 3 | gap << 4 | duration << 17;
    for (int i = 0; i < 5; i++)
        at[i] = (uint8_t)(word >> 8 * i);
}

static void bytes_of_a_small_nest(void)
{
    /* outer [100, 200] depth 0 region 5, inner [110, 130] depth 1 region 300. Post-order. */
    uint64_t words[] = {sp_record_first(SP_RECORD_CALL, 300, 1), 110, 130,
                        sp_record_first(SP_RECORD_CALL, 5, 0), 100, 200};
    size_t size = pack_words(words, 6, 3);
    uint8_t expected[13] = {0};
    put_short(expected, 2, 0, 110, 20); /* step spelled out: region 300, level +2 */
    memcpy(expected + 5, (uint8_t[]){0xac, 0x02, 0x04}, 3);
    put_short(expected + 8, 2, 1, 70, 100); /* around: 200 - 130; region 5, level -2 */
    CHECK_INT(size, 64 + 8 + 7);
    CHECK(memcmp(buffer + 64, expected, sizeof expected) == 0);
    CHECK(memcmp(buffer + 77, (uint8_t[]){5, 3}, 2) == 0);
    const uint8_t header[] = {'S', 'P', 'L', 'B', 1, 0, 64, 0, 7, 0, 0, 0, 3, 0, 0, 0,
                              0xe8, 3, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 15, 0, 0, 0};
    CHECK(memcmp(buffer, header, sizeof header) == 0);
    CHECK_INT(buffer[40], 130);
    CHECK_INT(buffer[48], 200);

    sp_block_header read;
    CHECK_INT(sp_block_check(buffer, size, &read, NULL), SP_OK);
    CHECK_INT(read.ring, 7);
    CHECK_INT(read.lane, 3);
    CHECK_INT(read.first_call, 1000);
    CHECK_INT(read.calls, 2);
    CHECK_INT(read.first_tick, 130);
    CHECK_INT(read.last_tick, 200);
}

static void bytes_of_longer_calls(void)
{
    /* A gap of 2^13 needs a medium word, one of 2^24 a long record. */
    uint64_t words[] = {sp_record_first(SP_RECORD_CALL, 0, 0), 8192, 8193,
                        sp_record_first(SP_RECORD_CALL, 0, 0), 8193 + (1 << 24), 8193 + (1 << 24)};
    const uint8_t expected[] = {
        /* step last (region 0, level +0 as at the beginning), gap << 4, duration << 28 */
        0x03, 0, 2, 0x10, 0, 0, 0, 0,
        /* other form, kind 0; region 0, change 0, gap twice 2^24, duration 0 */
        0x07, 0, 0, 0x80, 0x80, 0x80, 0x10, 0};
    CHECK_INT(pack_words(words, 6, 0), 64 + sizeof expected);
    CHECK(memcmp(buffer + 64, expected, sizeof expected) == 0);
}

static void a_long_call_with_the_last_step_keeps_the_other(void)
{
    /* After region 1 come 2, then 3, then 3 after a long gap, then 2 again. */
    const uint32_t regions[] = {1, 2, 1, 3, 1, 3, 1, 2};
    uint64_t words[3 * 8], tick = 100;
    for (size_t i = 0; i < 8; i++) {
        tick += i == 5 ? 1 << 24 : 1;
        words[3 * i] = sp_record_first(SP_RECORD_CALL, regions[i], 0);
        words[3 * i + 1] = words[3 * i + 2] = tick;
    }
    size_t size = pack_words(words, 24, 0);
    sp_unpack unpack;
    sp_event event;
    CHECK_INT(sp_unpack_begin(&unpack, buffer, size, true, NULL), SP_OK);
    for (size_t i = 0; i < 8 && CHECK(sp_unpack_next(&unpack, &event)); i++) {
        CHECK_INT(event.region, regions[i]);
        CHECK_INT(event.start, words[3 * i + 1]);
    }
    CHECK(!sp_unpack_next(&unpack, &event));
    CHECK(!unpack.damaged);
}

/* A generator that is resumed from a loop, and calls a function each time: steps of a loop like any
 * other. A step is region and change of level, twice the depth plus one for a resumption. */
static void a_resumption_takes_no_byte_of_its_own(void)
{
    uint64_t words[606];
    for (uint64_t i = 0; i < 101; i++) {
        uint64_t *inner = &words[6 * i], *outer = inner + 3, start = 1000 + 100 * i;
        inner[0] = sp_record_first(SP_RECORD_CALL, 7, 4);
        inner[1] = start + 10;
        inner[2] = start + 20;
        outer[0] = sp_record_first(SP_RECORD_CALL, 9, 3) | (i > 0 ? SP_RECORD_RESUMPTION : 0);
        outer[1] = start;
        outer[2] = start + 60;
    }
    /* Spelled out, region and change: (7, +8) after nothing, (9, -2) after 7, (7, +2) after 9, and
     * from the second turn on (9, -1) after 7 and (7, +1) after 9. */
    size_t size = pack_words(words, 606, 0);
    CHECK_INT(size, 64 + 202 * 5 + 5 * 2);

    sp_unpack unpack;
    sp_event event;
    CHECK_INT(sp_unpack_begin(&unpack, buffer, size, true, NULL), SP_OK);
    for (size_t i = 0; i < 202 && CHECK(sp_unpack_next(&unpack, &event)); i++) {
        CHECK_INT(event.kind, SP_RECORD_CALL);
        CHECK_INT(event.region, i % 2 == 0 ? 7 : 9);
        CHECK_INT(event.depth, i % 2 == 0 ? 4 : 3);
        CHECK_INT(event.flags, i % 2 == 1 && i > 1 ? SP_CALL_RESUMPTION : 0);
        CHECK_INT(event.start, words[3 * i + 1]);
        CHECK_INT(event.end, words[3 * i + 2]);
    }
}

static void repeated_calls_take_five_bytes(void)
{
    uint64_t words[300];
    for (uint64_t i = 0; i < 100; i++) {
        words[3 * i] = sp_record_first(SP_RECORD_CALL, 9, 4);
        words[3 * i + 1] = 1000 + 100 * i;
        words[3 * i + 2] = 1000 + 100 * i + 60;
    }
    /* The first two spell out a step: from nothing to (9, +4), then (9, +0). */
    CHECK_INT(pack_words(words, 300, 0), 64 + 100 * 5 + 2 * 2);
}

/* Writes the ring words of an event again. */
static size_t words_of(const sp_event *e, uint64_t *w)
{
    switch (e->kind) {
    case SP_RECORD_CALL:
        w[0] = sp_record_first(e->kind, e->region, e->depth) |
               (e->flags == SP_CALL_RESUMPTION ? SP_RECORD_RESUMPTION : 0);
        w[1] = e->start;
        w[2] = e->end;
        return 3;
    case SP_RECORD_CALL_MARKED:
        w[SP_MARKED_FIRST] = sp_record_first(e->kind, e->region, 0);
        w[SP_MARKED_START] = e->start;
        w[SP_MARKED_END] = e->end;
        w[SP_MARKED_FLAGS] = e->flags;
        w[SP_MARKED_NUMBER] = e->number;
        w[SP_MARKED_PARENT] = e->parent;
        w[SP_MARKED_DEPTH] = e->depth;
        w[SP_MARKED_BELOW] = e->below;
        w[SP_MARKED_OUTER_FROM] = e->outer_from;
        w[SP_MARKED_INNER_FROM] = e->inner_from;
        return SP_RECORD_MARKED_WORDS;
    case SP_RECORD_LANE:
        w[0] = sp_record_first(e->kind, e->lane, 0);
        return 1;
    case SP_RECORD_DRAIN:
        w[0] = sp_record_first(e->kind, 0, 0);
        w[1] = e->start;
        w[2] = e->end;
        return 3;
    case SP_RECORD_SIDE:
        w[0] = sp_record_first(e->kind, e->payload_bytes, e->side_kind);
        memset(w + 1, 0, (e->payload_bytes + 7) / 8 * 8);
        memcpy(w + 1, e->payload, e->payload_bytes);
        return 1 + (e->payload_bytes + 7) / 8;
    case SP_RECORD_LOST:
        w[0] = sp_record_first(e->kind, 0, 0);
        w[1] = e->lost;
        return 2;
    }
    return 0;
}

/* Reading by batches gives the same calls as reading one by one. */
static void check_batches(const uint8_t *block, size_t size)
{
    static sp_unpack one, many;
    static sp_call_batch batch;
    sp_event event, other;
    size_t calls = 0;
    CHECK_INT(sp_unpack_begin(&one, block, size, true, NULL), SP_OK);
    CHECK_INT(sp_unpack_begin(&many, block, size, true, NULL), SP_OK);
    for (;;) {
        sp_unpack_calls(&many, &batch);
        for (size_t i = 0; i < batch.count; i++) {
            CHECK(sp_unpack_next(&one, &event) && event.kind == SP_RECORD_CALL);
            CHECK(event.region == sp_record_region(batch.firsts[i]) &&
                  event.depth == sp_record_depth(batch.firsts[i]) &&
                  event.flags == sp_record_flags(batch.firsts[i]) &&
                  event.start == batch.ticks[2 * i] && event.end == batch.ticks[2 * i + 1] &&
                  event.lane == batch.lane);
            calls++;
        }
        if (batch.count > 0)
            continue;
        bool goes_on = sp_unpack_next(&many, &other);
        CHECK(sp_unpack_next(&one, &event) == goes_on);
        if (!goes_on)
            break;
        CHECK(event.kind == other.kind && event.lane == other.lane);
        calls += event.kind <= SP_RECORD_CALL_MARKED;
    }
    CHECK(!one.damaged && !many.damaged);
    CHECK_INT(calls, many.header.calls);
}

/* Packs the words and checks that exactly they come back. */
static size_t check_round_trip(const uint64_t *words, size_t count, uint32_t *lane)
{
    size_t room = sp_pack_bound(count);
    uint8_t *block = malloc(room);
    sp_pack pack;
    sp_pack_begin(&pack, block, room, 0, *lane, 0);
    CHECK(sp_pack_words(&pack, words, count));
    size_t size = sp_pack_end(&pack);
    CHECK(size <= room);
    block = realloc(block, size); /* so that a read behind it is seen */
    sp_unpack unpack;
    CHECK_INT(sp_unpack_begin(&unpack, block, size, true, NULL), SP_OK);
    sp_event event;
    size_t at = 0;
    while (sp_unpack_next(&unpack, &event)) {
        uint64_t again[64];
        size_t n = words_of(&event, again);
        if (!CHECK(at + n <= count && memcmp(again, words + at, n * 8) == 0))
            break;
        at += n;
        *lane = event.lane;
    }
    CHECK(!unpack.damaged);
    CHECK_INT(at, count);
    CHECK_INT(pack.lane, *lane);
    check_batches(block, size);
    free(block);
    return size;
}

static void random_programs_come_back(void)
{
    const model_habits all = {.open = 40, .close = 40, .crossing = 4, .resumption = 2,
                              .append = 2, .lose = 1, .switch_lane = 5, .drain = 2,
                              .metadata = 20, .regions = 400, .depth = 90, .time_step = 100000};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        model m;
        model_begin(&m, seed, seed * 1000);
        uint32_t lane = 0;
        for (int part = 0; part < 3; part++) {
            model_run(&m, (size_t)model_random(&m, 700), &all);
            check_round_trip(m.words.items, m.words.count, &lane);
            model_forget(&m);
        }
        model_release(&m);
    }
}

static void any_64_bits_come_back(void)
{
    model m;
    model_begin(&m, 5, 0);
    for (int i = 0; i < 2000; i++) {
        unsigned shift = (unsigned)model_random(&m, 64);
        uint32_t depth = (uint32_t)model_random(&m, SP_RECORD_MAX_DEPTH + 1);
        uint64_t call[3] = {sp_record_first(SP_RECORD_CALL, (uint32_t)m.random, depth)};
        call[0] |= model_random(&m, 2) * SP_RECORD_RESUMPTION;
        call[1] = model_random(&m, UINT64_MAX) << shift;
        call[2] = model_random(&m, 2) ? ~call[1] : model_random(&m, UINT64_MAX) >> shift;
        model_record(&m, 0, call, 3);
        uint64_t marked[SP_RECORD_MARKED_WORDS];
        for (int w = 1; w < SP_RECORD_MARKED_WORDS; w++)
            marked[w] = model_random(&m, UINT64_MAX) >> shift;
        marked[SP_MARKED_FIRST] = sp_record_first(SP_RECORD_CALL_MARKED, UINT32_MAX, 0);
        marked[SP_MARKED_FLAGS] = 3;
        marked[SP_MARKED_DEPTH] = UINT32_MAX;
        marked[SP_MARKED_BELOW] = UINT32_MAX - (uint32_t)i;
        model_record(&m, 0, marked, SP_RECORD_MARKED_WORDS);
    }
    uint32_t lane = 0;
    check_round_trip(m.words.items, m.words.count, &lane);
    model_release(&m);
}

static void spans_join_and_bad_ones_stop(void)
{
    uint64_t words[] = {sp_record_first(SP_RECORD_CALL, 1, 0), 10, 20,
                        sp_record_first(SP_RECORD_CALL, 1, 0), 30, 40};
    sp_pack pack;
    sp_pack_begin(&pack, buffer, BUFFER, 7, 0, 1000);
    CHECK(sp_pack_words(&pack, words, 3));
    CHECK(sp_pack_words(&pack, words + 3, 3));
    size_t in_two = sp_pack_end(&pack);
    uint8_t kept[256];
    memcpy(kept, buffer, in_two);
    CHECK_INT(pack_words(words, 6, 0), in_two);
    CHECK(memcmp(kept, buffer, in_two) == 0);

    sp_pack_begin(&pack, buffer, BUFFER, 0, 0, 0);
    CHECK(!sp_pack_words(&pack, words, 5)); /* the second record is cut */
    CHECK_INT(pack.header.records, 1);
    uint64_t unknown[3] = {(uint64_t)9 << 56};
    CHECK(!sp_pack_words(&pack, unknown, 3));
    sp_unpack unpack;
    CHECK_INT(sp_unpack_begin(&unpack, buffer, sp_pack_end(&pack), true, NULL), SP_OK);
    CHECK_INT(unpack.header.records, 1);

    sp_pack_begin(&pack, buffer, sp_pack_bound(0), 0, 0, 0);
    size_t fits = 0;
    while (fits < 100 && sp_pack_words(&pack, words, 3))
        fits++;
    CHECK(fits < 100);
    CHECK(sp_pack_end(&pack) <= sp_pack_bound(0));
}

static void an_empty_block_is_fine(void)
{
    sp_unpack unpack;
    sp_event event;
    CHECK_INT(pack_words(NULL, 0, 0), 64);
    CHECK_INT(sp_unpack_begin(&unpack, buffer, 64, true, NULL), SP_OK);
    CHECK(!sp_unpack_next(&unpack, &event));
    CHECK(!sp_unpack_next(&unpack, &event));
    CHECK(!unpack.damaged);
}

static void damage_is_named(void)
{
    uint64_t words[] = {sp_record_first(SP_RECORD_CALL, 300, 1), 110, 130,
                        sp_record_first(SP_RECORD_CALL, 5, 0), 100, 200};
    size_t size = pack_words(words, 6, 3);
    sp_unpack unpack;
    sp_error error;
    CHECK_INT(sp_unpack_begin(&unpack, buffer, 63, true, &error), SP_ERR_DAMAGED);
    CHECK_CONTAINS(error.text, "63 bytes");
    CHECK_INT(sp_unpack_begin(&unpack, buffer, size - 1, true, &error), SP_ERR_DAMAGED);
    CHECK_CONTAINS(error.text, "claims 15 bytes");
    for (size_t i = 0; i < size; i++) {
        buffer[i] ^= 0x10;
        CHECK(sp_unpack_begin(&unpack, buffer, size, true, &error) != SP_OK);
        buffer[i] ^= 0x10;
    }
    buffer[4] = 2;
    CHECK_INT(sp_unpack_begin(&unpack, buffer, size, true, &error), SP_ERR_SCHEMA);
    CHECK_CONTAINS(error.text, "version 2");
    buffer[4] = 1;
    CHECK_INT(sp_unpack_begin(&unpack, buffer, size, true, &error), SP_OK);
}

/* Without the checksum, whatever the bytes are, reading ends and stays inside. */
static void nonsense_stays_inside(void)
{
    model m;
    model_begin(&m, 77, 0);
    const model_habits all = {.open = 40, .close = 40, .crossing = 4, .append = 2, .lose = 1,
                              .switch_lane = 5, .drain = 2, .metadata = 20, .regions = 40,
                              .depth = 20, .time_step = 1000};
    model_run(&m, 300, &all);
    size_t room = sp_pack_bound(m.words.count), damaged = 0;
    uint8_t *packed = malloc(room);
    sp_pack pack;
    sp_pack_begin(&pack, packed, room, 0, 0, 0);
    CHECK(sp_pack_words(&pack, m.words.items, m.words.count));
    size_t size = sp_pack_end(&pack);
    for (int round = 0; round < 3000; round++) {
        uint8_t *block = malloc(size);
        memcpy(block, packed, size);
        for (uint64_t i = 0, n = 1 + model_random(&m, 6); i < n; i++)
            block[24 + model_random(&m, size - 24)] = (uint8_t)model_random(&m, 256);
        sp_unpack unpack;
        sp_event event;
        if (sp_unpack_begin(&unpack, block, size, false, NULL) == SP_OK) {
            size_t events = 0;
            static sp_call_batch batch;
            do {
                sp_unpack_calls(&unpack, &batch);
                events += batch.count;
            } while (batch.count > 0);
            while (sp_unpack_next(&unpack, &event))
                events++;
            CHECK(events <= unpack.header.records);
            damaged += unpack.damaged;
        }
        free(block);
    }
    CHECK(damaged > 500);
    free(packed);
    model_release(&m);
}

int main(void)
{
    RUN(checksum_is_castagnoli);
    RUN(bytes_of_a_small_nest);
    RUN(bytes_of_longer_calls);
    RUN(a_long_call_with_the_last_step_keeps_the_other);
    RUN(repeated_calls_take_five_bytes);
    RUN(a_resumption_takes_no_byte_of_its_own);
    RUN(random_programs_come_back);
    RUN(any_64_bits_come_back);
    RUN(spans_join_and_bad_ones_stop);
    RUN(an_empty_block_is_fine);
    RUN(damage_is_named);
    RUN(nonsense_stays_inside);
    return check_result();
}
