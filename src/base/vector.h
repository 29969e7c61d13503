/* vector.h - an array that grows.
 *
 *     SP_VECTOR(int64_t) starts = {0};
 *     if (!sp_vector_reserve(&starts, 1)) ... out of memory
 *     starts.items[starts.count++] = t;
 *     sp_vector_release(&starts);
 *
 * Zeroed memory is an empty vector. Growth is by half again, so pushing n items costs O(n). */
#ifndef SP_BASE_VECTOR_H
#define SP_BASE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>

#define SP_VECTOR(type)                                                                            \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, room;                                                                        \
    }

/* Makes room for `extra` more items; false when memory is short (nothing changed). */
#define sp_vector_reserve(vector, extra)                                                           \
    ((extra) <= (vector)->room - (vector)->count ||                                                \
     sp_vector_grow((void **)&(vector)->items, &(vector)->room, (vector)->count, (extra),          \
                    sizeof *(vector)->items))

#define sp_vector_release(vector) sp_vector_free((void **)&(vector)->items, &(vector)->count,      \
                                                 &(vector)->room)

bool sp_vector_grow(void **items, size_t *room, size_t count, size_t extra, size_t item_size);
void sp_vector_free(void **items, size_t *count, size_t *room);

#endif
