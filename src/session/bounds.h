/* bounds.h - how much memory a recording may take, and what becomes of calls beyond it. */
#ifndef SP_SESSION_BOUNDS_H
#define SP_SESSION_BOUNDS_H

#include "session/profiler.h"

/* Puts the settings' bounds into those of the recorder; folders are kept in `texts`. */
void sp_bounds_fill(const sp_settings *settings, sp_arena *texts, sp_recording_settings *out);

#endif
