#include "base/error.h"
#include "base/os/clock.h"
#include "recorder/query.h"
#include "session/publish_int.h"
#include "store/module.h"

#include <stdlib.h>

void sp_losses_fill(const sp_recording *recording, sp_assemble_loss out[SP_NUM_LOSSES])
{
    for (int i = 0; i < SP_LOSS_COUNT; i++)
        out[i] = (sp_assemble_loss){.kind = sp_loss_names[i],
                                    .count = (int64_t)atomic_load(&recording->lost[i])};
    out[SP_LOSS_COUNT] = (sp_assemble_loss){
        .kind = "unmatched_end", .count = (int64_t)atomic_load(&recording->unmatched_ends)};
}

void sp_losses_report(const sp_recording *recording, sp_binding_report *report)
{
    uint64_t lost[SP_LOSS_COUNT];
    for (int i = 0; i < SP_LOSS_COUNT; i++)
        lost[i] = atomic_load(&recording->lost[i]);
    report->calls_lost =
        lost[SP_LOSS_OUT_OF_MEMORY] + lost[SP_LOSS_SIGNAL_REENTRY] + lost[SP_LOSS_THREAD_EXIT];
    report->calls_partial = lost[SP_LOSS_METADATA] + lost[SP_LOSS_COUNTERS];
}

sp_assemble_instruments sp_publish_instruments(const sp_recording *recording,
                                               const sp_counter_sums *more)
{
    const sp_instruments *set = recording->instruments;
    if (set == NULL)
        return (sp_assemble_instruments){.count = 0};
    return (sp_assemble_instruments){.items = set->items, .count = set->count, .more = more};
}

/* Times in the table are relative to the start of the run. */
static int64_t relative(const sp_profiler *profiler, int64_t ns)
{
    return ns < 0 ? -1 : ns - profiler->start_ns;
}

bool sp_threads_fill(sp_profiler *profiler, sp_thread_rows *out, sp_arena *names)
{
    sp_recording *recording = &profiler->recording;
    if (!sp_vector_reserve(out, recording->threads.count))
        return false;
    for (size_t i = 0; i < recording->threads.count; i++) {
        sp_thread_info *info = &recording->threads.items[i];
        sp_thread_info_name(info);
        const char *name = sp_arena_text(names, info->name == NULL ? "" : info->name);
        if (name == NULL)
            return false;
        out->items[out->count++] = (sp_thread_row){
            .rank = profiler->settings.rank,
            .index = (int64_t)i,
            .ident = info->ident,
            .native_id = info->native_id,
            .is_daemon = info->is_daemon,
            .start_ns = relative(profiler, info->start_ns),
            .end_ns = relative(profiler, info->end_ns),
            .cpu_ns = info->end_ns < 0 ? sp_os_thread_cpu_ns_of(info->native_id) : info->cpu_ns,
            .name = name,
        };
    }
    return true;
}

/* Times of tasks are spans of ticks until now. */
static sp_task_row task_row(const sp_profiler *profiler, const sp_task_info *info,
                            const sp_timeline_rate *rate)
{
    return (sp_task_row){
        .rank = profiler->settings.rank,
        .index = info->number,
        .thread_index = atomic_load_explicit(&info->thread, memory_order_relaxed),
        .created_ns = relative(profiler, info->created_ns),
        .done_ns = relative(profiler, atomic_load_explicit(&info->done_ns, memory_order_relaxed)),
        .steps = (int64_t)atomic_load_explicit(&info->steps, memory_order_relaxed),
        .running_ns = sp_timeline_scale(
            rate, atomic_load_explicit(&info->running, memory_order_relaxed)),
        .suspended_ns = sp_timeline_scale(
            rate, atomic_load_explicit(&info->suspended, memory_order_relaxed)),
        .kind = info->kind == SP_TASK_GREENLET ? "greenlet" : "task",
    };
}

bool sp_tasks_fill(sp_profiler *profiler, sp_task_rows *out, sp_arena *names)
{
    sp_recording *recording = &profiler->recording;
    sp_timeline_rate rate = sp_timeline_current_rate(&recording->timeline);
    if (!sp_vector_reserve(out, recording->tasks.count))
        return false;
    for (size_t i = 0; i < recording->tasks.count; i++) {
        const sp_task_info *info = recording->tasks.items[i];
        sp_task_row row = task_row(profiler, info, &rate);
        row.name = sp_arena_text(names, info->name == NULL ? "" : info->name);
        row.coroutine_name = sp_arena_text(names, info->coroutine == NULL ? "" : info->coroutine);
        if (row.name == NULL || row.coroutine_name == NULL)
            return false;
        out->items[out->count++] = row;
    }
    return true;
}

int sp_publish_open(sp_profiler *profiler, const sp_binding_publication *what, sp_outputs *outputs,
                    sp_error *error)
{
    const sp_settings *settings = &profiler->settings;
    sp_store_options options = settings->store;
    options.is_aggregate = settings->is_aggregate;
    const char *output = what->output != NULL ? what->output : settings->output;
    if (what->image_only)
        output = NULL;
    bool want_image = what->want_image || output == NULL;
    return sp_outputs_open(outputs, want_image, output, settings->format, &options, error);
}

int sp_publish_into(sp_profiler *profiler, const sp_binding_publication *what, sp_outputs *outputs,
                    sp_binding_report *report, sp_error *error)
{
    int status = profiler->settings.is_aggregate
                     ? sp_profiler_publish_totals(profiler, what, outputs, report, error)
                     : sp_profiler_publish_calls(profiler, what, outputs, report, error);
    if (status != SP_OK) {
        sp_outputs_abort(outputs);
        return status;
    }
    report->image = outputs->image;
    report->image_size = outputs->image_size;
    return SP_OK;
}

static int publish_alone(sp_profiler *profiler, const sp_binding_publication *what,
                         sp_binding_report *report, sp_error *error)
{
    sp_outputs outputs;
    int status = sp_publish_open(profiler, what, &outputs, error);
    report->is_root = true;
    return status == SP_OK ? sp_publish_into(profiler, what, &outputs, report, error) : status;
}

static bool has_native_part(sp_profiler *profiler)
{
    const sp_region_table *table = &profiler->recording.regions;
    sp_lane *own = sp_recording_lock(&profiler->recording);
    bool has = profiler->was_joined;
    for (size_t i = 0; i < table->count && !has; i++)
        has = table->entries[i].is_native;
    sp_recording_unlock(&profiler->recording, own);
    return has;
}

int sp_profiler_publish(sp_profiler *profiler, const sp_binding_publication *what,
                        sp_binding_report *report, sp_error *error)
{
    static const sp_binding_publication plain = {.size = sizeof plain};
    what = what == NULL ? &plain : what;
    sp_binding_report done = {0};
    bool is_together = what->communicator != NULL && what->communicator->num_ranks > 1;
    int status = is_together ? sp_publish_together(profiler, what, &done, error)
                             : publish_alone(profiler, what, &done, error);
    done.has_native = has_native_part(profiler);
    if (status == SP_OK && report != NULL)
        *report = done;
    else
        free(done.image);
    return status;
}

/* A library that is not safe among threads may be in use by one of the program's. */
bool sp_profiler_may_publish_aside(const sp_profiler *profiler)
{
    if (profiler->settings.format == SP_OUTPUT_TRACE)
        return true;
    const sp_store_table *store = sp_store_hdf5(NULL);
    return store != NULL && store->is_thread_safe();
}

int sp_profiler_forget(sp_profiler *profiler, sp_error *error)
{
    static const sp_binding_publication plain = {.size = sizeof plain};
    sp_outputs none = {.count = 0};
    sp_binding_report report;
    sp_sums sums = {0};
    int status = SP_OK;
    if (!profiler->settings.is_aggregate)
        status = sp_profiler_publish_calls(profiler, &plain, &none, &report, error);
    if (status != SP_OK)
        return status;
    sp_recording_take_sums(&profiler->recording, &sums);
    sp_sums_release(&sums);
    return SP_OK;
}
