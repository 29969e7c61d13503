#include "store/hdf5/classic/heap.h"

#include "store/description.h"

#include <string.h>

enum { COLLECTION_BYTES = 16, OBJECT_BYTES = 16, INDEX_BITS = 16 };

static uint64_t place_key(uint32_t collection, unsigned index)
{
    return (uint64_t)collection << INDEX_BITS | index;
}

static bool note_object(sp_classic_heap *heap, uint32_t collection, unsigned index,
                        sp_classic_object object)
{
    uint32_t place = (uint32_t)heap->objects.count;
    if (heap->objects.count >= SP_NUMBER_NONE || !sp_vector_reserve(&heap->objects, 1) ||
        !sp_number_map_set(&heap->places, place_key(collection, index), place))
        return false;
    heap->objects.items[heap->objects.count++] = object;
    return true;
}

static sp_classic_outcome parse_objects(sp_classic_heap *heap, sp_classic_bytes *bytes,
                                        uint32_t collection, uint64_t at, uint64_t end)
{
    while (end - at >= OBJECT_BYTES) {
        unsigned char head[OBJECT_BYTES];
        if (!sp_classic_read(bytes, at, sizeof head, head))
            return SP_CLASSIC_BAD;
        unsigned index = SP_CLASSIC_U16(head);
        uint64_t size = SP_CLASSIC_U64(head + 8);
        if (index == 0) /* the free rest */
            return SP_CLASSIC_OK;
        at += OBJECT_BYTES;
        if (size > end - at)
            return SP_CLASSIC_BAD;
        if (!note_object(heap, collection, index, (sp_classic_object){at, size}))
            return SP_CLASSIC_NO_MEMORY;
        uint64_t padding = (8 - size % 8) % 8;
        at += size;
        at += padding < end - at ? padding : end - at;
    }
    return SP_CLASSIC_OK;
}

static sp_classic_outcome load_collection(sp_classic_heap *heap, sp_classic_bytes *bytes,
                                          uint64_t address, uint32_t *out)
{
    unsigned char head[COLLECTION_BYTES];
    if (!sp_classic_read(bytes, address, sizeof head, head) || memcmp(head, "GCOL", 4) != 0 ||
        head[4] != 1)
        return SP_CLASSIC_BAD;
    uint64_t size = SP_CLASSIC_U64(head + 8);
    /* Collections do not overlap, so together they are no larger than the file. */
    if (size < COLLECTION_BYTES || size > bytes->size - address ||
        size > bytes->size - heap->parsed)
        return SP_CLASSIC_BAD;
    heap->parsed += size;
    *out = (uint32_t)heap->collections.count;
    if (!sp_number_map_set(&heap->collections, address, *out))
        return SP_CLASSIC_NO_MEMORY;
    return parse_objects(heap, bytes, *out, address + COLLECTION_BYTES, address + size);
}

static sp_classic_outcome find_object(sp_classic_heap *heap, sp_classic_bytes *bytes,
                                      uint64_t address, uint32_t index, sp_classic_object *out)
{
    uint32_t collection = sp_number_map_get(&heap->collections, address);
    if (collection == SP_NUMBER_NONE) {
        sp_classic_outcome outcome = load_collection(heap, bytes, address, &collection);
        if (outcome != SP_CLASSIC_OK)
            return outcome;
    }
    uint32_t place = index >> INDEX_BITS == 0
                         ? sp_number_map_get(&heap->places, place_key(collection, index))
                         : SP_NUMBER_NONE;
    if (place == SP_NUMBER_NONE)
        return SP_CLASSIC_BAD;
    *out = heap->objects.items[place];
    return SP_CLASSIC_OK;
}

sp_classic_outcome sp_classic_text(sp_classic_heap *heap, sp_classic_bytes *bytes,
                                   sp_tree_context *context, const unsigned char *reference,
                                   const char **out)
{
    uint64_t length = SP_CLASSIC_U32(reference), address = SP_CLASSIC_U64(reference + 4);
    sp_classic_object object;
    *out = "";
    if (length == 0 || address == 0)
        return SP_CLASSIC_OK;
    sp_classic_outcome outcome =
        find_object(heap, bytes, address, SP_CLASSIC_U32(reference + 12), &object);
    if (outcome != SP_CLASSIC_OK)
        return outcome;
    if (length > object.size || length > context->text_budget)
        return SP_CLASSIC_BAD;
    context->text_budget -= length;
    char *text = sp_arena_alloc(&context->arena, (size_t)length + 1);
    if (text == NULL)
        return SP_CLASSIC_NO_MEMORY;
    if (!sp_classic_read(bytes, object.address, (size_t)length, text))
        return SP_CLASSIC_BAD;
    text[length] = '\0';
    *out = sp_store_utf8(&context->arena, text);
    return *out == NULL ? SP_CLASSIC_NO_MEMORY : SP_CLASSIC_OK;
}

void sp_classic_heap_release(sp_classic_heap *heap)
{
    sp_number_map_release(&heap->collections);
    sp_number_map_release(&heap->places);
    sp_vector_release(&heap->objects);
}
