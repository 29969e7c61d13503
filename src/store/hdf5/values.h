/* values.h - opening parts of a file that may be absent. */
#ifndef SP_STORE_HDF5_VALUES_H
#define SP_STORE_HDF5_VALUES_H

#include "store/hdf5/reader_int.h"

/* Rows of a table read at once. */
enum { SP_HDF5_ROW_PIECE = 256 };

#define ROOT(reader) ((reader)->tree->ops->root((reader)->tree))

typedef enum sp_hdf5_need { SP_HDF5_OPTIONAL, SP_HDF5_REQUIRED } sp_hdf5_need;

/* `*out` 0 when the group is absent and optional. */
int sp_hdf5_open_group(sp_store_reader *reader, sp_tree_handle parent, const char *name,
                       sp_hdf5_need need, sp_tree_handle *out, sp_error *error);
/* `out->handle` 0 when the column is absent and optional. */
int sp_hdf5_open_column(sp_store_reader *reader, sp_tree_handle group, const char *name,
                        sp_hdf5_need need, sp_tree_column *out, sp_error *error);
/* A column or a matrix that must be there; close it as a column. */
int sp_hdf5_open_matrix(sp_store_reader *reader, sp_tree_handle group, const char *name,
                        sp_tree_column *out, sp_error *error);
/* 0 is fine. */
void sp_hdf5_close_group(sp_store_reader *reader, sp_tree_handle group);
void sp_hdf5_close_column(sp_store_reader *reader, sp_tree_column *column);

bool sp_hdf5_has_member(sp_store_reader *reader, sp_tree_handle group, const char *name);
int sp_hdf5_read_attribute(sp_store_reader *reader, sp_tree_handle group, const char *name,
                           sp_metadata_entry *out, sp_error *error);
/* Signed integers. */
int sp_hdf5_read_integers(sp_store_reader *reader, const sp_tree_column *column, uint64_t first,
                          uint64_t count, int64_t *out, sp_error *error);

/* Reading all of it takes an amount of memory, at 8 bytes a value, that is within reason for the
 * file. */
bool sp_hdf5_is_modest(const sp_store_reader *reader, const sp_tree_column *column);

#endif
