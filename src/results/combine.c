#include "results/combine.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* Where the lanes of a run are in the one that it joins. */
typedef struct lane_map {
    sp_number_map threads; /* index there to index here */
    int64_t next_thread, first_task;
    int64_t later_by; /* start of the run less that of the one that it joins */
} lane_map;

/* ---- Threads and tasks -----------------------------------------------------------------------*/

static int64_t start_of(const sp_results *results)
{
    const sp_metadata_entry *entry = sp_results_find_metadata(results, "start_time_ns");
    return entry != NULL && entry->kind == SP_VALUE_INTEGER ? entry->integer : -1;
}

static int64_t moved(int64_t ns, int64_t by)
{
    return ns < 0 ? ns : (int64_t)((uint64_t)ns + (uint64_t)by);
}

/* The thread of that rank with the same number within the system; NULL: none. */
static const sp_thread_row *same_thread(const sp_results *results, const sp_thread_row *thread)
{
    for (size_t i = 0; i < results->threads.count; i++) {
        const sp_thread_row *other = results->threads.items[i];
        if (other->rank == thread->rank && thread->native_id > 0 &&
            other->native_id == thread->native_id)
            return other;
    }
    return NULL;
}

static int append_threads(sp_results *results, const sp_results *from, uint32_t rank, lane_map *lanes,
                          sp_error *error)
{
    for (size_t i = 0; i < results->threads.count; i++)
        if (results->threads.items[i]->rank == rank &&
            results->threads.items[i]->index >= lanes->next_thread)
            lanes->next_thread = results->threads.items[i]->index + 1;
    for (size_t i = 0; i < from->threads.count; i++) {
        sp_thread_row thread = *from->threads.items[i];
        if (thread.rank != rank)
            continue;
        const sp_thread_row *same = same_thread(results, &thread);
        int64_t index = same != NULL ? same->index : lanes->next_thread;
        if (!sp_number_map_set(&lanes->threads, (uint64_t)thread.index, (uint32_t)index))
            return sp_fail_memory(error, "combining runs");
        if (same != NULL)
            continue;
        lanes->next_thread++;
        thread.index = index;
        thread.start_ns = moved(thread.start_ns, lanes->later_by);
        thread.end_ns = moved(thread.end_ns, lanes->later_by);
        int status = sp_results_add_thread(results, &thread, error);
        if (status != SP_OK)
            return status;
    }
    return SP_OK;
}

static int64_t thread_here(const lane_map *lanes, int64_t index)
{
    uint32_t here = index < 0 ? SP_NUMBER_NONE
                              : sp_number_map_get(&lanes->threads, (uint64_t)index);
    return here == SP_NUMBER_NONE ? -1 : (int64_t)here;
}

static int append_tasks(sp_results *results, const sp_results *from, uint32_t rank, lane_map *lanes,
                        sp_error *error)
{
    for (size_t i = 0; i < results->tasks.count; i++)
        if (results->tasks.items[i]->rank == rank &&
            results->tasks.items[i]->index >= lanes->first_task)
            lanes->first_task = results->tasks.items[i]->index + 1;
    for (size_t i = 0; i < from->tasks.count; i++) {
        sp_task_row task = *from->tasks.items[i];
        if (task.rank != rank)
            continue;
        task.index += lanes->first_task;
        task.thread_index = thread_here(lanes, task.thread_index);
        task.created_ns = moved(task.created_ns, lanes->later_by);
        task.done_ns = moved(task.done_ns, lanes->later_by);
        int status = sp_results_add_task(results, &task, error);
        if (status != SP_OK)
            return status;
    }
    return SP_OK;
}

/* ---- Rows ------------------------------------------------------------------------------------*/

typedef struct interval {
    int64_t start, duration;
} interval;

static int by_start(const void *a, const void *b)
{
    const interval *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->duration > y->duration ? -1 : x->duration < y->duration;
}

static bool is_sorted(const int64_t *starts, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (starts[i] < starts[i - 1])
            return false;
    return true;
}

/* Foreign traces may list calls in the order of their ends. */
static int sort_calls(int64_t *starts, int64_t *durations, size_t count, sp_error *error)
{
    interval *calls = malloc(count * sizeof *calls);
    if (calls == NULL)
        return sp_fail_memory(error, "combining runs");
    for (size_t i = 0; i < count; i++)
        calls[i] = (interval){starts[i], durations[i]};
    qsort(calls, count, sizeof *calls, by_start);
    for (size_t i = 0; i < count; i++) {
        starts[i] = calls[i].start;
        durations[i] = calls[i].duration;
    }
    free(calls);
    return SP_OK;
}

static void move_lanes(const lane_map *lanes, sp_column column, int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (column == SP_COLUMN_THREAD_ID)
            values[i] = thread_here(lanes, values[i]);
        else if (values[i] >= 0)
            values[i] += lanes->first_task;
    }
}

/* A copy of one column of the row, as it is to be here. NULL: memory is short, or it cannot be
 * read. */
static int64_t *copy_column(sp_results *from, size_t row, sp_column column, const lane_map *lanes,
                            sp_error *error)
{
    const int64_t *values;
    size_t count;
    if (sp_results_column(from, row, column, &values, &count, error) != SP_OK)
        return NULL;
    int64_t *copy = malloc((count + 1) * sizeof *copy);
    if (copy == NULL) {
        sp_fail_memory(error, "combining runs");
        return NULL;
    }
    memcpy(copy, values, count * sizeof *copy);
    if (column == SP_COLUMN_THREAD_ID || column == SP_COLUMN_TASK_ID)
        move_lanes(lanes, column, copy, count);
    return copy;
}

static int append_row(sp_results *results, sp_results *from, size_t row, const sp_rank_plan *plan,
                      const lane_map *lanes, sp_error *error)
{
    unsigned ids = SP_COLUMN_BIT(SP_COLUMN_CALL_ID) | SP_COLUMN_BIT(SP_COLUMN_PARENT_ID);
    unsigned mask = from->rows.items[row].columns & ~(plan->is_shared ? ids : 0);
    int64_t *columns[SP_COLUMN_COUNT] = {NULL};
    sp_row copy = *from->rows.items[row].row;
    int status = SP_OK;
    for (int c = 0; c < SP_COLUMN_COUNT && status == SP_OK; c++) {
        if ((mask & SP_COLUMN_BIT(c)) == 0)
            continue;
        columns[c] = copy_column(from, row, (sp_column)c, lanes, error);
        status = columns[c] != NULL ? SP_OK : error->status;
    }
    bool has_times_only =
        mask == (SP_COLUMN_BIT(SP_COLUMN_START) | SP_COLUMN_BIT(SP_COLUMN_DURATION));
    if (status == SP_OK && has_times_only && !is_sorted(columns[SP_COLUMN_START], copy.count))
        status = sort_calls(columns[SP_COLUMN_START], columns[SP_COLUMN_DURATION], copy.count,
                            error);
    if (plan->is_shared)
        copy.exclusive_total = -1;
    if (status == SP_OK)
        status = sp_results_add_row(results, &copy, (const int64_t *const *)columns, error);
    for (int c = 0; c < SP_COLUMN_COUNT; c++)
        free(columns[c]);
    return status;
}

static int append_rows(sp_results *results, sp_results *from, const sp_rank_plan *plan,
                       const lane_map *lanes, sp_error *error)
{
    for (uint32_t row = sp_run_first_row_of_rank(from, plan->rank); row != SP_NO_ROW;
         row = from->rows.items[row].next_in_rank) {
        const char *name = from->rows.items[row].row->region;
        int64_t region = sp_results_find_region(results, name);
        if (region >= 0 && sp_results_find_row(results, (size_t)region, plan->rank) >= 0)
            return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                           "both runs have a region '%s' on rank %u; rename one of them", name,
                           plan->rank);
        int status = append_row(results, from, row, plan, lanes, error);
        if (status != SP_OK)
            return status;
    }
    return SP_OK;
}

/* ---- Extra arrays ----------------------------------------------------------------------------*/

static bool copy_values(sp_arena *arena, const sp_extra *extra, sp_extra *copy)
{
    if (extra->texts != NULL) {
        const char **texts = sp_arena_array(arena, extra->length, sizeof *texts);
        for (size_t i = 0; texts != NULL && i < extra->length; i++)
            if ((texts[i] = sp_arena_text(arena, extra->texts[i])) == NULL)
                return false;
        copy->texts = texts;
        return texts != NULL;
    }
    const void *from = extra->integers != NULL ? (const void *)extra->integers : extra->reals;
    void *values = sp_arena_array(arena, extra->length, sizeof(int64_t));
    if (values == NULL)
        return false;
    memcpy(values, from, extra->length * sizeof(int64_t));
    if (extra->integers != NULL)
        copy->integers = values;
    else
        copy->reals = values;
    return true;
}

int sp_results_add_extra(sp_results *results, const sp_extra *extra, sp_error *error)
{
    sp_extra *copy = sp_arena_alloc(&results->arena, sizeof *copy);
    if (copy == NULL || !sp_vector_reserve(&results->extras, 1))
        return sp_fail_memory(error, "adding an array");
    *copy = (sp_extra){.name = sp_arena_text(&results->arena, extra->name), .rank = extra->rank,
                       .length = extra->length};
    if (copy->name == NULL || !copy_values(&results->arena, extra, copy))
        return sp_fail_memory(error, "adding an array");
    results->extras.items[results->extras.count++] = copy;
    return SP_OK;
}

/* Of a shared rank what refers to rows and call ids would be wrong; counters and line records do
 * not. */
static int append_extras(sp_results *results, const sp_results *from, const sp_rank_plan *plan,
                         sp_error *error)
{
    int status = SP_OK;
    for (size_t i = 0; status == SP_OK && i < from->extras.count; i++) {
        const sp_extra *extra = from->extras.items[i];
        bool is_record = strncmp(extra->name, "json_", strlen("json_")) == 0;
        if (extra->rank == plan->rank && (is_record || !plan->is_shared))
            status = sp_results_add_extra(results, extra, error);
    }
    return status;
}

int sp_run_append_rank(sp_results *results, sp_results *from, const sp_rank_plan *plan,
                       sp_error *error)
{
    sp_error own;
    error = error == NULL ? &own : error;
    int64_t here = start_of(results), there = start_of(from);
    lane_map lanes = {.later_by = here >= 0 && there >= 0 ? there - here : 0};
    int status = append_threads(results, from, plan->rank, &lanes, error);
    if (status == SP_OK)
        status = append_tasks(results, from, plan->rank, &lanes, error);
    if (status == SP_OK)
        status = append_rows(results, from, plan, &lanes, error);
    if (status == SP_OK)
        status = append_extras(results, from, plan, error);
    sp_number_map_release(&lanes.threads);
    return status;
}
