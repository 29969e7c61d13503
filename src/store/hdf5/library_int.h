/* library_int.h - a tree through the library: its state, for library_*.c alone. */
#ifndef SP_STORE_HDF5_LIBRARY_INT_H
#define SP_STORE_HDF5_LIBRARY_INT_H

#include "store/hdf5/tree.h"

#include <hdf5.h>

typedef struct sp_library {
    sp_tree tree; /* first */
    hid_t file, root;
    hid_t text_transfer; /* reading texts into the arena, within the budget */
} sp_library;

/* The library cannot read what `what` names; its own words say why. */
int sp_library_unreadable(const sp_tree *tree, sp_error *error, const char *what);

/* Type to read texts of this type with. A negative id on failure. */
hid_t sp_library_text_type(hid_t type);
/* `count` texts of a fixed length of `type`, one after the other. */
int sp_library_fixed_texts(sp_tree *tree, const char *bytes, hid_t type, const char **out,
                           size_t count, sp_error *error);

int sp_library_read_attribute(sp_tree *tree, sp_tree_handle group, const char *name,
                              sp_metadata_entry *out, sp_error *error);
int sp_library_open_column(sp_tree *tree, sp_tree_handle group, const char *name,
                           sp_tree_column *out, sp_error *error);
void sp_library_close_column(sp_tree *tree, sp_tree_handle column);
int sp_library_read_integers(sp_tree *tree, const sp_tree_column *column, uint64_t first,
                             uint64_t count, bool is_unsigned, void *out, sp_error *error);
int sp_library_read_reals(sp_tree *tree, const sp_tree_column *column, uint64_t first,
                          uint64_t count, double *out, sp_error *error);
int sp_library_read_texts(sp_tree *tree, const sp_tree_column *column, uint64_t first,
                          uint64_t count, const char **out, sp_error *error);
int sp_library_read_statistics(sp_tree *tree, const sp_tree_column *column, uint64_t first,
                               uint64_t count, sp_row_statistics *out, sp_error *error);

#endif
