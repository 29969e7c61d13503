#include "store/call_order.h"

#include <string.h>

enum { SHORT_RUN = 16 };

static void reverse(sp_ordered_call *calls, size_t count)
{
    for (size_t i = 0; i + i + 1 < count; i++) {
        sp_ordered_call kept = calls[i];
        calls[i] = calls[count - 1 - i];
        calls[count - 1 - i] = kept;
    }
}

/* Sorts `count` calls of which the first `sorted` are in order. */
static void insert(sp_ordered_call *calls, size_t sorted, size_t count)
{
    for (size_t i = sorted; i < count; i++) {
        sp_ordered_call call = calls[i];
        size_t at = i;
        for (; at > 0 && sp_call_before(&call, &calls[at - 1]); at--)
            calls[at] = calls[at - 1];
        calls[at] = call;
    }
}

static size_t ascending(const sp_ordered_call *calls, size_t count)
{
    size_t length = count > 0 ? 1 : 0;
    while (length < count && !sp_call_before(&calls[length], &calls[length - 1]))
        length++;
    return length;
}

/* Makes an ordered run at the front, at least SHORT_RUN long if there are so many; its length. */
static size_t make_run(sp_ordered_call *calls, size_t count)
{
    size_t length = ascending(calls, count);
    if (length == 1) {
        while (length < count && sp_call_before(&calls[length], &calls[length - 1]))
            length++;
        reverse(calls, length);
    }
    if (length < SHORT_RUN && length < count) {
        size_t wanted = count < SHORT_RUN ? count : SHORT_RUN;
        insert(calls, length, wanted);
        length = wanted;
    }
    return length;
}

static void merge_forward(sp_ordered_call *calls, size_t left, size_t count,
                          sp_ordered_call *spare)
{
    memcpy(spare, calls, left * sizeof *calls);
    size_t i = 0, j = left, at = 0;
    while (i < left && j < count) {
        if (sp_call_before(&calls[j], &spare[i]))
            calls[at++] = calls[j++];
        else
            calls[at++] = spare[i++];
    }
    memcpy(calls + at, spare + i, (left - i) * sizeof *calls);
}

static void merge_backward(sp_ordered_call *calls, size_t left, size_t count,
                           sp_ordered_call *spare)
{
    size_t i = left, j = count - left, at = count;
    memcpy(spare, calls + left, j * sizeof *calls);
    while (i > 0 && j > 0) {
        if (sp_call_before(&spare[j - 1], &calls[i - 1]))
            calls[--at] = calls[--i];
        else
            calls[--at] = spare[--j];
    }
    memcpy(calls + at - j, spare, j * sizeof *calls);
}

static void merge(sp_ordered_call *calls, size_t left, size_t count, sp_ordered_call *spare)
{
    if (!sp_call_before(&calls[left], &calls[left - 1]))
        return;
    if (left <= count - left)
        merge_forward(calls, left, count, spare);
    else
        merge_backward(calls, left, count, spare);
}

void sp_sort_calls(sp_ordered_call *calls, size_t count, sp_ordered_call *spare)
{
    if (ascending(calls, count) == count)
        return;
    for (size_t at = 0; at < count;)
        at += make_run(calls + at, count - at);
    for (bool is_sorted = false; !is_sorted;) {
        is_sorted = true;
        for (size_t at = 0; at < count;) {
            size_t left = ascending(calls + at, count - at);
            size_t right = ascending(calls + at + left, count - at - left);
            if (right > 0)
                merge(calls + at, left, left + right, spare);
            is_sorted = is_sorted && left + right == count;
            at += left + right;
        }
    }
}
