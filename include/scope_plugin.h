/* scope_plugin.h - tables that an optional part fills in: a file store, a counter back end, a
 * communicator. Each table starts with its size and version; entries may be added at the end,
 * never moved. The core opens such a part as a module at run time and looks up one symbol.
 *
 * Data types that describe a run as files hold it are here too, because writers (this header) and
 * readers (scope_results.h) share them.
 *
 * Units: nanoseconds unless a name says otherwise. Text is UTF-8.
 */
#ifndef SCOPE_PLUGIN_H
#define SCOPE_PLUGIN_H

#include "scope_profiler.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What went wrong, for a human: filled by the function that first knew. The caller owns it and may
 * pass NULL. `text` names the thing, the value and the way out. */
typedef struct sp_error {
    int status;        /* sp_status */
    int system_errno;  /* 0 when no system call failed */
    char text[1008];
} sp_error;

/* One value of a run's metadata. Text and list elements are borrowed for the time of the call (from
 * a reader: until it is closed). */
typedef enum sp_value_kind {
    SP_VALUE_INTEGER,
    SP_VALUE_REAL,
    SP_VALUE_TEXT,
    SP_VALUE_TEXT_LIST
} sp_value_kind;

typedef struct sp_metadata_entry {
    const char *key;
    sp_value_kind kind;
    int64_t integer;
    double real;
    const char *text;
    const char *const *list;
    size_t list_length;
} sp_metadata_entry;

/* Columns of the calls of a run, all int64. START and DURATION are always there. An optional column
 * that the run did not record is absent, never filled with its missing value. */
typedef enum sp_column {
    SP_COLUMN_START,        /* absolute ns of CLOCK_MONOTONIC */
    SP_COLUMN_DURATION,     /* end - start */
    SP_COLUMN_CALL_ID,      /* unique within a rank; missing -1 */
    SP_COLUMN_PARENT_ID,    /* call id of the enclosing call, -1: none */
    SP_COLUMN_THREAD_ID,    /* index in the thread table, -1 unknown */
    SP_COLUMN_TASK_ID,      /* index in the task table, -1: not in a task */
    SP_COLUMN_AWAIT,        /* suspended ns inside the call; missing 0 */
    SP_COLUMN_GPU_DURATION, /* device ns; missing -1 */
    SP_COLUMN_COUNT
} sp_column;

#define SP_COLUMN_BIT(column) (1u << (unsigned)(column))

/* Statistics of one row, in the order and layout of the file format (88 bytes, packed). Durations
 * except start_minimum and end_maximum, which are absolute. m2 = population variance x count. */
typedef struct sp_row_statistics {
    int64_t total, minimum, maximum, first, last, start_minimum, end_maximum;
    uint64_t gpu_count;
    int64_t gpu_total;
    double mean, m2;
} sp_row_statistics;

/* Totals of one row of a run that kept no calls. exclusive -1: not known. */
typedef struct sp_row_aggregate {
    uint64_t count;
    int64_t total, minimum, maximum, exclusive;
} sp_row_aggregate;

/* One (rank, region) row: the calls of one region on one rank, sorted by (start, call id). */
typedef struct sp_row {
    const char *region;
    uint32_t rank;
    uint64_t offset; /* position of its first call in the rank's (writer) or run's (reader) columns */
    uint64_t count;
    const char *source_file; /* "" unknown */
    const char *source_text; /* "" unknown */
    int64_t source_line;     /* -1 unknown */
    const char *tags_json;   /* JSON list of strings, "[]" for none */
    const char *event_metadata_json; /* JSON list, one object a call, or NULL / "[]" for none */
    int64_t exclusive_total; /* -1: not computed */
    bool has_statistics;
    sp_row_statistics statistics;
    bool has_aggregate;
    sp_row_aggregate aggregate;
} sp_row;

/* One thread of a rank. Times relative to the run's start, -1 unknown or still alive. */
typedef struct sp_thread_row {
    uint32_t rank;
    int64_t index, ident, native_id;
    bool is_daemon;
    int64_t start_ns, end_ns, cpu_ns;
    const char *name;
} sp_thread_row;

/* One asyncio task or greenlet of a rank. Times relative to the run's start, -1 unknown. */
typedef struct sp_task_row {
    uint32_t rank;
    int64_t index, thread_index, created_ns, done_ns, steps, running_ns, suspended_ns;
    const char *kind, *name, *coroutine_name;
} sp_task_row;

/* What the published schema has no place for: named one-dimensional arrays under
 * /scope_profiler_extra, one of the three pointers set. Same name for several ranks: appended. */
typedef struct sp_extra {
    const char *name; /* letters, digits, underscores */
    uint32_t rank;
    size_t length;
    const int64_t *integers;
    const double *reals;
    const char *const *texts;
} sp_extra;

/* What a device took between begin and end of one call, known some time after it. `ticket`: as the end
 * of the call said; never the same twice in a recording. */
typedef struct sp_device_time {
    uint64_t ticket;
    int64_t ns; /* -1: it cannot be told */
} sp_device_time;

/* How a file is stored. Zero-initialise, then set what is wanted. */
typedef struct sp_store_options {
    size_t size;             /* sizeof(sp_store_options) */
    const char *compression; /* NULL, "auto", "gzip", "lzf", "zstd" */
    int compression_level;   /* -1: the filter's default */
    uint64_t chunk_size;     /* values a chunk, 0: the policy of docs/FORMATS.md */
    bool is_aggregate;       /* layout "aggregate": rows carry totals, no calls */
} sp_store_options;

/* ---- File store ------------------------------------------------------------------------------*/

#define SP_STORE_VERSION 1u

typedef struct sp_store_writer sp_store_writer;
typedef struct sp_store_reader sp_store_reader;

/* Everything a reader knows without reading a call. Owned by the reader. */
typedef struct sp_store_description {
    const char *format; /* "hdf5", ... */
    int schema;
    bool is_aggregate;
    uint32_t num_ranks;
    const sp_metadata_entry *metadata;
    size_t num_metadata;
    const sp_row *rows; /* in file order; a rank's rows are contiguous */
    size_t num_rows;
    const char *const *region_names; /* order of the region table */
    size_t num_regions;
    uint64_t num_calls;
    unsigned columns; /* SP_COLUMN_BIT mask of the columns present */
    const sp_thread_row *threads;
    size_t num_threads;
    const sp_task_row *tasks;
    size_t num_tasks;
    const sp_extra *extras;
    size_t num_extras;
    const unsigned *row_columns; /* masks of single rows; NULL: every row has `columns` */
} sp_store_description;

typedef struct sp_store_table {
    size_t size;
    unsigned version;
    const char *name;

    /* Writer. Order of calls: create, metadata, then for each rank once: begin_rank, calls until
     * every call of its rows was given, in row order, in pieces of any size; extras at any point;
     * then commit or abort, which also free the writer. Nothing is visible under `path` before
     * commit has returned SP_OK; after a failure the previous file is untouched and the temporary
     * is gone. One thread at a time. */
    int (*create)(const char *path, const sp_store_options *options, sp_store_writer **out,
                  sp_error *error);
    int (*write_metadata)(sp_store_writer *writer, const sp_metadata_entry *entries, size_t count,
                          sp_error *error);
    /* `columns`: which columns `write_calls` will carry for this rank. `rows[i].offset` is ignored.
     * A rank given twice is SP_ERR_INVALID_ARGUMENT. */
    int (*begin_rank)(sp_store_writer *writer, uint32_t rank, const sp_row *rows, size_t num_rows,
                      unsigned columns, const sp_thread_row *threads, size_t num_threads,
                      const sp_task_row *tasks, size_t num_tasks, sp_error *error);
    /* `values[c]` holds `count` values for each column of the mask, in row order; START is
     * absolute. */
    int (*write_calls)(sp_store_writer *writer, size_t count,
                       const int64_t *const values[SP_COLUMN_COUNT], sp_error *error);
    int (*write_extra)(sp_store_writer *writer, const sp_extra *extra, sp_error *error);
    int (*commit)(sp_store_writer *writer, sp_error *error);
    void (*abort)(sp_store_writer *writer);

    /* Reader. `open` checks every claim of the file before it allocates for it. */
    int (*open)(const char *path, sp_store_reader **out, sp_error *error);
    const sp_store_description *(*describe)(sp_store_reader *reader);
    /* Calls [first, first + count) of row `row` (index in the description), one column. START comes
     * back absolute. A column that the run lacks is SP_ERR_NOT_FOUND. */
    int (*read_calls)(sp_store_reader *reader, size_t row, sp_column column, uint64_t first,
                      size_t count, int64_t *out, sp_error *error);
    void (*close)(sp_store_reader *reader);
    /* True when the library underneath may be called while another thread is inside it. */
    bool (*is_thread_safe)(void);
    /* Version of the library underneath, e.g. "1.10.8"; NULL: none to tell. */
    const char *(*library_version)(void);
    /* All values of one column of one row where they lie, without a copy; they live until close.
     * NULL when the column is absent or not held in that form: then read_calls. The entry itself
     * may be NULL, or lie outside `size`. */
    const int64_t *(*borrow_calls)(sp_store_reader *reader, size_t row, sp_column column);
} sp_store_table;

/* What a store module exports: gives its table, or NULL with the reason when the library that it
 * needs is not the one it was built for. */
#define SP_STORE_SYMBOL "sp_store_module"
typedef const sp_store_table *(*sp_store_entry)(sp_error *error);

/* ---- Communicator ----------------------------------------------------------------------------*/

#define SP_COMMUNICATOR_VERSION 1u

/* Two ways between any two ranks, each in order: messages of one never answer receives of the other. */
typedef enum sp_channel { SP_CHANNEL_CONTROL, SP_CHANNEL_DATA } sp_channel;

/* The ranks of a job, as far as a common publication needs them: nothing in it blocks, so that a rank
 * that does not answer can be given up. Filled from the MPI of the program (mpi4py or its C library);
 * the core links none. Used by one thread at a time. */
typedef struct sp_communicator {
    size_t size;
    unsigned version;
    void *context;
    uint32_t rank, num_ranks; /* rank < num_ranks */

    /* Starts to send; the bytes stay as they are until the request is done. */
    int (*start_send)(void *context, uint32_t to, sp_channel channel, const void *bytes,
                      size_t num_bytes, void **out_request, sp_error *error);
    /* Starts to receive one message of at most `room` bytes. */
    int (*start_receive)(void *context, uint32_t from, sp_channel channel, void *bytes, size_t room,
                         void **out_request, sp_error *error);
    /* True when it is done (or has failed); the request is then gone. */
    int (*test)(void *context, void *request, bool *out_done, sp_error *error);
    /* Gives a receive up: its memory is the caller's again. A send is left to itself: its memory must
     * stay for the life of the process. The request is gone. */
    void (*cancel)(void *context, void *request);

    /* The following may be NULL: found out by the library. */
    const char *host_name;    /* of this rank's machine */
    const char *clock_domain; /* equal texts: these ranks read the same CLOCK_MONOTONIC */
    int64_t (*now_ns)(void *context); /* that clock */
} sp_communicator;

/* The MPI of a program in C or Fortran, from a module made for that MPI. Nothing is linked: the module
 * looks its functions up in the library that the process has loaded. */
#define SP_MPI_VERSION 1u

typedef struct sp_mpi_table {
    size_t size;
    unsigned version;
    const char *name; /* "Open MPI", "MPICH" */
    /* MPI is up, and the calling thread may use it. */
    bool (*is_running)(void);
    /* The communicator of all ranks of the job. Until it is closed again MPI reports failures instead of
     * ending the program. One at a time. */
    int (*open)(sp_communicator *out, sp_error *error);
    void (*close)(sp_communicator *communicator);
    /* Has `callback` run once, on the thread that ends MPI, while MPI still works. */
    int (*before_end)(void (*callback)(void), sp_error *error);
} sp_mpi_table;

/* What such a module exports: NULL, with the reason, when the process runs another MPI. `library` is
 * the handle of the program's MPI. */
#define SP_MPI_SYMBOL "sp_mpi_module"
typedef const sp_mpi_table *(*sp_mpi_entry)(void *library, sp_error *error);

/* ---- Instrument ------------------------------------------------------------------------------*/

#define SP_INSTRUMENT_VERSION 1u

/* Most bytes that `end` may hand back, values that one instrument may have, instruments of one
 * recording. */
enum { SP_INSTRUMENT_PAYLOAD = 64, SP_INSTRUMENT_VALUES = 64, SP_INSTRUMENTS = 16 };

/* A call that an instrument is told of. */
typedef struct sp_instrument_call {
    int32_t region;
    const char *name; /* of the region, as long as the process lives */
    uint64_t number;  /* of the begin within its lane: end has the number of its begin */
} sp_instrument_call;

/* What a payload is: bytes that only the instrument understands, or device times, see docs/FORMATS.md:
 * readers of blocks know those too. */
typedef enum sp_payload_kind { SP_PAYLOAD_OWN, SP_PAYLOAD_DEVICE_TIMES } sp_payload_kind;

/* Something that is measured or done at every call of a recording: counters, CPU time, ranges for a
 * tool, device events. Two kinds in one table, and one instrument may be both:
 *
 * sampled values  `read` gives cumulative values of the calling thread. The recorder reads them
 *                 just inside begin and end; what they differ by belongs to the call, children
 *                 included. Totals are published as the text `json_<name>` (docs/FORMATS.md).
 * brackets        `begin` and `end` run just inside begin and end of every call; what `end` hands
 *                 back stays with the call.
 *
 * At a begin the instruments of the list come first to last, each bracket before its own values, and
 * the clock is read after them; at an end the clock comes first, then all values, then the brackets
 * last to first. So what instruments cost lies outside of the call, but inside its parent.
 *
 * Threads: `attach_thread`, `read`, `begin` and `end` run on the recording thread, with `errno` free
 * to change, and never interrupted by another call of the same thread. Calls that they make to the
 * recorder themselves are dropped and counted. `detach_thread` runs on the thread when it ends, or on
 * the one that next begins a configuration of its own there. Calls that are open at that moment
 * have no end. A begin is never without an end otherwise: not when calls cross, nor when the
 * recording is paused in between. A call begun while paused is not told of.
 *
 * Ownership: table, context and names stay until `release`, which comes once, when no thread is
 * attached any more; in the child of a fork it never comes.
 *
 * Any entry may be NULL. */
typedef struct sp_instrument {
    size_t size;
    unsigned version;
    const char *name; /* letters, digits, underscores */
    void *context;

    /* Sampled values. With groups some values were counted only a part of the time: of each group
     * `read` adds, behind the values, the time it was enabled and the time it ran, and totals are
     * scaled by what these two differ by. */
    uint32_t num_values;
    const char *const *value_names;
    uint32_t num_groups;
    const uint8_t *group_of; /* of each value; NULL: group 0 */
    bool keeps_calls;        /* publish the values of every call too */

    /* What belongs to a thread, NULL is fine. False: this thread is not measured, with the reason,
     * which is said once. */
    bool (*attach_thread)(void *context, void **out_state, sp_error *error);
    void (*detach_thread)(void *context, void *state);
    /* Fills num_values + 2 num_groups values. */
    void (*read)(void *context, void *state, int64_t *values);

    void (*begin)(void *context, void *state, const sp_instrument_call *call);
    /* Returns how many bytes it has put into `payload`. */
    size_t (*end)(void *context, void *state, const sp_instrument_call *call,
                  char payload[SP_INSTRUMENT_PAYLOAD]);

    /* Publication, on the thread that publishes. `results`: a text for `json_<name>` (free() it), instead
     * of the totals of sampled values; NULL: nothing to say. */
    char *(*results)(void *context, uint32_t rank);
    void (*release)(void *context);

    /* Runs at an end before the clock is read, first to last: what it takes lies inside of the call. */
    void (*finish)(void *context, void *state, const sp_instrument_call *call);
    sp_payload_kind payload_kind; /* of what `end` hands back */
    /* Payloads that are device times, which one instrument of a recording may have. Called twice: before
     * calls are collected for publication, with `out_count` NULL, from when on times go into no payload;
     * and after it, for the times that are known by now and in no payload, valid until the next call.
     * `device_times_taken`: what was published does not come again. */
    const sp_device_time *(*device_times)(void *context, size_t *out_count);
    void (*device_times_taken)(void *context);
} sp_instrument;

/* What an instrument of a module is to do. Zero-initialise, then set what is wanted; which of it counts is
 * up to the instrument. */
typedef struct sp_instrument_request {
    size_t size;
    const char *const *items; /* what to measure, by name; borrowed */
    size_t num_items;
    bool keeps_calls; /* the values of every call too */
    bool with_kernel; /* what the kernel does for a thread counts, too */
} sp_instrument_request;

/* What a module scope_profiler_<name>.so exports: fills in a table. SP_ERR_UNSUPPORTED with what to do
 * where it cannot measure here; nothing is to be released then. */
#define SP_INSTRUMENT_SYMBOL "sp_instrument_module"
typedef int (*sp_instrument_entry)(const sp_instrument_request *request, sp_instrument *out,
                                   sp_error *error);

/* ---- Device ----------------------------------------------------------------------------------*/

#define SP_DEVICE_VERSION 1u

/* Events of a device that computes beside the program. The recorder puts one into the queue of the device
 * at the begin and one at the end of a call; the device notes when it comes to them, which may be long
 * after the call has ended, and the time between the two is asked for later.
 *
 * `record` and `synchronize` run on the recording thread; the others on any thread, also while others
 * record. No lock is held, and errno is free to change. None is called in the child of a fork. */
typedef struct sp_device_driver {
    size_t size;
    unsigned version;
    const char *name; /* "cuda", ... */
    void *context;

    /* Puts `*event` into the queue that the calling thread works with, a new event when it is NULL. False:
     * that cannot be done now (no device is in use, its work is being captured), and `*event` may have
     * become NULL. */
    bool (*record)(void *context, void **event);
    /* Whether the device has come to the event, or never will; never waits. NULL: that cannot be asked,
     * and `elapsed_ns` may wait. */
    bool (*is_done)(void *context, void *event);
    /* From one event to another that is done, -1: it cannot be told. */
    int64_t (*elapsed_ns)(void *context, void *start, void *end);
    /* No pair with the event will be asked for again. The device may not have come to it yet; the same
     * holds of events that `record` is given. */
    void (*destroy)(void *context, void *event);
    /* Waits for everything that the calling thread has given to the device. NULL: cannot. */
    void (*synchronize)(void *context);
    /* Once, after the last of the others; NULL is fine. */
    void (*release)(void *context);
} sp_device_driver;

/* What a module with drivers exports: fills `out` with the driver of that name. SP_ERR_NOT_FOUND: it has
 * none of that name; SP_ERR_NO_MODULE: the library of the device cannot be loaded. */
#define SP_DEVICE_SYMBOL "sp_device_module"
typedef int (*sp_device_entry)(const char *name, sp_device_driver *out, sp_error *error);

#ifdef __cplusplus
}
#endif
#endif
