/* call_record.h - from a frame to its record in the ring. Owner only, on a path. */
#ifndef SP_RECORDER_CALL_RECORD_H
#define SP_RECORDER_CALL_RECORD_H

#include "recorder/path.h"

/* Ends the call of `frame`, wherever it stands, at that tick, and writes its record with `side`
 * (NULL: none). Returns the new top; `*out_crossed`: later calls were open. */
sp_frame *sp_call_finish(sp_lane *lane, sp_frame *top, sp_frame *frame, uint64_t tick,
                         const sp_attachment *side, bool *out_crossed);

/* Writes a finished call that was never on the stack. */
void sp_call_append(sp_lane *lane, sp_frame *top, uint32_t region, int64_t start_ns,
                    int64_t end_ns);

#endif
