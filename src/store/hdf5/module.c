/* What the module exports. */
#include "scope_plugin.h"

#include "store/hdf5/reader.h"
#include "store/hdf5/visit.h"
#include "store/hdf5/writer.h"

static int create(const char *path, const sp_store_options *options, sp_store_writer **out,
                  sp_error *error)
{
    sp_hdf5_visitor visitor;
    sp_hdf5_enter(&visitor);
    int status = sp_hdf5_check_usable(error);
    if (status == SP_OK)
        status = sp_hdf5_writer_create(path, options, out, error);
    sp_hdf5_leave(&visitor);
    return status;
}

static int write_metadata(sp_store_writer *writer, const sp_metadata_entry *entries, size_t count,
                          sp_error *error)
{
    sp_hdf5_visitor visitor;
    sp_hdf5_enter(&visitor);
    int status = sp_hdf5_writer_metadata(writer, entries, count, error);
    sp_hdf5_leave(&visitor);
    return status;
}

static int begin_rank(sp_store_writer *writer, uint32_t rank, const sp_row *rows, size_t num_rows,
                      unsigned columns, const sp_thread_row *threads, size_t num_threads,
                      const sp_task_row *tasks, size_t num_tasks, sp_error *error)
{
    sp_hdf5_visitor visitor;
    sp_hdf5_enter(&visitor);
    int status = sp_hdf5_writer_rank(writer, rank, rows, num_rows, columns, threads, num_threads,
                                     tasks, num_tasks, error);
    sp_hdf5_leave(&visitor);
    return status;
}

static int write_calls(sp_store_writer *writer, size_t count,
                       const int64_t *const values[SP_COLUMN_COUNT], sp_error *error)
{
    sp_hdf5_visitor visitor;
    sp_hdf5_enter(&visitor);
    int status = sp_hdf5_writer_calls(writer, count, values, error);
    sp_hdf5_leave(&visitor);
    return status;
}

static int write_extra(sp_store_writer *writer, const sp_extra *extra, sp_error *error)
{
    sp_hdf5_visitor visitor;
    sp_hdf5_enter(&visitor);
    int status = sp_hdf5_writer_extra(writer, extra, error);
    sp_hdf5_leave(&visitor);
    return status;
}

static int commit(sp_store_writer *writer, sp_error *error)
{
    sp_hdf5_visitor visitor;
    sp_hdf5_enter(&visitor);
    int status = sp_hdf5_writer_commit(writer, error);
    sp_hdf5_leave(&visitor);
    return status;
}

static void abort_writer(sp_store_writer *writer)
{
    sp_hdf5_visitor visitor;
    sp_hdf5_enter(&visitor);
    sp_hdf5_writer_abort(writer);
    sp_hdf5_leave(&visitor);
}

#define TEXT(number) #number
#define VERSION_TEXT(major, minor, release) TEXT(major) "." TEXT(minor) "." TEXT(release)

static const char *library_version(void)
{
    return VERSION_TEXT(H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE);
}

static const sp_store_table TABLE = {
    .size = sizeof(sp_store_table),
    .version = SP_STORE_VERSION,
    .name = "hdf5",
    .create = create,
    .write_metadata = write_metadata,
    .begin_rank = begin_rank,
    .write_calls = write_calls,
    .write_extra = write_extra,
    .commit = commit,
    .abort = abort_writer,
    .open = sp_hdf5_reader_open,
    .describe = sp_hdf5_reader_describe,
    .read_calls = sp_hdf5_reader_calls,
    .close = sp_hdf5_reader_close,
    .is_thread_safe = sp_hdf5_instance_is_thread_safe,
    .library_version = library_version,
};

SP_API const sp_store_table *sp_store_module(sp_error *error);

const sp_store_table *sp_store_module(sp_error *error)
{
    return sp_hdf5_instance_check(error) == SP_OK ? &TABLE : NULL;
}
