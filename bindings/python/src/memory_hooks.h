/* memory_hooks.h - CPython's allocators, hooked, and what each thread got from them. */
#ifndef SCOPE_PYTHON_MEMORY_HOOKS_H
#define SCOPE_PYTHON_MEMORY_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

/* Of one thread, since it first allocated. A block that was allocated before the hooks is freed with
 * unknown size: it is counted in `frees` alone. */
typedef struct memory_counts {
    int64_t allocated_bytes, allocations, freed_bytes, frees;
    int64_t peak; /* highest allocated - freed bytes since it was last set */
    bool is_inside; /* an allocator that calls another one counts once */
} memory_counts;

/* Of the calling thread. */
memory_counts *memory_counts_here(void);

/* Counts from now on; with the GIL. In pairs with the next, which needs no GIL and only stops counting. */
void memory_hooks_use(void);
void memory_hooks_unuse(void);
/* Unhooks what nobody uses any more, unless somebody else has hooked himself over; with the GIL. */
void memory_hooks_tidy(void);

#endif
