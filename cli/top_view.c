#include "top_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a deep stack the outermost calls and the innermost ones. */
enum { OUTERMOST = 4, INNERMOST = 12, MOST_THREADS = 32, NUMBERS_WIDTH = 63, LEAST_NAME = 12 };

static const char bold[] = "\033[1m", plain[] = "\033[0m";

/* Time with about four digits. */
static void print_time(char *out, size_t room, int64_t ns)
{
    double value = (double)ns;
    if (ns >= INT64_C(1000000000))
        snprintf(out, room, "%.3f s", value / 1e9);
    else if (ns >= 1000000)
        snprintf(out, room, "%.3f ms", value / 1e6);
    else
        snprintf(out, room, "%.3f us", value / 1e3);
}

/* A name in so many columns; bytes that a terminal would obey are replaced, and a character of
 * several bytes is never cut. */
static void print_name(const char *name, size_t columns)
{
    size_t used = 0;
    const char *at = name;
    for (; *at != '\0' && (columns == 0 || used < columns); used++) {
        putchar((unsigned char)*at < ' ' || *at == 127 ? '?' : *at);
        for (at++; (*at & 0xc0) == 0x80; at++)
            putchar(*at);
    }
    for (; used < columns; used++)
        putchar(' ');
}

static void print_process(const sp_live *live, size_t i, const cli_top_options *options)
{
    sp_live_process process = {.size = sizeof process};
    sp_live_process_at(live, i, &process);
    printf("%srank %" PRId64 "  process %" PRId64 " (", options->has_color ? bold : "", process.rank,
           process.pid);
    print_name(process.program, 0);
    printf(")  %.1f s  %" PRIu64 " call(s)%s  ", (double)process.elapsed_ns / 1e9, process.calls,
           process.is_running ? "" : "  ended");
    print_name(process.output, 0);
    printf("%s\n", options->has_color ? plain : "");
    if (process.missing_calls > 0)
        printf("  %" PRIu64 " call(s) that were recorded are not found\n", process.missing_calls);
}

static void print_call(const sp_live *live, size_t lane, size_t i, size_t width)
{
    sp_live_call call = {.size = sizeof call};
    char elapsed[32], own[32];
    sp_live_call_at(live, lane, i, &call);
    size_t indent = call.depth < 16 ? call.depth : 16;
    print_time(elapsed, sizeof elapsed, call.elapsed_ns);
    print_time(own, sizeof own, call.own_ns);
    printf("    %*s", (int)indent, "");
    print_name(call.region, width > indent + LEAST_NAME ? width - indent : LEAST_NAME);
    printf("  %14s  own %14s\n", elapsed, own);
}

static void print_lane(const sp_live *live, size_t i, size_t width)
{
    sp_live_lane lane = {.size = sizeof lane};
    sp_live_lane_at(live, i, &lane);
    printf("  thread %u", lane.lane);
    if (lane.native_id >= 0)
        printf(" (%" PRId64 ")", lane.native_id);
    if (lane.name[0] != '\0') {
        putchar(' ');
        print_name(lane.name, 0);
    }
    printf(": %" PRIu64 " call(s), %zu open\n", lane.calls, lane.num_open);
    size_t most = OUTERMOST + INNERMOST;
    for (size_t k = 0; k < lane.num_open; k++) {
        if (lane.num_open > most && k == OUTERMOST) {
            k = lane.num_open - INNERMOST;
            printf("    ... %zu more ...\n", k - OUTERMOST);
        }
        print_call(live, i, k, width);
    }
}

static void print_processes(const sp_live *live, const cli_top_options *options, size_t width)
{
    size_t lane = 0, num_lanes = sp_live_num_lanes(live), left_out = 0;
    for (size_t i = 0; i < sp_live_num_processes(live); i++) {
        print_process(live, i, options);
        for (; lane < num_lanes; lane++) {
            sp_live_lane info = {.size = sizeof info};
            sp_live_lane_at(live, lane, &info);
            if (info.process != i)
                break;
            if (lane < MOST_THREADS)
                print_lane(live, lane, width);
            else
                left_out++;
        }
    }
    if (left_out > 0)
        printf("  ... %zu more thread(s) ...\n", left_out);
}

static void print_region(const sp_live *live, size_t i, size_t width)
{
    sp_live_region region = {.size = sizeof region};
    char total[32], own[32];
    sp_live_region_at(live, i, &region);
    print_time(total, sizeof total, region.total_ns);
    print_time(own, sizeof own, region.own_ns);
    print_name(region.name, width);
    printf("  %5.1f%%  %12" PRIu64 "  %12.1f  %12s  %12s\n", 100.0 * region.share, region.calls,
           region.calls_per_second, total, own);
}

void cli_top_print(const sp_live *live, const cli_top_options *options)
{
    size_t width = options->columns > NUMBERS_WIDTH + LEAST_NAME ? options->columns - NUMBERS_WIDTH
                   : options->columns == 0                       ? 40
                                                                 : LEAST_NAME;
    size_t count = sp_live_num_regions(live);
    size_t shown = count < options->regions ? count : options->regions;
    print_processes(live, options, width);
    printf("\n%s", options->has_color ? bold : "");
    print_name("region", width);
    printf("  %6s  %12s  %12s  %12s  %12s%s\n", "share", "calls", "calls/s", "total", "own",
           options->has_color ? plain : "");
    for (size_t i = 0; i < shown; i++)
        print_region(live, i, width);
    if (shown < count)
        printf("... %zu more region(s)\n", count - shown);
}
