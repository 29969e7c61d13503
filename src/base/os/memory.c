#include "base/os/memory.h"

#include <sys/mman.h>

#if !defined(MAP_NORESERVE)
#define MAP_NORESERVE 0
#endif

void *sp_os_reserve(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void sp_os_reserve_release(void *memory, size_t size)
{
    if (memory != NULL)
        munmap(memory, size);
}
