/* pages.h - memory for large arrays, straight from the system. */
#ifndef SP_BASE_OS_PAGES_H
#define SP_BASE_OS_PAGES_H

#include <stddef.h>

/* Zeroed memory aligned to a page, in large pages where the system has them (first touch of small
 * ones costs more than the work on them). NULL when there is none. Zero bytes give NULL too. */
void *sp_os_pages_alloc(size_t size);
/* `memory` may be NULL. */
void sp_os_pages_free(void *memory, size_t size);

#endif
