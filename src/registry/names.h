/* names.h - region name <-> id, process-wide. An id is never used for another name. */
#ifndef SP_REGISTRY_NAMES_H
#define SP_REGISTRY_NAMES_H

#include "scope_plugin.h"

/* Ids are 0, 1, 2, ... below this. */
enum { SP_REGION_LIMIT = 1 << 24 };

/* Id of the name, new or known; SP_INVALID_REGION with `error` when it is empty, holds a NUL, or
 * memory or ids are used up. Any thread. */
int32_t sp_names_intern(const char *name, size_t length, sp_error *error);

/* Id of a name that is known already, else SP_INVALID_REGION. Any thread. */
int32_t sp_names_find(const char *name, size_t length);

/* Terminated name of an id, for the life of the process; NULL when there is no such id. Takes no
 * lock. */
const char *sp_names_get(int32_t region);

/* Ids given so far. */
int32_t sp_names_count(void);

#endif
