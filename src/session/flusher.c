#include "session/flusher.h"

#include "base/os/helper.h"
#include "base/os/journal_file.h"
#include "recorder/drain.h"
#include "session/journal.h"
#include "store/journal/journal.h"

enum { MOST_AT_ONCE = 16, FORK_WAIT_MS = 200 };

static sp_helper helper = SP_HELPER_INIT;

typedef struct round_of_drains {
    int descriptors[MOST_AT_ONCE]; /* to be synced when no lock is held */
    size_t count;
    double next; /* seconds */
} round_of_drains;

static void drain_lanes(sp_recording *recording)
{
    sp_lane *own = sp_recording_lock(recording);
    for (size_t i = 0; i < recording->lanes.count; i++) {
        sp_lane *lane = recording->lanes.items[i];
        sp_mutex_lock(&lane->lock);
        sp_drain_other(lane);
        sp_mutex_unlock(&lane->lock);
    }
    sp_recording_unlock(recording, own);
}

/* A recording without a journal has nothing to gain. While its profiler is being configured or
 * published somebody else drains it. */
static void visit(sp_recording *recording, void *context)
{
    round_of_drains *drains = context;
    double seconds;
    if (!recording->is_lasting || recording->sink->table->take_room == NULL ||
        sp_recording_phase(recording) == SP_PHASE_OFF)
        return;
    sp_profiler *profiler = (sp_profiler *)recording;
    if (!sp_mutex_try(&profiler->lock))
        return;
    int descriptor = -1;
    if (sp_profiler_journal_flushes(profiler, &seconds)) {
        drain_lanes(recording);
        if (drains->count < MOST_AT_ONCE)
            descriptor = sp_profiler_journal_descriptor(profiler);
        if (drains->next == 0 || seconds < drains->next)
            drains->next = seconds;
    }
    sp_mutex_unlock(&profiler->lock);
    if (descriptor >= 0)
        drains->descriptors[drains->count++] = descriptor;
}

static double flush(void)
{
    round_of_drains drains = {.count = 0};
    sp_recordings_visit(visit, &drains);
    for (size_t i = 0; i < drains.count; i++) {
        sp_os_journal_sync(drains.descriptors[i]);
        sp_os_journal_close(drains.descriptors[i]);
    }
    return drains.next;
}

void sp_flusher_need(double seconds)
{
    if (seconds > 0)
        sp_helper_start(&helper, seconds, flush);
}

void sp_flusher_fork_prepare(void)
{
    sp_helper_end(&helper, FORK_WAIT_MS);
}

void sp_flusher_fork_child(void)
{
    sp_helper_forget(&helper);
}
