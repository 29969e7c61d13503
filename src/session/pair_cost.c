#include "session/profiler.h"

#include "base/os/clock.h"
#include "recorder/fast.h"
#include "recorder/path.h"

enum { PAIRS = 100, ROUNDS = 3, RING_WORDS = 1024 /* all of them fit: no drain */ };

static double measured_ns = -1;
static sp_mutex lock = SP_MUTEX_INIT;

static void record_pairs(sp_recording *recording, int count)
{
    sp_lane *lane = sp_lane_of(recording);
    for (int i = 0; i < count; i++) {
        sp_phase phase = sp_recording_phase(recording);
        if (!sp_fast_begin(phase, lane, 0))
            sp_path_begin(recording, 0, 0);
        if (!sp_fast_end(phase, lane, 0))
            sp_path_end(recording, 0);
    }
}

/* The best of a few rounds: what disturbs a round is not the recorder's own cost. */
static double measure(sp_recording *recording)
{
    double best = 1e9;
    record_pairs(recording, 1);
    for (int i = 0; i < ROUNDS; i++) {
        int64_t before = sp_os_monotonic_ns();
        record_pairs(recording, PAIRS);
        double ns = (double)(sp_os_monotonic_ns() - before) / PAIRS;
        best = ns < best ? ns : best;
    }
    return best;
}

double sp_pair_cost_ns(void)
{
    sp_recording recording;
    sp_recording_settings settings = {.max_memory = SIZE_MAX, .ring_words = RING_WORDS};
    sp_mutex_lock(&lock);
    if (measured_ns < 0 && sp_recording_init(&recording)) {
        if (sp_recording_start(&recording, &settings, NULL) == SP_OK &&
            sp_region_table_set(&recording.regions, 0, SP_REGION_RECORD))
            measured_ns = measure(&recording);
        sp_recording_release(&recording);
    }
    double ns = measured_ns;
    sp_mutex_unlock(&lock);
    return ns < 0 ? 0 : ns;
}

void sp_pair_cost_fork_child(void)
{
    sp_mutex_reset(&lock);
}

double sp_binding_pair_cost_ns(const sp_profiler *profiler)
{
    (void)profiler;
    return sp_pair_cost_ns();
}
