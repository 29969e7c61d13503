/* call_numbers.h - which begin numbers of a lane are in a file, and the rank of each among them.
 * Kept as runs of consecutive numbers: in records of nested calls, which come in order of the ends,
 * there are never more runs than open calls, and at the end usually one. */
#ifndef SP_STORE_CALL_NUMBERS_H
#define SP_STORE_CALL_NUMBERS_H

#include "base/vector.h"

#include <stdint.h>

typedef struct sp_number_run {
    uint64_t first, last;
    uint64_t before; /* numbers in the runs before; after sp_call_numbers_finish */
} sp_number_run;

/* Zeroed memory is empty. */
typedef struct sp_call_numbers {
    SP_VECTOR(sp_number_run) runs;
    uint64_t count;
} sp_call_numbers;

/* Adds a number that is not there yet; false when memory is short. */
bool sp_call_numbers_push(sp_call_numbers *numbers, uint64_t number);

/* The same; the two common cases here: the next sibling, and the parent of what came just before. */
static inline bool sp_call_numbers_add(sp_call_numbers *numbers, uint64_t number)
{
    size_t n = numbers->runs.count;
    if (n == 0)
        return sp_call_numbers_push(numbers, number);
    sp_number_run *top = &numbers->runs.items[n - 1];
    if (number == top->last + 1 && number != 0)
        top->last = number;
    else if (number + 1 == top->first && number < top->first &&
             (n == 1 || number > top[-1].last + 1))
        top->first = number;
    else
        return sp_call_numbers_push(numbers, number);
    numbers->count++;
    return true;
}

/* Sorts and joins the runs; false when a number was added twice. Nothing is added afterwards. */
bool sp_call_numbers_finish(sp_call_numbers *numbers);

/* Rank of the number, -1 when it is not there. `*hint` is the run found last (0 to begin with). */
int64_t sp_call_numbers_search(const sp_call_numbers *numbers, uint64_t number, size_t *hint);

static inline int64_t sp_call_numbers_rank(const sp_call_numbers *numbers, uint64_t number,
                                           size_t *hint)
{
    if (numbers->runs.count > 0) {
        const sp_number_run *run = &numbers->runs.items[*hint];
        if (number >= run->first && number <= run->last)
            return (int64_t)(run->before + (number - run->first));
    }
    return sp_call_numbers_search(numbers, number, hint);
}

void sp_call_numbers_release(sp_call_numbers *numbers);

#endif
