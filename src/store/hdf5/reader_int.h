/* reader_int.h - the reader's state, for reader*.c and values.c alone. */
#ifndef SP_STORE_HDF5_READER_INT_H
#define SP_STORE_HDF5_READER_INT_H

#include "base/vector.h"
#include "store/hdf5/reader.h"
#include "store/hdf5/schema.h"
#include "store/hdf5/tree.h"

/* How far the starts of a row, stored as differences, have been added up. */
typedef struct sp_hdf5_cursor {
    uint64_t next; /* position of the next difference in the row */
    uint64_t sum;  /* start of the call before it */
} sp_hdf5_cursor;

struct sp_store_reader {
    char *path;
    sp_tree_context context;
    sp_tree *tree;
    bool uses_library; /* the tree's calls must be inside sp_hdf5_enter and sp_hdf5_leave */
    sp_store_description description;
    SP_VECTOR(sp_metadata_entry) metadata;
    sp_row *rows;
    const char **links; /* schema 1: names of the rows' groups, bytes as in the file */
    SP_VECTOR(sp_extra) extras;

    /* Schemas 2 and 3: the columns of all rows. */
    sp_tree_column columns[SP_COLUMN_COUNT];
    sp_tree_column ends;     /* schema 2 has ends instead of durations */
    sp_hdf5_cursor *cursors; /* schema 3, one a row; NULL until the first use */
};

/* Each fills its part of the description. */
int sp_hdf5_read_metadata(sp_store_reader *reader, sp_error *error);
int sp_hdf5_read_columnar(sp_store_reader *reader, sp_error *error);
int sp_hdf5_read_groups(sp_store_reader *reader, sp_error *error); /* schema 1 */
int sp_hdf5_read_extras(sp_store_reader *reader, sp_error *error);
/* Counters and line records, behind the extras. */
int sp_hdf5_read_records(sp_store_reader *reader, sp_error *error);

/* One column of one row of schema 1. */
int sp_hdf5_read_group_calls(sp_store_reader *reader, size_t row, sp_column column, uint64_t first,
                             size_t count, int64_t *out, sp_error *error);

#endif
