/* values.h - reading attributes and datasets of a file that may claim anything. */
#ifndef SP_STORE_HDF5_VALUES_H
#define SP_STORE_HDF5_VALUES_H

#include "store/hdf5/reader_int.h"

/* Values read at once. */
enum { SP_HDF5_READ_PIECE = 128 * 1024, SP_HDF5_ROW_PIECE = 256 };

typedef enum sp_hdf5_need { SP_HDF5_OPTIONAL, SP_HDF5_REQUIRED } sp_hdf5_need;

/* A one-dimensional dataset whose claims were checked: its values lie in this file, can be read,
 * and are no more than the stored bytes can hold. */
typedef struct sp_hdf5_dataset {
    hid_t id; /* 0: absent */
    H5T_class_t type_class;
    uint64_t length;
} sp_hdf5_dataset;

/* True when the group has a member of that name that lies in this file. */
bool sp_hdf5_has_member(hid_t group, const char *name);
/* Opens a group; `*out` 0 when it is absent and optional. */
int sp_hdf5_open_group(const sp_store_reader *reader, hid_t parent, const char *name,
                       sp_hdf5_need need, hid_t *out, sp_error *error);
int sp_hdf5_open_dataset(const sp_store_reader *reader, hid_t group, const char *name,
                         sp_hdf5_need need, sp_hdf5_dataset *out, sp_error *error);
void sp_hdf5_close_dataset(sp_hdf5_dataset *dataset);

/* Values [first, first + count), in pieces; the range must lie inside. `type`: of the memory. */
int sp_hdf5_read_range(const sp_store_reader *reader, hid_t dataset, hid_t type, size_t type_size,
                       uint64_t first, uint64_t count, void *out, sp_error *error);
/* All values of a dataset of integers, numbers or texts, in the reader's arena. */
int sp_hdf5_read_texts(sp_store_reader *reader, const sp_hdf5_dataset *dataset, uint64_t first,
                       uint64_t count, const char **out, sp_error *error);

/* Bytes that reading all of it takes in memory, at 8 a value, are within reason for the file. */
bool sp_hdf5_is_modest(const sp_store_reader *reader, const sp_hdf5_dataset *dataset);

/* An attribute as an entry. SP_ERR_NOT_FOUND: absent, or of a type that metadata cannot have. */
int sp_hdf5_read_attribute(sp_store_reader *reader, hid_t object, const char *name,
                           sp_metadata_entry *out, sp_error *error);

#endif
