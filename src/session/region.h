/* region.h - regions of a profiler by name, for native code. */
#ifndef SP_SESSION_REGION_H
#define SP_SESSION_REGION_H

#include "session/profiler.h"

/* Handle of the region, known to the profiler from now on; SP_INVALID_REGION for a bad name or
 * without memory. `file` NULL: no site. */
int sp_region_define(sp_profiler *profiler, const char *name, const char *file, int line);

/* A begin in the default profiler that the fast path has given up. A handle from an earlier recording,
 * which native code may keep in a variable, becomes known to this one. */
void sp_region_begin_slowly(int region) __attribute__((cold));

/* Reports an end without a begin, the first time in a configuration. */
void sp_region_complain_unmatched(sp_profiler *profiler, int region);

#endif
