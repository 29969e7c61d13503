#include "store/relay/relay.h"

#include "base/arena.h"
#include "base/error.h"
#include "store/relay/relay_stream.h"

#include <stdlib.h>
#include <string.h>

typedef struct replay {
    const sp_relay_receiver *from;
    const sp_relay_shift *shift;
    const sp_assemble_output *outputs;
    size_t num_outputs;
    sp_error *error;
    int status; /* of the first thing that failed; then everything reads as 0 */
    const unsigned char *at, *end;
    sp_arena texts; /* of one section */
    uint32_t rank;
    unsigned columns;
    int64_t *values[SP_COLUMN_COUNT]; /* SP_RELAY_PIECE_CALLS each, made when first needed */
} replay;

static void fail_damaged(replay *r, const char *what)
{
    if (r->status == SP_OK)
        r->status = sp_fail(r->error, SP_ERR_DAMAGED, "what a rank sent makes no sense: %s", what);
}

static void fail_memory(replay *r)
{
    if (r->status == SP_OK)
        r->status = sp_fail_memory(r->error, "taking over the run of another rank");
}

static void get_bytes(replay *r, void *to, size_t size)
{
    unsigned char *bytes = to;
    while (size > 0 && r->status == SP_OK) {
        if (r->at == r->end) {
            const void *piece = NULL;
            size_t length = 0;
            r->status = r->from->receive(r->from->context, &piece, &length, r->error);
            r->at = piece;
            r->end = r->at + length;
            continue;
        }
        size_t there = (size_t)(r->end - r->at), n = size < there ? size : there;
        memcpy(bytes, r->at, n);
        r->at += n;
        bytes += n;
        size -= n;
    }
    if (size > 0)
        memset(bytes, 0, size);
}

static uint64_t get(replay *r)
{
    uint64_t word;
    get_bytes(r, &word, sizeof word);
    return word;
}

static int64_t get_signed(replay *r)
{
    return (int64_t)get(r);
}

/* Number of things of so many bytes each at least, which are to follow. */
static size_t get_count(replay *r, size_t least_bytes)
{
    uint64_t count = get(r);
    if (count > (UINT64_C(1) << 40) / least_bytes) {
        fail_damaged(r, "a count beyond measure");
        return 0;
    }
    return r->status == SP_OK ? (size_t)count : 0;
}

static const char *get_text(replay *r)
{
    enum { LONGEST = 1 << 30 };
    char fill[sizeof(uint64_t)];
    uint64_t length = get(r);
    if (r->status != SP_OK || length == SP_RELAY_NO_TEXT)
        return NULL;
    if (length > LONGEST) {
        fail_damaged(r, "a text beyond measure");
        return NULL;
    }
    char *text = sp_arena_alloc(&r->texts, (size_t)length + 1);
    if (text == NULL) {
        fail_memory(r);
        return NULL;
    }
    get_bytes(r, text, (size_t)length);
    get_bytes(r, fill, (sizeof fill - length % sizeof fill) % sizeof fill);
    text[length] = '\0';
    return text;
}

static void get_row(replay *r, sp_row *row)
{
    *row = (sp_row){.rank = r->rank};
    row->region = get_text(r);
    row->count = get(r);
    row->source_file = get_text(r);
    row->source_text = get_text(r);
    row->source_line = get_signed(r);
    row->tags_json = get_text(r);
    row->event_metadata_json = get_text(r);
    row->exclusive_total = get_signed(r);
    row->has_statistics = get(r) != 0;
    get_bytes(r, &row->statistics, sizeof row->statistics);
    row->has_aggregate = get(r) != 0;
    get_bytes(r, &row->aggregate, sizeof row->aggregate);
    if (row->has_statistics && row->count > 0) {
        row->statistics.start_minimum += r->shift->clock_ns;
        row->statistics.end_maximum += r->shift->clock_ns;
    }
    if (row->region == NULL)
        fail_damaged(r, "a region without a name");
}

static int64_t get_relative(replay *r)
{
    int64_t ns = get_signed(r);
    return ns < 0 ? ns : ns + r->shift->start_ns;
}

static void get_thread(replay *r, sp_thread_row *thread)
{
    *thread = (sp_thread_row){.rank = r->rank};
    thread->index = get_signed(r);
    thread->ident = get_signed(r);
    thread->native_id = get_signed(r);
    thread->is_daemon = get(r) != 0;
    thread->start_ns = get_relative(r);
    thread->end_ns = get_relative(r);
    thread->cpu_ns = get_signed(r);
    thread->name = get_text(r);
}

static void get_task(replay *r, sp_task_row *task)
{
    *task = (sp_task_row){.rank = r->rank};
    task->index = get_signed(r);
    task->thread_index = get_signed(r);
    task->created_ns = get_relative(r);
    task->done_ns = get_relative(r);
    task->steps = get_signed(r);
    task->running_ns = get_signed(r);
    task->suspended_ns = get_signed(r);
    task->kind = get_text(r);
    task->name = get_text(r);
    task->coroutine_name = get_text(r);
}

/* Zeroed; NULL, with the failure noted, when memory is short. */
static void *make_table(replay *r, size_t count, size_t size)
{
    void *table = r->status == SP_OK ? sp_arena_array(&r->texts, count, size) : NULL;
    if (table == NULL)
        fail_memory(r);
    return table;
}

static void replay_rank(replay *r)
{
    r->rank = (uint32_t)get(r);
    r->columns = (unsigned)get(r);
    size_t num_rows = get_count(r, sizeof(sp_row)), num_threads = get_count(r, sizeof(sp_thread_row)),
           num_tasks = get_count(r, sizeof(sp_task_row));
    sp_row *rows = make_table(r, num_rows, sizeof *rows);
    sp_thread_row *threads = make_table(r, num_threads, sizeof *threads);
    sp_task_row *tasks = make_table(r, num_tasks, sizeof *tasks);
    for (size_t i = 0; i < num_rows && r->status == SP_OK; i++)
        get_row(r, &rows[i]);
    for (size_t i = 0; i < num_threads && r->status == SP_OK; i++)
        get_thread(r, &threads[i]);
    for (size_t i = 0; i < num_tasks && r->status == SP_OK; i++)
        get_task(r, &tasks[i]);
    for (size_t i = 0; i < r->num_outputs && r->status == SP_OK; i++)
        r->status = r->outputs[i].table->begin_rank(r->outputs[i].writer, r->rank, rows, num_rows,
                                                    r->columns, threads, num_threads, tasks,
                                                    num_tasks, r->error);
}

static void replay_calls(replay *r)
{
    size_t count = get_count(r, sizeof(int64_t));
    if (count > SP_RELAY_PIECE_CALLS)
        fail_damaged(r, "more calls at once than any rank sends");
    const int64_t *values[SP_COLUMN_COUNT] = {NULL};
    for (int c = 0; c < SP_COLUMN_COUNT && r->status == SP_OK; c++) {
        if (!(r->columns & SP_COLUMN_BIT(c)))
            continue;
        if (r->values[c] == NULL)
            r->values[c] = malloc(SP_RELAY_PIECE_CALLS * sizeof *r->values[c]);
        values[c] = r->values[c];
        if (values[c] == NULL)
            fail_memory(r);
        else
            get_bytes(r, r->values[c], count * sizeof *r->values[c]);
    }
    if (r->status == SP_OK && (r->columns & SP_COLUMN_BIT(SP_COLUMN_START)))
        for (size_t i = 0; i < count; i++)
            r->values[SP_COLUMN_START][i] += r->shift->clock_ns;
    for (size_t i = 0; i < r->num_outputs && r->status == SP_OK; i++)
        r->status = r->outputs[i].table->write_calls(r->outputs[i].writer, count, values, r->error);
}

static void replay_extra(replay *r)
{
    sp_extra extra = {.rank = (uint32_t)get(r)};
    sp_relay_values kind = (sp_relay_values)get(r);
    extra.length = get_count(r, sizeof(uint64_t));
    extra.name = get_text(r);
    uint64_t *numbers = NULL;
    const char **texts = NULL;
    if (kind == SP_RELAY_TEXTS) {
        texts = make_table(r, extra.length, sizeof *texts);
        for (size_t i = 0; i < extra.length && r->status == SP_OK; i++)
            texts[i] = get_text(r);
        extra.texts = texts;
    } else {
        numbers = make_table(r, extra.length, sizeof *numbers);
        if (r->status == SP_OK)
            get_bytes(r, numbers, extra.length * sizeof *numbers);
        extra.integers = kind == SP_RELAY_INTEGERS ? (const int64_t *)numbers : NULL;
        extra.reals = kind == SP_RELAY_REALS ? (const double *)numbers : NULL;
    }
    if (extra.name == NULL)
        fail_damaged(r, "values without a name");
    for (size_t i = 0; i < r->num_outputs && r->status == SP_OK; i++)
        r->status = r->outputs[i].table->write_extra(r->outputs[i].writer, &extra, r->error);
}

static void replay_all(replay *r)
{
    while (r->status == SP_OK) {
        uint64_t section = get(r);
        if (r->status != SP_OK || section == SP_RELAY_END)
            return;
        if (section == SP_RELAY_RANK)
            replay_rank(r);
        else if (section == SP_RELAY_CALLS)
            replay_calls(r);
        else if (section == SP_RELAY_EXTRA)
            replay_extra(r);
        else
            fail_damaged(r, "an unknown section");
        sp_arena_release(&r->texts);
    }
}

int sp_relay_replay(const sp_relay_receiver *from, const sp_relay_shift *shift,
                    const sp_assemble_output *outputs, size_t num_outputs, sp_error *error)
{
    replay r = {.from = from, .shift = shift, .outputs = outputs, .num_outputs = num_outputs,
                .error = error};
    replay_all(&r);
    sp_arena_release(&r.texts);
    for (int c = 0; c < SP_COLUMN_COUNT; c++)
        free(r.values[c]);
    return r.status;
}
