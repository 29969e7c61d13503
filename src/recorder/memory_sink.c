#include "recorder/memory_sink.h"

#include "base/os/journal_file.h"
#include "base/os/pages.h"
#include "log/block.h"
#include "recorder/spill.h"

#include <stdlib.h>

/* While a publication holds what is there, memory may exceed the ceiling by so much. */
enum { EXTRA_WHILE_HELD = 32 << 20 };

/* The first chunk of a ring is small, because most threads record little; later ones are large
 * pages, because a fault for each small page costs more than packing into it. */
enum { FIRST_CHUNK_BYTES = 512 * 1024, CHUNK_BYTES = 2 * 1024 * 1024 };

typedef struct chunk {
    struct chunk *next; /* newer */
    unsigned char *bytes; /* NULL: in the file, and not looked at yet */
    size_t size, used;    /* size 0: in the file */
    uint64_t offset;      /* there */
    bool is_seen;         /* somebody may still look at its blocks */
} chunk;

struct sp_sink_ring {
    sp_memory_sink *sink;
    chunk *oldest, *newest;
    size_t first; /* offset of the first block in the oldest chunk */
};

static sp_sink_ring *open_ring(sp_sink *sink, uint32_t index)
{
    (void)index;
    sp_sink_ring *ring = calloc(1, sizeof *ring);
    if (ring != NULL)
        ring->sink = (sp_memory_sink *)sink;
    return ring;
}

static void free_chunks(sp_memory_sink *sink, chunk *oldest)
{
    while (oldest != NULL) {
        chunk *gone = oldest;
        oldest = gone->next;
        if (gone->size == 0) {
            sp_spill_drop(sink, gone->bytes, gone->used);
        } else {
            sp_os_pages_free(gone->bytes, gone->size);
            atomic_fetch_sub_explicit(&sink->used, gone->size, memory_order_relaxed);
        }
        free(gone);
    }
}

static void close_ring(sp_sink_ring *ring)
{
    if (ring == NULL)
        return;
    free_chunks(ring->sink, ring->oldest);
    free(ring);
}

static chunk *append(sp_sink_ring *ring, chunk *fresh)
{
    if (ring->newest == NULL) {
        ring->oldest = fresh;
        ring->first = 0;
    } else {
        ring->newest->next = fresh;
    }
    return ring->newest = fresh;
}

static bool is_held(const sp_memory_sink *sink)
{
    return atomic_load_explicit(&sink->held, memory_order_relaxed) > 0;
}

/* Memory of `size` bytes for another chunk, counted. A ring that has none gets some in any case: what is
 * to be written elsewhere, or to push out older calls, needs a place first. */
static unsigned char *take_memory(sp_sink_ring *ring, size_t size, sp_sink_refusal *out_why)
{
    sp_memory_sink *sink = ring->sink;
    sp_on_full on_full = atomic_load_explicit(&sink->on_full, memory_order_relaxed);
    bool may_exceed = ring->newest == NULL &&
                      (on_full == SP_ON_FULL_SPILL || on_full == SP_ON_FULL_RING);
    bool is_waiting = on_full == SP_ON_FULL_SPILL && ring->newest != NULL && is_held(sink) &&
                      ring->newest->is_seen;
    size_t used = atomic_fetch_add_explicit(&sink->used, size, memory_order_relaxed) + size;
    size_t limit = atomic_load_explicit(&sink->limit, memory_order_relaxed);
    bool is_full = used > limit && !may_exceed &&
                   !(is_waiting && used - limit < (size_t)EXTRA_WHILE_HELD);
    unsigned char *bytes = is_full ? NULL : sp_os_pages_alloc(size);
    if (bytes == NULL)
        atomic_fetch_sub_explicit(&sink->used, size, memory_order_relaxed);
    *out_why = is_full ? SP_SINK_FULL : SP_SINK_NO_MEMORY;
    return bytes;
}

static chunk *add_chunk(sp_sink_ring *ring, size_t wanted, sp_sink_refusal *out_why)
{
    bool is_small = ring->newest == NULL ||
                    atomic_load_explicit(&ring->sink->on_full, memory_order_relaxed) ==
                        SP_ON_FULL_RING;
    size_t size = is_small ? FIRST_CHUNK_BYTES : CHUNK_BYTES;
    size = size < wanted ? wanted : size;
    chunk *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL) {
        *out_why = SP_SINK_NO_MEMORY;
        return NULL;
    }
    fresh->bytes = take_memory(ring, size, out_why);
    fresh->size = size;
    if (fresh->bytes == NULL) {
        free(fresh);
        return NULL;
    }
    return append(ring, fresh);
}

/* The newest chunk goes to the file and its memory is used for the next one. NULL when that cannot
 * be. */
static chunk *reuse_newest(sp_sink_ring *ring, size_t wanted)
{
    chunk *full = ring->newest;
    if (full == NULL || full->used == 0 || full->size < wanted ||
        atomic_load_explicit(&ring->sink->on_full, memory_order_relaxed) != SP_ON_FULL_SPILL ||
        (full->is_seen && is_held(ring->sink)))
        return NULL;
    chunk *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL || !sp_spill_write(ring->sink, full->bytes, full->used, &full->offset)) {
        free(fresh);
        return NULL;
    }
    fresh->bytes = full->bytes;
    fresh->size = full->size;
    full->bytes = NULL;
    full->size = 0;
    return append(ring, fresh);
}

static void *reserve(sp_sink_ring *ring, size_t size, sp_sink_refusal *out_why)
{
    chunk *at = ring->newest;
    if (at == NULL || at->size - at->used < size)
        at = add_chunk(ring, size, out_why);
    if (at == NULL && *out_why == SP_SINK_FULL)
        at = reuse_newest(ring, size);
    return at == NULL ? NULL : at->bytes + at->used;
}

static bool commit(sp_sink_ring *ring, size_t bytes, const sp_sink_span *span)
{
    (void)span;
    ring->newest->used += bytes;
    return true;
}

static const void *next(const sp_sink_ring *ring, sp_sink_cursor *cursor, size_t *out_size)
{
    chunk *at = cursor->part == NULL ? ring->oldest : (chunk *)(uintptr_t)cursor->part;
    size_t offset = cursor->part == NULL ? ring->first : cursor->offset;
    if (at == NULL)
        return NULL;
    while (offset >= at->used && at->next != NULL) {
        at = at->next;
        offset = 0;
    }
    *cursor = (sp_sink_cursor){.part = at, .offset = offset};
    if (at->bytes == NULL)
        at->bytes = sp_spill_map(ring->sink, at->offset, at->used);
    sp_block_header header;
    if (offset >= at->used || at->bytes == NULL ||
        sp_block_read_header(at->bytes + offset, at->used - offset, &header, NULL) != SP_OK)
        return NULL;
    at->is_seen = true;
    *out_size = sp_block_bytes(&header);
    cursor->offset += *out_size;
    return at->bytes + offset;
}

static void drop(sp_sink_ring *ring, sp_sink_cursor *until, sp_sink_cursor *follow)
{
    if (until->part == NULL)
        return;
    while (ring->oldest != until->part) {
        chunk *gone = ring->oldest;
        ring->oldest = gone->next;
        gone->next = NULL;
        free_chunks(ring->sink, gone);
    }
    ring->first = until->offset;
    if (ring->oldest->next == NULL && ring->first >= ring->oldest->used) {
        free_chunks(ring->sink, ring->oldest);
        ring->oldest = ring->newest = NULL;
        *until = *follow = (sp_sink_cursor){.part = NULL};
    }
}

static const sp_sink_table table = {
    .name = "memory",
    .wants_sums = false,
    .open_ring = open_ring,
    .close_ring = close_ring,
    .reserve = reserve,
    .commit = commit,
    .next = next,
    .drop = drop,
};

void sp_memory_sink_init(sp_memory_sink *sink)
{
    *sink = (sp_memory_sink){.sink = {.table = &table}, .descriptor = -1};
    sp_mutex_reset(&sink->lock);
}

void sp_memory_sink_set(sp_memory_sink *sink, const sp_memory_settings *settings)
{
    sp_mutex_lock(&sink->lock);
    sink->settings = *settings;
    sink->has_failed = false;
    sp_mutex_unlock(&sink->lock);
    atomic_store(&sink->limit, settings->limit);
    atomic_store(&sink->on_full, settings->on_full);
}

void sp_memory_sink_release(sp_memory_sink *sink)
{
    if (sink->descriptor >= 0)
        sp_os_journal_close(sink->descriptor);
    sink->descriptor = -1;
}

uint64_t sp_memory_sink_spilled(sp_memory_sink *sink)
{
    sp_mutex_lock(&sink->lock);
    uint64_t bytes = sink->end;
    sp_mutex_unlock(&sink->lock);
    return bytes;
}
