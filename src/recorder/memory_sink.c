#include "recorder/memory_sink.h"

#include "base/os/pages.h"
#include "log/block.h"

#include <stdalign.h>
#include <stdlib.h>

/* The first chunk of a ring is small, because most threads record little; later ones are large
 * pages, because a fault for each small page costs more than packing into it. */
enum { FIRST_CHUNK_BYTES = 512 * 1024, CHUNK_BYTES = 2 * 1024 * 1024 };

typedef struct chunk {
    struct chunk *next; /* newer */
    size_t size, used;  /* this header included */
    alignas(16) unsigned char bytes[];
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
        chunk *next = oldest->next;
        size_t size = oldest->size;
        sp_os_pages_free(oldest, size);
        atomic_fetch_sub_explicit(&sink->used, size, memory_order_relaxed);
        oldest = next;
    }
}

static void close_ring(sp_sink_ring *ring)
{
    if (ring == NULL)
        return;
    free_chunks(ring->sink, ring->oldest);
    free(ring);
}

static chunk *add_chunk(sp_sink_ring *ring, size_t wanted, sp_sink_refusal *out_why)
{
    sp_memory_sink *sink = ring->sink;
    size_t size = ring->newest == NULL ? FIRST_CHUNK_BYTES : CHUNK_BYTES;
    if (size < wanted + sizeof(chunk))
        size = wanted + sizeof(chunk);
    size_t used = atomic_fetch_add_explicit(&sink->used, size, memory_order_relaxed) + size;
    bool is_full = used > atomic_load_explicit(&sink->limit, memory_order_relaxed);
    chunk *fresh = is_full ? NULL : sp_os_pages_alloc(size);
    if (fresh == NULL) {
        atomic_fetch_sub_explicit(&sink->used, size, memory_order_relaxed);
        *out_why = is_full ? SP_SINK_FULL : SP_SINK_NO_MEMORY;
        return NULL;
    }
    fresh->size = size;
    fresh->used = sizeof *fresh;
    if (ring->newest == NULL) {
        ring->oldest = fresh;
        ring->first = sizeof *fresh;
    } else {
        ring->newest->next = fresh;
    }
    ring->newest = fresh;
    return fresh;
}

static void *reserve(sp_sink_ring *ring, size_t size, sp_sink_refusal *out_why)
{
    chunk *at = ring->newest;
    if (at == NULL || at->size - at->used < size)
        at = add_chunk(ring, size, out_why);
    return at == NULL ? NULL : (unsigned char *)at + at->used;
}

static void commit(sp_sink_ring *ring, size_t bytes, const sp_sink_span *span)
{
    (void)span;
    ring->newest->used += bytes;
}

static const void *next(const sp_sink_ring *ring, sp_sink_cursor *cursor, size_t *out_size)
{
    const chunk *at = cursor->part == NULL ? ring->oldest : cursor->part;
    size_t offset = cursor->part == NULL ? ring->first : cursor->offset;
    if (at == NULL)
        return NULL;
    while (offset >= at->used && at->next != NULL) {
        at = at->next;
        offset = sizeof(chunk);
    }
    *cursor = (sp_sink_cursor){.part = at, .offset = offset};
    sp_block_header header;
    if (offset >= at->used || sp_block_read_header((const unsigned char *)at + offset,
                                                   at->used - offset, &header, NULL) != SP_OK)
        return NULL;
    *out_size = sp_block_bytes(&header);
    cursor->offset += *out_size;
    return (const unsigned char *)at + offset;
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

void sp_memory_sink_init(sp_memory_sink *sink, size_t limit)
{
    sink->sink.table = &table;
    atomic_init(&sink->used, 0);
    atomic_init(&sink->limit, limit);
}
