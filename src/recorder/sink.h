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
typedef struct sp_sink_ring sp_sink_ring; /* what a sink keeps of one ring */

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
    bool wants_sums; /* blocks leave the process: they carry a checksum */

    /* NULL when memory is short. Close drops what the ring still holds. */
    sp_sink_ring *(*open_ring)(sp_sink *sink);
    void (*close_ring)(sp_sink_ring *ring);

    /* Where to pack the next block, `size` bytes at most; NULL with the reason. Then commit says
     * how many it became (0: none). */
    void *(*reserve)(sp_sink_ring *ring, size_t size, sp_sink_refusal *out_why);
    void (*commit)(sp_sink_ring *ring, size_t bytes);

    /* The next block committed so far, oldest first; NULL at the end, and the cursor is then where
     * the next one will be. A block does not change and does not move until it is dropped. */
    const void *(*next)(const sp_sink_ring *ring, sp_sink_cursor *cursor, size_t *out_size);

    /* Removes the blocks before `until`. Both cursors stay where they are in the sequence; `follow`
     * must not be before `until`. */
    void (*drop)(sp_sink_ring *ring, sp_sink_cursor *until, sp_sink_cursor *follow);
} sp_sink_table;

struct sp_sink {
    const sp_sink_table *table;
};

#endif
