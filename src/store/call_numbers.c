#include "store/call_numbers.h"

#include <stdlib.h>

bool sp_call_numbers_push(sp_call_numbers *numbers, uint64_t number)
{
    size_t n = numbers->runs.count;
    sp_number_run *runs = numbers->runs.items;
    numbers->count++;
    if (n > 0 && number == runs[n - 1].last + 1 && number != 0) {
        runs[n - 1].last = number;
        return true;
    }
    if (n > 0 && number + 1 == runs[n - 1].first && number != UINT64_MAX) {
        runs[n - 1].first = number;
        while (n > 1 && number != 0 && runs[n - 2].last + 1 == number) {
            runs[n - 2].last = runs[n - 1].last;
            n--;
        }
        numbers->runs.count = n;
        return true;
    }
    if (!sp_vector_reserve(&numbers->runs, 1))
        return false;
    numbers->runs.items[numbers->runs.count++] = (sp_number_run){.first = number, .last = number};
    return true;
}

static int compare_runs(const void *a, const void *b)
{
    uint64_t left = ((const sp_number_run *)a)->first, right = ((const sp_number_run *)b)->first;
    return (left > right) - (left < right);
}

bool sp_call_numbers_finish(sp_call_numbers *numbers)
{
    sp_number_run *runs = numbers->runs.items;
    size_t joined = 0;
    if (numbers->runs.count > 1)
        qsort(runs, numbers->runs.count, sizeof *runs, compare_runs);
    for (size_t i = 0; i < numbers->runs.count; i++) {
        if (joined > 0 && runs[i].first <= runs[joined - 1].last)
            return false;
        if (joined > 0 && runs[i].first == runs[joined - 1].last + 1)
            runs[joined - 1].last = runs[i].last;
        else
            runs[joined++] = runs[i];
    }
    numbers->runs.count = joined;
    uint64_t before = 0;
    for (size_t i = 0; i < joined; i++) {
        runs[i].before = before;
        before += runs[i].last - runs[i].first + 1;
    }
    return true;
}

int64_t sp_call_numbers_search(const sp_call_numbers *numbers, uint64_t number, size_t *hint)
{
    const sp_number_run *runs = numbers->runs.items;
    size_t low = 0, high = numbers->runs.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (runs[middle].last < number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == numbers->runs.count || number < runs[low].first)
        return -1;
    *hint = low;
    return (int64_t)(runs[low].before + (number - runs[low].first));
}

void sp_call_numbers_release(sp_call_numbers *numbers)
{
    sp_vector_release(&numbers->runs);
    numbers->count = 0;
}
