#include "session/journal_sink.h"

#include "base/json.h"
#include "base/vector.h"
#include "log/block.h"
#include "log/bytes.h"
#include "recorder/recording.h"
#include "store/journal/rings.h"

#include <stdlib.h>

/* Room in front of a block, and behind it for the zeros that fill up its frame. */
enum {
    FRONT_BYTES = SP_FRAME_HEADER_BYTES + SP_PLACE_BYTES,
    BACK_BYTES = SP_FRAME_ALIGNMENT,
    FIRST_BUFFER = 64 * 1024
};

typedef struct journal_ring {
    sp_journal_sink *sink;
    uint32_t index, generation;
    unsigned char *buffer; /* of the block that is being packed; used again and again */
    size_t room;
    SP_VECTOR(sp_journal_place) places; /* of blocks that are not dropped, oldest first */
    size_t first;                       /* number of the first of them in the sequence */
    sp_sink_ring *memory;               /* blocks that follow in memory; NULL: none */
    sp_memory_sink *memory_sink;
} journal_ring;

static sp_sink_ring *open_ring(sp_sink *sink, uint32_t index)
{
    sp_journal_sink *owner = (sp_journal_sink *)sink;
    journal_ring *ring = calloc(1, sizeof *ring);
    if (ring == NULL)
        return NULL;
    ring->sink = owner;
    ring->index = index;
    ring->memory_sink = &owner->recording->memory;
    ring->generation = sp_journal_generation(owner->journal);
    return (sp_sink_ring *)ring;
}

static void close_ring(sp_sink_ring *opened)
{
    journal_ring *ring = (journal_ring *)opened;
    if (ring == NULL)
        return;
    if (ring->memory != NULL)
        ring->memory_sink->sink.table->close_ring(ring->memory);
    sp_vector_release(&ring->places);
    free(ring->buffer);
    free(ring);
}

static void *reserve(sp_sink_ring *opened, size_t size, sp_sink_refusal *out_why)
{
    journal_ring *ring = (journal_ring *)opened;
    size_t wanted = FRONT_BYTES + size + BACK_BYTES;
    if (ring->room < wanted) {
        size_t room = wanted < FIRST_BUFFER ? FIRST_BUFFER : wanted;
        unsigned char *grown = realloc(ring->buffer, room);
        if (grown == NULL) {
            *out_why = SP_SINK_NO_MEMORY;
            return NULL;
        }
        ring->buffer = grown;
        ring->room = room;
    }
    /* Whether memory has room must be known before the block is made. */
    if (!sp_journal_has_failed(ring->sink->journal) && ring->memory == NULL)
        return ring->buffer + FRONT_BYTES;
    const sp_sink_table *table = ring->memory_sink->sink.table;
    if (ring->memory == NULL)
        ring->memory = table->open_ring(&ring->memory_sink->sink, ring->index);
    *out_why = SP_SINK_NO_MEMORY;
    bool fits = ring->memory != NULL && table->reserve(ring->memory, size, out_why) != NULL;
    return fits ? ring->buffer + FRONT_BYTES : NULL;
}

static void add_loss(sp_text *json, const char *kind, uint64_t count)
{
    if (count > 0)
        sp_text_format(json, "%s\"%s\": %llu", json->length > 1 ? ", " : "", kind,
                       (unsigned long long)count);
}

/* Tells the journal what is lost, when that is at least `factor` times as much as it knows of: each such
 * word stays in every file, so they must not be as many as the losses. */
static void tell_losses(sp_journal_sink *sink, uint64_t factor)
{
    const sp_recording *recording = sink->recording;
    uint64_t unmatched = atomic_load(&recording->unmatched_ends), total = unmatched;
    for (int i = 0; i < SP_LOSS_COUNT; i++)
        total += atomic_load(&recording->lost[i]);
    uint64_t told = atomic_load(&sink->told_losses);
    if (total == told || total < factor * told)
        return;
    sp_text json = {0};
    sp_text_add(&json, "{");
    for (int i = 0; i < SP_LOSS_COUNT; i++)
        add_loss(&json, sp_loss_names[i], atomic_load(&recording->lost[i]));
    add_loss(&json, "unmatched_end", unmatched);
    sp_text_add(&json, "}");
    if (!json.failed && atomic_compare_exchange_strong(&sink->told_losses, &told, total))
        sp_journal_note(sink->journal, SP_FRAME_LOSSES, NULL, 0, json.bytes, json.length);
    sp_text_release(&json);
}

/* The first block that could not be written may find no memory either. */
static bool keep_in_memory(journal_ring *ring, size_t bytes)
{
    const sp_sink_table *table = ring->memory_sink->sink.table;
    sp_sink_refusal why;
    if (ring->memory == NULL)
        ring->memory = table->open_ring(&ring->memory_sink->sink, ring->index);
    void *at = ring->memory == NULL ? NULL : table->reserve(ring->memory, bytes, &why);
    if (at == NULL)
        return false;
    memcpy(at, ring->buffer + FRONT_BYTES, bytes);
    return table->commit(ring->memory, bytes, NULL);
}

static bool commit(sp_sink_ring *opened, size_t bytes, const sp_sink_span *span)
{
    journal_ring *ring = (journal_ring *)opened;
    if (bytes == 0)
        return true;
    tell_losses(ring->sink, 2);
    const uint32_t at[4] = {ring->index, span->epoch, span->from, span->to};
    sp_journal_place place;
    bool is_first_in_memory = ring->memory == NULL;
    if (is_first_in_memory && sp_vector_reserve(&ring->places, 1) &&
        sp_journal_append(ring->sink->journal, ring->generation, ring->buffer, at, bytes, &place))
        ring->places.items[ring->places.count++] = place;
    else
        return keep_in_memory(ring, bytes);
    return true;
}

/* A cursor whose part is the ring counts blocks in files; later ones are cursors of the memory. */
static const void *next_in_memory(const journal_ring *ring, sp_sink_cursor *cursor, size_t *out_size)
{
    if (ring->memory == NULL)
        return NULL;
    sp_sink_cursor at = cursor->part == ring ? (sp_sink_cursor){.part = NULL} : *cursor;
    const void *block = ring->memory_sink->sink.table->next(ring->memory, &at, out_size);
    if (block != NULL)
        *cursor = at;
    return block;
}

static const void *next(const sp_sink_ring *opened, sp_sink_cursor *cursor, size_t *out_size)
{
    const journal_ring *ring = (const journal_ring *)opened;
    if (cursor->part != NULL && cursor->part != ring)
        return next_in_memory(ring, cursor, out_size);
    size_t number = cursor->part == NULL ? ring->first : cursor->offset;
    size_t i = number - ring->first;
    bool is_there = i < ring->places.count;
    if (!is_there && ring->places.count == 0 && ring->memory == NULL && cursor->part == NULL)
        return NULL;
    *cursor = (sp_sink_cursor){.part = ring, .offset = number};
    if (!is_there)
        return next_in_memory(ring, cursor, out_size);
    const void *block = sp_journal_block(ring->sink->journal, &ring->places.items[i]);
    if (block == NULL)
        return NULL;
    cursor->offset++;
    *out_size = ring->places.items[i].bytes;
    return block;
}

static void drop_places(journal_ring *ring, size_t count)
{
    ring->first += count;
    ring->places.count -= count;
    memmove(ring->places.items, ring->places.items + count,
            ring->places.count * sizeof *ring->places.items);
}

static void drop(sp_sink_ring *opened, sp_sink_cursor *until, sp_sink_cursor *follow)
{
    journal_ring *ring = (journal_ring *)opened;
    if (until->part == NULL)
        return;
    bool is_in_files = until->part == ring;
    size_t count = is_in_files ? until->offset - ring->first : ring->places.count;
    if (count > 0)
        drop_places(ring, count);
    if (!is_in_files)
        ring->memory_sink->sink.table->drop(ring->memory, until, follow);
    else if (ring->places.count == 0 && ring->memory == NULL)
        *until = *follow = (sp_sink_cursor){.part = NULL};
}

static uint64_t place(size_t offset)
{
    return offset == SP_ROOM_NONE ? UINT64_MAX : offset;
}

static void *take_room(sp_sink *sink, const sp_sink_room *wanted)
{
    sp_segment_header layout = {
        .state_at = place(wanted->state),
        .head_at = place(wanted->head),
        .top_at = place(wanted->top),
        .ring_at = place(wanted->ring),
        .ring_words = wanted->ring_words,
        .stack_at = place(wanted->stack),
        .stack_frames = wanted->stack_frames,
        .outermost_at = place(wanted->outermost),
        .lane_at = place(wanted->lane),
        .waiting_at = place(wanted->waiting),
        .waiting_step = (uint32_t)wanted->waiting_step,
        .num_waiting = (uint32_t)wanted->num_waiting,
    };
    return sp_journal_room(((sp_journal_sink *)sink)->journal, wanted->bytes, &layout);
}

static void note_anchor(sp_sink *sink, const sp_anchor *anchor)
{
    sp_journal_sink *owner = (sp_journal_sink *)sink;
    uint8_t head[SP_ANCHOR_BYTES];
    sp_store_u64(head, anchor->tick);
    sp_store_u64(head + 8, (uint64_t)anchor->ns);
    sp_store_u64(head + 16, (uint64_t)anchor->suspended_ns);
    sp_journal_note(owner->journal, SP_FRAME_ANCHOR, head, sizeof head, NULL, 0);
    tell_losses(owner, 1);
    if (owner->on_anchor != NULL)
        owner->on_anchor(owner, anchor);
}

static void note_thread(sp_sink *sink, uint32_t lane, const sp_thread_info *info)
{
    uint8_t head[SP_THREAD_BYTES];
    sp_text json = {0};
    sp_store_u32(head, lane);
    sp_text_format(&json,
                   "{\"native_id\": %lld, \"ident\": %lld, \"is_daemon\": %s, \"start_ns\": %lld, "
                   "\"end_ns\": %lld, \"cpu_ns\": %lld, \"name\": ",
                   (long long)info->native_id, (long long)info->ident,
                   info->is_daemon ? "true" : "false", (long long)info->start_ns,
                   (long long)info->end_ns, (long long)info->cpu_ns);
    const char *name = info->name == NULL ? "" : info->name;
    sp_json_string(&json, name, strlen(name));
    sp_text_add(&json, "}");
    if (!json.failed)
        sp_journal_note(((sp_journal_sink *)sink)->journal, SP_FRAME_THREAD, head, sizeof head,
                        json.bytes, json.length);
    sp_text_release(&json);
}

/* Times are ticks, as the clock of the process that reads them knows better. */
static void note_task(sp_sink *sink, uint32_t number, const sp_task_info *info)
{
    uint8_t head[SP_TASK_BYTES];
    sp_text json = {0};
    const char *name = info->name == NULL ? "" : info->name;
    const char *coroutine = info->coroutine == NULL ? "" : info->coroutine;
    sp_store_u32(head, number);
    sp_text_format(&json,
                   "{\"kind\": \"%s\", \"thread\": %lld, \"created_ns\": %lld, \"done_ns\": %lld, "
                   "\"steps\": %llu, \"running_ticks\": %llu, \"suspended_ticks\": %llu, \"name\": ",
                   info->kind == SP_TASK_GREENLET ? "greenlet" : "task",
                   (long long)atomic_load(&info->thread), (long long)info->created_ns,
                   (long long)atomic_load(&info->done_ns),
                   (unsigned long long)atomic_load(&info->steps),
                   (unsigned long long)atomic_load(&info->running),
                   (unsigned long long)atomic_load(&info->suspended));
    sp_json_string(&json, name, strlen(name));
    sp_text_add(&json, ", \"coroutine\": ");
    sp_json_string(&json, coroutine, strlen(coroutine));
    sp_text_add(&json, "}");
    if (!json.failed)
        sp_journal_note(((sp_journal_sink *)sink)->journal, SP_FRAME_TASK, head, sizeof head,
                        json.bytes, json.length);
    sp_text_release(&json);
}

static const sp_sink_table table = {
    .name = "journal",
    .wants_sums = true,
    .open_ring = open_ring,
    .close_ring = close_ring,
    .reserve = reserve,
    .commit = commit,
    .next = next,
    .drop = drop,
    .take_room = take_room,
    .free_room = sp_rings_free_body,
    .anchor = note_anchor,
    .thread = note_thread,
    .task = note_task,
};

void sp_journal_sink_init(sp_journal_sink *sink, sp_journal *journal, sp_recording *recording,
                          sp_journal_on_anchor *on_anchor)
{
    *sink = (sp_journal_sink){.sink = {.table = &table}, .journal = journal, .recording = recording,
                              .on_anchor = on_anchor};
}

void sp_journal_sink_turn(sp_sink_ring *opened, uint32_t generation)
{
    ((journal_ring *)opened)->generation = generation;
}
