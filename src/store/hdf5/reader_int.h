/* reader_int.h - the reader's state, for reader*.c and values.c alone. */
#ifndef SP_STORE_HDF5_READER_INT_H
#define SP_STORE_HDF5_READER_INT_H

#include "base/arena.h"
#include "base/vector.h"
#include "store/hdf5/reader.h"
#include "store/hdf5/schema.h"

/* How far the starts of a row, stored as differences, have been added up. */
typedef struct sp_hdf5_cursor {
    uint64_t next; /* position of the next difference in the row */
    uint64_t sum;  /* start of the call before it */
} sp_hdf5_cursor;

/* A column of integers: see source.h. */
typedef struct sp_hdf5_source {
    hid_t dataset; /* 0: absent */
    uint64_t length, chunk;
    const sp_hdf5_codec *codec; /* NULL: only the library unpacks */
    int64_t *values;            /* one chunk, unpacked */
    uint64_t held;              /* which, counted from 1; 0: none */
    unsigned char *shuffled, *packed;
    size_t packed_room;
} sp_hdf5_source;

struct sp_store_reader {
    char *path;
    uint64_t file_size;
    hid_t file; /* 0: not open */
    hid_t text_transfer; /* reading texts into the arena, within the budget */
    sp_arena arena;
    uint64_t text_budget; /* bytes of texts that the file can still hold */
    sp_store_description description;
    SP_VECTOR(sp_metadata_entry) metadata;
    sp_row *rows;
    const char **links; /* schema 1: names of the rows' groups, bytes as in the file */
    SP_VECTOR(sp_extra) extras;

    /* Schemas 2 and 3: the columns of all rows. */
    sp_hdf5_source columns[SP_COLUMN_COUNT];
    sp_hdf5_source ends; /* schema 2 has ends instead of durations */
    sp_hdf5_cursor *cursors; /* schema 3, one a row; NULL until the first use */
};

/* Fills `error` with "<path> <what>; the file is truncated or damaged". */
int sp_hdf5_damaged(const sp_store_reader *reader, sp_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The library cannot read what `what` names. */
int sp_hdf5_unreadable(const sp_store_reader *reader, sp_error *error, const char *what);

/* Each fills its part of the description. */
int sp_hdf5_read_metadata(sp_store_reader *reader, sp_error *error);
int sp_hdf5_read_columnar(sp_store_reader *reader, sp_error *error);
int sp_hdf5_read_groups(sp_store_reader *reader, sp_error *error); /* schema 1 */
int sp_hdf5_read_extras(sp_store_reader *reader, sp_error *error);

/* One column of one row of schema 1. */
int sp_hdf5_read_group_calls(sp_store_reader *reader, size_t row, sp_column column, uint64_t first,
                             size_t count, int64_t *out, sp_error *error);

#endif
