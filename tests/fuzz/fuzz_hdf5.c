/* Opens any bytes as an HDF5 profile and reads all of it. The outcome must be a run or one of the
 * documented errors. Usable as a libFuzzer target; drive_mutations.c runs it without. */
#include "store/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { PIECE = 4096 };

static void fail(const char *what, int status, const char *text)
{
    fprintf(stderr, "%s: status %d, text '%s'\n", what, status, text);
    abort();
}

static void check_error(int status, const sp_error *error)
{
    bool is_documented = status == SP_ERR_NOT_A_PROFILE || status == SP_ERR_DAMAGED ||
                         status == SP_ERR_SCHEMA || status == SP_ERR_NO_MEMORY ||
                         status == SP_ERR_UNSUPPORTED || status == SP_ERR_IO;
    if (!is_documented || error->status != status || error->text[0] == '\0')
        fail("undocumented outcome", status, error->text);
}

static void read_row(const sp_store_table *store, sp_store_reader *reader,
                     const sp_store_description *run, size_t row)
{
    int64_t values[PIECE];
    for (int c = 0; c < SP_COLUMN_COUNT; c++) {
        uint64_t count = run->rows[row].count;
        if ((run->columns & SP_COLUMN_BIT(c)) == 0)
            continue;
        sp_error error = {0};
        size_t piece = count < PIECE ? (size_t)count : PIECE;
        int status = store->read_calls(reader, row, (sp_column)c, 0, piece, values, &error);
        if (status == SP_OK)
            status = store->read_calls(reader, row, (sp_column)c, count - piece, piece, values,
                                       &error);
        if (status != SP_OK)
            check_error(status, &error);
    }
}

/* Touches every text, so that a bad pointer shows. */
static size_t touch(const sp_store_description *run)
{
    size_t length = 0;
    for (size_t i = 0; i < run->num_regions; i++)
        length += strlen(run->region_names[i]);
    for (size_t i = 0; i < run->num_rows; i++)
        length += strlen(run->rows[i].region) + strlen(run->rows[i].source_file) +
                  strlen(run->rows[i].source_text) + strlen(run->rows[i].tags_json);
    for (size_t i = 0; i < run->num_metadata; i++) {
        length += strlen(run->metadata[i].key);
        if (run->metadata[i].kind == SP_VALUE_TEXT)
            length += strlen(run->metadata[i].text);
        for (size_t k = 0; k < run->metadata[i].list_length; k++)
            length += strlen(run->metadata[i].list[k]);
    }
    for (size_t i = 0; i < run->num_threads; i++)
        length += strlen(run->threads[i].name);
    for (size_t i = 0; i < run->num_tasks; i++)
        length += strlen(run->tasks[i].kind) + strlen(run->tasks[i].name) +
                  strlen(run->tasks[i].coroutine_name);
    return length;
}

/* The library wants a file with a name that leads to it. */
static void write_file(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(2);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    sp_error error = {0};
    const sp_store_table *store = sp_store_hdf5(&error);
    if (store == NULL) {
        fprintf(stderr, "%s\n", error.text);
        exit(2);
    }
    char path[64];
    snprintf(path, sizeof path, "fuzz_hdf5.%ld.tmp", (long)getpid());
    write_file(path, bytes, size);
    sp_store_reader *reader = NULL;
    int status = store->open(path, &reader, &error);
    if (status == SP_OK) {
        const sp_store_description *run = store->describe(reader);
        if (touch(run) == SIZE_MAX)
            abort();
        for (size_t row = 0; row < run->num_rows && row < 64; row++)
            read_row(store, reader, run, row);
        store->close(reader);
    } else
        check_error(status, &error);
    unlink(path);
    return 0;
}
