/* memory.h - what CPython's allocators hand out, counted by thread, as instruments of a recording.
 *
 * The allocators of all three domains are hooked; who was hooked there before goes on working. Sizes of
 * blocks are kept beside, in tables by address, because a block can only be freed with the size it had
 * by whom knows it. What PyMem_RawMalloc is asked for by another allocator counts once.
 */
#ifndef SCOPE_PYTHON_MEMORY_H
#define SCOPE_PYTHON_MEMORY_H

#include "recorder_module.h"

enum { MEMORY_INSTRUMENTS = 2 };

/* Two instruments for a recording whose allocations are counted (memory_hooks.h): `memory`, what was
 * allocated and freed during a call, and `memory_peak`, the most that a call of a region held at once more than at
 * its begin, since the configuration began. -1: MemoryError is set. */
int memory_instruments(const sp_instrument *out[MEMORY_INSTRUMENTS]);

#endif
