/* lane_sums.h - the sums of a lane whose calls are kept. Adding up at each drain would cost a recording
 * program a tenth of what a call costs, and most never ask: so it is done when somebody does, from
 * the blocks that came since the last time.
 */
#ifndef SP_RECORDER_LANE_SUMS_H
#define SP_RECORDER_LANE_SUMS_H

#include "recorder/recording.h"

/* Brings the sums up to the last drain. Under the drain lock. */
void sp_lane_update_sums(sp_lane *lane);

/* True when no block that is there has been added up. Under the drain lock. */
static inline bool sp_lane_sums_none(const sp_lane *lane)
{
    return lane->summed.part == NULL;
}

/* Under the drain lock: a sink in memory gives up its oldest piece; the calls are added up. */
void sp_lane_forget_oldest(sp_lane *lane);

#endif
