#include "session/checkpoint.h"

#include "base/os/helper.h"
#include "clock/clock.h"
#include "session/complaint.h"
#include "session/journal.h"
#include "session/native_run.h"

enum { WAIT_MS = 60000 };

/* How soon a profiler that is busy is looked at again, and how late a new one is seen. */
#define RETRY_SECONDS 0.05
#define MOST_SECONDS 0.25
#define SECOND_NS 1e9

static sp_helper helper = SP_HELPER_INIT;
static sp_mutex list_lock = SP_MUTEX_INIT;
static sp_profiler *first;

static void publish(sp_profiler *profiler)
{
    sp_checkpoints *state = &profiler->checkpoints;
    sp_error error = {0};
    if (!sp_profiler_may_publish_aside(profiler)) {
        sp_complain("no checkpoints of %s: the HDF5 library here serves one thread only; the profile is "
                    "written when the program finalizes",
                    profiler->settings.output);
        state->interval_ns = 0;
        return;
    }
    state->number++;
    int status = sp_profiler_publish_kept(profiler, false, &error);
    if (status != SP_OK && !state->has_failed)
        sp_complain("a checkpoint of %s was not written, the recording goes on: %s",
                    profiler->settings.output, error.text);
    state->has_failed = status != SP_OK;
    state->due_ns = sp_clock_monotonic_ns() + state->interval_ns;
}

/* A profiler that is due and idle, locked; NULL: none. `*out_seconds`: until the next look. Who has a profiler's lock may be waiting for the list, so it is only tried. */
static sp_profiler *take_due(double *out_seconds)
{
    sp_profiler *due = NULL;
    int64_t now = sp_clock_monotonic_ns();
    double next = MOST_SECONDS;
    sp_mutex_lock(&list_lock);
    for (sp_profiler *profiler = first; profiler != NULL && due == NULL;
         profiler = profiler->checkpoints.next) {
        const sp_checkpoints *state = &profiler->checkpoints;
        double seconds = (double)(state->due_ns - now) / SECOND_NS;
        if (state->interval_ns == 0)
            continue;
        if (seconds <= 0 && sp_mutex_try(&profiler->lock))
            due = profiler;
        seconds = seconds < RETRY_SECONDS ? RETRY_SECONDS : seconds;
        next = seconds < next ? seconds : next;
    }
    sp_mutex_unlock(&list_lock);
    *out_seconds = next;
    return due;
}

static double work(void)
{
    sp_profiler *profiler;
    double seconds;
    while ((profiler = take_due(&seconds)) != NULL) {
        sp_checkpoints *state = &profiler->checkpoints;
        bool is_wanted = sp_recording_phase(&profiler->recording) != SP_PHASE_OFF;
        /* Without new calls there is nothing to say, and the profile of a finalize to be kept. */
        if (is_wanted && sp_profiler_has_unpublished(&profiler->recording))
            publish(profiler);
        else
            state->due_ns = sp_clock_monotonic_ns() + state->interval_ns;
        sp_mutex_unlock(&profiler->lock);
    }
    return seconds;
}

void sp_checkpoint_forget(sp_profiler *profiler)
{
    sp_mutex_lock(&list_lock);
    sp_profiler **link = &first;
    while (*link != NULL && *link != profiler)
        link = &(*link)->checkpoints.next;
    if (*link != NULL)
        *link = profiler->checkpoints.next;
    profiler->checkpoints = (sp_checkpoints){.interval_ns = 0};
    sp_mutex_unlock(&list_lock);
}

void sp_checkpoint_want(sp_profiler *profiler)
{
    double seconds = profiler->settings.checkpoint_interval;
    int number = profiler->checkpoints.number;
    sp_checkpoint_forget(profiler);
    if (seconds <= 0 || profiler->settings.output == NULL)
        return;
    sp_mutex_lock(&list_lock);
    profiler->checkpoints = (sp_checkpoints){
        .interval_ns = (int64_t)(seconds * SECOND_NS) + 1,
        .due_ns = sp_clock_monotonic_ns() + (int64_t)(seconds * SECOND_NS),
        .number = number,
        .next = first,
    };
    first = profiler;
    sp_mutex_unlock(&list_lock);
    if (!sp_helper_start(&helper, RETRY_SECONDS, work))
        sp_complain("no checkpoints of %s: the system has no thread left", profiler->settings.output);
}

void sp_checkpoint_end(void)
{
    sp_helper_end(&helper, WAIT_MS);
}

void sp_checkpoint_fork_prepare(void)
{
    sp_helper_end(&helper, WAIT_MS);
    sp_mutex_lock(&list_lock);
}

void sp_checkpoint_fork_parent(void)
{
    bool is_needed = first != NULL;
    sp_mutex_unlock(&list_lock);
    if (is_needed)
        sp_helper_start(&helper, RETRY_SECONDS, work);
}

void sp_checkpoint_fork_child(void)
{
    sp_helper_forget(&helper);
    first = NULL;
    sp_mutex_unlock(&list_lock); /* this thread locked it before the fork */
}
