#include "base/os/pages.h"

#include <stdint.h>
#include <sys/mman.h>

enum { LARGE_PAGE_BYTES = 2 << 20 };

void *sp_os_pages_alloc(size_t size)
{
    if (size == 0 || size > SIZE_MAX / 2)
        return NULL;
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (size >= LARGE_PAGE_BYTES)
        (void)madvise(memory, size, MADV_HUGEPAGE);
#endif
    return memory;
}

void sp_os_pages_free(void *memory, size_t size)
{
    if (memory != NULL)
        (void)munmap(memory, size);
}
