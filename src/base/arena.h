/* arena.h - allocation that is given back all at once: names, texts and tables of a run. */
#ifndef SP_BASE_ARENA_H
#define SP_BASE_ARENA_H

#include <stddef.h>

typedef struct sp_arena_block sp_arena_block;

/* Zeroed memory is an empty arena. One thread at a time. */
typedef struct sp_arena {
    sp_arena_block *blocks;
    size_t used, room; /* in the newest block */
} sp_arena;

/* `size` bytes aligned for any type, or NULL. Zero bytes give a valid pointer. */
void *sp_arena_alloc(sp_arena *arena, size_t size);
/* The same for `count` items, zeroed; NULL also when count * size overflows. */
void *sp_arena_array(sp_arena *arena, size_t count, size_t size);
/* Copy of a text with its terminator; of `length` bytes plus a terminator. */
char *sp_arena_text(sp_arena *arena, const char *text);
char *sp_arena_text_n(sp_arena *arena, const char *text, size_t length);

/* Frees everything; the arena is empty and usable again. */
void sp_arena_release(sp_arena *arena);

#endif
