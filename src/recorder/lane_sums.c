#include "recorder/lane_sums.h"

#include "log/block.h"
#include "log/unpack.h"

typedef struct adding {
    sp_sums *sums;
    sp_timeline_rate rate;
    uint64_t failed;
} adding;

static void add(adding *a, uint32_t region, uint32_t flags, uint64_t start, uint64_t end)
{
    bool is_appended = (flags & SP_CALL_APPENDED) != 0;
    int64_t ns = is_appended ? (int64_t)(end - start)
                             : sp_timeline_span_ns(&a->rate, start, end);
    a->failed += !sp_sums_add_call(a->sums, region, flags, ns);
}

static void add_block(adding *a, const void *block, size_t size)
{
    sp_unpack unpack;
    sp_call_batch batch;
    sp_event event;
    if (sp_unpack_begin(&unpack, block, size, false, NULL) != SP_OK)
        return;
    for (;;) {
        sp_unpack_calls(&unpack, &batch);
        for (size_t i = 0; i < batch.count; i++)
            add(a, sp_record_region(batch.firsts[i]), sp_record_flags(batch.firsts[i]),
                batch.ticks[2 * i], batch.ticks[2 * i + 1]);
        if (batch.count > 0)
            continue;
        if (!sp_unpack_next(&unpack, &event))
            return;
        if (event.kind == SP_RECORD_CALL || event.kind == SP_RECORD_CALL_MARKED)
            add(a, event.region, event.flags, event.start, event.end);
    }
}

void sp_lane_update_sums(sp_lane *lane)
{
    sp_recording *recording = lane->recording;
    sp_recording_anchor(recording, false); /* rates of a young recording are poor */
    adding a = {.sums = &lane->sums, .rate = sp_timeline_current_rate(&recording->timeline)};
    size_t size;
    const void *block;
    while ((block = recording->sink->table->next(lane->sink, &lane->summed, &size)) != NULL)
        add_block(&a, block, size);
    if (a.failed > 0)
        sp_recording_lose(recording, SP_LOSS_OUT_OF_MEMORY, a.failed);
}

void sp_lane_forget_oldest(sp_lane *lane)
{
    sp_recording *recording = lane->recording;
    const sp_sink_table *table = recording->sink->table;
    sp_sink_cursor at = {0}, until = {0};
    sp_block_header header;
    uint64_t calls = 0;
    size_t size;
    const void *block, *part = NULL;
    sp_lane_update_sums(lane);
    adding a = {.sums = &lane->unkept, .rate = sp_timeline_current_rate(&recording->timeline)};
    while ((block = table->next(lane->sink, &at, &size)) != NULL && (part == NULL || at.part == part)) {
        add_block(&a, block, size);
        if (sp_block_read_header(block, size, &header, NULL) == SP_OK)
            calls += header.calls;
        part = at.part;
        until = at;
    }
    /* The next piece begins where its first block, which has just been passed, does. */
    if (block != NULL)
        until = (sp_sink_cursor){.part = at.part};
    if (part == NULL)
        return;
    table->drop(lane->sink, &until, &lane->summed);
    lane->forgotten += calls;
    sp_recording_lose(recording, SP_LOSS_MEMORY_FULL, calls);
    if (a.failed > 0)
        sp_recording_lose(recording, SP_LOSS_OUT_OF_MEMORY, a.failed);
}
