#include "base/number_bytes.h"
#include "store/assemble_int.h"

#include <stdlib.h>

static int damaged(sp_assembler *a)
{
    return sp_fail(a->error, SP_ERR_DAMAGED, "log block: device times that do not add up");
}

static int add_time(sp_assembler *a, uint64_t ticket, uint64_t ns)
{
    if (ns > INT64_MAX)
        return damaged(a);
    if (!sp_vector_reserve(&a->device.times, 1))
        return sp_fail_memory(a->error, "device times");
    a->device.times.items[a->device.times.count++] =
        (sp_device_time){.ticket = ticket, .ns = (int64_t)ns};
    return SP_OK;
}

int sp_assemble_device_side(sp_assembler *a, const sp_walk_side *side)
{
    const uint8_t *at = (const uint8_t *)side->payload, *end = at + side->bytes;
    uint64_t own, ticket, ns;
    if (!sp_get_number(&at, end, &own))
        return damaged(a);
    if (own > 0) {
        if (!sp_vector_reserve(&a->device.calls, 1))
            return sp_fail_memory(a->error, "device times");
        a->device.calls.items[a->device.calls.count++] =
            (sp_device_call){.id = (int64_t)side->number,
                             .ticket = own - 1,
                             .ns = -1,
                             .lane = side->lane,
                             .region = side->region};
    }
    int status = SP_OK;
    while (status == SP_OK && at < end)
        status = sp_get_number(&at, end, &ticket) && sp_get_number(&at, end, &ns)
                     ? add_time(a, ticket, ns)
                     : damaged(a);
    return status;
}

static int compare_tickets(const void *left, const void *right)
{
    const sp_device_call *a = left, *b = right;
    return (a->ticket > b->ticket) - (a->ticket < b->ticket);
}

static int compare_ids(const void *left, const void *right)
{
    const sp_device_call *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

static void join(sp_device_calls *device, const sp_device_time *times, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sp_device_call key = {.ticket = times[i].ticket};
        sp_device_call *call =
            bsearch(&key, device->calls.items, device->calls.count, sizeof key, compare_tickets);
        if (call != NULL)
            call->ns = times[i].ns;
    }
}

int sp_assemble_device_times(sp_assembler *a)
{
    sp_device_calls *device = &a->device;
    if (device->calls.count == 0)
        return SP_OK;
    qsort(device->calls.items, device->calls.count, sizeof *device->calls.items, compare_tickets);
    join(device, device->times.items, device->times.count);
    join(device, a->in->device_times, a->in->num_device_times);
    sp_vector_release(&device->times);
    for (size_t i = 0; i < device->calls.count; i++) {
        sp_device_call *call = &device->calls.items[i];
        sp_assemble_row *row = &a->rows.items[a->row_of.items[call->region]];
        call->id = sp_assembler_id(a, call->lane, (uint64_t)call->id);
        row->device_count += call->ns >= 0;
        row->device_total += call->ns >= 0 ? (uint64_t)call->ns : 0;
    }
    qsort(device->calls.items, device->calls.count, sizeof *device->calls.items, compare_ids);
    return SP_OK;
}

int64_t sp_assemble_device_ns(sp_assembler *a, int64_t id)
{
    sp_device_calls *device = &a->device;
    size_t low = 0, high = device->calls.count;
    if (device->hint < high && device->calls.items[device->hint].id == id)
        return device->calls.items[device->hint++].ns;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (device->calls.items[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_there = low < device->calls.count && device->calls.items[low].id == id;
    device->hint = low + is_there;
    return is_there ? device->calls.items[low].ns : -1;
}

void sp_assemble_device_release(sp_device_calls *device)
{
    sp_vector_release(&device->calls);
    sp_vector_release(&device->times);
}
