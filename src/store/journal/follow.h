/* follow.h - a recording that is followed while it is made: running sums over its journal files and
 * rings, which are only read, and what is open now. Blocks are read once, so that looking again costs
 * what was recorded since; memory grows with regions, lanes and depth alone.
 *
 * follow.c        life, tables, sums
 * follow_files.c  journal files: a cursor each
 * follow_rings.c  the file of rings: what no block has yet, and the stacks
 *
 * Thread rules: one thread at a time. */
#ifndef SP_STORE_JOURNAL_FOLLOW_H
#define SP_STORE_JOURNAL_FOLLOW_H

#include "base/arena.h"
#include "base/number_map.h"
#include "base/vector.h"
#include "clock/timeline.h"
#include "log/resolver.h"
#include "store/journal/owner_frame.h"

/* Of calls that have ended. */
typedef struct sp_follow_region {
    uint32_t region;
    const char *name; /* NULL: not told yet */
    uint64_t calls;
    int64_t total_ns, own_ns;
} sp_follow_region;

typedef struct sp_follow_open {
    uint32_t region, depth;
    int64_t start_ns;
    int64_t elapsed_ns, own_ns; /* until now */
} sp_follow_open;

typedef struct sp_follow_lane {
    bool is_there;
    const char *name; /* "": not given */
    int64_t native_id;
    bool has_ended;
    uint64_t calls;
    sp_resolver nesting;
    int64_t since_ns; /* nothing is known of what its open calls did before */
    SP_VECTOR(sp_follow_open) open; /* outermost first */
} sp_follow_lane;

typedef struct sp_follow_ring {
    bool is_known;
    uint64_t next_call;       /* everything before it is in the sums */
    uint32_t epoch, words;    /* of the ring when it was looked at last */
    uint32_t gap_looks;       /* looks since calls before those in the ring are missing */
} sp_follow_ring;

/* Pieces of a file that were not whole although later ones were. */
typedef struct sp_follow_hole {
    uint64_t from, to;
    uint32_t looks;
} sp_follow_hole;

enum { SP_FOLLOW_HOLES = 16 };

typedef struct sp_follow_file {
    char *path;
    int descriptor;
    uint64_t at; /* everything before it has been read, */
    sp_follow_hole holes[SP_FOLLOW_HOLES]; /* but for these */
    size_t num_holes;
    bool is_named; /* its process has not removed it */
} sp_follow_file;

typedef struct sp_follow {
    uint8_t id[SP_JOURNAL_ID_BYTES];
    sp_owner_frame owner;
    bool has_owner;
    sp_arena arena;
    SP_VECTOR(sp_follow_file) files;
    char *rings_path;
    int rings; /* descriptor, -1: none */
    uint32_t notes_sum;
    SP_VECTOR(sp_follow_ring) places; /* by ring */
    SP_VECTOR(sp_follow_lane) lanes;  /* by number */
    SP_VECTOR(sp_follow_region) regions;
    sp_number_map region_index;
    bool has_first;
    sp_anchor first, last; /* of those that the recording took */
    sp_timeline timeline;  /* through these two, and now */
    int64_t now_ns;
    uint64_t num_calls, missing_calls;
    uint8_t *buffer;
    size_t room;
    bool is_short; /* memory was */
} sp_follow;

void sp_follow_init(sp_follow *follow, const uint8_t id[SP_JOURNAL_ID_BYTES]);
/* A file of this recording; one that is known already, or cannot be opened, changes nothing. */
void sp_follow_add(sp_follow *follow, const char *path, bool is_rings);
/* Takes what has come since, and what is open now. False: memory is short. */
bool sp_follow_look(sp_follow *follow);
void sp_follow_release(sp_follow *follow);

/* ---- Shared by the three files ---------------------------------------------------------------*/

/* A frame that was there before is one again, also in a further file. */
void sp_follow_frame(sp_follow *follow, const sp_frame_view *frame);
/* The calls of a block that are not in the sums yet. */
void sp_follow_block(sp_follow *follow, const uint8_t *block, size_t size);
sp_follow_lane *sp_follow_lane_of(sp_follow *follow, uint32_t lane);
sp_follow_ring *sp_follow_ring_of(sp_follow *follow, uint32_t ring);
sp_follow_region *sp_follow_region_of(sp_follow *follow, uint32_t region);

/* Files: what was appended since. False: a piece in the middle of one is still being written. */
bool sp_follow_files(sp_follow *follow);
void sp_follow_release_files(sp_follow *follow);

/* What a lane held at one moment. */
typedef struct sp_follow_copy {
    uint32_t ring, lane, epoch;
    bool has_words; /* else the ring was being emptied whenever it was looked at */
    uint64_t first_call;
    uint64_t *words;
    size_t num_words;
    uint64_t *stack; /* its frames, the bottom first */
    size_t depth;    /* frames above the bottom */
} sp_follow_copy;
typedef SP_VECTOR(sp_follow_copy) sp_follow_copies;

/* Rings: copies of all lanes. */
void sp_follow_copy_rings(sp_follow *follow, sp_follow_copies *out);
void sp_follow_notes(sp_follow *follow);
/* Takes copies into account, after the files. */
void sp_follow_take_ring(sp_follow *follow, const sp_follow_copy *copy, bool is_whole);
void sp_follow_take_stack(sp_follow *follow, const sp_follow_copy *copy);
void sp_follow_release_copies(sp_follow_copies *copies);

#endif
