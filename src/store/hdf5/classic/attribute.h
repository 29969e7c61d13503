/* attribute.h - attributes in object headers. */
#ifndef SP_STORE_HDF5_CLASSIC_ATTRIBUTE_H
#define SP_STORE_HDF5_CLASSIC_ATTRIBUTE_H

#include "store/hdf5/classic/heap.h"
#include "store/hdf5/classic/type.h"

/* Name of an attribute message, in the arena; NULL when the bytes make no sense. */
const char *sp_classic_attribute_name(sp_classic_bytes *bytes, const sp_classic_message *message,
                                      sp_arena *arena);

/* Value of an attribute message as an entry; `*is_known` false: of a type that metadata cannot
 * have. The key is not set. */
sp_classic_outcome sp_classic_attribute_value(sp_classic_bytes *bytes, sp_classic_heap *heap,
                                              const sp_classic_message *message,
                                              sp_tree_context *context, sp_metadata_entry *out,
                                              bool *is_known);

#endif
