/* ranges.c - every call of a recording as a range of an NVTX tool. */
#include "backends/nvtx/ranges.h"
#include "backends/nvtx/tool.h"
#include "base/colour.h"
#include "base/error.h"
#include "base/vector.h"

#include <stdlib.h>

/* Colours of a tool say how much shows through. */
static const uint32_t OPAQUE = UINT32_C(0xff) << 24;

/* How a region looks, made at its first call on the thread. */
typedef struct region_look {
    const nvtx_string *string; /* NULL: the tool keeps none */
    uint32_t colour;           /* 0: not made yet */
} region_look;

typedef struct open_range {
    uint64_t number, range;
} open_range;

typedef struct thread_ranges {
    SP_VECTOR(region_look) looks; /* by region */
    SP_VECTOR(open_range) open;
} thread_ranges;

static bool attach_thread(void *context, void **out_state, sp_error *error)
{
    (void)context;
    *out_state = calloc(1, sizeof(thread_ranges));
    if (*out_state == NULL)
        sp_fail_memory(error, "the NVTX ranges of a thread");
    return *out_state != NULL;
}

/* What is open has no end any more, but the tool shall not wait for it. */
static void detach_thread(void *context, void *state)
{
    const nvtx_tool *tool = context;
    thread_ranges *ranges = state;
    while (ranges->open.count > 0)
        tool->range_end(tool->domain, ranges->open.items[--ranges->open.count].range);
    sp_vector_release(&ranges->looks);
    sp_vector_release(&ranges->open);
    free(ranges);
}

/* NULL: memory is short. */
static const region_look *look_of(const nvtx_tool *tool, thread_ranges *ranges,
                                  const sp_instrument_call *call)
{
    size_t at = (size_t)call->region;
    if (at >= ranges->looks.count) {
        size_t missing = at + 1 - ranges->looks.count;
        if (!sp_vector_reserve(&ranges->looks, missing))
            return NULL;
        for (; missing > 0; missing--)
            ranges->looks.items[ranges->looks.count++] = (region_look){0};
    }
    region_look *look = &ranges->looks.items[at];
    if (look->colour == 0) {
        look->colour = OPAQUE | sp_colour_of_region(call->name);
        if (tool->register_string != NULL)
            look->string = tool->register_string(tool->domain, call->name);
    }
    return look;
}

static void begin(void *context, void *state, const sp_instrument_call *call)
{
    const nvtx_tool *tool = context;
    thread_ranges *ranges = state;
    const region_look *look = look_of(tool, ranges, call);
    if (look == NULL || !sp_vector_reserve(&ranges->open, 1))
        return;
    nvtx_attributes attributes = {
        .version = NVTX_VERSION,
        .size = sizeof attributes,
        .colour_kind = NVTX_COLOUR_ARGB,
        .colour = look->colour,
        .payload_kind = NVTX_PAYLOAD_UNSIGNED,
        .payload.number = call->number,
        .message_kind = NVTX_MESSAGE_REGISTERED,
        .message.string = look->string,
    };
    if (look->string == NULL) {
        attributes.message_kind = NVTX_MESSAGE_TEXT;
        attributes.message.text = call->name;
    }
    uint64_t range = tool->range_start(tool->domain, &attributes);
    ranges->open.items[ranges->open.count++] = (open_range){call->number, range};
}

/* Calls may end in any order; nearly always it is the last one. */
static size_t end(void *context, void *state, const sp_instrument_call *call, char *payload)
{
    const nvtx_tool *tool = context;
    thread_ranges *ranges = state;
    (void)payload;
    for (size_t i = ranges->open.count; i-- > 0;) {
        if (ranges->open.items[i].number != call->number)
            continue;
        tool->range_end(tool->domain, ranges->open.items[i].range);
        for (; i + 1 < ranges->open.count; i++)
            ranges->open.items[i] = ranges->open.items[i + 1];
        ranges->open.count--;
        break;
    }
    return 0;
}

int sp_instrument_module(const sp_instrument_request *request, sp_instrument *out, sp_error *error)
{
    (void)request;
    sp_error trouble = {0};
    const nvtx_tool *tool = sp_nvtx_tool(&trouble);
    if (tool == NULL) {
        if (error != NULL)
            *error = trouble;
        return trouble.status;
    }
    *out = (sp_instrument){
        .size = sizeof *out,
        .version = SP_INSTRUMENT_VERSION,
        .name = "nvtx",
        .context = (void *)(uintptr_t)tool,
        .attach_thread = attach_thread,
        .detach_thread = detach_thread,
        .begin = begin,
        .end = end,
    };
    return SP_OK;
}
