/* reader.h - reads schemas 1, 2 and 3. The functions are those of sp_store_table, without its lock.
 *
 * Texts of a description are always UTF-8: wrong bytes of a file become U+FFFD. Calls come in the
 * order of the file. */
#ifndef SP_STORE_HDF5_READER_H
#define SP_STORE_HDF5_READER_H

#include "scope_plugin.h"

int sp_hdf5_reader_open(const char *path, sp_store_reader **out, sp_error *error);
const sp_store_description *sp_hdf5_reader_describe(sp_store_reader *reader);
int sp_hdf5_reader_calls(sp_store_reader *reader, size_t row, sp_column column, uint64_t first,
                         size_t count, int64_t *out, sp_error *error);
void sp_hdf5_reader_close(sp_store_reader *reader);

#endif
