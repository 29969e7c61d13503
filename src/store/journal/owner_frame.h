/* owner_frame.h - what the frame of the owner says: who recorded what since when. */
#ifndef SP_STORE_JOURNAL_OWNER_FRAME_H
#define SP_STORE_JOURNAL_OWNER_FRAME_H

#include "base/os/owner.h"
#include "base/text.h"
#include "store/journal/format.h"
#include "store/journal/frame.h"

/* Zeroed memory is empty. */
typedef struct sp_owner_frame {
    uint32_t version, generation;
    uint8_t id[SP_JOURNAL_ID_BYTES];
    sp_os_owner owner;
    sp_text output, rings, label;
    sp_text folder; /* of journal files; "": that of the output */
    char clock[16]; /* what its ticks are */
    int64_t rank, started_ns, started_at_ns; /* of CLOCK_MONOTONIC, since 1970 */
    bool track_threads, track_tasks;
} sp_owner_frame;

/* Replaces what was in `out`. False: the payload is no owner. */
bool sp_owner_frame_read(const sp_frame_view *frame, sp_owner_frame *out);
void sp_owner_frame_release(sp_owner_frame *frame);

#endif
