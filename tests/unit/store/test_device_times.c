/* Device times of calls: tickets behind calls, times that come later, what becomes of them in rows. */
#include "check.h"

#include "../call_model.h"
#include "base/number_bytes.h"
#include "log/pack.h"
#include "recording_store.h"
#include "store/assemble.h"

static const uint64_t zero = UINT64_C(1) << 63;

static bool look_up(const void *context, uint32_t region, sp_assemble_region *out)
{
    static const char *const names[] = {"r0", "r1", "r2", "r3"};
    (void)context;
    *out = (sp_assemble_region){.name = names[region % 4]};
    return region < 4;
}

/* A side record of the last call: the numbers one after the other, the last byte left out if asked. */
static void put_side(model *m, uint32_t lane, const uint64_t *numbers, size_t count, bool is_cut)
{
    uint64_t words[32] = {0};
    uint8_t *first = (uint8_t *)(words + 1), *at = first;
    for (size_t i = 0; i < count; i++)
        at = sp_put_number(at, numbers[i]);
    uint32_t bytes = (uint32_t)(at - first) - is_cut;
    words[0] = sp_record_first(SP_RECORD_SIDE, bytes, SP_SIDE_DEVICE);
    model_record(m, lane, words, 1 + (bytes + 7) / 8);
}

/* A call of one tick, then the numbers. */
static void put_call(model *m, uint32_t lane, uint32_t region, const uint64_t *numbers,
                     size_t count)
{
    m->now++;
    model_open(m, lane, region);
    m->now++;
    model_close(m, lane, 0, 0);
    if (count > 0)
        put_side(m, lane, numbers, count, false);
}

#define CALL(m, lane, region, ...)                                                                 \
    put_call(m, lane, region, (const uint64_t[]){__VA_ARGS__},                                     \
             sizeof (const uint64_t[]){__VA_ARGS__} / sizeof(uint64_t))

static int assemble_model(const model *m, const sp_device_time *times, size_t num_times,
                          size_t budget, sp_store_writer *w, sp_error *error)
{
    static const sp_assemble_lane lanes[MODEL_LANES] = {
        {0, -1, NULL}, {1, -1, NULL}, {2, -1, NULL}};
    size_t room = sp_pack_bound(m->words.count);
    uint8_t *bytes = malloc(room);
    sp_pack pack;
    sp_pack_begin(&pack, bytes, room, 0, 0, 0);
    CHECK(sp_pack_words(&pack, m->words.items, m->words.count));
    sp_assemble_block block = {.bytes = bytes, .size = sp_pack_end(&pack)};
    sp_assemble_output output = {&recording_store, w};
    sp_assembly assembly = {.memory_budget = budget,
                            .blocks = &block,
                            .num_blocks = 1,
                            .lanes = lanes,
                            .num_lanes = MODEL_LANES,
                            .ticks = model_ticks,
                            .region = look_up,
                            .device_times = times,
                            .num_device_times = num_times,
                            .outputs = &output,
                            .num_outputs = 1};
    sp_assembly_result result = {0};
    int status = sp_assemble(&assembly, &result, error);
    sp_assembly_result_release(&result);
    free(bytes);
    return status;
}

static void check_row(const sp_store_writer *w, size_t row, const int64_t *expected, size_t count)
{
    const sp_row *r = &w->rows.items[row];
    uint64_t known = 0;
    int64_t total = 0;
    if (!CHECK_INT(r->count, count))
        return;
    for (size_t i = 0; i < count; i++) {
        CHECK_INT(w->values[SP_COLUMN_GPU_DURATION][r->offset + i], expected[i]);
        known += expected[i] >= 0;
        total += expected[i] >= 0 ? expected[i] : 0;
    }
    CHECK_INT(r->statistics.gpu_count, known);
    CHECK_INT(r->statistics.gpu_total, total);
}

#define CHECK_ROW(w, row, ...)                                                                     \
    check_row(w, row, (const int64_t[]){__VA_ARGS__}, sizeof (const int64_t[]){__VA_ARGS__} / 8)

/* Tickets of both lanes in one order of their own, times on a later call of any lane, on a call without a
 * ticket, aside; one that is never known and one of a call that was published before. */
static void times_come_later_from_anywhere(void)
{
    static const size_t budgets[] = {0, 1};
    static const sp_device_time aside[] = {{5, 70}, {1, 8}, {77, 1}, {6, -1}};
    for (size_t b = 0; b < 2; b++) {
        model m;
        sp_store_writer w = {0};
        model_begin(&m, 1, zero);
        CALL(&m, 0, 1, 1 + 0);
        CALL(&m, 1, 1, 1 + 1);
        CALL(&m, 0, 2, 1 + 200, 0, 500); /* brings that of the first call */
        put_call(&m, 0, 1, NULL, 0); /* never asked for */
        CALL(&m, 1, 1, 0, 200, 0, 1,
             9); /* no ticket; times of 200, and one of 1 that is corrected */
        CALL(&m, 1, 2, 1 + 5);
        CALL(&m, 1, 2, 1 + 6);
        CALL(&m, 1, 2, 1 + 7);
        CHECK_INT(assemble_model(&m, aside, 4, budgets[b], &w, NULL), SP_OK);
        CHECK(w.columns & SP_COLUMN_BIT(SP_COLUMN_GPU_DURATION));
        CHECK_INT(w.rows.count, 2);
        CHECK_ROW(&w, 0, 500, 8, -1, -1);
        CHECK_ROW(&w, 1, 0, 70, -1, -1);
        recording_release(&w);
        model_release(&m);
    }
}

static void nothing_asked_for_is_no_column(void)
{
    model m;
    sp_store_writer w = {0};
    model_begin(&m, 1, zero);
    put_call(&m, 0, 1, NULL, 0);
    const sp_device_time aside[] = {{0, 5}};
    CHECK_INT(assemble_model(&m, aside, 1, 0, &w, NULL), SP_OK);
    CHECK(!(w.columns & SP_COLUMN_BIT(SP_COLUMN_GPU_DURATION)));
    CHECK_INT(w.rows.items[0].statistics.gpu_count, 0);
    recording_release(&w);
    model_release(&m);
}

static void damage_is_named(void)
{
    static const uint64_t texts[][3] = {{1, 2, 300}, {1, 2, UINT64_MAX}};
    for (size_t i = 0; i < 2; i++) {
        model m;
        sp_store_writer w = {0};
        sp_error error = {0};
        model_begin(&m, 1, zero);
        put_call(&m, 0, 1, NULL, 0);
        put_side(&m, 0, texts[i], 3, i == 0);
        CHECK_INT(assemble_model(&m, NULL, 0, 0, &w, &error), SP_ERR_DAMAGED);
        CHECK_CONTAINS(error.text, "device times");
        recording_release(&w);
        model_release(&m);
    }
}

/* Random tickets and times against a table. */
static void random_programs_agree(void)
{
    enum { CALLS = 300 };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        model m;
        sp_store_writer w = {0};
        int64_t expected[CALLS], known[2 * CALLS];
        model_begin(&m, seed, zero);
        for (size_t i = 0; i < CALLS; i++) {
            expected[i] = -1;
            bool has_ticket = model_random(&m, 4) > 0;
            uint64_t numbers[5] = {has_ticket ? 1 + i * 1000 : 0}, count = 1;
            known[i] = has_ticket;
            while (count < 5 && model_random(&m, 2) > 0) {
                size_t of = (size_t)model_random(&m, i + 1);
                numbers[count++] = of * 1000;
                numbers[count++] = model_random(&m, 1 << 20);
                if (known[of])
                    expected[of] = (int64_t)numbers[count - 1];
            }
            put_call(&m, (uint32_t)model_random(&m, MODEL_LANES), 0, numbers, count);
        }
        CHECK_INT(assemble_model(&m, NULL, 0, seed % 2 ? 0 : 4000, &w, NULL), SP_OK);
        check_row(&w, 0, expected, CALLS); /* calls of one region in order of their starts */
        recording_release(&w);
        model_release(&m);
    }
}

int main(void)
{
    RUN(times_come_later_from_anywhere);
    RUN(nothing_asked_for_is_no_column);
    RUN(damage_is_named);
    RUN(random_programs_agree);
    return check_result();
}
