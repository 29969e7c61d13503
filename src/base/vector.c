#include "base/vector.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool sp_vector_grow(void **items, size_t *room, size_t count, size_t extra, size_t item_size)
{
    if (extra <= *room - count)
        return true;
    if (extra > SIZE_MAX / 2 / item_size - count)
        return false;
    size_t wanted = count + extra;
    size_t grown = *room + *room / 2;
    if (grown < wanted)
        grown = wanted;
    if (grown < 16)
        grown = 16;
    /* `items` is the address of a typed pointer: read and write it by its bytes, as void* and T*
     * may not alias. */
    void *old;
    memcpy(&old, items, sizeof old);
    void *fresh = realloc(old, grown * item_size);
    if (fresh == NULL)
        return false;
    memcpy(items, &fresh, sizeof fresh);
    *room = grown;
    return true;
}

void sp_vector_free(void **items, size_t *count, size_t *room)
{
    void *old;
    memcpy(&old, items, sizeof old);
    free(old);
    old = NULL;
    memcpy(items, &old, sizeof old);
    *count = 0;
    *room = 0;
}
