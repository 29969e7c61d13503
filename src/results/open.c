/* open.c - a run from a file or from an image in memory. */
#include "base/error.h"
#include "base/os/file.h"
#include "results/model.h"
#include "store/image/image.h"
#include "store/journal/format.h"
#include "store/json/json_store.h"
#include "store/module.h"
#include "store/spt/spt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_BYTES = 512, LAST_HDF5_OFFSET = 1 << 20 };

static const unsigned char hdf5_signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

/* What else a file may be, told by how it starts. */
static const struct {
    const char *start;
    size_t length;
    const char *what;
} known_starts[] = {
    {"[", 1, "a JSON file"},
    {"<", 1, "an HTML or XML file; reports are written, never read back"},
    {"\x7f" "ELF", 4, "a program or library"},
    {"#!", 2, "a script"},
    {"PK\x03\x04", 4, "a ZIP archive"},
};

static const char *describe_start(const unsigned char *bytes, size_t count)
{
    size_t skipped = 0;
    for (size_t i = 0; i < sizeof known_starts / sizeof *known_starts; i++)
        if (count >= known_starts[i].length &&
            memcmp(bytes, known_starts[i].start, known_starts[i].length) == 0)
            return known_starts[i].what;
    while (skipped < count && bytes[skipped] != 0 && bytes[skipped] != 0x7f &&
           (bytes[skipped] >= 0x20 || strchr("\t\n\r", bytes[skipped]) != NULL))
        skipped++;
    return skipped == count ? "a text file" : "of an unknown kind";
}

/* The signature of an HDF5 file lies at 0 or, behind a block of the user's, at 512, 1024, ... */
static int find_signature(const char *path, uint64_t size, bool *out_found, sp_error *error)
{
    *out_found = false;
    for (uint64_t offset = 0; offset <= LAST_HDF5_OFFSET && offset < size;
         offset = offset == 0 ? 512 : offset * 2) {
        unsigned char bytes[sizeof hdf5_signature];
        size_t count;
        int status = sp_os_file_piece(path, offset, bytes, sizeof bytes, &count, error);
        if (status != SP_OK)
            return status;
        if (count == sizeof bytes && memcmp(bytes, hdf5_signature, sizeof bytes) == 0) {
            *out_found = true;
            return SP_OK;
        }
    }
    return SP_OK;
}

static int check_kind(const char *path, uint64_t *out_size, sp_error *error)
{
    switch (sp_os_file_look(path, out_size)) {
    case SP_OS_FILE_REGULAR:
        return SP_OK;
    case SP_OS_FILE_NONE:
        return sp_fail(error, SP_ERR_NOT_FOUND, "No profile at '%s'", path);
    case SP_OS_FILE_FOLDER:
        return sp_fail(error, SP_ERR_NOT_A_PROFILE, "'%s' is a folder, not a profile", path);
    case SP_OS_FILE_OTHER:
        return sp_fail(error, SP_ERR_NOT_A_PROFILE,
                       "'%s' is a device, pipe or socket, not a profile", path);
    case SP_OS_FILE_UNKNOWN:
        break;
    }
    return sp_fail_errno(error, SP_ERR_IO, errno, "cannot look at '%s'", path);
}

static int refuse_content(const char *path, const unsigned char *head, size_t count,
                          sp_error *error)
{
    if (count == 0)
        return sp_fail(error, SP_ERR_DAMAGED,
                       "'%s' is empty: not a readable HDF5 profiling file, the run that should have "
                       "written it may have been interrupted", path);
    if (count < sizeof hdf5_signature && memcmp(head, hdf5_signature, count) == 0)
        return sp_fail(error, SP_ERR_DAMAGED,
                       "'%s' holds %zu bytes: not a readable HDF5 profiling file, it is truncated or "
                       "its writer was interrupted", path, count);
    return sp_fail(error, SP_ERR_NOT_A_PROFILE,
                   "'%s' is %s, not a readable HDF5 profiling file", path,
                   describe_start(head, count));
}

/* What is called so and is none gets the words that go with a trace. */
static bool is_called_trace(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".spt") == 0;
}

/* A JSON object, or something compressed, which a JSON profile is then. */
static bool looks_like_json(const unsigned char *head, size_t count)
{
    size_t at = count >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < count && head[at] != '\0' && strchr(" \t\r\n", head[at]) != NULL)
        at++;
    return (at < count && head[at] == '{') || (count >= 2 && memcmp(head, "\x1f\x8b", 2) == 0);
}

/* The store that reads the file, told by its content; fails with the name of what it is when there
 * is none. */
static int choose_store(const char *path, uint64_t size, const sp_store_table **out,
                        sp_error *error)
{
    unsigned char head[HEAD_BYTES];
    size_t count;
    bool is_hdf5;
    int status = find_signature(path, size, &is_hdf5, error);
    if (status == SP_OK && is_hdf5) {
        *out = sp_store_hdf5(error);
        return *out == NULL ? SP_ERR_NO_MODULE : SP_OK;
    }
    if (status == SP_OK)
        status = sp_os_file_piece(path, 0, head, sizeof head, &count, error);
    if (status != SP_OK)
        return status;
    bool is_trace = count >= SP_SPT_MAGIC_BYTES &&
                    memcmp(head, SP_SPT_MAGIC, SP_SPT_MAGIC_BYTES) == 0;
    if (!is_trace && !is_called_trace(path) && looks_like_json(head, count)) {
        *out = &sp_json_store;
        return SP_OK;
    }
    if (!is_trace && !is_called_trace(path))
        return refuse_content(path, head, count, error);
    *out = &sp_spt_reader;
    return SP_OK;
}

static int take_regions(sp_results *results, const sp_store_description *from, sp_error *error)
{
    for (size_t i = 0; i < from->num_regions; i++)
        if (sp_run_intern_region(results, from->region_names[i], SP_NO_ROW) == SP_NO_ROW)
            return sp_fail_memory(error, "opening a profile");
    return SP_OK;
}

static int take_rows(sp_results *results, const sp_store_description *from, sp_error *error)
{
    uint32_t region = 0;
    if (!sp_vector_reserve(&results->rows, from->num_rows))
        return sp_fail_memory(error, "opening a profile");
    for (size_t i = 0; i < from->num_rows; i++) {
        const sp_row *row = &from->rows[i];
        /* Ranks list their regions in much the same order, so the next one is a good guess. */
        uint32_t next = region + 1 < results->regions.count ? region + 1 : 0;
        region = sp_run_intern_region(results, row->region, next);
        if (region == SP_NO_ROW)
            return sp_fail_memory(error, "opening a profile");
        unsigned columns = from->row_columns != NULL ? from->row_columns[i] : from->columns;
        int status = sp_run_append_row(results, row, region, row->has_aggregate ? 0 : columns,
                                       error);
        if (status != SP_OK)
            return status;
    }
    return SP_OK;
}

/* The reader's tables stay where they are; the run keeps pointers to their entries. */
#define TAKE(vector, entries, length)                                                              \
    do {                                                                                           \
        for (size_t i_ = 0; i_ < (length); i_++)                                                   \
            (vector).items[(vector).count++] = &(entries)[i_];                                     \
    } while (0)

static int take_tables(sp_results *results, const sp_store_description *from, sp_error *error)
{
    if (!sp_vector_reserve(&results->metadata, from->num_metadata) ||
        !sp_vector_reserve(&results->threads, from->num_threads) ||
        !sp_vector_reserve(&results->tasks, from->num_tasks) ||
        !sp_vector_reserve(&results->extras, from->num_extras))
        return sp_fail_memory(error, "opening a profile");
    TAKE(results->metadata, from->metadata, from->num_metadata);
    TAKE(results->threads, from->threads, from->num_threads);
    TAKE(results->tasks, from->tasks, from->num_tasks);
    TAKE(results->extras, from->extras, from->num_extras);
    return SP_OK;
}

static int take_description(sp_results *results, sp_error *error)
{
    const sp_store_description *from = results->store->describe(results->reader);
    results->schema = from->schema;
    results->is_aggregate = from->is_aggregate;
    results->num_ranks = from->num_ranks;
    results->num_calls = from->num_calls;
    int status = take_regions(results, from, error);
    if (status == SP_OK)
        status = take_rows(results, from, error);
    if (status == SP_OK)
        status = take_tables(results, from, error);
    return status;
}

/* Builds the run over an open reader, which it owns from here on, also on failure. */
static int adopt(const sp_store_table *store, sp_store_reader *reader, const char *path,
                 uint64_t size, sp_results **out, sp_error *error)
{
    sp_results *results;
    int status = sp_results_create(&results, error);
    if (status != SP_OK) {
        store->close(reader);
        return status;
    }
    results->store = store;
    results->reader = reader;
    results->file_bytes = size;
    results->path = sp_arena_text(&results->arena, path);
    status = results->path == NULL ? sp_fail_memory(error, "opening a profile")
                                   : take_description(results, error);
    if (status != SP_OK) {
        sp_results_close(results);
        return status;
    }
    *out = results;
    return SP_OK;
}

/* A journal is read as what `recover` would make of it. */
static bool is_journal(const char *path)
{
    unsigned char head[4];
    size_t count = 0;
    return sp_os_file_piece(path, 0, head, sizeof head, &count, NULL) == SP_OK &&
           count == sizeof head && (memcmp(head, SP_FRAME_MAGIC, sizeof head) == 0 ||
                                    memcmp(head, SP_RINGS_MAGIC, sizeof head) == 0);
}

static int open_journal(const char *path, sp_results **out, sp_error *error)
{
    sp_recovery *recovery;
    int status = sp_recovery_search(path, &recovery, error);
    if (status != SP_OK)
        return status == SP_ERR_NOT_FOUND
                   ? sp_fail(error, SP_ERR_DAMAGED,
                             "'%s' does not say which process wrote it: it is no journal, or its "
                             "beginning is lost", path)
                   : status;
    status = sp_recovery_open(recovery, 0, out, error);
    sp_recovery_release(recovery);
    return status;
}

int sp_results_open(const char *path, sp_results **out, sp_error *error)
{
    uint64_t size = 0;
    sp_store_reader *reader;
    const sp_store_table *store;
    int status = check_kind(path, &size, error);
    if (status == SP_OK && is_journal(path))
        return open_journal(path, out, error);
    if (status == SP_OK)
        status = choose_store(path, size, &store, error);
    if (status == SP_OK)
        status = store->open(path, &reader, error);
    return status == SP_OK ? adopt(store, reader, path, size, out, error) : status;
}

int sp_results_open_image(void *image, size_t size, sp_results **out, sp_error *error)
{
    sp_store_reader *reader;
    int status = sp_image_open(image, size, &reader, error);
    return status == SP_OK ? adopt(&sp_image_reader, reader, "", 0, out, error) : status;
}
