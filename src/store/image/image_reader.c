#include "store/image/image.h"
#include "store/image/layout.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vector.h"
#include "store/description.h"

#include <stdlib.h>
#include <string.h>

/* Where the calls of one rank lie. */
typedef struct rank_columns {
    const int64_t *columns[SP_COLUMN_COUNT]; /* NULL: absent */
} rank_columns;

/* Where the calls of one row lie. */
typedef struct row_place {
    uint32_t rank; /* index in `ranks` */
    uint64_t first; /* position in the rank's columns */
} row_place;

struct sp_store_reader {
    uint64_t *image;
    const uint64_t *next, *end; /* what is still to be parsed of the current section */
    bool damaged, no_memory;
    sp_arena arena;
    sp_map regions;
    SP_VECTOR(sp_metadata_entry) metadata;
    SP_VECTOR(sp_row) rows;
    SP_VECTOR(row_place) places;
    SP_VECTOR(rank_columns) ranks;
    SP_VECTOR(const char *) names;
    SP_VECTOR(sp_thread_row) threads;
    SP_VECTOR(sp_task_row) tasks;
    SP_VECTOR(sp_extra) extras;
    sp_store_description description;
};

/* ---- Words -------------------------------------------------------------------------------------
 *
 * Each take_ function moves on in the section. A claim that does not fit marks the image damaged
 * and leaves nothing to parse, so that loops end and one check at the end suffices. */

static void give_up(sp_store_reader *reader)
{
    reader->damaged = true;
    reader->next = reader->end;
}

static const uint64_t *take_words(sp_store_reader *reader, uint64_t count)
{
    if (reader->damaged || count > (uint64_t)(reader->end - reader->next)) {
        give_up(reader);
        return NULL;
    }
    const uint64_t *words = reader->next;
    reader->next += count;
    return words;
}

static uint64_t take(sp_store_reader *reader)
{
    const uint64_t *word = take_words(reader, 1);
    return word == NULL ? 0 : *word;
}

static int64_t take_signed(sp_store_reader *reader)
{
    return (int64_t)take(reader);
}

/* A number of things that each take at least one word, so that a loop over it is bounded by the
 * size of the image. */
static uint64_t take_count(sp_store_reader *reader)
{
    uint64_t count = take(reader);
    if (count > (uint64_t)(reader->end - reader->next)) {
        give_up(reader);
        return 0;
    }
    return count;
}

static void take_bytes(sp_store_reader *reader, void *out, size_t size)
{
    const uint64_t *words = take_words(reader, size / sizeof(uint64_t));
    if (words != NULL)
        memcpy(out, words, size);
}

/* The text where it lies; NULL for a NULL text. */
static const char *take_text(sp_store_reader *reader)
{
    uint64_t length = take(reader);
    if (length == SP_IMAGE_NO_TEXT)
        return NULL;
    const char *text = (const char *)take_words(reader, length / sizeof(uint64_t) + 1);
    if (text == NULL)
        return "";
    if (memchr(text, '\0', length + 1) != text + length) {
        give_up(reader);
        return "";
    }
    return text;
}

/* The same for a text that must be there. */
static const char *take_some_text(sp_store_reader *reader)
{
    const char *text = take_text(reader);
    return text == NULL ? "" : text;
}

static const char **take_texts(sp_store_reader *reader, uint64_t count)
{
    const char **texts = sp_arena_array(&reader->arena, (size_t)count, sizeof *texts);
    if (texts == NULL) {
        reader->no_memory = true;
        return NULL;
    }
    for (uint64_t i = 0; i < count; i++)
        texts[i] = take_some_text(reader);
    return texts;
}

/* ---- Sections --------------------------------------------------------------------------------*/

#define APPEND(reader, vector, value)                                                              \
    do {                                                                                           \
        if (sp_vector_reserve(&(reader)->vector, 1))                                               \
            (reader)->vector.items[(reader)->vector.count++] = (value);                            \
        else                                                                                       \
            (reader)->no_memory = true;                                                            \
    } while (0)

static void parse_metadata_entry(sp_store_reader *reader)
{
    sp_metadata_entry entry = {0};
    uint64_t kind = take(reader);
    entry.kind = (sp_value_kind)kind;
    entry.key = take_some_text(reader);
    switch (kind) {
    case SP_VALUE_INTEGER:
        entry.integer = take_signed(reader);
        break;
    case SP_VALUE_REAL:
        take_bytes(reader, &entry.real, sizeof entry.real);
        break;
    case SP_VALUE_TEXT:
        entry.text = take_some_text(reader);
        break;
    case SP_VALUE_TEXT_LIST:
        entry.list_length = (size_t)take_count(reader);
        entry.list = take_texts(reader, entry.list_length);
        break;
    default:
        give_up(reader);
        return;
    }
    APPEND(reader, metadata, entry);
}

static void parse_metadata(sp_store_reader *reader)
{
    uint64_t count = take_count(reader);
    for (uint64_t i = 0; i < count && !reader->damaged; i++)
        parse_metadata_entry(reader);
}

static void note_region(sp_store_reader *reader, const char *name)
{
    size_t length = strlen(name);
    if (sp_map_get(&reader->regions, name, length) != SP_MAP_NONE)
        return;
    if (!sp_map_add(&reader->regions, name, length, (uint32_t)reader->names.count))
        reader->no_memory = true;
    APPEND(reader, names, name);
}

/* `first`: position of the row's first call in its rank; moves past the row. */
static void parse_row(sp_store_reader *reader, uint32_t rank, uint64_t *first)
{
    sp_row row = {.rank = rank, .offset = reader->description.num_calls + *first};
    row.region = take_some_text(reader);
    row.count = take(reader);
    row.source_file = take_some_text(reader);
    row.source_text = take_some_text(reader);
    row.source_line = take_signed(reader);
    row.tags_json = take_some_text(reader);
    row.event_metadata_json = take_text(reader);
    row.exclusive_total = take_signed(reader);
    row.has_statistics = take(reader) != 0;
    if (row.has_statistics)
        take_bytes(reader, &row.statistics, sizeof row.statistics);
    if (reader->description.is_aggregate)
        row.count = 0; /* no calls are kept */
    row.has_aggregate = take(reader) != 0;
    if (row.has_aggregate)
        take_bytes(reader, &row.aggregate, sizeof row.aggregate);
    if (reader->damaged)
        return;
    row_place place = {(uint32_t)reader->ranks.count, *first};
    if (!reader->description.is_aggregate) {
        if (row.count > INT64_MAX - *first) {
            give_up(reader);
            return;
        }
        *first += row.count;
    }
    APPEND(reader, rows, row);
    APPEND(reader, places, place);
    note_region(reader, row.region);
}

static void parse_thread(sp_store_reader *reader, uint32_t rank)
{
    sp_thread_row thread = {.rank = rank};
    thread.index = take_signed(reader);
    thread.ident = take_signed(reader);
    thread.native_id = take_signed(reader);
    thread.is_daemon = take(reader) != 0;
    thread.start_ns = take_signed(reader);
    thread.end_ns = take_signed(reader);
    thread.cpu_ns = take_signed(reader);
    thread.name = take_some_text(reader);
    APPEND(reader, threads, thread);
}

static void parse_task(sp_store_reader *reader, uint32_t rank)
{
    sp_task_row task = {.rank = rank};
    task.index = take_signed(reader);
    task.thread_index = take_signed(reader);
    task.created_ns = take_signed(reader);
    task.done_ns = take_signed(reader);
    task.steps = take_signed(reader);
    task.running_ns = take_signed(reader);
    task.suspended_ns = take_signed(reader);
    task.kind = take_some_text(reader);
    task.name = take_some_text(reader);
    task.coroutine_name = take_some_text(reader);
    APPEND(reader, tasks, task);
}

static void parse_columns(sp_store_reader *reader, unsigned columns, uint64_t calls)
{
    rank_columns places = {{NULL}};
    for (int c = 0; c < SP_COLUMN_COUNT; c++)
        if ((columns & SP_COLUMN_BIT(c)) != 0)
            places.columns[c] = (const int64_t *)take_words(reader, calls);
    unsigned required = SP_COLUMN_BIT(SP_COLUMN_START) | SP_COLUMN_BIT(SP_COLUMN_DURATION);
    if (calls > 0 && (columns & required) != required)
        give_up(reader);
    if (calls > 0)
        reader->description.columns |= columns;
    reader->description.num_calls += calls;
    APPEND(reader, ranks, places);
}

static void parse_rank(sp_store_reader *reader)
{
    uint64_t rank = take(reader), columns = take(reader);
    uint64_t num_rows = take_count(reader), num_threads = take_count(reader);
    uint64_t num_tasks = take_count(reader), num_calls = take(reader), given = 0;
    if (rank > UINT32_MAX || columns >= SP_COLUMN_BIT(SP_COLUMN_COUNT))
        give_up(reader);
    for (uint64_t i = 0; i < num_rows && !reader->damaged; i++)
        parse_row(reader, (uint32_t)rank, &given);
    for (uint64_t i = 0; i < num_threads && !reader->damaged; i++)
        parse_thread(reader, (uint32_t)rank);
    for (uint64_t i = 0; i < num_tasks && !reader->damaged; i++)
        parse_task(reader, (uint32_t)rank);
    if (given != num_calls)
        give_up(reader);
    parse_columns(reader, (unsigned)columns, num_calls);
}

static void parse_extra(sp_store_reader *reader)
{
    sp_extra extra = {0};
    extra.rank = (uint32_t)take(reader);
    uint64_t kind = take(reader);
    uint64_t length = take_count(reader);
    extra.length = (size_t)length;
    extra.name = take_some_text(reader);
    switch (kind) {
    case SP_IMAGE_INTEGERS:
        extra.integers = (const int64_t *)take_words(reader, length);
        break;
    case SP_IMAGE_REALS:
        /* Words have the alignment of doubles; the bytes were written from doubles. */
        extra.reals = (const double *)(const void *)take_words(reader, length);
        break;
    case SP_IMAGE_TEXTS:
        extra.texts = take_texts(reader, length);
        break;
    default:
        give_up(reader);
        return;
    }
    APPEND(reader, extras, extra);
}

static void parse_section(sp_store_reader *reader, uint64_t kind)
{
    switch (kind) {
    case SP_IMAGE_METADATA:
        parse_metadata(reader);
        break;
    case SP_IMAGE_RANK:
        parse_rank(reader);
        break;
    case SP_IMAGE_EXTRA:
        parse_extra(reader);
        break;
    default:
        give_up(reader);
    }
}

static void parse(sp_store_reader *reader, const uint64_t *end)
{
    const uint64_t *at = reader->image + SP_IMAGE_WORDS;
    while (at < end && !reader->damaged && !reader->no_memory) {
        uint64_t kind = at[0];
        if (end - at < 2 || at[1] % sizeof(uint64_t) != 0 ||
            at[1] / sizeof(uint64_t) > (uint64_t)(end - at - 2)) {
            reader->damaged = true;
            return;
        }
        reader->next = at + 2;
        reader->end = reader->next + at[1] / sizeof(uint64_t);
        at = reader->end;
        parse_section(reader, kind);
        if (reader->next != reader->end)
            reader->damaged = true;
    }
}

/* ---- Table -----------------------------------------------------------------------------------*/

static void close_image(sp_store_reader *reader)
{
    if (reader == NULL)
        return;
    sp_arena_release(&reader->arena);
    sp_map_release(&reader->regions);
    sp_vector_release(&reader->metadata);
    sp_vector_release(&reader->rows);
    sp_vector_release(&reader->places);
    sp_vector_release(&reader->ranks);
    sp_vector_release(&reader->names);
    sp_vector_release(&reader->threads);
    sp_vector_release(&reader->tasks);
    sp_vector_release(&reader->extras);
    free(reader->image);
    free(reader);
}

static void describe_parsed(sp_store_reader *reader)
{
    sp_store_description *description = &reader->description;
    description->format = "image";
    description->schema = (int)SP_IMAGE_VERSION;
    description->metadata = reader->metadata.items;
    description->num_metadata = reader->metadata.count;
    description->rows = reader->rows.items;
    description->num_rows = reader->rows.count;
    description->region_names = reader->names.items;
    description->num_regions = reader->names.count;
    description->threads = reader->threads.items;
    description->num_threads = reader->threads.count;
    description->tasks = reader->tasks.items;
    description->num_tasks = reader->tasks.count;
    description->extras = reader->extras.items;
    description->num_extras = reader->extras.count;
    description->num_ranks = sp_store_num_ranks(description->metadata, description->num_metadata,
                                                description->rows, description->num_rows);
}

int sp_image_open(void *image, size_t size, sp_store_reader **out, sp_error *error)
{
    const uint64_t *words = image;
    if (image == NULL || size < SP_IMAGE_WORDS * sizeof(uint64_t) ||
        words[SP_IMAGE_AT_MAGIC] != SP_IMAGE_MAGIC ||
        words[SP_IMAGE_AT_VERSION] != SP_IMAGE_VERSION || words[SP_IMAGE_AT_SIZE] != size ||
        size % sizeof(uint64_t) != 0) {
        free(image);
        return sp_fail(error, SP_ERR_NOT_A_PROFILE, "not an in-memory profile of this version");
    }
    sp_store_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        free(image);
        return sp_fail_memory(error, "opening an in-memory profile");
    }
    reader->image = image;
    reader->description.is_aggregate = (words[SP_IMAGE_AT_FLAGS] & SP_IMAGE_AGGREGATE) != 0;
    if (!reader->description.is_aggregate)
        reader->description.columns =
            SP_COLUMN_BIT(SP_COLUMN_START) | SP_COLUMN_BIT(SP_COLUMN_DURATION);
    parse(reader, words + size / sizeof(uint64_t));
    int status = SP_OK;
    if (reader->no_memory)
        status = sp_fail_memory(error, "opening an in-memory profile");
    else if (reader->damaged)
        status = sp_fail(error, SP_ERR_DAMAGED, "the in-memory profile is damaged");
    if (status != SP_OK) {
        close_image(reader);
        return status;
    }
    describe_parsed(reader);
    *out = reader;
    return SP_OK;
}

static int open_path(const char *path, sp_store_reader **out, sp_error *error)
{
    (void)out;
    return sp_fail(error, SP_ERR_UNSUPPORTED, "an in-memory profile has no file: '%s'", path);
}

static const sp_store_description *describe(sp_store_reader *reader)
{
    return &reader->description;
}

static const int64_t *borrow_calls(sp_store_reader *reader, size_t row, sp_column column)
{
    const row_place *place = &reader->places.items[row];
    const int64_t *values = reader->ranks.items[place->rank].columns[column];
    return values == NULL ? NULL : values + place->first;
}

static int read_calls(sp_store_reader *reader, size_t row, sp_column column, uint64_t first,
                      size_t count, int64_t *out, sp_error *error)
{
    if (row >= reader->rows.count || column < 0 || column >= SP_COLUMN_COUNT)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "no row %zu or no column %d", row,
                       (int)column);
    uint64_t calls = reader->description.is_aggregate ? 0 : reader->rows.items[row].count;
    if (first > calls || count > calls - first)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "row %zu has %llu calls", row,
                       (unsigned long long)calls);
    if ((reader->description.columns & SP_COLUMN_BIT(column)) == 0)
        return sp_fail(error, SP_ERR_NOT_FOUND, "the run has no column %d", (int)column);
    const int64_t *values = borrow_calls(reader, row, column);
    if (values != NULL && count > 0)
        memcpy(out, values + first, count * sizeof *out);
    /* Another rank recorded the column, this one did not. */
    for (size_t i = 0; values == NULL && i < count; i++)
        out[i] = sp_store_missing_value(column);
    return SP_OK;
}

static bool is_thread_safe(void)
{
    return true;
}

const sp_store_table sp_image_reader = {
    .size = sizeof(sp_store_table),
    .version = SP_STORE_VERSION,
    .name = "image",
    .open = open_path,
    .describe = describe,
    .read_calls = read_calls,
    .close = close_image,
    .is_thread_safe = is_thread_safe,
    .borrow_calls = borrow_calls,
};
