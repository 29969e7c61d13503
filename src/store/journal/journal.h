/* journal.h - the writing half of the journal: one file of frames beside the output (a further one
 * for each publication that is under way) and the file of rings. The format is docs/FORMATS.md.
 *
 * Nothing is made before it is needed: the file of rings when a thread starts to record, a journal
 * file at the first block. A write that fails ends the journal, said once; who appends then keeps the
 * block itself.
 *
 * Thread rules: any thread; the lock inside is the innermost one.
 */
#ifndef SP_STORE_JOURNAL_JOURNAL_H
#define SP_STORE_JOURNAL_JOURNAL_H

#include "store/journal/format.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct sp_journal sp_journal;

typedef struct sp_journal_settings {
    const char *output;  /* absolute path of the profile */
    const char *folder;  /* of journal files, NULL: that of the output */
    const char *details; /* members of a JSON object for the frame of the owner, without braces */
    void (*say)(const char *text); /* one line for the user */
} sp_journal_settings;

/* NULL when memory is short. The texts are copied. */
sp_journal *sp_journal_create(const sp_journal_settings *settings);
/* The same recording goes on under other settings; files that are open stay where they are. */
void sp_journal_change(sp_journal *journal, const sp_journal_settings *settings);

/* Memory for a lane or a stack; see sp_rings_add. NULL: it takes ordinary memory. */
void *sp_journal_room(sp_journal *journal, size_t bytes, const sp_segment_header *layout);

/* Something that later frames or rings refer to: `head`, then `json`. Every file of the journal
 * has it. */
void sp_journal_note(sp_journal *journal, sp_frame_kind kind, const void *head, size_t head_bytes,
                     const char *json, size_t json_bytes);

/* Where a block is. */
typedef struct sp_journal_place {
    uint32_t generation;
    size_t bytes;
    uint64_t offset;
} sp_journal_place;

/* Generation of the file that new rings write into. */
uint32_t sp_journal_generation(sp_journal *journal);
/* Begins the next one, and returns it: publication writes the ones before. */
uint32_t sp_journal_next_generation(sp_journal *journal);

/* Appends a block to the file of a generation: `frame` has SP_FRAME_HEADER_BYTES + SP_PLACE_BYTES of
 * room before the block, and room for seven bytes behind it. False: it could not be written. */
bool sp_journal_append(sp_journal *journal, uint32_t generation, void *frame,
                       const uint32_t place[4], size_t block_bytes, sp_journal_place *out);
/* A block that was appended, where it lies in memory until its generation is released; NULL when it
 * cannot be read. */
const void *sp_journal_block(sp_journal *journal, const sp_journal_place *place);

/* The generations before this one are in a profile, which is in its place: their files go. */
void sp_journal_release_before(sp_journal *journal, uint32_t generation);
/* Nothing follows in the files of the generations before this one. */
void sp_journal_seal_before(sp_journal *journal, uint32_t generation);

/* While it is held, trouble is kept silent, because a publication under way will tell of it. */
void sp_journal_hush(sp_journal *journal, bool is_hushed);
bool sp_journal_has_failed(sp_journal *journal);
/* A copy of the descriptor of the newest file, for a sync; the caller closes it. -1: there is none. */
int sp_journal_descriptor(sp_journal *journal);

/* Whether there is anything in its files that recovering could make a profile of. */
bool sp_journal_holds_calls(sp_journal *journal);
/* Nothing is left to recover: the names go, memory goes on to work. */
void sp_journal_remove(sp_journal *journal);
/* Lets go of everything; files that were not removed stay. NULL is fine. */
void sp_journal_destroy(sp_journal *journal);
/* In the child of a fork: the files stay the parent's. */
void sp_journal_forget(sp_journal *journal);

#endif
