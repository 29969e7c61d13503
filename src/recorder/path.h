/* path.h - recording calls: the whole of begin and end, for when the fast path (fast.h) has given
 * up, and what only ever takes the slow one.
 *
 * Thread rules: any thread, any time, also in a signal handler (a call that interrupts the recorder
 * itself on its thread is dropped and counted). errno is left alone.
 */
#ifndef SP_RECORDER_PATH_H
#define SP_RECORDER_PATH_H

#include "recorder/recording.h"

/* SP_OK also when the call is ignored because of a pause or a disabled region. SP_ERR_INACTIVE,
 * SP_ERR_INVALID_ARGUMENT (region not known to the recording), SP_ERR_NO_MEMORY.
 * `flags`: 0 or SP_CALL_RESUMPTION. */
int sp_path_begin(sp_recording *recording, uint32_t region, uint32_t flags);

/* The same, with a token for sp_path_end_token. */
int sp_path_begin_token(sp_recording *recording, uint32_t region, int64_t *out_token);
enum {
    SP_PATH_NOTHING = -1, /* no call was opened */
    SP_PATH_IGNORED = -2  /* it was ignored because of a pause */
};

/* Ends the innermost open call of the region. Also SP_ERR_UNMATCHED_END, which is counted. */
int sp_path_end(sp_recording *recording, uint32_t region);

/* A side record (log/record.h) to go with a call. */
typedef struct sp_attachment {
    uint32_t kind;
    const char *payload;
    size_t bytes; /* below 2^31 */
} sp_attachment;

int sp_path_end_with(sp_recording *recording, uint32_t region, const sp_attachment *side);

/* Gives the innermost open call a piece of metadata, a JSON string and a JSON value, that it takes
 * along when it ends; a key given again replaces the value. SP_ERR_UNMATCHED_END: no call is open. */
int sp_path_note(sp_recording *recording, const char *key, const char *value);

/* Ends the innermost open call, whatever its region. */
int sp_path_end_last(sp_recording *recording);

/* Ends the call with that token: SP_ERR_OPEN_SCOPES when later ones were open (it is then recorded
 * as crossing), SP_ERR_UNMATCHED_END when it is not open on this thread. */
int sp_path_end_token(sp_recording *recording, int64_t token);

/* Adds a finished call without a parent. */
int sp_path_append(sp_recording *recording, uint32_t region, int64_t start_ns, int64_t end_ns);

/* Regions of the open calls of this thread, innermost last; returns how many there are. */
size_t sp_path_open_regions(sp_recording *recording, int32_t *regions, size_t room);

#endif
