#include "store/hdf5/classic/column.h"

#include <stdlib.h>
#include <string.h>

/* ---- Messages --------------------------------------------------------------------------------*/

enum { MAX_MESSAGE = 65535 };
enum { LAYOUT_VERSION = 3, COMPACT = 0, CONTIGUOUS = 1, CHUNKED = 2 };

/* A message of the header in memory of its own; NULL when it is not there or memory is short. */
static unsigned char *load_message(sp_classic_bytes *bytes, const sp_classic_header *header,
                                   unsigned kind, size_t *out_size)
{
    const sp_classic_message *message = sp_classic_find(header, kind);
    if (message == NULL)
        return NULL;
    unsigned char *content = malloc((size_t)message->size + 1);
    if (content != NULL && !sp_classic_read(bytes, message->address, message->size, content)) {
        free(content);
        return NULL;
    }
    *out_size = message->size;
    return content;
}

static bool parse_shape(const unsigned char *content, size_t size, sp_classic_column *column)
{
    sp_classic_space space;
    if (!sp_classic_parse_space(content, size, &space) || space.shape != SP_CLASSIC_SIMPLE ||
        space.dimensions < 1 || space.dimensions > 2)
        return false;
    column->dimensions = space.dimensions;
    column->length = space.count;
    return true;
}

/* One stage: 0 when the bytes make no sense, else how many it takes. */
static size_t parse_stage(const unsigned char *content, size_t size, unsigned version,
                          unsigned stage, sp_classic_column *column)
{
    if (size < 8)
        return 0;
    unsigned id = SP_CLASSIC_U16(content);
    bool has_name = version == 1 || id >= 256;
    size_t name = has_name ? SP_CLASSIC_U16(content + 2) : 0;
    size_t at = has_name ? 8 : 6;
    size_t values = SP_CLASSIC_U16(content + at - 2);
    const char *label = (const char *)content + at;
    if (version == 1) {
        name = (name + 7) / 8 * 8;
        values += values % 2;
    }
    if (name > size - at || values * 4 > size - at - name)
        return 0;
    const sp_hdf5_codec *codec = sp_hdf5_codec_of((H5Z_filter_t)id);
    if (id == H5Z_FILTER_SHUFFLE && column->codec_stage < 0 && column->shuffle_stage < 0)
        column->shuffle_stage = (int)stage;
    else if (codec != NULL && column->codec_stage < 0) {
        column->codec_stage = (int)stage;
        column->codec = codec;
    } else if (column->unknown_filter == 0) {
        column->unknown_filter = (int)id;
        size_t length = strnlen(
            label, name < sizeof column->filter_name - 1 ? name : sizeof column->filter_name - 1);
        memcpy(column->filter_name, label, length);
    }
    return at + name + values * 4;
}

static bool parse_filters(const unsigned char *content, size_t size, sp_classic_column *column)
{
    if (size < 2 || (content[0] != 1 && content[0] != 2))
        return false;
    unsigned version = content[0], count = content[1];
    size_t at = version == 1 ? 8 : 2;
    for (unsigned i = 0; i < count; i++) {
        size_t used = at <= size ? parse_stage(content + at, size - at, version, i, column) : 0;
        if (used == 0)
            return false;
        at += used;
    }
    return true;
}

/* ---- Chunks ----------------------------------------------------------------------------------*/

enum { NODE_BYTES = 24, KEY_BYTES = 24, CHILD_BYTES = 8, MAX_LEVELS = 16 };

typedef struct chunk_walk {
    sp_classic_bytes *bytes;
    sp_classic_column *column;
    uint64_t room; /* entries that the file has room for, less those seen */
} chunk_walk;

/* What a stored byte may at most become; the codecs' own bounds are below it. */
enum { MAX_EXPANSION = 1 << 16 };

static bool has_sane_size(const sp_classic_column *column, uint64_t size)
{
    uint64_t bytes = column->chunk * column->type.size;
    return column->codec_stage >= 0 ? bytes / MAX_EXPANSION <= size : bytes == size;
}

/* Chunks follow each other without a gap, from the first value on. Those behind the last value are
 * left over from a column that was longer. */
static sp_classic_outcome note_chunk(chunk_walk *walk, const unsigned char *key, uint64_t address)
{
    sp_classic_column *column = walk->column;
    uint64_t offset = SP_CLASSIC_U64(key + 8);
    sp_classic_chunk chunk = {address, SP_CLASSIC_U32(key), SP_CLASSIC_U32(key + 4)};
    if (offset >= column->length)
        return SP_CLASSIC_OK;
    if (offset != column->chunks.count * column->chunk || address > walk->bytes->size ||
        chunk.size > walk->bytes->size - address || !has_sane_size(column, chunk.size))
        return SP_CLASSIC_BAD;
    if (!sp_vector_reserve(&column->chunks, 1))
        return SP_CLASSIC_NO_MEMORY;
    column->chunks.items[column->chunks.count++] = chunk;
    return SP_CLASSIC_OK;
}

static sp_classic_outcome load_node(chunk_walk *walk, uint64_t address, int level)
{
    unsigned char head[NODE_BYTES], entry[KEY_BYTES + CHILD_BYTES];
    if (walk->room == 0 || !sp_classic_read(walk->bytes, address, sizeof head, head) ||
        memcmp(head, "TREE", 4) != 0 || head[4] != 1 || head[5] >= MAX_LEVELS ||
        (level >= 0 && head[5] != level))
        return SP_CLASSIC_BAD;
    unsigned count = SP_CLASSIC_U16(head + 6);
    sp_classic_outcome outcome = SP_CLASSIC_OK;
    walk->room--;
    for (unsigned i = 0; outcome == SP_CLASSIC_OK && i < count; i++) {
        if (walk->room == 0 ||
            !sp_classic_read(walk->bytes, address + NODE_BYTES + (uint64_t)i * sizeof entry,
                             sizeof entry, entry))
            return SP_CLASSIC_BAD;
        walk->room--;
        uint64_t child = SP_CLASSIC_U64(entry + KEY_BYTES);
        outcome =
            head[5] == 0 ? note_chunk(walk, entry, child) : load_node(walk, child, head[5] - 1);
    }
    return outcome;
}

/* ---- Layout ----------------------------------------------------------------------------------*/

static bool is_undefined(uint64_t address)
{
    return address == UINT64_MAX;
}

/* Bytes of all values; false when that is more than any number. */
static bool total_bytes(const sp_classic_column *column, uint64_t *out)
{
    if (column->length > UINT64_MAX / column->type.size)
        return false;
    *out = column->length * column->type.size;
    return true;
}

static sp_classic_outcome place_piece(const sp_classic_bytes *bytes, sp_classic_column *column,
                                      uint64_t address, uint64_t size, bool *is_overclaimed)
{
    uint64_t needed;
    if (column->length == 0)
        return SP_CLASSIC_OK;
    *is_overclaimed = !total_bytes(column, &needed) || is_undefined(address) || needed > size;
    if (*is_overclaimed || address > bytes->size || needed > bytes->size - address) {
        *is_overclaimed = true;
        return SP_CLASSIC_BAD;
    }
    column->address = address;
    return SP_CLASSIC_OK;
}

static sp_classic_outcome place_chunks(sp_classic_bytes *bytes, sp_classic_column *column,
                                       const unsigned char *content, size_t size,
                                       bool *is_overclaimed)
{
    enum { DIMENSIONS = 2 }; /* ours and the bytes of a value */
    if (size < 3 + 8 + DIMENSIONS * 4 || content[2] != DIMENSIONS)
        return SP_CLASSIC_BAD;
    uint64_t tree = SP_CLASSIC_U64(content + 3);
    column->is_chunked = true;
    column->chunk = SP_CLASSIC_U32(content + 11);
    if (column->chunk == 0 || SP_CLASSIC_U32(content + 15) != column->type.size ||
        column->chunk > SP_TREE_CHUNK_LIMIT / column->type.size)
        return SP_CLASSIC_BAD;
    if (column->length == 0)
        return SP_CLASSIC_OK;
    chunk_walk walk = {bytes, column, bytes->size / (KEY_BYTES + CHILD_BYTES)};
    sp_classic_outcome outcome = is_undefined(tree) ? SP_CLASSIC_OK : load_node(&walk, tree, -1);
    uint64_t wanted = (column->length - 1) / column->chunk + 1;
    uint64_t needed;
    *is_overclaimed = outcome == SP_CLASSIC_OK &&
                      (column->chunks.count != wanted || !total_bytes(column, &needed) ||
                       needed / MAX_EXPANSION > bytes->size);
    return *is_overclaimed ? SP_CLASSIC_BAD : outcome;
}

static sp_classic_outcome parse_layout(sp_classic_bytes *bytes, const sp_classic_header *header,
                                       const unsigned char *content, size_t size,
                                       sp_classic_column *column, bool *is_overclaimed)
{
    if (size < 2 || content[0] != LAYOUT_VERSION)
        return SP_CLASSIC_BAD;
    switch (content[1]) {
    case COMPACT: {
        if (size < 4)
            return SP_CLASSIC_BAD;
        uint64_t held = SP_CLASSIC_U16(content + 2);
        const sp_classic_message *message = sp_classic_find(header, SP_CLASSIC_LAYOUT);
        return place_piece(bytes, column, message->address + 4, held < size - 4 ? held : size - 4,
                           is_overclaimed);
    }
    case CONTIGUOUS:
        if (size < 18)
            return SP_CLASSIC_BAD;
        return place_piece(bytes, column, SP_CLASSIC_U64(content + 2), SP_CLASSIC_U64(content + 10),
                           is_overclaimed);
    case CHUNKED:
        if (column->dimensions != 1)
            return SP_CLASSIC_BAD; /* nobody writes matrices in chunks */
        return place_chunks(bytes, column, content, size, is_overclaimed);
    default:
        return SP_CLASSIC_BAD;
    }
}

/* ---- Loading ---------------------------------------------------------------------------------*/

static sp_classic_outcome load_parts(sp_classic_bytes *bytes, const sp_classic_header *header,
                                     sp_classic_column *column, bool *is_overclaimed)
{
    size_t sizes[4] = {0};
    unsigned char *space = load_message(bytes, header, SP_CLASSIC_DATASPACE, &sizes[0]);
    unsigned char *type = load_message(bytes, header, SP_CLASSIC_DATATYPE, &sizes[1]);
    unsigned char *layout = load_message(bytes, header, SP_CLASSIC_LAYOUT, &sizes[2]);
    unsigned char *filters = load_message(bytes, header, SP_CLASSIC_FILTERS, &sizes[3]);
    bool has_filters = sp_classic_find(header, SP_CLASSIC_FILTERS) != NULL;
    sp_classic_outcome outcome = SP_CLASSIC_BAD;
    if (space != NULL && type != NULL && layout != NULL && (filters != NULL) == has_filters &&
        sp_classic_find(header, SP_CLASSIC_EXTERNAL_FILES) == NULL &&
        parse_shape(space, sizes[0], column) &&
        sp_classic_parse_type(type, sizes[1], &column->type) &&
        (!has_filters || parse_filters(filters, sizes[3], column)))
        outcome = column->unknown_filter != 0
                      ? SP_CLASSIC_OK /* all that matters of it */
                      : parse_layout(bytes, header, layout, sizes[2], column, is_overclaimed);
    free(filters);
    free(layout);
    free(type);
    free(space);
    return outcome;
}

sp_classic_outcome sp_classic_load_column(sp_classic_bytes *bytes, uint64_t address,
                                          sp_classic_column *out, bool *is_overclaimed)
{
    sp_classic_header header;
    *out = (sp_classic_column){.shuffle_stage = -1, .codec_stage = -1};
    *is_overclaimed = false;
    sp_classic_outcome outcome = sp_classic_load_header(bytes, address, &header);
    if (outcome != SP_CLASSIC_OK)
        return outcome;
    outcome = load_parts(bytes, &header, out, is_overclaimed);
    sp_classic_header_release(&header);
    if (outcome != SP_CLASSIC_OK)
        sp_classic_column_release(out);
    return outcome;
}

void sp_classic_column_release(sp_classic_column *column)
{
    sp_vector_release(&column->chunks);
    free(column->values);
    free(column->packed);
    free(column->shuffled);
    column->values = column->packed = column->shuffled = NULL;
    column->held = 0;
}

/* ---- Values ----------------------------------------------------------------------------------*/

static bool applies(int stage, uint32_t left_out)
{
    return stage >= 0 && (left_out & 1u << stage) == 0;
}

static bool make_buffers(sp_classic_column *column, size_t bytes)
{
    if (column->values == NULL)
        column->values = malloc(bytes);
    if (column->shuffled == NULL && column->shuffle_stage >= 0)
        column->shuffled = malloc(bytes);
    return column->values != NULL && (column->shuffled != NULL || column->shuffle_stage < 0);
}

/* Undoes the stages, last first: codec, then shuffle. */
static sp_classic_outcome unpack(sp_classic_column *column, const sp_classic_chunk *chunk,
                                 size_t bytes)
{
    bool is_packed = applies(column->codec_stage, chunk->left_out);
    bool is_shuffled = applies(column->shuffle_stage, chunk->left_out);
    unsigned char *plain = is_shuffled ? column->shuffled : column->values;
    if (is_packed) {
        if (!column->codec->unpack(column->packed, chunk->size, plain, bytes))
            return SP_CLASSIC_BAD;
    } else if (chunk->size != bytes)
        return SP_CLASSIC_BAD;
    else
        memcpy(plain, column->packed, bytes);
    if (is_shuffled)
        sp_hdf5_unshuffle(column->values, column->shuffled, (size_t)column->chunk,
                          column->type.size);
    return SP_CLASSIC_OK;
}

static sp_classic_outcome hold_chunk(sp_classic_bytes *bytes, sp_classic_column *column,
                                     uint64_t index)
{
    const sp_classic_chunk *chunk = &column->chunks.items[index];
    size_t size = (size_t)column->chunk * column->type.size;
    if (column->held == index + 1)
        return SP_CLASSIC_OK;
    column->held = 0;
    unsigned char *packed = realloc(column->packed, (size_t)chunk->size + 1);
    if (packed != NULL)
        column->packed = packed;
    if (packed == NULL || !make_buffers(column, size))
        return SP_CLASSIC_NO_MEMORY;
    if (!sp_classic_read(bytes, chunk->address, chunk->size, column->packed))
        return SP_CLASSIC_BAD;
    sp_classic_outcome outcome = unpack(column, chunk, size);
    if (outcome == SP_CLASSIC_OK)
        column->held = index + 1;
    return outcome;
}

/* A chunk that is stored as it is needs no copy of all of it. */
static bool is_plain(const sp_classic_column *column, const sp_classic_chunk *chunk)
{
    return !applies(column->codec_stage, chunk->left_out) &&
           !applies(column->shuffle_stage, chunk->left_out);
}

static sp_classic_outcome read_chunk(sp_classic_bytes *bytes, sp_classic_column *column,
                                     uint64_t index, size_t inside, size_t size, void *out)
{
    const sp_classic_chunk *chunk = &column->chunks.items[index];
    if (is_plain(column, chunk)) {
        if (inside > chunk->size || size > chunk->size - inside ||
            !sp_classic_read(bytes, chunk->address + inside, size, out))
            return SP_CLASSIC_BAD;
        return SP_CLASSIC_OK;
    }
    sp_classic_outcome outcome = hold_chunk(bytes, column, index);
    if (outcome == SP_CLASSIC_OK)
        memcpy(out, column->values + inside, size);
    return outcome;
}

sp_classic_outcome sp_classic_read_values(sp_classic_bytes *bytes, sp_classic_column *column,
                                          uint64_t first, uint64_t count, void *out)
{
    size_t width = column->type.size;
    unsigned char *next = out;
    if (!column->is_chunked)
        return sp_classic_read(bytes, column->address + first * width, (size_t)(count * width), out)
                   ? SP_CLASSIC_OK
                   : SP_CLASSIC_BAD;
    while (count > 0) {
        uint64_t index = first / column->chunk, inside = first % column->chunk;
        uint64_t piece = column->chunk - inside < count ? column->chunk - inside : count;
        sp_classic_outcome outcome = read_chunk(bytes, column, index, (size_t)(inside * width),
                                                (size_t)(piece * width), next);
        if (outcome != SP_CLASSIC_OK)
            return outcome;
        next += piece * width;
        first += piece;
        count -= piece;
    }
    return SP_CLASSIC_OK;
}
