/* run.h - small runs written down call by call. */
#ifndef TESTS_RESULTS_RUN_H
#define TESTS_RESULTS_RUN_H

#include "check.h"
#include "scope_results.h"

#include <stdlib.h>

/* Calls are written as far as a test needs them; the rest is zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* One call: interval in ns and, where the run has ids, its own and its parent's. */
typedef struct run_call {
    int64_t start, end, id, parent, thread, task;
} run_call;

enum run_columns { RUN_PLAIN = 0, RUN_IDS = 1, RUN_THREADS = 2, RUN_TASKS = 4 };

static inline sp_results *run_new(void)
{
    sp_results *run = NULL;
    CHECK_INT(sp_results_create(&run, NULL), SP_OK);
    return run;
}

/* Appends the calls of a region on a rank; `columns` is a sum of enum run_columns. */
static inline int run_add_calls(sp_results *run, const char *region, uint32_t rank,
                                const run_call *calls, size_t count, int columns)
{
    int64_t *values[SP_COLUMN_COUNT];
    const int64_t *given[SP_COLUMN_COUNT] = {NULL};
    for (int c = 0; c < SP_COLUMN_COUNT; c++)
        values[c] = malloc((count + 1) * sizeof(int64_t));
    for (size_t i = 0; i < count; i++) {
        values[SP_COLUMN_START][i] = calls[i].start;
        values[SP_COLUMN_DURATION][i] =
            (int64_t)((uint64_t)calls[i].end - (uint64_t)calls[i].start);
        values[SP_COLUMN_CALL_ID][i] = calls[i].id;
        values[SP_COLUMN_PARENT_ID][i] = calls[i].parent;
        values[SP_COLUMN_THREAD_ID][i] = calls[i].thread;
        values[SP_COLUMN_TASK_ID][i] = calls[i].task;
    }
    given[SP_COLUMN_START] = values[SP_COLUMN_START];
    given[SP_COLUMN_DURATION] = values[SP_COLUMN_DURATION];
    if (columns & RUN_IDS) {
        given[SP_COLUMN_CALL_ID] = values[SP_COLUMN_CALL_ID];
        given[SP_COLUMN_PARENT_ID] = values[SP_COLUMN_PARENT_ID];
    }
    if (columns & RUN_THREADS)
        given[SP_COLUMN_THREAD_ID] = values[SP_COLUMN_THREAD_ID];
    if (columns & RUN_TASKS)
        given[SP_COLUMN_TASK_ID] = values[SP_COLUMN_TASK_ID];
    sp_row row = {.region = region, .rank = rank, .count = count, .source_line = -1,
                  .exclusive_total = -1};
    int status = sp_results_add_row(run, &row, given, NULL);
    for (int c = 0; c < SP_COLUMN_COUNT; c++)
        free(values[c]);
    return status;
}

#define RUN_ADD(run, region, rank, columns, ...)                                                   \
    CHECK_INT(run_add_calls((run), (region), (rank), (const run_call[]){__VA_ARGS__},              \
                            sizeof((run_call[]){__VA_ARGS__}) / sizeof(run_call), (columns)),      \
              SP_OK)

#endif
