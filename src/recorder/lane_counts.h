/* lane_counts.h - calls that are counted and nothing more, region by region, on one lane. To the stack they
 * are ignored calls, as in a pause, so their ends, their children and their metadata need no rule of
 * their own. */
#ifndef SP_RECORDER_LANE_COUNTS_H
#define SP_RECORDER_LANE_COUNTS_H

#include "recorder/recording.h"

/* By the owner, inside the path: one more. False: there is no memory to count it. */
bool sp_lane_count(sp_lane *lane, uint32_t region);
/* Under the drain lock: what was counted since the last time goes to the sums. */
void sp_lane_collect_counts(sp_lane *lane);
/* Nobody else looks at the lane any more. */
void sp_lane_release_counts(sp_lane *lane);

/* Calls of every region are only counted from now on, or recorded again. */
void sp_recording_count_only(sp_recording *recording, bool is_counting);

#endif
