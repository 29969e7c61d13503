/* live_json.c - a running program as one line of JSON. */
#include "base/error.h"
#include "base/json.h"
#include "scope_live.h"

#include <string.h>

static void add_name(sp_text *out, const char *key, const char *text)
{
    sp_text_format(out, "\"%s\": ", key);
    sp_json_string(out, text, strlen(text));
}

static void add_process(sp_text *out, const sp_live *live, size_t i)
{
    sp_live_process process = {.size = sizeof process};
    sp_live_process_at(live, i, &process);
    sp_text_format(out, "%s{\"pid\": %lld, \"rank\": %lld, ", i > 0 ? ", " : "",
                   (long long)process.pid, (long long)process.rank);
    add_name(out, "program", process.program);
    sp_text_add(out, ", ");
    add_name(out, "output", process.output);
    sp_text_format(out,
                   ", \"started_at_ns\": %lld, \"elapsed_ns\": %lld, \"is_running\": %s, "
                   "\"has_left\": %s, \"calls\": %llu, \"missing_calls\": %llu}",
                   (long long)process.started_at_ns, (long long)process.elapsed_ns,
                   process.is_running ? "true" : "false", process.has_left ? "true" : "false",
                   (unsigned long long)process.calls, (unsigned long long)process.missing_calls);
}

static void add_thread(sp_text *out, const sp_live *live, size_t i)
{
    sp_live_lane lane = {.size = sizeof lane};
    sp_live_process process = {.size = sizeof process};
    sp_live_lane_at(live, i, &lane);
    sp_live_process_at(live, lane.process, &process);
    sp_text_format(out, "%s{\"pid\": %lld, \"rank\": %lld, \"thread\": %u, \"native_id\": %lld, ",
                   i > 0 ? ", " : "", (long long)process.pid, (long long)process.rank, lane.lane,
                   (long long)lane.native_id);
    add_name(out, "name", lane.name);
    sp_text_format(out, ", \"calls\": %llu, \"open\": [", (unsigned long long)lane.calls);
    for (size_t k = 0; k < lane.num_open; k++) {
        sp_live_call call = {.size = sizeof call};
        sp_live_call_at(live, i, k, &call);
        sp_text_add(out, k > 0 ? ", {" : "{");
        add_name(out, "region", call.region);
        sp_text_format(out, ", \"depth\": %u, \"elapsed_ns\": %lld, \"own_ns\": %lld}", call.depth,
                       (long long)call.elapsed_ns, (long long)call.own_ns);
    }
    sp_text_add(out, "]}");
}

static void add_region(sp_text *out, const sp_live *live, size_t i)
{
    sp_live_region region = {.size = sizeof region};
    sp_live_region_at(live, i, &region);
    sp_text_add(out, i > 0 ? ", {" : "{");
    add_name(out, "name", region.name);
    sp_text_format(out,
                   ", \"calls\": %llu, \"open\": %llu, \"total_ns\": %lld, \"own_ns\": %lld, "
                   "\"calls_per_second\": ",
                   (unsigned long long)region.calls, (unsigned long long)region.open,
                   (long long)region.total_ns, (long long)region.own_ns);
    sp_json_real(out, region.calls_per_second);
    sp_text_add(out, ", \"share\": ");
    sp_json_real(out, region.share);
    sp_text_add(out, "}");
}

int sp_live_json(const sp_live *live, char **out_text, sp_error *error)
{
    sp_text out = {0};
    sp_text_add(&out, "{\"processes\": [");
    for (size_t i = 0; i < sp_live_num_processes(live); i++)
        add_process(&out, live, i);
    sp_text_add(&out, "], \"threads\": [");
    for (size_t i = 0; i < sp_live_num_lanes(live); i++)
        add_thread(&out, live, i);
    sp_text_add(&out, "], \"regions\": [");
    for (size_t i = 0; i < sp_live_num_regions(live); i++)
        add_region(&out, live, i);
    sp_text_add(&out, "]}\n");
    char *text = sp_text_take(&out);
    if (text == NULL)
        return sp_fail_memory(error, "writing JSON");
    *out_text = text;
    return SP_OK;
}
