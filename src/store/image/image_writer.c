#include "store/image/image.h"
#include "store/image/layout.h"

#include "base/error.h"
#include "base/vector.h"
#include "store/writer_order.h"

#include <stdlib.h>
#include <string.h>

struct sp_store_writer {
    SP_VECTOR(uint64_t) words;
    bool failed; /* memory ran out */
    size_t section; /* where the content of the open section begins */
    size_t column_at[SP_COLUMN_COUNT]; /* next free word of each column of the current rank */
    sp_writer_order order;
    void **out_image;
    size_t *out_size;
};

/* Room for `count` words at the end; NULL when memory is short, which is remembered. */
static uint64_t *extend(sp_store_writer *writer, size_t count)
{
    if (writer->failed || !sp_vector_reserve(&writer->words, count)) {
        writer->failed = true;
        return NULL;
    }
    uint64_t *words = writer->words.items + writer->words.count;
    writer->words.count += count;
    return words;
}

static void put(sp_store_writer *writer, uint64_t word)
{
    uint64_t *at = extend(writer, 1);
    if (at != NULL)
        *at = word;
}

static void put_signed(sp_store_writer *writer, int64_t value)
{
    put(writer, (uint64_t)value);
}

static void put_bytes(sp_store_writer *writer, const void *bytes, size_t size)
{
    size_t count = size / sizeof(uint64_t) + (size % sizeof(uint64_t) != 0);
    uint64_t *at = extend(writer, count);
    if (at == NULL || count == 0)
        return;
    at[count - 1] = 0;
    memcpy(at, bytes, size);
}

static void put_text(sp_store_writer *writer, const char *text)
{
    if (text == NULL) {
        put(writer, SP_IMAGE_NO_TEXT);
        return;
    }
    size_t length = strlen(text);
    put(writer, length);
    put_bytes(writer, text, length + 1);
}

static void begin_section(sp_store_writer *writer, sp_image_section kind)
{
    put(writer, kind);
    put(writer, 0);
    writer->section = writer->words.count;
}

static int end_section(sp_store_writer *writer, sp_error *error)
{
    if (writer->failed)
        return sp_fail_memory(error, "building an in-memory profile");
    writer->words.items[writer->section - 1] =
        (writer->words.count - writer->section) * sizeof(uint64_t);
    return SP_OK;
}

int sp_image_create(const sp_store_options *options, void **out_image, size_t *out_size,
                    sp_store_writer **out, sp_error *error)
{
    sp_store_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL)
        return sp_fail_memory(error, "building an in-memory profile");
    writer->out_image = out_image;
    writer->out_size = out_size;
    writer->order.is_aggregate = options != NULL && options->is_aggregate;
    put(writer, SP_IMAGE_MAGIC);
    put(writer, SP_IMAGE_VERSION);
    put(writer, 0);
    put(writer, writer->order.is_aggregate ? SP_IMAGE_AGGREGATE : 0);
    if (writer->failed) {
        sp_image_writer.abort(writer);
        return sp_fail_memory(error, "building an in-memory profile");
    }
    *out = writer;
    return SP_OK;
}

static int create(const char *path, const sp_store_options *options, sp_store_writer **out,
                  sp_error *error)
{
    (void)options;
    (void)out;
    return sp_fail(error, SP_ERR_UNSUPPORTED, "an in-memory profile has no file: '%s'", path);
}

static int write_metadata(sp_store_writer *writer, const sp_metadata_entry *entries, size_t count,
                          sp_error *error)
{
    begin_section(writer, SP_IMAGE_METADATA);
    put(writer, count);
    for (size_t i = 0; i < count; i++) {
        const sp_metadata_entry *entry = &entries[i];
        put(writer, entry->kind);
        put_text(writer, entry->key);
        switch (entry->kind) {
        case SP_VALUE_INTEGER:
            put_signed(writer, entry->integer);
            break;
        case SP_VALUE_REAL:
            put_bytes(writer, &entry->real, sizeof entry->real);
            break;
        case SP_VALUE_TEXT:
            put_text(writer, entry->text);
            break;
        case SP_VALUE_TEXT_LIST:
            put(writer, entry->list_length);
            for (size_t k = 0; k < entry->list_length; k++)
                put_text(writer, entry->list[k]);
            break;
        }
    }
    return end_section(writer, error);
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
    if (row->has_statistics)
        put_bytes(writer, &row->statistics, sizeof row->statistics);
    put(writer, row->has_aggregate);
    if (row->has_aggregate)
        put_bytes(writer, &row->aggregate, sizeof row->aggregate);
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
    int status = sp_writer_order_rank(&writer->order, rank, rows, num_rows, columns, error);
    if (status != SP_OK)
        return status;
    begin_section(writer, SP_IMAGE_RANK);
    put(writer, rank);
    put(writer, writer->order.columns);
    put(writer, num_rows);
    put(writer, num_threads);
    put(writer, num_tasks);
    put(writer, writer->order.announced);
    for (size_t i = 0; i < num_rows; i++)
        put_row(writer, &rows[i]);
    for (size_t i = 0; i < num_threads; i++)
        put_thread(writer, &threads[i]);
    for (size_t i = 0; i < num_tasks; i++)
        put_task(writer, &tasks[i]);
    for (int c = 0; c < SP_COLUMN_COUNT; c++) {
        if ((writer->order.columns & SP_COLUMN_BIT(c)) == 0)
            continue;
        writer->column_at[c] = writer->words.count;
        extend(writer, (size_t)writer->order.announced);
    }
    return end_section(writer, error);
}

static int write_calls(sp_store_writer *writer, size_t count,
                       const int64_t *const values[SP_COLUMN_COUNT], sp_error *error)
{
    int status = sp_writer_order_calls(&writer->order, count, values, error);
    for (int c = 0; status == SP_OK && count > 0 && c < SP_COLUMN_COUNT; c++) {
        if ((writer->order.columns & SP_COLUMN_BIT(c)) == 0)
            continue;
        memcpy(writer->words.items + writer->column_at[c], values[c], count * sizeof(int64_t));
        writer->column_at[c] += count;
    }
    return status;
}

static int write_extra(sp_store_writer *writer, const sp_extra *extra, sp_error *error)
{
    begin_section(writer, SP_IMAGE_EXTRA);
    put(writer, extra->rank);
    put(writer, extra->integers != NULL ? SP_IMAGE_INTEGERS
                : extra->reals != NULL  ? SP_IMAGE_REALS
                                        : SP_IMAGE_TEXTS);
    put(writer, extra->length);
    put_text(writer, extra->name);
    if (extra->integers != NULL)
        put_bytes(writer, extra->integers, extra->length * sizeof(int64_t));
    else if (extra->reals != NULL)
        put_bytes(writer, extra->reals, extra->length * sizeof(double));
    else
        for (size_t i = 0; i < extra->length; i++)
            put_text(writer, extra->texts[i]);
    return end_section(writer, error);
}

static void release(sp_store_writer *writer)
{
    if (writer == NULL)
        return;
    sp_vector_release(&writer->words);
    sp_writer_order_release(&writer->order);
    free(writer);
}

static int commit(sp_store_writer *writer, sp_error *error)
{
    int status = sp_writer_order_commit(&writer->order, error);
    if (status == SP_OK && writer->failed)
        status = sp_fail_memory(error, "building an in-memory profile");
    if (status == SP_OK) {
        size_t size = writer->words.count * sizeof(uint64_t);
        writer->words.items[SP_IMAGE_AT_SIZE] = size;
        /* Growth left room at the end; shrinking cannot need memory, but may fail all the same. */
        void *image = realloc(writer->words.items, size);
        *writer->out_image = image != NULL ? image : writer->words.items;
        *writer->out_size = size;
        writer->words.items = NULL;
    }
    release(writer);
    return status;
}

const sp_store_table sp_image_writer = {
    .size = sizeof(sp_store_table),
    .version = SP_STORE_VERSION,
    .name = "image",
    .create = create,
    .write_metadata = write_metadata,
    .begin_rank = begin_rank,
    .write_calls = write_calls,
    .write_extra = write_extra,
    .commit = commit,
    .abort = release,
};
