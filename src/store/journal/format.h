/* format.h - the layout of a journal and of the file that rings lie in; docs/FORMATS.md is its text.
 *
 * Private to the journal. */
#ifndef SP_STORE_JOURNAL_FORMAT_H
#define SP_STORE_JOURNAL_FORMAT_H

#include <stdint.h>

enum { SP_JOURNAL_VERSION = 1, SP_JOURNAL_ID_BYTES = 16 };

/* A frame: header, payload, zeros up to a multiple of eight. */
#define SP_FRAME_MAGIC "SPJF"
enum {
    SP_FRAME_AT_KIND = 4,
    SP_FRAME_AT_BYTES = 8,
    SP_FRAME_AT_SUM = 12,
    SP_FRAME_HEADER_BYTES = 16,
    SP_FRAME_ALIGNMENT = 8
};

typedef enum sp_frame_kind {
    SP_FRAME_OWNER = 1,    /* version, id of the recording, JSON: who records what since when */
    SP_FRAME_ANCHOR = 2,   /* of the clock */
    SP_FRAME_REGION = 3,   /* id, JSON */
    SP_FRAME_THREAD = 4,   /* lane, JSON */
    SP_FRAME_METADATA = 5, /* JSON */
    SP_FRAME_BLOCK = 6,    /* ring, epoch, words; a log block */
    SP_FRAME_BASE = 7,     /* what the last publication left off at */
    SP_FRAME_LOSSES = 8,   /* JSON: kind to count */
    SP_FRAME_SEAL = 9,     /* nothing follows in this file */
    SP_FRAME_INSTRUMENT = 10, /* number, JSON: what side records of counters hold */
    SP_FRAME_TASK = 11     /* number, JSON */
} sp_frame_kind;

/* Payloads before their JSON, in bytes. Of a block its own part is under the sum of the frame, the
 * log block has one itself. */
enum {
    SP_OWNER_BYTES = 8 + SP_JOURNAL_ID_BYTES, /* u32 version, u32 generation of the file, id */
    SP_ANCHOR_BYTES = 24,                     /* u64 tick, i64 ns, i64 suspended ns */
    SP_REGION_BYTES = 4,                      /* u32 region */
    SP_THREAD_BYTES = 4,                      /* u32 lane */
    SP_TASK_BYTES = 4,                        /* u32 number of the task */
    SP_INSTRUMENT_BYTES = 4,                  /* u32 number */
    SP_PLACE_BYTES = 16,                      /* u32 ring, epoch, first word, word after the last */
    SP_BASE_BYTES = 24,      /* u32 generation, rings, lanes, 0; i64 next call id */
    SP_BASE_RING_BYTES = 24, /* u32 ring, epoch, words, 0; u64 calls */
    SP_BASE_LANE_BYTES = 16, /* u32 lane, levels; u64 calls that ended; then the levels */
    SP_BASE_LEVEL_BYTES = 16 /* u64 pending, i64 ns of children */
};

/* The file of rings, in the byte order of the machine. */
#define SP_RINGS_MAGIC "SPJR"
#define SP_SEGMENT_MAGIC "SPJS"
enum { SP_RINGS_ORDER = 0x01020304 };

typedef struct sp_rings_header {
    char magic[4];
    uint32_t version;
    uint32_t order;
    uint32_t reserved;
    uint8_t id[SP_JOURNAL_ID_BYTES];
    uint64_t notes_at, notes_room; /* place of the frames that are in no journal file yet */
    uint64_t notes_bytes;          /* how many of those bytes count */
    uint64_t segments_at;          /* place of the first segment; they follow each other */
    uint64_t files;                /* journal files that exist beside it */
} sp_rings_header;

/* A piece of memory of the recording process: a lane with its ring and its stack, or a stack that
 * a lane has moved to. Places are bytes from the beginning of the segment, 0: not in this one. */
typedef struct sp_segment_header {
    char magic[4];
    uint32_t reserved;
    uint64_t bytes;   /* this header included */
    uint64_t address; /* where the segment was mapped: what pointers in it count from */
    uint64_t state_at; /* sp_segment_state */
    uint64_t head_at; /* u64: address of the next free word of the ring */
    uint64_t top_at;  /* u64: address of the topmost frame, in this segment or in another */
    uint64_t ring_at, ring_words;
    uint64_t stack_at, stack_frames;
    uint64_t outermost_at; /* u64: address of the outermost frame of that stack */
    uint64_t lane_at;      /* u32: number of the lane that it belongs to */
    uint64_t waiting_at;   /* num_waiting of sp_waiting_stack, one every waiting_step bytes */
    uint32_t waiting_step, num_waiting;
} sp_segment_header;

enum { SP_SEGMENT_BODY_AT = 128 };

/* The stack of a thread or task that another one takes turns with. */
typedef struct sp_waiting_stack {
    uint64_t top, outermost; /* addresses; top 0: it does not wait */
    uint32_t lane, reserved;
} sp_waiting_stack;

/* Of a ring. Epoch odd: what it held is in a block, and it is being emptied. */
typedef struct sp_segment_state {
    uint32_t epoch, ring, lane;
    uint32_t settled; /* words of this epoch that are in a profile already */
    uint64_t calls;   /* of the ring, up to its first word */
} sp_segment_state;

/* A frame of a stack: four words. */
enum {
    SP_STACK_START = 0,  /* tick */
    SP_STACK_KEY = 1,    /* region and flags; see docs/FORMATS.md */
    SP_STACK_NUMBER = 2, /* of the begin within the lane */
    SP_STACK_EXTRA = 3,  /* marked: tick from which on its time counts for the call below */
    SP_STACK_WORDS = 4
};

/* Of the key of a frame. */
#define SP_STACK_FLAGS(key) ((uint32_t)((key) >> 32 & 31u))
#define SP_STACK_IS_MARKED(key) (((key) >> 39 & 1) != 0)
#define SP_STACK_IGNORED_BELOW(key) ((uint32_t)((key) >> 40 & 0x3fffff))
#define SP_STACK_IS_NO_CALL(key) (((key) >> 63) != 0)
#define SP_STACK_IGNORED ((UINT64_C(1) << 63) | 3)

#endif
