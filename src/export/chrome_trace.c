/* chrome_trace.c - a run as trace events. One complete event a call, in order of time, so that an
 * enclosing call comes before those inside it. */
#include "base/error.h"
#include "base/json.h"
#include "export/call_metadata.h"
#include "export/output.h"
#include "export/selection.h"
#include "results/moments.h"
#include "results/walk.h"

#include <stdlib.h>

#define CATEGORY "scope-profiler"

#define SEEN (UINT32_MAX - 1) /* in the place of a task's row */

/* What is the same for all calls of a row. */
typedef struct row_text {
    char *before; /* up to the number of the lane */
    char *after;  /* from behind the arguments */
    sp_call_metadata metadata;
} row_text;

typedef struct tracer {
    sp_output *out;
    sp_results *results;
    const sp_selection *selection;
    int64_t origin, run_start; /* run_start -1: not known */
    row_text *rows;            /* of the run; of the rank at hand filled */
    /* Of the rank at hand. */
    uint32_t rank;
    int64_t num_threads;    /* tasks are numbered behind them, unknown lanes behind those */
    int64_t num_tasks;
    sp_number_map new_tasks; /* task to its row, while no call of it was seen */
    bool saw_unknown_lane;
    bool is_first; /* no event yet */
} tracer;

static void begin_event(tracer *t)
{
    sp_output_add(t->out, t->is_first ? "\n" : ",\n");
    t->is_first = false;
}

/* Microseconds on the time axis of the trace. */
static void add_time(tracer *t, int64_t ns)
{
    sp_output_decimal(t->out, sp_wrap_subtract(ns, t->origin), 3);
}

/* ---- Names -----------------------------------------------------------------------------------*/

static void add_name(tracer *t, const char *what, int64_t lane, const char *name)
{
    begin_event(t);
    sp_output_print(t->out, "{\"ph\":\"M\",\"pid\":%u,\"tid\":", t->rank);
    sp_output_integer(t->out, lane);
    sp_output_print(t->out, ",\"name\":\"%s\",\"args\":{\"name\":", what);
    sp_output_string(t->out, name);
    sp_output_add(t->out, "}}");
}

static int64_t number_of_lane(const tracer *t, int64_t lane)
{
    if (lane >= 0)
        return sp_wrap_add(t->num_threads, lane);
    return lane < -1 ? -2 - lane : sp_wrap_add(t->num_threads, t->num_tasks);
}

static int add_lane_name(tracer *t, int64_t lane, sp_error *error)
{
    sp_text label = {0};
    sp_add_lane_label(&label, t->results, t->rank, lane);
    if (label.failed)
        return sp_fail_memory(error, "exporting a trace");
    add_name(t, "thread_name", number_of_lane(t, lane), label.bytes);
    sp_text_release(&label);
    return SP_OK;
}

/* Counts the lanes of the rank; their indices are small numbers in every sane file. */
static bool count_lanes(tracer *t)
{
    t->num_threads = t->num_tasks = 0;
    sp_number_map_release(&t->new_tasks);
    for (size_t i = 0; i < t->results->threads.count; i++) {
        const sp_thread_row *thread = t->results->threads.items[i];
        if (thread->rank == t->rank && thread->index >= t->num_threads)
            t->num_threads = sp_wrap_add(thread->index, 1);
    }
    for (size_t i = 0; i < t->results->tasks.count; i++) {
        const sp_task_row *task = t->results->tasks.items[i];
        if (task->rank != t->rank)
            continue;
        if (task->index >= t->num_tasks)
            t->num_tasks = sp_wrap_add(task->index, 1);
        if (!sp_number_map_set(&t->new_tasks, (uint64_t)task->index, (uint32_t)i))
            return false;
    }
    return true;
}

static int add_names(tracer *t, sp_error *error)
{
    char process[32];
    size_t named = 0;
    int status = SP_OK;
    snprintf(process, sizeof process, "rank %u", t->rank);
    add_name(t, "process_name", 0, process);
    for (size_t i = 0; status == SP_OK && i < t->results->threads.count; i++)
        if (t->results->threads.items[i]->rank == t->rank) {
            status = add_lane_name(t, -2 - t->results->threads.items[i]->index, error);
            named++;
        }
    for (size_t i = 0; status == SP_OK && i < t->results->tasks.count; i++)
        if (t->results->tasks.items[i]->rank == t->rank) {
            status = add_lane_name(t, t->results->tasks.items[i]->index, error);
            named++;
        }
    if (status == SP_OK && named == 0)
        add_name(t, "thread_name", 0, "main");
    return status;
}

/* ---- Rows ------------------------------------------------------------------------------------*/

static bool is_selected(const tracer *t, uint32_t row)
{
    return t->selection->regions[t->results->rows.items[row].region];
}

static void describe_row(const tracer *t, const sp_row *row, sp_text *before, sp_text *after)
{
    sp_text_add(before, "{\"ph\":\"X\",\"cat\":\"" CATEGORY "\",\"name\":");
    sp_json_string(before, row->region, strlen(row->region));
    sp_text_format(before, ",\"pid\":%u,\"tid\":", t->rank);
    if (row->source_file != NULL && row->source_file[0] != '\0') {
        sp_text_add(after, ",\"source_file\":");
        sp_json_string(after, row->source_file, strlen(row->source_file));
        if (row->source_line >= 0)
            sp_text_format(after, ",\"source_line\":%lld", (long long)row->source_line);
    }
    sp_text_add(after, "}}");
}

static int describe_rows(tracer *t, sp_error *error)
{
    int status = SP_OK;
    for (uint32_t r = sp_run_first_row_of_rank(t->results, t->rank);
         status == SP_OK && r != SP_NO_ROW; r = t->results->rows.items[r].next_in_rank) {
        sp_text before = {0}, after = {0};
        if (!is_selected(t, r))
            continue;
        describe_row(t, t->results->rows.items[r].row, &before, &after);
        t->rows[r].before = sp_text_take(&before);
        t->rows[r].after = sp_text_take(&after);
        status = t->rows[r].before == NULL || t->rows[r].after == NULL
                     ? sp_fail_memory(error, "exporting a trace")
                     : sp_call_metadata_split(t->results->rows.items[r].row, &t->rows[r].metadata,
                                              error);
    }
    return status;
}

static void forget_rows(tracer *t)
{
    for (uint32_t r = sp_run_first_row_of_rank(t->results, t->rank); r != SP_NO_ROW;
         r = t->results->rows.items[r].next_in_rank) {
        free(t->rows[r].before);
        free(t->rows[r].after);
        sp_call_metadata_release(&t->rows[r].metadata);
        t->rows[r] = (row_text){0};
    }
}

/* ---- Calls -----------------------------------------------------------------------------------*/

/* An arrow from the instant at which a task was made to its first call. */
static void add_flow(tracer *t, const sp_task_row *task, int64_t start)
{
    if (task->created_ns < 0 || task->thread_index < 0 || t->run_start < 0)
        return;
    for (int is_end = 0; is_end < 2; is_end++) {
        begin_event(t);
        sp_output_print(t->out,
                         "{\"ph\":\"%s\",\"cat\":\"" CATEGORY "\",\"name\":\"task\",\"id\":\"%u.%lld\","
                         "\"pid\":%u,\"tid\":", is_end ? "f\",\"bp\":\"e" : "s", t->rank,
                         (long long)task->index, t->rank);
        sp_output_integer(t->out, is_end ? number_of_lane(t, task->index) : task->thread_index);
        sp_output_add(t->out, ",\"ts\":");
        add_time(t, is_end ? start : sp_wrap_add(t->run_start, task->created_ns));
        sp_output_add(t->out, "}");
    }
}

static void look_at_lane(tracer *t, int64_t lane, int64_t start)
{
    if (lane == -1)
        t->saw_unknown_lane = true;
    if (lane < 0 || t->new_tasks.count == 0)
        return;
    uint32_t task = sp_number_map_get(&t->new_tasks, (uint64_t)lane);
    if (task == SP_NUMBER_NONE || task == SEEN)
        return;
    add_flow(t, t->results->tasks.items[task], start);
    sp_number_map_set(&t->new_tasks, (uint64_t)lane, SEEN);
}

static void add_optional(tracer *t, const sp_row_part *part, uint64_t call)
{
    static const struct {
        sp_column column;
        const char *name;
        bool is_time;
        int64_t missing;
    } parts[] = {
        {SP_COLUMN_CALL_ID, ",\"call_id\":", false, -1},
        {SP_COLUMN_PARENT_ID, ",\"parent_id\":", false, INT64_MIN},
        {SP_COLUMN_GPU_DURATION, ",\"gpu_duration\":", true, -1},
        {SP_COLUMN_AWAIT, ",\"await_duration\":", true, INT64_MIN},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const int64_t *values = part->values[parts[i].column];
        if (values == NULL || values[call] == parts[i].missing)
            continue;
        sp_output_add(t->out, parts[i].name);
        if (parts[i].is_time)
            sp_output_decimal(t->out, values[call], 9);
        else
            sp_output_integer(t->out, values[call]);
    }
}

static void add_metadata(tracer *t, sp_json_text object)
{
    sp_json_reader reader;
    sp_output_add(t->out, ",\"metadata\":");
    sp_json_reader_init(&reader, object.bytes, object.length);
    sp_json_copy(&t->out->scratch, &reader, sp_json_next(&reader, NULL), object, -1, 0);
    sp_output_add_scratch(t->out);
}

static void add_call(tracer *t, const sp_call_window *window, size_t i)
{
    uint32_t row = window->row[i];
    const row_text *text = &t->rows[row];
    int64_t duration = sp_wrap_subtract(window->end[i], window->start[i]);
    begin_event(t);
    sp_output_add(t->out, text->before);
    sp_output_integer(t->out, window->lane == NULL ? 0 : number_of_lane(t, window->lane[i]));
    sp_output_add(t->out, ",\"ts\":");
    add_time(t, window->start[i]);
    sp_output_add(t->out, ",\"dur\":");
    sp_output_decimal(t->out, duration, 3);
    sp_output_add(t->out, ",\"args\":{\"rank\":");
    sp_output_integer(t->out, t->rank);
    sp_output_add(t->out, ",\"call_index\":");
    sp_output_integer(t->out, (int64_t)window->call_index[i]);
    sp_output_add(t->out, ",\"duration_s\":");
    sp_output_decimal(t->out, duration, 9);
    add_optional(t, &window->parts[row], window->call_index[i] - window->parts[row].first);
    sp_json_text metadata = sp_call_metadata_of(&text->metadata, window->call_index[i]);
    if (metadata.length > 0)
        add_metadata(t, metadata);
    sp_output_add(t->out, text->after);
}

static int visit(void *context, const sp_call_window *window, sp_error *error)
{
    tracer *t = context;
    (void)error;
    for (size_t i = 0; i < window->count; i++) {
        if (!is_selected(t, window->row[i]))
            continue;
        if (window->lane != NULL)
            look_at_lane(t, window->lane[i], window->start[i]);
        add_call(t, window, i);
    }
    return t->out->status; /* no need to go on after a failure, which the end tells */
}

/* ---- The file --------------------------------------------------------------------------------*/

static int add_rank(tracer *t, uint32_t rank, sp_error *error)
{
    static const unsigned columns =
        SP_COLUMN_BIT(SP_COLUMN_CALL_ID) | SP_COLUMN_BIT(SP_COLUMN_PARENT_ID) |
        SP_COLUMN_BIT(SP_COLUMN_GPU_DURATION) | SP_COLUMN_BIT(SP_COLUMN_AWAIT);
    t->rank = rank;
    t->saw_unknown_lane = false;
    int status = count_lanes(t) ? add_names(t, error) : sp_fail_memory(error, "exporting a trace");
    if (status == SP_OK)
        status = describe_rows(t, error);
    if (status == SP_OK)
        status = sp_run_walk_windows(t->results, rank, columns, visit, t, error);
    forget_rows(t);
    if (status == SP_OK && t->saw_unknown_lane)
        status = add_lane_name(t, -1, error);
    return status;
}

static int add_head(tracer *t, sp_error *error)
{
    sp_text label = {0};
    sp_selection_add_label(t->selection, t->results, &label);
    if (label.failed)
        return sp_fail_memory(error, "exporting a trace");
    sp_output_add(t->out, "{\"displayTimeUnit\":\"ms\",\"metadata\":{\"name\":");
    sp_output_string(t->out, label.bytes);
    sp_output_add(t->out, ",\"exporter\":\"scope-profiler@" SP_VERSION "\",\"time_origin_ns\":");
    sp_output_integer(t->out, t->origin);
    sp_output_add(t->out, "},\"traceEvents\":[");
    sp_text_release(&label);
    return SP_OK;
}

static int write_trace(tracer *t, sp_error *error)
{
    uint32_t *ranks = NULL;
    size_t count = 0;
    sp_run_times times;
    int status = sp_results_times(t->results, &times, error);
    if (status == SP_OK)
        status = sp_selection_ranks(t->selection, t->results, &ranks, &count, error);
    if (status != SP_OK)
        return status;
    t->origin = times.first_entry < 0 ? 0 : times.first_entry;
    t->run_start = times.start;
    t->is_first = true;
    t->rows = calloc(t->results->rows.count + 1, sizeof *t->rows);
    status = t->rows == NULL ? sp_fail_memory(error, "exporting a trace") : add_head(t, error);
    for (size_t i = 0; status == SP_OK && i < count; i++)
        status = add_rank(t, ranks[i], error);
    sp_output_add(t->out, "\n]}\n");
    sp_number_map_release(&t->new_tasks);
    free(t->rows);
    free(ranks);
    return status;
}

int sp_export_chrome_trace(sp_results *results, const sp_export_options *options, const char *path,
                           sp_error *error)
{
    sp_selection selection;
    sp_output out;
    int status = sp_selection_init(&selection, results, options, error);
    if (status != SP_OK)
        return status;
    status = sp_output_open_file(&out, path, false, error);
    if (status == SP_OK) {
        tracer t = {.out = &out, .results = results, .selection = &selection};
        status = sp_output_finish(&out, write_trace(&t, error), error);
    }
    sp_selection_release(&selection);
    return status;
}
