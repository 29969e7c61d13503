/* rings.h - the file of rings: memory that recording threads write and that another process finds
 * after this one has died. In memory-backed storage where there is some, else on a local disk.
 *
 * Thread rules: one thread at a time; the journal's lock. */
#ifndef SP_STORE_JOURNAL_RINGS_H
#define SP_STORE_JOURNAL_RINGS_H

#include "store/journal/format.h"

#include <stdbool.h>
#include <stddef.h>

/* Zeroed memory is one that is not open. */
typedef struct sp_rings {
    sp_rings_header *header; /* NULL: not open */
    int descriptor;
    char *path;
    uint64_t end; /* of the file */
} sp_rings;

/* Makes the file for the recording of an output. False with errno when no place takes it. */
bool sp_rings_open(sp_rings *rings, const uint8_t id[SP_JOURNAL_ID_BYTES], const char *output);

/* Adds a segment; places in `layout` count from its body. Returns the body, NULL with errno. It is
 * given back with sp_rings_free_body, also after the file was closed. */
void *sp_rings_add(sp_rings *rings, size_t body_bytes, const sp_segment_header *layout);
void sp_rings_free_body(void *body, size_t body_bytes);

/* Frames that no file holds yet: appends one, false when there is no room; drops all. */
bool sp_rings_note(sp_rings *rings, const void *frame, size_t bytes);
void sp_rings_clear_notes(sp_rings *rings);

/* Says how many journal files there are beside it. */
void sp_rings_count_files(sp_rings *rings, int change);

/* Removes the name; what is mapped goes on to work. */
void sp_rings_remove(sp_rings *rings);
void sp_rings_close(sp_rings *rings);

/* Where files of rings go and are looked for: the so manieth folder, NULL after the last. */
const char *sp_rings_folder(size_t i);
/* Whether a file of that name holds rings of this user. Names tell the process and, as a number, the
 * output at the time of their making, so that most files need not be opened. */
bool sp_rings_name_read(const char *name, int64_t *out_pid, uint32_t *out_output);
uint32_t sp_rings_output_number(const char *output);

#endif
