/* call_order.h - sorting the calls of a row by (start, id). They come nearly sorted: the calls of a
 * thread are in order, a recursion is in reverse. */
#ifndef SP_STORE_CALL_ORDER_H
#define SP_STORE_CALL_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sp_ordered_call {
    int64_t start, duration, id, parent;
} sp_ordered_call;

static inline bool sp_call_before(const sp_ordered_call *a, const sp_ordered_call *b)
{
    return a->start < b->start || (a->start == b->start && a->id < b->id);
}

/* Merges the runs that are there. `spare` has room for count / 2 calls. */
void sp_sort_calls(sp_ordered_call *calls, size_t count, sp_ordered_call *spare);

#endif
