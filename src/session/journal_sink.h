/* journal_sink.h - the sink that writes blocks to a journal, and gives lanes memory that outlives the
 * process. A block that cannot be written stays in memory, as all that follow. */
#ifndef SP_SESSION_JOURNAL_SINK_H
#define SP_SESSION_JOURNAL_SINK_H

#include "recorder/recording.h"
#include "store/journal/journal.h"

#include <stdatomic.h>

typedef struct sp_journal_sink sp_journal_sink;
typedef void sp_journal_on_anchor(sp_journal_sink *sink, const sp_anchor *anchor);

struct sp_journal_sink {
    sp_sink sink;
    sp_journal *journal;
    sp_recording *recording; /* whose memory takes blocks that cannot be written */
    sp_journal_on_anchor *on_anchor;
    _Atomic uint64_t told_losses; /* how many there were when the journal was told of them */
};

void sp_journal_sink_init(sp_journal_sink *sink, sp_journal *journal, sp_recording *recording,
                          sp_journal_on_anchor *on_anchor);

/* From now on blocks of the ring go to that generation. Under the drain lock. */
void sp_journal_sink_turn(sp_sink_ring *ring, uint32_t generation);

#endif
