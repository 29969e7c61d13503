/* writer_order.h - holds callers of a store writer to the order of calls that scope_plugin.h asks
 * for, the same for every store. */
#ifndef SP_STORE_WRITER_ORDER_H
#define SP_STORE_WRITER_ORDER_H

#include "base/vector.h"
#include "scope_plugin.h"

/* Zeroed memory is the state before the first rank. */
typedef struct sp_writer_order {
    SP_VECTOR(uint32_t) ranks; /* begun so far */
    unsigned columns;          /* of the current rank */
    uint64_t announced, given; /* calls of the current rank */
    bool is_aggregate;
} sp_writer_order;

/* Each checks one call of the writer and notes it. */
int sp_writer_order_rank(sp_writer_order *order, uint32_t rank, const sp_row *rows,
                         size_t num_rows, unsigned columns, sp_error *error);
int sp_writer_order_calls(sp_writer_order *order, size_t count,
                          const int64_t *const values[SP_COLUMN_COUNT], sp_error *error);
int sp_writer_order_commit(const sp_writer_order *order, sp_error *error);

void sp_writer_order_release(sp_writer_order *order);

#endif
