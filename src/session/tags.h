/* tags.h - which regions of native code their tags keep off in the default profiler. Locks of its own,
 * taken before the lock of a recording and after that of a profiler. */
#ifndef SP_SESSION_TAGS_H
#define SP_SESSION_TAGS_H

#include "session/profiler.h"

/* What a host asks for: only regions with one of the tags in `wanted` record (none: all do), and the
 * opt-in tags in `enabled` are on, beside those that native code and the environment enable. Regions
 * that native code has defined follow at once. SP_ERR_NO_MEMORY. */
int sp_tags_filter(const sp_binding_tags *wanted, const sp_binding_tags *enabled, sp_error *error);

/* State that a region begins with which native code defines in a profiler. Tags given to it earlier in
 * the life of the process count. */
sp_region_state sp_tags_first_state(const sp_profiler *profiler, int32_t region);

/* Keeps where native code has defined a region of the default profiler; the first place counts. */
void sp_tags_remember_site(int32_t region, const char *file, int line);

/* Gives a region of the default profiler the tags and the site back that native code gave it in an
 * earlier configuration. */
void sp_tags_restore(int32_t region);

/* In the child of a fork, where another thread may have held the lock. */
void sp_tags_fork_child(void);

#endif
