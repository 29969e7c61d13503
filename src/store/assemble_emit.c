#include "store/assemble_int.h"

#include <stdlib.h>

typedef struct emitter {
    sp_assembler *assembler;
    unsigned columns;
    int64_t *values[SP_COLUMN_COUNT]; /* a piece each, NULL: not a column of this file */
    size_t count;
} emitter;

static unsigned choose_columns(const sp_assembler *a)
{
    if (a->result.num_calls == 0)
        return 0;
    unsigned columns = SP_COLUMN_BIT(SP_COLUMN_START) | SP_COLUMN_BIT(SP_COLUMN_DURATION) |
                       SP_COLUMN_BIT(SP_COLUMN_CALL_ID) | SP_COLUMN_BIT(SP_COLUMN_PARENT_ID);
    if (a->in->track_threads || a->result.several_threads)
        columns |= SP_COLUMN_BIT(SP_COLUMN_THREAD_ID);
    if (a->device.calls.count > 0)
        columns |= SP_COLUMN_BIT(SP_COLUMN_GPU_DURATION);
    for (size_t i = 0; i < a->num_lane_ids; i++)
        if (a->lane_ids[i].task >= 0)
            columns |= SP_COLUMN_BIT(SP_COLUMN_TASK_ID) | SP_COLUMN_BIT(SP_COLUMN_THREAD_ID);
    if (a->in->track_tasks || a->awaits.count > 0)
        columns |= SP_COLUMN_BIT(SP_COLUMN_AWAIT) | SP_COLUMN_BIT(SP_COLUMN_TASK_ID);
    return columns;
}

static int write_piece(emitter *e)
{
    const sp_assembly *in = e->assembler->in;
    const int64_t *values[SP_COLUMN_COUNT];
    for (int c = 0; c < SP_COLUMN_COUNT; c++)
        values[c] = e->values[c];
    int status = SP_OK;
    for (size_t i = 0; i < in->num_outputs && status == SP_OK && e->count > 0; i++)
        status = in->outputs[i].table->write_calls(in->outputs[i].writer, e->count, values,
                                                   e->assembler->error);
    e->count = 0;
    return status;
}

/* Await time of a call; 0 when it did not wait. Calls of a task come mostly in order of their ids. */
static int64_t await_of(sp_assembler *a, int64_t id)
{
    size_t low = 0, high = a->awaits.count, hint = a->await_hint;
    if (hint < high && a->awaits.items[hint].id == id) {
        a->await_hint++;
        return a->awaits.items[hint].ns;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (a->awaits.items[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == a->awaits.count || a->awaits.items[low].id != id)
        return 0;
    a->await_hint = low + 1;
    return a->awaits.items[low].ns;
}

static void put_awaits(emitter *e, size_t at, const sp_ordered_call *calls, size_t count)
{
    int64_t *awaits = e->values[SP_COLUMN_AWAIT];
    for (size_t i = 0; i < count && awaits != NULL; i++)
        awaits[at + i] = await_of(e->assembler, calls[i].id);
}

/* Fills the lane columns of calls that stand at `at` of the piece. */
static void put_lanes(emitter *e, size_t at, const sp_ordered_call *calls, size_t count)
{
    int64_t *threads = e->values[SP_COLUMN_THREAD_ID], *tasks = e->values[SP_COLUMN_TASK_ID];
    for (size_t i = 0; i < count && (threads != NULL || tasks != NULL); i++) {
        const sp_lane_ids *lane = sp_assembler_lane_of(e->assembler, calls[i].id);
        if (threads != NULL)
            threads[at + i] = lane->thread;
        if (tasks != NULL)
            tasks[at + i] = lane->task;
    }
}

static void put_device_times(emitter *e, size_t at, const sp_ordered_call *calls, size_t count)
{
    int64_t *times = e->values[SP_COLUMN_GPU_DURATION];
    for (size_t i = 0; times != NULL && i < count; i++)
        times[at + i] = sp_assemble_device_ns(e->assembler, calls[i].id);
}

static int emit_calls(void *context, size_t row, const sp_ordered_call *calls, size_t count)
{
    emitter *e = context;
    (void)row;
    while (count > 0) {
        size_t piece = e->assembler->piece, at = e->count;
        size_t n = count < piece - at ? count : piece - at;
        for (size_t i = 0; i < n; i++) {
            e->values[SP_COLUMN_START][at + i] = calls[i].start;
            e->values[SP_COLUMN_DURATION][at + i] = calls[i].duration;
            e->values[SP_COLUMN_CALL_ID][at + i] = calls[i].id;
            e->values[SP_COLUMN_PARENT_ID][at + i] = calls[i].parent;
        }
        put_lanes(e, at, calls, n);
        put_device_times(e, at, calls, n);
        put_awaits(e, at, calls, n);
        e->count += n;
        calls += n;
        count -= n;
        int status = e->count == piece ? write_piece(e) : SP_OK;
        if (status != SP_OK)
            return status;
    }
    return SP_OK;
}

static void fill_row(const sp_assembler *a, const sp_assemble_row *from, uint64_t offset,
                     sp_row *to)
{
    const sp_assemble_region *info = &from->info;
    *to = (sp_row){
        .region = info->name,
        .rank = a->in->rank,
        .offset = offset,
        .count = from->count,
        .source_file = info->source_file != NULL ? info->source_file : "",
        .source_text = info->source_text != NULL ? info->source_text : "",
        .source_line = info->source_line,
        .tags_json = info->tags_json != NULL ? info->tags_json : "[]",
        .event_metadata_json = from->metadata.length > 0 ? from->metadata.bytes : NULL,
        .exclusive_total = sp_assemble_row_exclusive(from),
        .has_statistics = true,
    };
    sp_assemble_row_statistics(from, &to->statistics);
}

static int begin_rank(sp_assembler *a, unsigned columns)
{
    const sp_assembly *in = a->in;
    bool has_threads = in->track_threads || in->track_tasks || a->result.several_threads;
    sp_row *rows = calloc(a->rows.count > 0 ? a->rows.count : 1, sizeof *rows);
    if (rows == NULL)
        return sp_fail_memory(a->error, "the rows of a file");
    uint64_t offset = 0;
    for (size_t i = 0; i < a->rows.count; i++) {
        fill_row(a, &a->rows.items[i], offset, &rows[i]);
        offset += rows[i].count;
    }
    int status = SP_OK;
    for (size_t i = 0; i < in->num_outputs && status == SP_OK; i++)
        status = in->outputs[i].table->begin_rank(
            in->outputs[i].writer, in->rank, rows, a->rows.count, columns, in->threads,
            has_threads ? in->num_threads : 0, in->tasks, in->num_tasks, a->error);
    free(rows);
    return status;
}

static bool prepare(emitter *e)
{
    for (int c = 0; c < SP_COLUMN_COUNT; c++) {
        if (!(e->columns & SP_COLUMN_BIT(c)))
            continue;
        e->values[c] = malloc(e->assembler->piece * sizeof **e->values);
        if (e->values[c] == NULL)
            return false;
    }
    return true;
}

int sp_assemble_emit(sp_assembler *a)
{
    emitter e = {.assembler = a, .columns = choose_columns(a)};
    int status = begin_rank(a, e.columns);
    if (status == SP_OK && !prepare(&e))
        status = sp_fail_memory(a->error, "the columns of a file");
    for (size_t i = 0; i < a->groups.count && status == SP_OK; i++)
        status = sp_assemble_gather(a, i, emit_calls, &e);
    if (status == SP_OK)
        status = write_piece(&e);
    for (int c = 0; c < SP_COLUMN_COUNT; c++)
        free(e.values[c]);
    return status;
}
