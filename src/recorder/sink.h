/* sink.h - where drained blocks go: a table of operations, so that the recorder does not know
 * whether they stay in memory or are written to a journal.
 *
 * Thread rules: what concerns one ring is called under the drain lock of its lane.
 */
#ifndef SP_RECORDER_SINK_H
#define SP_RECORDER_SINK_H

#include "clock/anchor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sp_sink sp_sink;
typedef struct sp_thread_info sp_thread_info;
typedef struct sp_task_info sp_task_info;
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

/* Which words of a ring a block holds: those from `from` to `to` of that epoch (and what fitted no
 * ring). A reader that has the ring too knows by it what to leave out. */
typedef struct sp_sink_span {
    uint32_t epoch, from, to;
} sp_sink_span;

/* Memory for a lane or for a stack that has grown, and what lies where in it, in bytes from the
 * beginning; SP_ROOM_NONE: not in it. */
#define SP_ROOM_NONE SIZE_MAX
typedef struct sp_sink_room {
    size_t bytes;
    size_t state, head, top, ring, stack; /* sp_ring_state; pointers; words; frames */
    size_t ring_words, stack_frames;
    /* Of what has the lane: pointer to its outermost frame, number of its lane. */
    size_t outermost, lane;
    /* Strands that may wait, one every so many bytes; they begin with a pointer to the top of their stack
     * (NULL: it does not wait), one to its outermost frame and the number of their lane. */
    size_t waiting, waiting_step, num_waiting;
} sp_sink_room;

typedef struct sp_sink_table {
    const char *name;
    bool wants_sums; /* blocks leave the process: they carry a checksum */

    /* NULL when memory is short. Close drops what the ring still holds. */
    sp_sink_ring *(*open_ring)(sp_sink *sink, uint32_t ring);
    void (*close_ring)(sp_sink_ring *ring);

    /* Where to pack the next block, `size` bytes at most; NULL with the reason. Then commit says
     * how many it became (0: none); false: it could not be kept. */
    void *(*reserve)(sp_sink_ring *ring, size_t size, sp_sink_refusal *out_why);
    bool (*commit)(sp_sink_ring *ring, size_t bytes, const sp_sink_span *span);

    /* The next block committed so far, oldest first; NULL at the end, and the cursor is then where
     * the next one will be. A block does not change and does not move until it is dropped. */
    const void *(*next)(const sp_sink_ring *ring, sp_sink_cursor *cursor, size_t *out_size);

    /* Removes the blocks before `until`. Both cursors stay where they are in the sequence; `follow`
     * must not be before `until`. */
    void (*drop)(sp_sink_ring *ring, sp_sink_cursor *until, sp_sink_cursor *follow);

    /* A sink that survives the process. These are NULL for others. */

    /* Zeroed memory that another process can look at; NULL: ordinary memory has to do. */
    void *(*take_room)(sp_sink *sink, const sp_sink_room *wanted);
    void (*free_room)(void *room, size_t bytes); /* the sink may be gone */
    void (*anchor)(sp_sink *sink, const sp_anchor *anchor);
    void (*thread)(sp_sink *sink, uint32_t lane, const sp_thread_info *info);
    void (*task)(sp_sink *sink, uint32_t number, const sp_task_info *info);
} sp_sink_table;

struct sp_sink {
    const sp_sink_table *table;
};

#endif
