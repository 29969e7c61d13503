/* memory.h - address space that fills as it is written. */
#ifndef SP_BASE_OS_MEMORY_H
#define SP_BASE_OS_MEMORY_H

#include <stddef.h>

/* Zeroed, writable address space; memory is taken page by page at the first write, reading takes
 * none. NULL when the system refuses. */
void *sp_os_reserve(size_t size);
void sp_os_reserve_release(void *memory, size_t size);

#endif
