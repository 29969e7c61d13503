/* end_shorter.h - ends a call and keeps no record of one that was short. */
#ifndef SP_RECORDER_END_SHORTER_H
#define SP_RECORDER_END_SHORTER_H

#include "recorder/recording.h"

/* As sp_path_end, but a call shorter than `least_ns` that is the last one begun on its lane leaves
 * no trace: its time stays with its parent. One inside which other calls were recorded, or that has
 * something to say (it crossed another), is recorded whatever its length. True: left no trace. */
bool sp_path_end_unless_shorter(sp_recording *recording, uint32_t region, int64_t least_ns);

#endif
