/* notes.h - metadata given to calls while they are open. It waits in the lane, by begin number, until
 * the call ends; the frame says that there is some, which sends the end to the slow path.
 *
 * Owner only, on a path.
 */
#ifndef SP_RECORDER_NOTES_H
#define SP_RECORDER_NOTES_H

#include "base/vector.h"

#include <stdint.h>

typedef struct sp_note {
    uint64_t number; /* of the call */
    char *key;       /* a JSON string; "": the value is a list of members */
    char *value;     /* JSON, in the same piece of memory */
} sp_note;

typedef SP_VECTOR(sp_note) sp_notes;

/* Adds a value to a call, or replaces that of the same key. False: memory is short. */
bool sp_notes_set(sp_notes *notes, uint64_t number, const char *key, const char *value);

/* Takes those of a call out as one JSON object (free() it), which goes on with the members of the
 * object `more` (NULL: none). NULL: memory is short. */
char *sp_notes_take(sp_notes *notes, uint64_t number, const char *more, size_t more_bytes,
                    size_t *out_bytes);

/* Empties; the memory of the list stays. */
void sp_notes_clear(sp_notes *notes);
void sp_notes_release(sp_notes *notes);

#endif
