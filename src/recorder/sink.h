/* sink.h - where drained blocks go: a table of operations, so that the recorder does not know
 * whether they stay in memory or are written to a journal.
 *
 * Thread rules: what concerns one ring is called under the drain lock of its lane.
 */
#ifndef SP_RECORDER_SINK_H
#define SP_RECORDER_SINK_H

#include <stdbool.h>
#include <stddef.h>

typedef struct sp_sink sp_sink;
typedef struct sp_sink_ring sp_sink_ring;   /* what a sink keeps of one ring */
typedef struct sp_sink_batch sp_sink_batch; /* blocks on their way into a file */

/* A place in a sequence of blocks; zeroed: its beginning. */
typedef struct sp_sink_cursor {
    const void *part;
    size_t offset;
} sp_sink_cursor;

typedef enum sp_sink_refusal {
    SP_SINK_FULL,     /* the ceiling the user set */
    SP_SINK_NO_MEMORY /* the system has none */
} sp_sink_refusal;

typedef struct sp_sink_table {
    const char *name;

    /* NULL when memory is short. Close drops what the ring still holds. */
    sp_sink_ring *(*open_ring)(sp_sink *sink);
    void (*close_ring)(sp_sink_ring *ring);

    /* Where to pack the next block, `size` bytes at most; NULL with the reason. Then commit says
     * how many it became (0: none). */
    void *(*reserve)(sp_sink_ring *ring, size_t size, sp_sink_refusal *out_why);
    void (*commit)(sp_sink_ring *ring, size_t bytes);

    /* The next block committed so far, oldest first; NULL at the end. */
    const void *(*next)(const sp_sink_ring *ring, sp_sink_cursor *cursor, size_t *out_size);

    /* For a publication: takes all blocks out of the ring, which goes on empty (NULL: there were
     * none). They end by being dropped, or go back in front of what came since. */
    sp_sink_batch *(*take)(sp_sink_ring *ring);
    const void *(*batch_next)(const sp_sink_batch *batch, sp_sink_cursor *cursor,
                              size_t *out_size);
    void (*give_back)(sp_sink_ring *ring, sp_sink_batch *batch);
    void (*drop)(sp_sink *sink, sp_sink_batch *batch);
} sp_sink_table;

struct sp_sink {
    const sp_sink_table *table;
};

#endif
