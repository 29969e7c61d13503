/* The module scope_profiler_ompt.so: a tool of the OpenMP runtime (OMPT), which runtimes that have the
 * interface open when OMP_TOOL_LIBRARIES names it. It shows parallel regions and what each thread does in
 * them:
 *
 *     omp parallel: solve      on the thread that forks, from the fork to the join
 *     omp work: solve          on each thread of the team, until it waits for the others
 *
 * with the function that the construct is in; further constructs of one function are numbered. Threads of
 * the runtime are named. Nothing is recorded unless the program (or a host) records.
 */
#include "base/os/library.h"
#include "base/os/thread.h"
#include "scope_profiler.h"

#include <omp-tools.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One parallel construct of the program. */
typedef struct construct {
    const void *code; /* NULL: free */
    char parallel[128], work[128];
} construct;

enum { NUM_CONSTRUCTS = 4096 }; /* those beyond share one without a name */

static construct constructs[NUM_CONSTRUCTS];
static construct many = {.parallel = "omp parallel", .work = "omp work"};
static sp_mutex constructs_lock = SP_MUTEX_INIT;
static atomic_int num_workers;

/* ---- Constructs ------------------------------------------------------------------------------*/

static size_t slot_of(const void *code)
{
    uint64_t bits = (uint64_t)(uintptr_t)code * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(bits >> 52);
}

/* How many constructs are called so already. */
static int count_namesakes(const char *name)
{
    int count = 0;
    size_t length = strlen(name);
    for (size_t i = 0; i < NUM_CONSTRUCTS; i++)
        if (constructs[i].code != NULL && strncmp(constructs[i].work, name, length) == 0 &&
            (constructs[i].work[length] == '\0' || strncmp(constructs[i].work + length, " #", 2) == 0))
            count++;
    return count;
}

static void name_construct(construct *entry, const void *code)
{
    char place[80], work[100], number[16] = "";
    sp_os_describe_code(code, place, sizeof place);
    snprintf(work, sizeof work, "omp work: %s", place);
    int namesakes = count_namesakes(work);
    if (namesakes > 0)
        snprintf(number, sizeof number, " #%d", namesakes + 1);
    snprintf(entry->work, sizeof entry->work, "%s%s", work, number);
    snprintf(entry->parallel, sizeof entry->parallel, "omp parallel: %s%s", place, number);
    entry->code = code;
}

static construct *find_construct(const void *code)
{
    construct *found = &many;
    sp_mutex_lock(&constructs_lock);
    size_t slot = slot_of(code);
    for (size_t i = 0; i < NUM_CONSTRUCTS && code != NULL; i++) {
        construct *entry = &constructs[(slot + i) % NUM_CONSTRUCTS];
        if (entry->code == NULL)
            name_construct(entry, code);
        if (entry->code == code) {
            found = entry;
            break;
        }
    }
    sp_mutex_unlock(&constructs_lock);
    return found;
}

/* ---- Events ----------------------------------------------------------------------------------*/

static void on_thread_begin(ompt_thread_t type, ompt_data_t *thread)
{
    char name[32];
    (void)thread;
    if (type != ompt_thread_worker)
        return;
    snprintf(name, sizeof name, "OpenMP worker %d", 1 + atomic_fetch_add(&num_workers, 1));
    sp_name_thread(name);
}

static void on_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel,
                              unsigned int threads, int flags, const void *code)
{
    (void)task;
    (void)frame;
    (void)threads;
    (void)flags;
    parallel->ptr = NULL;
    if (!sp_is_active())
        return;
    construct *entry = find_construct(code);
    parallel->ptr = entry;
    sp_begin(sp_region(entry->parallel));
}

static void on_parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *code)
{
    (void)task;
    (void)flags;
    (void)code;
    const construct *entry = parallel->ptr;
    if (entry != NULL)
        sp_end(sp_region(entry->parallel));
}

/* While its work is open, a task's data is the region's number plus one. */
static void end_work(ompt_data_t *task)
{
    if (task != NULL && task->value != 0)
        sp_end((int)(task->value - 1));
    if (task != NULL)
        task->value = 0;
}

static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,
                             ompt_data_t *task, unsigned int threads, unsigned int index, int flags)
{
    (void)threads;
    (void)index;
    if (flags & ompt_task_initial) /* the program itself */
        return;
    if (endpoint != ompt_scope_begin) {
        end_work(task);
        return;
    }
    const construct *entry = parallel == NULL ? NULL : parallel->ptr;
    int region = entry == NULL ? SP_INVALID_REGION : sp_region(entry->work);
    task->value = (uint64_t)(region + 1);
    sp_begin(region);
}

/* The runtime tells of a worker's end only when it is needed again: its work is over when it comes to the
 * barrier at the end of the construct. */
static void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint,
                           ompt_data_t *parallel, ompt_data_t *task, const void *code)
{
    (void)parallel;
    (void)code;
    bool ends_the_construct = (int)kind == 2 /* implicit, before 5.1 */ ||
                              kind == ompt_sync_region_barrier_implicit_parallel;
    if (endpoint == ompt_scope_begin && ends_the_construct)
        end_work(task);
}

/* ---- The tool --------------------------------------------------------------------------------*/

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
    (void)device;
    (void)data;
    ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
    if (set == NULL)
        return 0;
    set(ompt_callback_thread_begin, (ompt_callback_t)on_thread_begin);
    set(ompt_callback_parallel_begin, (ompt_callback_t)on_parallel_begin);
    set(ompt_callback_parallel_end, (ompt_callback_t)on_parallel_end);
    set(ompt_callback_implicit_task, (ompt_callback_t)on_implicit_task);
    set(ompt_callback_sync_region, (ompt_callback_t)on_sync_region);
    return 1;
}

static void finalize(ompt_data_t *data)
{
    (void)data;
}

/* What the runtime looks for. */
ompt_start_tool_result_t *ompt_start_tool(unsigned int version, const char *runtime);

__attribute__((visibility("default"))) ompt_start_tool_result_t *
ompt_start_tool(unsigned int version, const char *runtime)
{
    static ompt_start_tool_result_t tool = {.initialize = initialize, .finalize = finalize};
    (void)version;
    (void)runtime;
    return &tool;
}
