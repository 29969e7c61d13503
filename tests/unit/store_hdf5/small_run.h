/* small_run.h - a run of three calls, written and read through a store table. */
#ifndef SMALL_RUN_H
#define SMALL_RUN_H

#include "scope_plugin.h"

#include <string.h>

static inline int write_small_run(const sp_store_table *store, const char *path, sp_error *error)
{
    static const int64_t STARTS[] = {10, 20, 40}, DURATIONS[] = {5, 13, 15}, IDS[] = {0, 1, 2};
    const int64_t *const columns[SP_COLUMN_COUNT] = {STARTS, DURATIONS, IDS};
    const unsigned mask = SP_COLUMN_BIT(SP_COLUMN_START) | SP_COLUMN_BIT(SP_COLUMN_DURATION) |
                          SP_COLUMN_BIT(SP_COLUMN_CALL_ID);
    const sp_metadata_entry entry = {.key = "mpi_size", .kind = SP_VALUE_INTEGER, .integer = 1};
    const sp_row row = {.region = "solve", .count = 3, .source_file = "solver.c",
                        .source_text = "", .source_line = 7, .tags_json = "[]",
                        .exclusive_total = -1};
    sp_store_writer *writer = NULL;
    int status = store->create(path, NULL, &writer, error);
    if (status != SP_OK)
        return status;
    status = store->write_metadata(writer, &entry, 1, error);
    if (status == SP_OK)
        status = store->begin_rank(writer, 0, &row, 1, mask, NULL, 0, NULL, 0, error);
    if (status == SP_OK)
        status = store->write_calls(writer, 3, columns, error);
    if (status == SP_OK)
        return store->commit(writer, error);
    store->abort(writer);
    return status;
}

/* True when the file holds what write_small_run wrote. */
static inline bool is_small_run(const sp_store_table *store, const char *path, sp_error *error)
{
    int64_t starts[3] = {0}, ids[3] = {0};
    sp_store_reader *reader = NULL;
    if (store->open(path, &reader, error) != SP_OK)
        return false;
    const sp_store_description *run = store->describe(reader);
    bool is_right = run->num_rows == 1 && run->rows[0].count == 3 &&
                    strcmp(run->rows[0].region, "solve") == 0 &&
                    store->read_calls(reader, 0, SP_COLUMN_START, 0, 3, starts, error) == SP_OK &&
                    store->read_calls(reader, 0, SP_COLUMN_CALL_ID, 0, 3, ids, error) == SP_OK &&
                    starts[0] == 10 && starts[1] == 20 && starts[2] == 40 && ids[2] == 2;
    store->close(reader);
    return is_right;
}

#endif
