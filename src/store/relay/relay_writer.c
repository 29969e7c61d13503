#include "store/relay/relay.h"

#include "base/error.h"
#include "store/relay/relay_stream.h"
#include "store/writer_order.h"

#include <stdlib.h>
#include <string.h>

struct sp_store_writer {
    sp_relay_sender to;
    sp_writer_order order;
    sp_error *error; /* of the call that goes on */
    int status;      /* of the first send that failed; then nothing more is sent */
    size_t used;
    unsigned char piece[SP_RELAY_PIECE];
};

static void flush(sp_store_writer *writer)
{
    if (writer->status == SP_OK && writer->used > 0)
        writer->status = writer->to.send(writer->to.context, writer->piece, writer->used,
                                         writer->error);
    writer->used = 0;
}

static void put_bytes(sp_store_writer *writer, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    while (size > 0) {
        size_t room = sizeof writer->piece - writer->used, n = size < room ? size : room;
        memcpy(writer->piece + writer->used, at, n);
        writer->used += n;
        at += n;
        size -= n;
        if (writer->used == sizeof writer->piece)
            flush(writer);
    }
}

static void put(sp_store_writer *writer, uint64_t word)
{
    put_bytes(writer, &word, sizeof word);
}

static void put_signed(sp_store_writer *writer, int64_t value)
{
    put(writer, (uint64_t)value);
}

static void put_text(sp_store_writer *writer, const char *text)
{
    static const char fill[sizeof(uint64_t)];
    if (text == NULL) {
        put(writer, SP_RELAY_NO_TEXT);
        return;
    }
    size_t length = strlen(text);
    put(writer, length);
    put_bytes(writer, text, length);
    put_bytes(writer, fill, (sizeof fill - length % sizeof fill) % sizeof fill);
}

int sp_relay_create(const sp_relay_sender *to, sp_store_writer **out, sp_error *error)
{
    sp_store_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL)
        return sp_fail_memory(error, "handing a run to another process");
    writer->to = *to;
    *out = writer;
    return SP_OK;
}

static int create(const char *path, const sp_store_options *options, sp_store_writer **out,
                  sp_error *error)
{
    (void)options;
    (void)out;
    return sp_fail(error, SP_ERR_UNSUPPORTED, "a run in transit has no file: '%s'", path);
}

static int write_metadata(sp_store_writer *writer, const sp_metadata_entry *entries, size_t count,
                          sp_error *error)
{
    (void)writer;
    (void)entries;
    (void)count;
    (void)error;
    return SP_OK; /* a run has one metadata, that of the rank which writes */
}

static void put_statistics(sp_store_writer *writer, const sp_row_statistics *statistics)
{
    put_bytes(writer, statistics, sizeof *statistics);
}

static void put_aggregate(sp_store_writer *writer, const sp_row_aggregate *aggregate)
{
    put_bytes(writer, aggregate, sizeof *aggregate);
}

static void put_row(sp_store_writer *writer, const sp_row *row)
{
    put_text(writer, row->region);
    put(writer, row->count);
    put_text(writer, row->source_file);
    put_text(writer, row->source_text);
    put_signed(writer, row->source_line);
    put_text(writer, row->tags_json);
    put_text(writer, row->event_metadata_json);
    put_signed(writer, row->exclusive_total);
    put(writer, row->has_statistics);
    put_statistics(writer, &row->statistics);
    put(writer, row->has_aggregate);
    put_aggregate(writer, &row->aggregate);
}

static void put_thread(sp_store_writer *writer, const sp_thread_row *thread)
{
    put_signed(writer, thread->index);
    put_signed(writer, thread->ident);
    put_signed(writer, thread->native_id);
    put(writer, thread->is_daemon);
    put_signed(writer, thread->start_ns);
    put_signed(writer, thread->end_ns);
    put_signed(writer, thread->cpu_ns);
    put_text(writer, thread->name);
}

static void put_task(sp_store_writer *writer, const sp_task_row *task)
{
    put_signed(writer, task->index);
    put_signed(writer, task->thread_index);
    put_signed(writer, task->created_ns);
    put_signed(writer, task->done_ns);
    put_signed(writer, task->steps);
    put_signed(writer, task->running_ns);
    put_signed(writer, task->suspended_ns);
    put_text(writer, task->kind);
    put_text(writer, task->name);
    put_text(writer, task->coroutine_name);
}

static int begin_rank(sp_store_writer *writer, uint32_t rank, const sp_row *rows, size_t num_rows,
                      unsigned columns, const sp_thread_row *threads, size_t num_threads,
                      const sp_task_row *tasks, size_t num_tasks, sp_error *error)
{
    writer->error = error;
    int status = sp_writer_order_rank(&writer->order, rank, rows, num_rows, columns, error);
    if (status != SP_OK)
        return status;
    put(writer, SP_RELAY_RANK);
    put(writer, rank);
    put(writer, columns);
    put(writer, num_rows);
    put(writer, num_threads);
    put(writer, num_tasks);
    for (size_t i = 0; i < num_rows; i++)
        put_row(writer, &rows[i]);
    for (size_t i = 0; i < num_threads; i++)
        put_thread(writer, &threads[i]);
    for (size_t i = 0; i < num_tasks; i++)
        put_task(writer, &tasks[i]);
    return writer->status;
}

/* At most a piece of the calls from `first` on. */
static void put_calls(sp_store_writer *writer, size_t first, size_t count,
                      const int64_t *const values[SP_COLUMN_COUNT])
{
    count = count < SP_RELAY_PIECE_CALLS ? count : SP_RELAY_PIECE_CALLS;
    put(writer, SP_RELAY_CALLS);
    put(writer, count);
    for (int c = 0; c < SP_COLUMN_COUNT; c++)
        if (writer->order.columns & SP_COLUMN_BIT(c))
            put_bytes(writer, values[c] + first, count * sizeof *values[c]);
}

static int write_calls(sp_store_writer *writer, size_t count,
                       const int64_t *const values[SP_COLUMN_COUNT], sp_error *error)
{
    writer->error = error;
    int status = sp_writer_order_calls(&writer->order, count, values, error);
    if (status != SP_OK || count == 0)
        return status;
    for (size_t first = 0; first < count; first += SP_RELAY_PIECE_CALLS)
        put_calls(writer, first, count - first, values);
    return writer->status;
}

static int write_extra(sp_store_writer *writer, const sp_extra *extra, sp_error *error)
{
    writer->error = error;
    put(writer, SP_RELAY_EXTRA);
    put(writer, extra->rank);
    put(writer, extra->integers != NULL ? SP_RELAY_INTEGERS
                : extra->reals != NULL  ? SP_RELAY_REALS
                                        : SP_RELAY_TEXTS);
    put(writer, extra->length);
    put_text(writer, extra->name);
    if (extra->integers != NULL)
        put_bytes(writer, extra->integers, extra->length * sizeof *extra->integers);
    else if (extra->reals != NULL)
        put_bytes(writer, extra->reals, extra->length * sizeof *extra->reals);
    else
        for (size_t i = 0; i < extra->length; i++)
            put_text(writer, extra->texts[i]);
    return writer->status;
}

static void abort_stream(sp_store_writer *writer)
{
    if (writer == NULL)
        return;
    sp_writer_order_release(&writer->order);
    free(writer);
}

static int commit(sp_store_writer *writer, sp_error *error)
{
    writer->error = error;
    int status = sp_writer_order_commit(&writer->order, error);
    if (status == SP_OK) {
        put(writer, SP_RELAY_END);
        flush(writer);
        status = writer->status;
    }
    abort_stream(writer);
    return status;
}

const sp_store_table sp_relay_writer = {
    .size = sizeof sp_relay_writer,
    .version = SP_STORE_VERSION,
    .name = "relay",
    .create = create,
    .write_metadata = write_metadata,
    .begin_rank = begin_rank,
    .write_calls = write_calls,
    .write_extra = write_extra,
    .commit = commit,
    .abort = abort_stream,
};
