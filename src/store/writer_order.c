#include "store/writer_order.h"

#include "base/error.h"

static int check_complete(const sp_writer_order *order, sp_error *error)
{
    if (order->given == order->announced)
        return SP_OK;
    return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                   "rank %u announced %llu calls but gave %llu",
                   (unsigned)order->ranks.items[order->ranks.count - 1],
                   (unsigned long long)order->announced, (unsigned long long)order->given);
}

static int count_calls(uint32_t rank, const sp_row *rows, size_t num_rows, uint64_t *out,
                       sp_error *error)
{
    uint64_t total = 0;
    for (size_t i = 0; i < num_rows; i++) {
        if (rows[i].rank != rank)
            return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "row '%s' of rank %u given to rank %u",
                           rows[i].region, (unsigned)rows[i].rank, (unsigned)rank);
        if (rows[i].count > INT64_MAX / sizeof(int64_t) - total)
            return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "rank %u has too many calls",
                           (unsigned)rank);
        total += rows[i].count;
    }
    *out = total;
    return SP_OK;
}

int sp_writer_order_rank(sp_writer_order *order, uint32_t rank, const sp_row *rows,
                         size_t num_rows, unsigned columns, sp_error *error)
{
    int status = check_complete(order, error);
    if (status != SP_OK)
        return status;
    for (size_t i = 0; i < order->ranks.count; i++)
        if (order->ranks.items[i] == rank)
            return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "rank %u is written twice",
                           (unsigned)rank);
    uint64_t announced = 0;
    status = order->is_aggregate ? SP_OK : count_calls(rank, rows, num_rows, &announced, error);
    if (status != SP_OK)
        return status;
    unsigned required = SP_COLUMN_BIT(SP_COLUMN_START) | SP_COLUMN_BIT(SP_COLUMN_DURATION);
    if (announced > 0 && (columns & required) != required)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "the calls of rank %u need start and duration", (unsigned)rank);
    if (!sp_vector_reserve(&order->ranks, 1))
        return sp_fail_memory(error, "writing a rank");
    order->ranks.items[order->ranks.count++] = rank;
    order->columns = columns & (SP_COLUMN_BIT(SP_COLUMN_COUNT) - 1);
    order->announced = announced;
    order->given = 0;
    return SP_OK;
}

int sp_writer_order_calls(sp_writer_order *order, size_t count,
                          const int64_t *const values[SP_COLUMN_COUNT], sp_error *error)
{
    if (count > order->announced - order->given)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "more calls than the %llu that the rank announced",
                       (unsigned long long)order->announced);
    for (int c = 0; c < SP_COLUMN_COUNT; c++)
        if (count > 0 && (order->columns & SP_COLUMN_BIT(c)) != 0 && values[c] == NULL)
            return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "column %d was announced but not given",
                           c);
    order->given += count;
    return SP_OK;
}

int sp_writer_order_commit(const sp_writer_order *order, sp_error *error)
{
    return check_complete(order, error);
}

void sp_writer_order_release(sp_writer_order *order)
{
    sp_vector_release(&order->ranks);
}
