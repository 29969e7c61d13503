/* heap.h - texts of variable length: a value is a reference to an object in a collection. */
#ifndef SP_STORE_HDF5_CLASSIC_HEAP_H
#define SP_STORE_HDF5_CLASSIC_HEAP_H

#include "base/number_map.h"
#include "store/hdf5/classic/object.h"

/* Where an object of a collection lies. */
typedef struct sp_classic_object {
    uint64_t address, size;
} sp_classic_object;

/* Zeroed memory is a heap of which nothing was read. */
typedef struct sp_classic_heap {
    sp_number_map collections; /* address of a collection that was read to its number */
    sp_number_map places;      /* number and index to position in `objects` */
    SP_VECTOR(sp_classic_object) objects;
    uint64_t parsed; /* bytes of collections read */
} sp_classic_heap;

/* The text that `reference` (SP_CLASSIC_TEXT_REFERENCE bytes) leads to, in the context's arena. */
sp_classic_outcome sp_classic_text(sp_classic_heap *heap, sp_classic_bytes *bytes,
                                   sp_tree_context *context, const unsigned char *reference,
                                   const char **out);
void sp_classic_heap_release(sp_classic_heap *heap);

#endif
