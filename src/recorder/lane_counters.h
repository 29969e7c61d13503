/* lane_counters.h - sums of what instruments measured, of calls that are in no block: those of
 * aggregate mode, and those that were lost. Under the drain lock. */
#ifndef SP_RECORDER_LANE_COUNTERS_H
#define SP_RECORDER_LANE_COUNTERS_H

#include "recorder/recording.h"

/* Adds those of whole records. */
void sp_lane_add_counters(sp_lane *lane, const uint64_t *words, size_t count);
/* Adds those of the lane to others and empties it. */
void sp_lane_move_counters(sp_lane *lane, sp_counter_sums *to);

#endif
