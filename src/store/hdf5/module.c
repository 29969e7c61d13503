/* What the module exports. One thread at a time is let into the library, whichever handles it
 * uses, and everything around is as before when it comes out. */
#include "scope_plugin.h"

#include "base/error.h"
#include "base/os/file_signal.h"
#include "base/os/thread.h"
#include "store/hdf5/filter.h"
#include "store/hdf5/instance.h"
#include "store/hdf5/reader.h"
#include "store/hdf5/writer.h"

#include <stdatomic.h>
#include <stdio.h>

static sp_mutex mutex = SP_MUTEX_INIT;
static atomic_bool is_inside; /* some thread holds the mutex */
static bool is_broken;        /* forked from a process that was inside */

typedef struct visit {
    sp_hdf5_visit instance;
    sp_os_file_signal signal;
} visit;

static void enter(visit *state)
{
    sp_mutex_lock(&mutex);
    atomic_store(&is_inside, true);
    sp_os_file_signal_hold(&state->signal);
    sp_hdf5_instance_enter(&state->instance);
}

static void leave(visit *state)
{
    sp_hdf5_instance_leave(&state->instance);
    sp_os_file_signal_restore(&state->signal);
    atomic_store(&is_inside, false);
    sp_mutex_unlock(&mutex);
}

/* A child that was forked while another thread was inside has a library that stopped half way. */
static void after_fork_in_child(void)
{
    if (!atomic_load(&is_inside))
        return;
    is_broken = true;
    sp_mutex_reset(&mutex);
}

static int check_usable(sp_error *error)
{
    if (!is_broken)
        return SP_OK;
    return sp_fail(error, SP_ERR_NO_MODULE,
                   "HDF5 cannot be used here: this process was forked while a thread of its parent "
                   "was reading or writing a profile");
}

/* ---- Writer ----------------------------------------------------------------------------------*/

static int create(const char *path, const sp_store_options *options, sp_store_writer **out,
                  sp_error *error)
{
    visit state;
    enter(&state);
    int status = check_usable(error);
    if (status == SP_OK)
        status = sp_hdf5_writer_create(path, options, out, error);
    leave(&state);
    return status;
}

static int write_metadata(sp_store_writer *writer, const sp_metadata_entry *entries, size_t count,
                          sp_error *error)
{
    visit state;
    enter(&state);
    int status = sp_hdf5_writer_metadata(writer, entries, count, error);
    leave(&state);
    return status;
}

static int begin_rank(sp_store_writer *writer, uint32_t rank, const sp_row *rows, size_t num_rows,
                      unsigned columns, const sp_thread_row *threads, size_t num_threads,
                      const sp_task_row *tasks, size_t num_tasks, sp_error *error)
{
    visit state;
    enter(&state);
    int status = sp_hdf5_writer_rank(writer, rank, rows, num_rows, columns, threads, num_threads,
                                     tasks, num_tasks, error);
    leave(&state);
    return status;
}

static int write_calls(sp_store_writer *writer, size_t count,
                       const int64_t *const values[SP_COLUMN_COUNT], sp_error *error)
{
    visit state;
    enter(&state);
    int status = sp_hdf5_writer_calls(writer, count, values, error);
    leave(&state);
    return status;
}

static int write_extra(sp_store_writer *writer, const sp_extra *extra, sp_error *error)
{
    visit state;
    enter(&state);
    int status = sp_hdf5_writer_extra(writer, extra, error);
    leave(&state);
    return status;
}

static int commit(sp_store_writer *writer, sp_error *error)
{
    visit state;
    enter(&state);
    int status = sp_hdf5_writer_commit(writer, error);
    leave(&state);
    return status;
}

static void abort_writer(sp_store_writer *writer)
{
    visit state;
    enter(&state);
    sp_hdf5_writer_abort(writer);
    leave(&state);
}

/* ---- Reader ----------------------------------------------------------------------------------*/

static int open_profile(const char *path, sp_store_reader **out, sp_error *error)
{
    visit state;
    enter(&state);
    int status = check_usable(error);
    if (status == SP_OK)
        status = sp_hdf5_reader_open(path, out, error);
    leave(&state);
    return status;
}

static int read_calls(sp_store_reader *reader, size_t row, sp_column column, uint64_t first,
                      size_t count, int64_t *out, sp_error *error)
{
    visit state;
    enter(&state);
    int status = sp_hdf5_reader_calls(reader, row, column, first, count, out, error);
    leave(&state);
    return status;
}

static void close_profile(sp_store_reader *reader)
{
    visit state;
    enter(&state);
    sp_hdf5_reader_close(reader);
    leave(&state);
}

/* ---- Table -----------------------------------------------------------------------------------*/

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
    .open = open_profile,
    .describe = sp_hdf5_reader_describe,
    .read_calls = read_calls,
    .close = close_profile,
    .is_thread_safe = sp_hdf5_instance_is_thread_safe,
    .library_version = library_version,
};

SP_API const sp_store_table *sp_store_module(sp_error *error);

const sp_store_table *sp_store_module(sp_error *error)
{
    static bool is_prepared;
    sp_mutex_lock(&mutex);
    if (!is_prepared && sp_hdf5_instance_prepare(error) == SP_OK) {
        visit state;
        sp_hdf5_instance_enter(&state.instance);
        sp_hdf5_filters_register();
        sp_hdf5_instance_leave(&state.instance);
        sp_os_at_fork(NULL, NULL, after_fork_in_child);
        is_prepared = true;
    }
    bool is_ready = is_prepared;
    sp_mutex_unlock(&mutex);
    return is_ready ? &TABLE : NULL;
}
