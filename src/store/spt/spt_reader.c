#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/os/positioned.h"
#include "base/vector.h"
#include "store/description.h"
#include "store/spt/spt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW_BYTES = 4096, PIECE_CALLS = 4096, WORD = sizeof(int64_t), LONGEST_WHAT = 128 };

struct sp_store_reader {
    char *path;
    int descriptor;
    uint64_t size, position;
    bool is_swapped; /* the file has the other byte order */
    int32_t version;
    uint32_t rank;
    /* A piece of the file, so that small values are not read one by one. */
    unsigned char window[WINDOW_BYTES];
    uint64_t window_at;
    size_t window_count;
    sp_arena arena;
    sp_map names;
    SP_VECTOR(sp_row) rows;
    SP_VECTOR(const char *) regions;
    SP_VECTOR(uint64_t) starts_at; /* of each row */
    sp_metadata_entry metadata[2];
    sp_store_description description;
    sp_error *error;
};

/* ---- Values ----------------------------------------------------------------------------------*/

/* Passes over `count` bytes, which must be there. */
static int claim(sp_store_reader *reader, uint64_t count, const char *what)
{
    if (count > reader->size - reader->position)
        return sp_fail(reader->error, SP_ERR_DAMAGED,
                       "%s: truncated trace file: %s needs %" PRIu64 " bytes at byte %" PRIu64
                       ", the file has %" PRIu64,
                       reader->path, what, count, reader->position, reader->size);
    reader->position += count;
    return SP_OK;
}

static int read_bytes(sp_store_reader *reader, uint64_t at, void *out, size_t count)
{
    if (count > WINDOW_BYTES)
        return sp_os_read_at(reader->descriptor, reader->path, at, out, count, reader->error);
    if (at < reader->window_at || at + count > reader->window_at + reader->window_count) {
        uint64_t left = reader->size - at;
        size_t room = left < WINDOW_BYTES ? (size_t)left : WINDOW_BYTES;
        int status = sp_os_read_at(reader->descriptor, reader->path, at, reader->window, room,
                                   reader->error);
        if (status != SP_OK)
            return status;
        reader->window_at = at;
        reader->window_count = room;
    }
    memcpy(out, reader->window + (at - reader->window_at), count);
    return SP_OK;
}

static int take(sp_store_reader *reader, void *out, size_t count, const char *what)
{
    uint64_t at = reader->position;
    int status = claim(reader, count, what);
    return status == SP_OK ? read_bytes(reader, at, out, count) : status;
}

static int take_int32(sp_store_reader *reader, int32_t *out, const char *what)
{
    uint32_t bits;
    int status = take(reader, &bits, sizeof bits, what);
    if (status == SP_OK)
        *out = (int32_t)(reader->is_swapped ? __builtin_bswap32(bits) : bits);
    return status;
}

static int take_int64(sp_store_reader *reader, int64_t *out, const char *what)
{
    uint64_t bits;
    int status = take(reader, &bits, sizeof bits, what);
    if (status == SP_OK)
        *out = (int64_t)(reader->is_swapped ? __builtin_bswap64(bits) : bits);
    return status;
}

/* Fails where a number is below zero that counts something. */
static int check_count(const sp_store_reader *reader, int64_t count, const char *what)
{
    if (count >= 0)
        return SP_OK;
    return sp_fail(reader->error, SP_ERR_DAMAGED,
                   "%s: truncated trace file: %s claims %" PRId64, reader->path, what, count);
}

static int take_text(sp_store_reader *reader, const char **out, const char *what)
{
    int32_t length;
    int status = take_int32(reader, &length, what);
    if (status == SP_OK)
        status = check_count(reader, length, what);
    uint64_t at = reader->position;
    if (status == SP_OK)
        status = claim(reader, (uint64_t)length, what);
    if (status != SP_OK)
        return status;
    char *text = sp_arena_alloc(&reader->arena, (size_t)length + 1);
    if (text == NULL)
        return sp_fail_memory(reader->error, "reading a native trace");
    status = read_bytes(reader, at, text, (size_t)length);
    if (status != SP_OK)
        return status;
    text[length] = '\0';
    if (memchr(text, '\0', (size_t)length) != NULL)
        return sp_fail(reader->error, SP_ERR_DAMAGED, "%s: damaged trace file: %s holds a zero byte",
                       reader->path, what);
    *out = sp_store_utf8(&reader->arena, text);
    return *out == NULL ? sp_fail_memory(reader->error, "reading a native trace") : SP_OK;
}

/* ---- Index -----------------------------------------------------------------------------------*/

/* The byte order in which the version is one that is known. */
static int take_version(sp_store_reader *reader)
{
    int32_t version = 0;
    int status = take_int32(reader, &version, "version");
    if (status != SP_OK)
        return status;
    int32_t other = (int32_t)__builtin_bswap32((uint32_t)version);
    reader->is_swapped = version != 1 && version != 2;
    reader->version = reader->is_swapped ? other : version;
    if (reader->version == 1 || reader->version == 2)
        return SP_OK;
    return sp_fail(reader->error, SP_ERR_SCHEMA,
                   "%s: unsupported trace format version %" PRId32 "; this library reads 1, 2. "
                   "Upgrade scope-profiler to read newer ones.", reader->path, version);
}

static int take_header(sp_store_reader *reader, int64_t *out_regions)
{
    char magic[SP_SPT_MAGIC_BYTES];
    int32_t rank = 0;
    if (reader->size < SP_SPT_HEADER_BYTES)
        return sp_fail(reader->error, SP_ERR_DAMAGED, "%s: too short for a trace: %" PRIu64 " bytes",
                       reader->path, reader->size);
    int status = take(reader, magic, sizeof magic, "magic");
    if (status == SP_OK && memcmp(magic, SP_SPT_MAGIC, sizeof magic) != 0)
        status = sp_fail(reader->error, SP_ERR_NOT_A_PROFILE,
                         "%s: not a scope-profiler Fortran trace (nor one of C)", reader->path);
    if (status == SP_OK)
        status = take_version(reader);
    if (status == SP_OK)
        status = take_int32(reader, &rank, "rank");
    if (status == SP_OK && rank < 0)
        status = sp_fail(reader->error, SP_ERR_DAMAGED, "%s: rank %" PRId32 " is not a rank",
                         reader->path, rank);
    reader->rank = (uint32_t)rank;
    if (status == SP_OK)
        status = take_int64(reader, out_regions, "number of regions");
    return status == SP_OK ? check_count(reader, *out_regions, "number of regions") : status;
}

static int add_row(sp_store_reader *reader, const sp_row *row)
{
    size_t length = strlen(row->region);
    if (sp_map_get(&reader->names, row->region, length) != SP_MAP_NONE)
        return sp_fail(reader->error, SP_ERR_DAMAGED, "%s: region '%s' appears twice", reader->path,
                       row->region);
    if (!sp_vector_reserve(&reader->rows, 1) || !sp_vector_reserve(&reader->regions, 1) ||
        !sp_vector_reserve(&reader->starts_at, 1) ||
        !sp_map_add(&reader->names, row->region, length, (uint32_t)reader->rows.count))
        return sp_fail_memory(reader->error, "reading a native trace");
    reader->rows.items[reader->rows.count++] = *row;
    reader->regions.items[reader->regions.count++] = row->region;
    reader->starts_at.items[reader->starts_at.count++] = reader->position;
    return SP_OK;
}

/* The calls of a region are passed over. */
static int take_calls(sp_store_reader *reader, sp_row *row)
{
    int64_t count = 0;
    char what[LONGEST_WHAT];
    snprintf(what, sizeof what, "calls of region '%.80s'", row->region);
    int status = take_int64(reader, &count, what);
    if (status == SP_OK)
        status = check_count(reader, count, what);
    if (status != SP_OK)
        return status;
    row->count = (uint64_t)count;
    row->offset = reader->description.num_calls;
    status = add_row(reader, row);
    if (status == SP_OK)
        status = claim(reader, count > INT64_MAX / (2 * WORD) ? UINT64_MAX
                                                              : (uint64_t)count * (2 * WORD), what);
    reader->description.num_calls += row->count;
    return status;
}

static int take_region(sp_store_reader *reader, int64_t index)
{
    sp_row row = {.rank = reader->rank, .source_file = "", .source_text = "", .source_line = -1,
                  .tags_json = "[]", .exclusive_total = -1};
    int32_t line = -1;
    char what[LONGEST_WHAT];
    snprintf(what, sizeof what, "name of region %" PRId64, index);
    int status = take_text(reader, &row.region, what);
    if (status == SP_OK && reader->version >= 2) {
        snprintf(what, sizeof what, "source path of region '%.80s'", row.region);
        status = take_text(reader, &row.source_file, what);
        if (status == SP_OK)
            status = take_int32(reader, &line, "source line");
        row.source_line = line < 0 ? -1 : line;
    }
    return status == SP_OK ? take_calls(reader, &row) : status;
}

static int take_all(sp_store_reader *reader)
{
    int64_t num_regions = 0;
    int status = take_header(reader, &num_regions);
    for (int64_t i = 0; i < num_regions && status == SP_OK; i++)
        status = take_region(reader, i);
    if (status == SP_OK && reader->position != reader->size)
        status = sp_fail(reader->error, SP_ERR_DAMAGED,
                         "%s: %" PRIu64 " trailing byte(s) after the last region", reader->path,
                         reader->size - reader->position);
    return status;
}

/* ---- Table -----------------------------------------------------------------------------------*/

static void close_trace(sp_store_reader *reader)
{
    if (reader == NULL)
        return;
    sp_os_close(reader->descriptor);
    sp_arena_release(&reader->arena);
    sp_map_release(&reader->names);
    sp_vector_release(&reader->rows);
    sp_vector_release(&reader->regions);
    sp_vector_release(&reader->starts_at);
    free(reader->path);
    free(reader);
}

static void describe_taken(sp_store_reader *reader)
{
    sp_store_description *description = &reader->description;
    reader->metadata[0] =
        (sp_metadata_entry){.key = "source", .kind = SP_VALUE_TEXT, .text = "native"};
    reader->metadata[1] = (sp_metadata_entry){
        .key = "trace_format_version", .kind = SP_VALUE_INTEGER, .integer = reader->version};
    description->format = "spt";
    description->schema = reader->version;
    description->num_ranks = 1;
    description->metadata = reader->metadata;
    description->num_metadata = sizeof reader->metadata / sizeof *reader->metadata;
    description->rows = reader->rows.items;
    description->num_rows = reader->rows.count;
    description->region_names = reader->regions.items;
    description->num_regions = reader->regions.count;
    description->columns = SP_COLUMN_BIT(SP_COLUMN_START) | SP_COLUMN_BIT(SP_COLUMN_DURATION);
}

static int open_trace(const char *path, sp_store_reader **out, sp_error *error)
{
    sp_store_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL)
        return sp_fail_memory(error, "reading a native trace");
    reader->descriptor = -1;
    reader->error = error;
    reader->path = strdup(path);
    int status = reader->path == NULL
                     ? sp_fail_memory(error, "reading a native trace")
                     : sp_os_open_to_read(path, &reader->descriptor, &reader->size, error);
    if (status == SP_OK)
        status = take_all(reader);
    if (status != SP_OK) {
        close_trace(reader);
        return status;
    }
    describe_taken(reader);
    reader->error = NULL; /* the caller's */
    *out = reader;
    return SP_OK;
}

static const sp_store_description *describe(sp_store_reader *reader)
{
    return &reader->description;
}

static int read_column(const sp_store_reader *reader, uint64_t at, size_t count, int64_t *out,
                       sp_error *error)
{
    int status = sp_os_read_at(reader->descriptor, reader->path, at, out, count * WORD, error);
    for (size_t i = 0; status == SP_OK && reader->is_swapped && i < count; i++)
        out[i] = (int64_t)__builtin_bswap64((uint64_t)out[i]);
    return status;
}

/* Ends in `out` become durations. */
static int subtract_starts(const sp_store_reader *reader, uint64_t at, size_t count, int64_t *out,
                           sp_error *error)
{
    int64_t starts[PIECE_CALLS];
    int status = SP_OK;
    for (size_t done = 0; done < count && status == SP_OK;) {
        size_t piece = count - done < PIECE_CALLS ? count - done : PIECE_CALLS;
        status = read_column(reader, at + done * WORD, piece, starts, error);
        for (size_t i = 0; i < piece && status == SP_OK; i++)
            out[done + i] = (int64_t)((uint64_t)out[done + i] - (uint64_t)starts[i]);
        done += piece;
    }
    return status;
}

static int read_calls(sp_store_reader *reader, size_t row, sp_column column, uint64_t first,
                      size_t count, int64_t *out, sp_error *error)
{
    if (row >= reader->rows.count)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "there is no row %zu", row);
    uint64_t calls = reader->rows.items[row].count;
    if (first > calls || count > calls - first)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "row %zu has %" PRIu64 " calls", row, calls);
    uint64_t starts_at = reader->starts_at.items[row] + first * WORD;
    if (column == SP_COLUMN_START)
        return read_column(reader, starts_at, count, out, error);
    if (column != SP_COLUMN_DURATION)
        return sp_fail(error, SP_ERR_NOT_FOUND, "a native trace has no column %d", (int)column);
    int status = read_column(reader, starts_at + calls * WORD, count, out, error);
    return status == SP_OK ? subtract_starts(reader, starts_at, count, out, error) : status;
}

static bool is_thread_safe(void)
{
    return true;
}

const sp_store_table sp_spt_reader = {
    .size = sizeof(sp_store_table),
    .version = SP_STORE_VERSION,
    .name = "spt",
    .open = open_trace,
    .describe = describe,
    .read_calls = read_calls,
    .close = close_trace,
    .is_thread_safe = is_thread_safe,
};
