/* writer.h - writes schema 3. The functions are those of sp_store_table, without its lock. */
#ifndef SP_STORE_HDF5_WRITER_H
#define SP_STORE_HDF5_WRITER_H

#include "scope_plugin.h"

int sp_hdf5_writer_create(const char *path, const sp_store_options *options, sp_store_writer **out,
                          sp_error *error);
int sp_hdf5_writer_metadata(sp_store_writer *writer, const sp_metadata_entry *entries, size_t count,
                            sp_error *error);
int sp_hdf5_writer_rank(sp_store_writer *writer, uint32_t rank, const sp_row *rows, size_t num_rows,
                        unsigned columns, const sp_thread_row *threads, size_t num_threads,
                        const sp_task_row *tasks, size_t num_tasks, sp_error *error);
int sp_hdf5_writer_calls(sp_store_writer *writer, size_t count,
                         const int64_t *const values[SP_COLUMN_COUNT], sp_error *error);
int sp_hdf5_writer_extra(sp_store_writer *writer, const sp_extra *extra, sp_error *error);
int sp_hdf5_writer_commit(sp_store_writer *writer, sp_error *error);
void sp_hdf5_writer_abort(sp_store_writer *writer);

#endif
