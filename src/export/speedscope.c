/* speedscope.c - a run as evented profiles: what opens and closes on each lane, in order of time.
 *
 * Events must nest, intervals need not: crossing calls, and calls of lanes that nobody told apart. A
 * call that ends below others closes those above it at that instant and opens them again, so every
 * call is open exactly from its start to its end. */
#include "base/error.h"
#include "base/json.h"
#include "export/output.h"
#include "export/selection.h"
#include "results/moments.h"
#include "results/tree.h"
#include "results/walk.h"

#include <stdlib.h>

typedef struct lane_call {
    int64_t start, end;
    uint32_t frame, lane; /* lane: its number in order of appearance */
} lane_call;

/* An open call, and the earliest end of it and those below. */
typedef struct open_frame {
    int64_t end, earliest;
    uint32_t frame;
} open_frame;

typedef struct scope_writer {
    sp_output *out;
    sp_results *results;
    const sp_selection *selection;
    int64_t origin, span;
    uint32_t *frames; /* region to its number in the file */
    bool is_first_profile, is_first_event;
    /* Of the rank at hand. */
    SP_VECTOR(lane_call) calls;
    SP_VECTOR(int64_t) lanes; /* by number */
    sp_lane_map lane_map;
    SP_VECTOR(open_frame) open;
} scope_writer;

/* ---- Events ----------------------------------------------------------------------------------*/

static void add_event(scope_writer *w, char type, uint32_t frame, int64_t at)
{
    sp_output_add(w->out, w->is_first_event ? "\n" : ",\n");
    w->is_first_event = false;
    sp_output_add(w->out, type == 'O' ? "{\"type\":\"O\",\"frame\":" : "{\"type\":\"C\",\"frame\":");
    sp_output_integer(w->out, frame);
    sp_output_add(w->out, ",\"at\":");
    sp_output_decimal(w->out, sp_wrap_subtract(at, w->origin), 9);
    sp_output_add(w->out, "}");
}

static bool open_call(scope_writer *w, uint32_t frame, int64_t end)
{
    int64_t below = w->open.count == 0 ? INT64_MAX : w->open.items[w->open.count - 1].earliest;
    if (!sp_vector_reserve(&w->open, 1))
        return false;
    w->open.items[w->open.count++] = (open_frame){end, end < below ? end : below, frame};
    return true;
}

/* Closes the topmost call that ends at `at`, those above it for a moment. */
static void close_one(scope_writer *w, int64_t at)
{
    size_t which = w->open.count - 1;
    while (w->open.items[which].end != at)
        which--;
    for (size_t i = w->open.count; i-- > which;)
        add_event(w, 'C', w->open.items[i].frame, at);
    int64_t below = which == 0 ? INT64_MAX : w->open.items[which - 1].earliest;
    for (size_t i = which + 1; i < w->open.count; i++) {
        open_frame moved = w->open.items[i];
        add_event(w, 'O', moved.frame, at);
        below = moved.end < below ? moved.end : below;
        w->open.items[i - 1] = (open_frame){moved.end, below, moved.frame};
    }
    w->open.count--;
}

/* Closes what ends up to `time`. */
static void close_until(scope_writer *w, int64_t time)
{
    while (w->open.count > 0 && w->open.items[w->open.count - 1].earliest <= time)
        close_one(w, w->open.items[w->open.count - 1].earliest);
}

static bool add_calls(scope_writer *w, const lane_call *calls, size_t count)
{
    w->open.count = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t end = calls[i].end < calls[i].start ? calls[i].start : calls[i].end;
        close_until(w, calls[i].start);
        add_event(w, 'O', calls[i].frame, calls[i].start);
        if (!open_call(w, calls[i].frame, end))
            return false;
    }
    close_until(w, INT64_MAX);
    return true;
}

/* ---- Profiles --------------------------------------------------------------------------------*/

static bool add_profile(scope_writer *w, const char *name, const lane_call *calls, size_t count)
{
    sp_output_add(w->out, w->is_first_profile ? "\n" : ",\n");
    w->is_first_profile = false;
    w->is_first_event = true;
    sp_output_add(w->out, "{\"type\":\"evented\",\"name\":");
    sp_output_string(w->out, name);
    sp_output_add(w->out, ",\"unit\":\"seconds\",\"startValue\":0.0,\"endValue\":");
    sp_output_decimal(w->out, w->span, 9);
    sp_output_add(w->out, ",\"events\":[");
    bool done = add_calls(w, calls, count);
    sp_output_add(w->out, "]}");
    return done;
}

static int gather(void *context, const sp_call_window *window, sp_error *error)
{
    scope_writer *w = context;
    if (!sp_vector_reserve(&w->calls, window->count))
        return sp_fail_memory(error, "exporting a run");
    for (size_t i = 0; i < window->count; i++) {
        uint32_t region = w->results->rows.items[window->row[i]].region;
        int64_t lane = window->lane == NULL ? -1 : window->lane[i];
        if (!w->selection->regions[region])
            continue;
        uint32_t number = sp_lane_number(&w->lane_map, lane);
        if (number == SP_NUMBER_NONE || !sp_vector_reserve(&w->lanes, 1))
            return sp_fail_memory(error, "exporting a run");
        if (number == w->lanes.count)
            w->lanes.items[w->lanes.count++] = lane;
        w->calls.items[w->calls.count++] =
            (lane_call){window->start[i], window->end[i], w->frames[region], number};
    }
    return SP_OK;
}

/* The calls sorted by lane, otherwise in the same order; `starts` gets where each lane begins. NULL:
 * out of memory. */
static lane_call *sort_by_lane(const scope_writer *w, size_t *starts)
{
    lane_call *sorted = malloc((w->calls.count + 1) * sizeof *sorted);
    memset(starts, 0, (w->lanes.count + 2) * sizeof *starts);
    if (sorted == NULL)
        return NULL;
    for (size_t i = 0; i < w->calls.count; i++)
        starts[w->calls.items[i].lane + 2]++;
    for (size_t lane = 2; lane < w->lanes.count + 2; lane++)
        starts[lane] += starts[lane - 1];
    for (size_t i = 0; i < w->calls.count; i++)
        sorted[starts[w->calls.items[i].lane + 1]++] = w->calls.items[i];
    return sorted;
}

static bool add_lane(scope_writer *w, uint32_t rank, size_t lane, const lane_call *calls,
                     size_t count)
{
    sp_text name = {0};
    sp_text_format(&name, "rank %u - ", rank);
    sp_add_lane_label(&name, w->results, rank, w->lanes.items[lane]);
    bool done = !name.failed && add_profile(w, name.bytes, calls, count);
    sp_text_release(&name);
    return done;
}

static bool add_lanes(scope_writer *w, uint32_t rank)
{
    size_t *starts = malloc((w->lanes.count + 2) * sizeof *starts);
    lane_call *sorted = starts == NULL ? NULL : sort_by_lane(w, starts);
    bool done = sorted != NULL;
    for (size_t lane = 0; done && lane < w->lanes.count; lane++)
        done = add_lane(w, rank, lane, sorted + starts[lane], starts[lane + 1] - starts[lane]);
    free(sorted);
    free(starts);
    return done;
}

static bool rank_has_lanes(const sp_results *results, uint32_t rank)
{
    const unsigned lanes =
        SP_COLUMN_BIT(SP_COLUMN_THREAD_ID) | SP_COLUMN_BIT(SP_COLUMN_TASK_ID);
    for (uint32_t r = sp_run_first_row_of_rank(results, rank); r != SP_NO_ROW;
         r = results->rows.items[r].next_in_rank)
        if (results->rows.items[r].columns & lanes)
            return true;
    return false;
}

static int add_rank(scope_writer *w, uint32_t rank, sp_error *error)
{
    char name[32];
    bool done;
    w->calls.count = w->lanes.count = 0;
    sp_number_map_release(&w->lane_map.numbers);
    w->lane_map = (sp_lane_map){0};
    int status = sp_run_walk_windows(w->results, rank, 0, gather, w, error);
    if (status != SP_OK)
        return status;
    snprintf(name, sizeof name, "rank %u", rank);
    if (rank_has_lanes(w->results, rank) && w->lanes.count > 0)
        done = add_lanes(w, rank);
    else
        done = add_profile(w, name, w->calls.items, w->calls.count);
    return done ? SP_OK : sp_fail_memory(error, "exporting a run");
}

/* ---- The file --------------------------------------------------------------------------------*/

static int add_head(scope_writer *w, sp_error *error)
{
    uint32_t count = 0;
    sp_text label = {0};
    sp_selection_add_label(w->selection, w->results, &label);
    if (label.failed)
        return sp_fail_memory(error, "exporting a run");
    sp_output_add(w->out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                          "\"exporter\":\"scope-profiler@" SP_VERSION "\",\"name\":");
    sp_output_string(w->out, label.bytes);
    sp_output_add(w->out, ",\"activeProfileIndex\":0,\"shared\":{\"frames\":[");
    for (size_t i = 0; i < w->results->regions.count; i++) {
        if (!w->selection->regions[i])
            continue;
        sp_output_add(w->out, count == 0 ? "{\"name\":" : ",{\"name\":");
        sp_output_string(w->out, w->results->regions.items[i].name);
        sp_output_add(w->out, "}");
        w->frames[i] = count++;
    }
    sp_output_add(w->out, "]},\"profiles\":[");
    sp_text_release(&label);
    return SP_OK;
}

static int add_ranks(scope_writer *w, sp_error *error)
{
    uint32_t *ranks;
    size_t count;
    int status = sp_selection_ranks(w->selection, w->results, &ranks, &count, error);
    if (status != SP_OK)
        return status;
    for (size_t i = 0; status == SP_OK && i < count; i++)
        status = add_rank(w, ranks[i], error);
    if (count == 0)
        add_profile(w, "rank 0", NULL, 0); /* a file needs a profile */
    free(ranks);
    return status;
}

static int write_profiles(scope_writer *w, sp_error *error)
{
    sp_run_times times;
    int status = sp_results_times(w->results, &times, error);
    if (status != SP_OK)
        return status;
    w->origin = times.first_entry < 0 ? 0 : times.first_entry;
    w->span = times.first_entry < 0 ? 0 : sp_wrap_subtract(times.last_exit, times.first_entry);
    w->is_first_profile = true;
    w->frames = calloc(w->results->regions.count + 1, sizeof *w->frames);
    status = w->frames == NULL ? sp_fail_memory(error, "exporting a run") : add_head(w, error);
    if (status == SP_OK)
        status = add_ranks(w, error);
    sp_output_add(w->out, "\n]}\n");
    free(w->frames);
    sp_vector_release(&w->calls);
    sp_vector_release(&w->lanes);
    sp_vector_release(&w->open);
    sp_number_map_release(&w->lane_map.numbers);
    return status;
}

int sp_export_speedscope(sp_results *results, const sp_export_options *options, const char *path,
                         sp_error *error)
{
    sp_selection selection;
    sp_output out;
    int status = sp_selection_init(&selection, results, options, error);
    if (status != SP_OK)
        return status;
    status = sp_output_open_file(&out, path, false, error);
    if (status == SP_OK) {
        scope_writer w = {.out = &out, .results = results, .selection = &selection};
        status = sp_output_finish(&out, write_profiles(&w, error), error);
    }
    sp_selection_release(&selection);
    return status;
}
