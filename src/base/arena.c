#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 * 1024 };

struct sp_arena_block {
    sp_arena_block *next;
    alignas(max_align_t) char bytes[];
};

static size_t round_up(size_t size)
{
    size_t unit = alignof(max_align_t);
    return (size + unit - 1) / unit * unit;
}

/* A request larger than a block gets a block of its own, so it never wastes the current one. */
static void *alloc_block(sp_arena *arena, size_t size, size_t room)
{
    sp_arena_block *block = malloc(sizeof *block + room);
    if (block == NULL)
        return NULL;
    if (room > size || arena->blocks == NULL) {
        block->next = arena->blocks;
        arena->blocks = block;
        arena->used = size;
        arena->room = room;
    } else {
        block->next = arena->blocks->next;
        arena->blocks->next = block;
    }
    return block->bytes;
}

void *sp_arena_alloc(sp_arena *arena, size_t size)
{
    if (size > SIZE_MAX - sizeof(sp_arena_block) - alignof(max_align_t))
        return NULL;
    size = round_up(size == 0 ? 1 : size);
    if (arena->room - arena->used >= size) {
        void *out = arena->blocks->bytes + arena->used;
        arena->used += size;
        return out;
    }
    return alloc_block(arena, size, size > BLOCK_BYTES / 4 ? size : (size_t)BLOCK_BYTES);
}

void *sp_arena_array(sp_arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        return NULL;
    void *out = sp_arena_alloc(arena, count * size);
    if (out != NULL)
        memset(out, 0, count * size);
    return out;
}

char *sp_arena_text_n(sp_arena *arena, const char *text, size_t length)
{
    if (length == SIZE_MAX)
        return NULL;
    char *out = sp_arena_alloc(arena, length + 1);
    if (out == NULL)
        return NULL;
    if (length > 0)
        memcpy(out, text, length);
    out[length] = '\0';
    return out;
}

char *sp_arena_text(sp_arena *arena, const char *text)
{
    return sp_arena_text_n(arena, text, strlen(text));
}

void sp_arena_release(sp_arena *arena)
{
    for (sp_arena_block *block = arena->blocks; block != NULL;) {
        sp_arena_block *next = block->next;
        free(block);
        block = next;
    }
    *arena = (sp_arena){0};
}
