/* load.h - everything that is left of one recording, from all of its files: read, checked, put in
 * order. Nothing that fails a check is used, and all of that is counted.
 *
 * load_frames.c  journal files and notes: tables, anchors, blocks
 * load_rings.c   what is in rings and on stacks only
 * load.c         the order of the blocks, gaps, what is lost
 */
#ifndef SP_STORE_JOURNAL_LOAD_H
#define SP_STORE_JOURNAL_LOAD_H

#include "base/arena.h"
#include "base/number_map.h"
#include "base/vector.h"
#include "clock/timeline.h"
#include "log/block.h"
#include "store/assemble.h"
#include "store/journal/owner_frame.h"

/* A whole file in memory. */
typedef struct sp_loaded_file {
    const uint8_t *bytes;
    size_t size;
    bool is_mapped;
} sp_loaded_file;

typedef struct sp_loaded_block {
    uint32_t ring, epoch, from, to;
    uint64_t order; /* in which it was found */
    const uint8_t *bytes;
    sp_block_header header;
    bool is_from_ring;
    uint64_t missing; /* calls of the ring that should be before it */
} sp_loaded_block;

typedef struct sp_loaded_region {
    uint32_t region;
    sp_assemble_region info;
} sp_loaded_region;

/* Where a ring stood at the last publication. */
typedef struct sp_loaded_mark {
    uint32_t ring, epoch, words;
    uint64_t calls;
} sp_loaded_mark;

typedef struct sp_loaded_task {
    sp_task_row row;
    int64_t running_ticks, suspended_ticks;
    sp_resolver state;
} sp_loaded_task;

typedef struct sp_loaded_segment {
    uint64_t address, bytes; /* of the process that recorded */
    const uint8_t *memory;   /* here */
    sp_segment_header header;
} sp_loaded_segment;

typedef struct sp_loaded {
    sp_arena arena;
    sp_owner_frame owner;
    SP_VECTOR(sp_loaded_file) files;

    SP_VECTOR(sp_anchor) anchors;
    sp_timeline timeline;
    uint64_t last_tick; /* the last moment that anything tells of */
    SP_VECTOR(sp_loaded_region) regions;
    sp_number_map region_index;
    SP_VECTOR(sp_thread_row) threads; /* by lane */
    SP_VECTOR(sp_resolver) states;    /* by lane */
    SP_VECTOR(sp_loaded_task) tasks;  /* by number */
    SP_VECTOR(sp_task_row) task_rows;
    SP_VECTOR(sp_assemble_lane) lanes;
    SP_VECTOR(sp_metadata_entry) metadata;
    SP_VECTOR(sp_assemble_loss) losses; /* that the recorder told of */
    SP_VECTOR(sp_instrument) instruments; /* by number; without a name: not known */
    SP_VECTOR(sp_loaded_block) blocks; /* in order once loaded */
    SP_VECTOR(sp_assemble_block) assembled;
    SP_VECTOR(sp_assemble_open_call) open_calls;
    SP_VECTOR(sp_loaded_mark) marks;
    SP_VECTOR(sp_loaded_segment) segments;

    uint32_t base_generation; /* everything before it has been published */
    int64_t next_id;
    bool has_rings, is_sealed;
    uint64_t num_calls, missing_calls;
    uint64_t damaged_blocks, damaged_block_bytes, damaged_bytes, torn_bytes, damaged_rings;
} sp_loaded;

/* The files of one recording; those that do not belong to the first that can be read are left out.
 * SP_ERR_DAMAGED when there is nothing to go by, SP_ERR_IO, SP_ERR_NO_MEMORY, SP_ERR_SCHEMA. */
int sp_load(const char *const *paths, size_t count, sp_loaded *out, sp_error *error);
void sp_loaded_release(sp_loaded *loaded);

/* ---- Shared by the three files ---------------------------------------------------------------*/

/* More than any process can have had. */
enum { SP_LOADED_LANES = 1 << 20, SP_LOADED_TASKS = 1 << 21, SP_LOADED_REGIONS = 1 << 24, SP_LOADED_DEPTH = 1 << 22 };

/* Frames of a journal, or notes. False: memory is short. */
bool sp_load_frames(sp_loaded *loaded, const uint8_t *bytes, size_t size, bool is_file);
/* A file of rings whose notes have been read. */
bool sp_load_rings(sp_loaded *loaded, const sp_loaded_file *file);
/* After all blocks are in order: the calls that were open. */
bool sp_load_open_calls(sp_loaded *loaded);
/* Whether a lane can be one, of a thread or of a task. */
static inline bool sp_load_is_lane_number(uint32_t lane)
{
    return lane < SP_LOADED_LANES || (lane >= SP_RECORD_TASK_LANES &&
                                      lane - SP_RECORD_TASK_LANES < SP_LOADED_TASKS);
}
/* Room for a lane. */
bool sp_load_lane(sp_loaded *loaded, uint32_t lane);
/* Its state; there is room for it. */
static inline sp_resolver *sp_load_state(sp_loaded *loaded, uint32_t lane)
{
    return lane < SP_RECORD_TASK_LANES ? &loaded->states.items[lane]
                                       : &loaded->tasks.items[lane - SP_RECORD_TASK_LANES].state;
}
/* Whether every record of a block can be used, and there is room for its lanes; goes over all of it. */
bool sp_load_check(sp_loaded *loaded, const uint8_t *block, size_t size);
/* Whether a piece lies in the body of a segment. */
bool sp_load_lies_in(const sp_loaded_segment *segment, uint64_t at, uint64_t bytes);
/* Whether it is a lane whose places lie inside of it. */
bool sp_load_is_lane(const sp_loaded_segment *segment);
/* Where the whole records of a ring from `at` on end, how many calls they are, and to which lane the
 * records behind them belong; `*lane`: those at `at`. */
size_t sp_load_measure(const uint64_t *words, size_t at, size_t end, uint64_t *out_calls,
                       uint32_t *lane);
/* Appends a block. False: memory is short. */
bool sp_load_block(sp_loaded *loaded, const sp_loaded_block *block);

static inline void sp_load_tick(sp_loaded *loaded, uint64_t tick)
{
    if (tick > loaded->last_tick)
        loaded->last_tick = tick;
}

#endif
