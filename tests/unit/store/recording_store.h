/* recording_store.h - a store writer that keeps everything it is given. */
#ifndef RECORDING_STORE_H
#define RECORDING_STORE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vector.h"
#include "scope_plugin.h"

#include <stdlib.h>
#include <string.h>

struct sp_store_writer {
    sp_arena arena;
    SP_VECTOR(sp_row) rows;
    SP_VECTOR(sp_extra) extras;
    unsigned columns;
    int64_t *values[SP_COLUMN_COUNT];
    size_t count, largest_piece;
    size_t num_metadata, num_threads, num_tasks;
    int fail_at; /* the so manieth call of an entry fails, 0: none */
};

static inline int recording_step(sp_store_writer *w, sp_error *error)
{
    if (w->fail_at == 0 || --w->fail_at > 0)
        return SP_OK;
    return sp_fail(error, SP_ERR_IO, "the recording store fails");
}

static inline int recording_metadata(sp_store_writer *w, const sp_metadata_entry *entries,
                                     size_t count, sp_error *error)
{
    (void)entries;
    w->num_metadata = count;
    return recording_step(w, error);
}

static inline const char *recording_text(sp_store_writer *w, const char *text)
{
    return text != NULL ? sp_arena_text(&w->arena, text) : NULL;
}

static inline int recording_rank(sp_store_writer *w, uint32_t rank, const sp_row *rows,
                                 size_t num_rows, unsigned columns, const sp_thread_row *threads,
                                 size_t num_threads, const sp_task_row *tasks, size_t num_tasks,
                                 sp_error *error)
{
    (void)rank, (void)threads, (void)tasks;
    w->columns = columns;
    w->num_threads = num_threads;
    w->num_tasks = num_tasks;
    if (!sp_vector_reserve(&w->rows, num_rows))
        abort();
    for (size_t i = 0; i < num_rows; i++) {
        sp_row row = rows[i];
        row.region = recording_text(w, row.region);
        row.event_metadata_json = recording_text(w, row.event_metadata_json);
        w->rows.items[w->rows.count++] = row;
    }
    return recording_step(w, error);
}

static inline int recording_calls(sp_store_writer *w, size_t count,
                                  const int64_t *const values[SP_COLUMN_COUNT], sp_error *error)
{
    for (int c = 0; c < SP_COLUMN_COUNT; c++) {
        if (!(w->columns & SP_COLUMN_BIT(c)))
            continue;
        w->values[c] = realloc(w->values[c], (w->count + count) * sizeof(int64_t));
        memcpy(w->values[c] + w->count, values[c], count * sizeof(int64_t));
    }
    w->count += count;
    w->largest_piece = count > w->largest_piece ? count : w->largest_piece;
    return recording_step(w, error);
}

static inline int recording_extra(sp_store_writer *w, const sp_extra *extra, sp_error *error)
{
    sp_extra copy = *extra;
    copy.name = recording_text(w, extra->name);
    if (extra->integers != NULL) {
        int64_t *values = sp_arena_array(&w->arena, extra->length, sizeof *values);
        memcpy(values, extra->integers, extra->length * sizeof *values);
        copy.integers = values;
    }
    if (extra->texts != NULL) {
        const char **texts = sp_arena_array(&w->arena, extra->length, sizeof *texts);
        for (size_t i = 0; i < extra->length; i++)
            texts[i] = recording_text(w, extra->texts[i]);
        copy.texts = texts;
    }
    if (!sp_vector_reserve(&w->extras, 1))
        abort();
    w->extras.items[w->extras.count++] = copy;
    return recording_step(w, error);
}

static const sp_store_table recording_store = {
    .size = sizeof(sp_store_table),
    .version = SP_STORE_VERSION,
    .name = "recording",
    .write_metadata = recording_metadata,
    .begin_rank = recording_rank,
    .write_calls = recording_calls,
    .write_extra = recording_extra,
};

static inline const sp_extra *recording_find(const sp_store_writer *w, const char *name)
{
    for (size_t i = 0; i < w->extras.count; i++)
        if (strcmp(w->extras.items[i].name, name) == 0)
            return &w->extras.items[i];
    return NULL;
}

static inline void recording_release(sp_store_writer *w)
{
    for (int c = 0; c < SP_COLUMN_COUNT; c++)
        free(w->values[c]);
    sp_vector_release(&w->rows);
    sp_vector_release(&w->extras);
    sp_arena_release(&w->arena);
    memset(w, 0, sizeof *w);
}

#endif
