/* Any bytes as a log block: unpacked in both ways, which must agree, and assembled. With an odd first
 * byte the rest is taken as payload behind a right header and checksum, so that what lies behind
 * those checks is reached. */
#include "base/crc32c.h"
#include "log/unpack.h"
#include "store/assemble.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LANES = 3, REGIONS = 8, DEEPEST = 1 << 12, COUNTS_BYTES = 8 };

static bool look_up(const void *context, uint32_t region, sp_assemble_region *out)
{
    (void)context;
    *out = (sp_assemble_region){.name = "region", .source_line = -1};
    return region < REGIONS;
}

static void to_ns(const void *context, const uint64_t *ticks, int64_t *out, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++)
        out[i] = (int64_t)(ticks[i] ^ UINT64_C(1) << 63);
}

static int take_metadata(sp_store_writer *w, const sp_metadata_entry *entries, size_t count,
                         sp_error *error)
{
    (void)w, (void)entries, (void)count, (void)error;
    return SP_OK;
}

static int take_rank(sp_store_writer *w, uint32_t rank, const sp_row *rows, size_t num_rows,
                     unsigned columns, const sp_thread_row *threads, size_t num_threads,
                     const sp_task_row *tasks, size_t num_tasks, sp_error *error)
{
    (void)w, (void)rank, (void)columns, (void)threads, (void)num_threads, (void)tasks;
    (void)num_tasks, (void)error;
    for (size_t i = 0; i < num_rows; i++)
        if (rows[i].count == 0 || rows[i].statistics.minimum > rows[i].statistics.maximum)
            abort();
    return SP_OK;
}

static int take_calls(sp_store_writer *w, size_t count,
                      const int64_t *const values[SP_COLUMN_COUNT], sp_error *error)
{
    (void)w, (void)error;
    for (size_t i = 0; i < count; i++)
        if (values[SP_COLUMN_DURATION][i] < 0 ||
            values[SP_COLUMN_PARENT_ID][i] >= (int64_t)UINT32_MAX)
            abort();
    return SP_OK;
}

static int take_extra(sp_store_writer *w, const sp_extra *extra, sp_error *error)
{
    (void)w, (void)extra, (void)error;
    return SP_OK;
}

static const sp_store_table table = {.write_metadata = take_metadata, .begin_rank = take_rank,
                                     .write_calls = take_calls, .write_extra = take_extra};

static void assemble(const uint8_t *block, size_t size, size_t budget)
{
    static const sp_assemble_lane lanes[LANES] = {{0, -1, NULL}, {1, -1, NULL}, {1, 0, NULL}};
    static const sp_assemble_scope scope = {INT64_MIN, 0, -1, "{\"fuzz\": true}"};
    sp_assemble_block one = {.bytes = block, .size = size};
    sp_assemble_output output = {&table, NULL};
    sp_assembly assembly = {.blocks = &one, .num_blocks = 1, .lanes = lanes, .num_lanes = LANES,
                            .ticks = {.to_ns = to_ns}, .region = look_up, .scopes = &scope,
                            .num_scopes = 1, .outputs = &output, .num_outputs = 1,
                            .memory_budget = budget};
    sp_assembly_result result = {0};
    sp_error error;
    if (sp_assemble(&assembly, &result, &error) == SP_OK)
        sp_assembly_result_release(&result);
}

/* Reads the block one by one and by batches; true when it is sound and nowhere very deep. */
static bool unpack(const uint8_t *block, size_t size)
{
    static sp_unpack one, many;
    static sp_call_batch batch;
    sp_event event, other;
    bool is_shallow = true;
    if (sp_unpack_begin(&one, block, size, true, NULL) != SP_OK ||
        sp_unpack_begin(&many, block, size, true, NULL) != SP_OK)
        return false;
    do {
        sp_unpack_calls(&many, &batch);
        for (size_t i = 0; i < batch.count; i++) {
            if (!sp_unpack_next(&one, &event) || event.start != batch.ticks[2 * i] ||
                event.region != sp_record_region(batch.firsts[i]))
                abort();
            is_shallow = is_shallow && sp_record_depth(batch.firsts[i]) < DEEPEST;
        }
        if (batch.count > 0)
            continue;
        if (!sp_unpack_next(&many, &other))
            break;
        if (!sp_unpack_next(&one, &event) || event.kind != other.kind)
            abort();
        if (event.kind == SP_RECORD_CALL || event.kind == SP_RECORD_CALL_MARKED)
            is_shallow = is_shallow && event.depth < DEEPEST;
        if (event.kind == SP_RECORD_CALL_MARKED)
            is_shallow = is_shallow && event.below < DEEPEST;
    } while (true);
    return is_shallow && !many.damaged;
}

static size_t make_block(uint8_t *block, const uint8_t *data, size_t size)
{
    static const uint8_t begin[8] = {'S', 'P', 'L', 'B', 1, 0, SP_BLOCK_HEADER_BYTES, 0};
    size_t payload = size - COUNTS_BYTES;
    memset(block, 0, SP_BLOCK_HEADER_BYTES);
    memcpy(block, begin, sizeof begin);
    memcpy(block + 24, data, COUNTS_BYTES);
    for (int i = 0; i < 4; i++)
        block[32 + i] = (uint8_t)(payload >> 8 * i);
    memcpy(block + SP_BLOCK_HEADER_BYTES, data + COUNTS_BYTES, payload);
    uint32_t sum = sp_crc32c(0, block, SP_BLOCK_HEADER_BYTES + payload);
    for (int i = 0; i < 4; i++)
        block[36 + i] = (uint8_t)(sum >> 8 * i);
    return SP_BLOCK_HEADER_BYTES + payload;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 + COUNTS_BYTES)
        return 0;
    /* A copy of the exact size, so that a read behind it is noticed. */
    size_t room = data[0] & 1 ? SP_BLOCK_HEADER_BYTES + size - 1 - COUNTS_BYTES : size - 1;
    uint8_t *block = malloc(room);
    if (block == NULL)
        return 0;
    if (data[0] & 1)
        make_block(block, data + 1, size - 1);
    else
        memcpy(block, data + 1, room);
    if (unpack(block, room)) {
        assemble(block, room, 0);
        assemble(block, room, 1);
    }
    free(block);
    return 0;
}
