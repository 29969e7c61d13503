/* writer_int.h - the writer's state, for writer*.c alone. */
#ifndef SP_STORE_HDF5_WRITER_INT_H
#define SP_STORE_HDF5_WRITER_INT_H

#include "base/arena.h"
#include "base/map.h"
#include "base/os/replace.h"
#include "store/hdf5/records.h"
#include "store/hdf5/schema.h"
#include "store/hdf5/writer.h"
#include "store/writer_order.h"

/* Values that may wait in memory before the run counts as large. */
enum { SP_HDF5_SMALL_RUN = 16 << 20 };

/* One array of the extension group. */
typedef struct sp_hdf5_extra_column {
    struct sp_hdf5_extra_column *next;
    sp_hdf5_column column;
} sp_hdf5_extra_column;

enum { SP_PART_NAMES, SP_PART_RANKS, SP_PART_LENGTHS, SP_PART_FIELDS };

struct sp_store_writer {
    sp_os_replacement replacement;
    uint64_t chunk_size;    /* asked for, 0: ours to choose */
    sp_hdf5_filter filter;  /* of the time columns */
    bool is_auto;           /* the filter holds for large runs only */
    hid_t file;             /* 0: not open; the groups too */
    hid_t metadata, regions, index, events, threads, tasks, extra, parts;

    sp_hdf5_sink sink;
    /* A column whose name is NULL is not in the file so far. */
    sp_hdf5_column names, region_ids;
    sp_hdf5_column index_columns[SP_INDEX_FIELDS];
    sp_hdf5_column event_columns[SP_COLUMN_COUNT];
    sp_hdf5_column thread_columns[SP_THREAD_FIELDS];
    sp_hdf5_column task_columns[SP_TASK_FIELDS];
    sp_hdf5_column part_columns[SP_PART_FIELDS];
    sp_hdf5_extra_column *extras;
    bool lacks_statistics; /* a row came without: the column would be wrong */

    sp_writer_order order;
    sp_map region_numbers;
    sp_arena lasting; /* region names, names of arrays */
    sp_arena texts;   /* texts that wait */
    uint64_t num_rows, num_events;

    /* Where the calls that are being given belong. */
    SP_VECTOR(uint64_t) row_counts;
    size_t row;
    uint64_t given_of_row;
    int64_t previous_start;
};

/* Begins a column; while the run is streamed its dataset is created at once. */
int sp_hdf5_begin_column(sp_store_writer *writer, sp_hdf5_column *column,
                         const sp_hdf5_column *as, sp_error *error);

/* Appends one text, copied while it has to wait. */
int sp_hdf5_append_text(sp_store_writer *writer, sp_hdf5_column *column, const char *text,
                        sp_error *error);

/* When too much waits, with `more` bytes to come: from now on columns are written as they come. */
int sp_hdf5_bound_memory(sp_store_writer *writer, uint64_t more, sp_error *error);
/* While streaming: writes what waits in columns of the index, so that texts can go. */
int sp_hdf5_flush_texts(sp_store_writer *writer, sp_error *error);

/* One text of counters or line records into the groups of its ranks. SP_ERR_NOT_FOUND: they have no
 * place for it as it is. */
int sp_hdf5_write_records(sp_store_writer *writer, sp_record_kind kind, const char *json,
                          sp_error *error);

/* Creates a group below the root. */
int sp_hdf5_create_group(hid_t parent, const char *name, hid_t *out, sp_error *error);

/* Calls `visit` for each column that is in the file. */
typedef int (*sp_hdf5_visit_column)(sp_hdf5_sink *sink, sp_hdf5_column *column, sp_error *error);
int sp_hdf5_each_column(sp_store_writer *writer, sp_hdf5_visit_column visit, sp_error *error);

#endif
