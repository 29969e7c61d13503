#include "store/hdf5/classic/attribute.h"

#include <stdlib.h>
#include <string.h>

/* An attribute message taken apart. */
typedef struct attribute {
    unsigned char *content; /* of the whole message */
    size_t name_at, name_size;
    sp_classic_space space;
    sp_classic_type type;
    const unsigned char *data;
    size_t data_size;
} attribute;

static size_t padded(size_t size, unsigned version)
{
    return version == 1 ? (size + 7) / 8 * 8 : size;
}

/* Head, name, type, shape, values; in version 1 each is filled up to 8 bytes. */
static bool parse(attribute *out, size_t size)
{
    enum { IS_SHARED = 3 }; /* flags: type or shape are elsewhere */
    const unsigned char *content = out->content;
    if (size < 8)
        return false;
    unsigned version = content[0];
    if (version < 1 || version > 3 || (version > 1 && (content[1] & IS_SHARED) != 0))
        return false;
    size_t sizes[3] = {SP_CLASSIC_U16(content + 2), SP_CLASSIC_U16(content + 4),
                       SP_CLASSIC_U16(content + 6)};
    size_t at = version == 3 ? 9 : 8, starts[3];
    for (int i = 0; i < 3; i++) {
        starts[i] = at;
        at += padded(sizes[i], version);
        if (at > size)
            return false;
    }
    out->name_at = starts[0];
    out->name_size = sizes[0];
    out->data = content + at;
    out->data_size = size - at;
    return sp_classic_parse_type(content + starts[1], sizes[1], &out->type) &&
           sp_classic_parse_space(content + starts[2], sizes[2], &out->space);
}

static sp_classic_outcome load(sp_classic_bytes *bytes, const sp_classic_message *message,
                               attribute *out)
{
    *out = (attribute){.content = malloc((size_t)message->size + 1)};
    if (out->content == NULL)
        return SP_CLASSIC_NO_MEMORY;
    if (sp_classic_read(bytes, message->address, message->size, out->content) &&
        parse(out, message->size))
        return SP_CLASSIC_OK;
    free(out->content);
    return SP_CLASSIC_BAD;
}

const char *sp_classic_attribute_name(sp_classic_bytes *bytes, const sp_classic_message *message,
                                      sp_arena *arena)
{
    unsigned char head[9];
    if (message->size < sizeof head || !sp_classic_read(bytes, message->address, sizeof head, head))
        return NULL;
    size_t size = SP_CLASSIC_U16(head + 2), at = head[0] == 3 ? 9 : 8;
    if (size > message->size - at)
        return NULL;
    char *name = sp_arena_alloc(arena, size + 1);
    if (name == NULL || !sp_classic_read(bytes, message->address + at, size, name))
        return NULL;
    name[size] = '\0';
    return name;
}

static sp_classic_outcome read_text(sp_classic_bytes *bytes, sp_classic_heap *heap,
                                    const attribute *from, sp_tree_context *context, size_t i,
                                    const char **out)
{
    const unsigned char *value = from->data + i * from->type.size;
    if (from->type.kind == SP_CLASSIC_VARIABLE_TEXT)
        return sp_classic_text(heap, bytes, context, value, out);
    size_t size = from->type.size;
    while (from->type.is_space_padded && size > 0 && value[size - 1] == ' ')
        size--;
    *out = sp_tree_text(context, value, size);
    return *out == NULL ? SP_CLASSIC_NO_MEMORY : SP_CLASSIC_OK;
}

static sp_classic_outcome read_texts(sp_classic_bytes *bytes, sp_classic_heap *heap,
                                     const attribute *from, sp_tree_context *context,
                                     sp_metadata_entry *out)
{
    size_t count = (size_t)from->space.count;
    const char **texts = sp_arena_array(&context->arena, count, sizeof *texts);
    sp_classic_outcome outcome = texts == NULL ? SP_CLASSIC_NO_MEMORY : SP_CLASSIC_OK;
    for (size_t i = 0; outcome == SP_CLASSIC_OK && i < count; i++)
        outcome = read_text(bytes, heap, from, context, i, &texts[i]);
    if (outcome != SP_CLASSIC_OK)
        return outcome;
    if (from->space.shape == SP_CLASSIC_SIMPLE) {
        out->kind = SP_VALUE_TEXT_LIST;
        out->list = texts;
        out->list_length = count;
    } else {
        out->kind = SP_VALUE_TEXT;
        out->text = count > 0 ? texts[0] : "";
    }
    return SP_CLASSIC_OK;
}

sp_classic_outcome sp_classic_attribute_value(sp_classic_bytes *bytes, sp_classic_heap *heap,
                                              const sp_classic_message *message,
                                              sp_tree_context *context, sp_metadata_entry *out,
                                              bool *is_known)
{
    attribute from;
    sp_classic_outcome outcome = load(bytes, message, &from);
    if (outcome != SP_CLASSIC_OK)
        return outcome;
    sp_classic_class kind = from.type.kind;
    bool is_text = kind == SP_CLASSIC_FIXED_TEXT || kind == SP_CLASSIC_VARIABLE_TEXT;
    bool is_number = kind == SP_CLASSIC_INTEGER || kind == SP_CLASSIC_REAL;
    *is_known = is_text || (is_number && from.space.count == 1);
    if (*is_known && from.space.count > from.data_size / from.type.size)
        outcome = SP_CLASSIC_BAD;
    else if (is_text)
        outcome = read_texts(bytes, heap, &from, context, out);
    else if (*is_known && kind == SP_CLASSIC_INTEGER) {
        out->kind = SP_VALUE_INTEGER;
        out->integer = sp_classic_signed(&from.type.number, from.data);
    } else if (*is_known) {
        out->kind = SP_VALUE_REAL;
        out->real = sp_classic_real(&from.type.number, from.data);
    }
    free(from.content);
    return outcome;
}
