/* Which instruments combine with which modes. What is not listed here as a pair combines; the error at
 * setup and the page of the guide both go by it. */
#include "session/settings_table.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

static const sp_setting_id instruments[] = {
    SP_SETTING_PERF_EVENTS,    SP_SETTING_TRACK_CPU,         SP_SETTING_USE_LIKWID,
    SP_SETTING_USE_NVTX,       SP_SETTING_USE_GPU_TIMING,    SP_SETTING_USE_LINE_PROFILER,
    SP_SETTING_USE_MEMRAY};

/* Modes, in the order in which they are checked. */
static const sp_setting_id modes[] = {
    SP_SETTING_AGGREGATION_MODE,   SP_SETTING_TRACK_ASYNC,       SP_SETTING_TRACK_THREADS,
    SP_SETTING_PROFILE_MPI_CALLS,  SP_SETTING_RECURSIVE_PROFILE, SP_SETTING_JOURNAL,
    SP_SETTING_COUNTERS_PER_CALL};

#define PER_TASK                                                                                   \
    "it counts what the thread does, so a call that awaits would be charged what other tasks do "  \
    "meanwhile"
#define PER_TASK_DEVICE                                                                            \
    "a call that awaits would be charged what other tasks give the device meanwhile"
#define PER_TASK_RANGES "its ranges are kept by thread, and the calls of tasks take turns on one"
#define ONE_THREAD "it follows the calls of one thread"
#define SINGLE_CALLS "what it records belongs to single calls, and totals keep none"

static const struct {
    sp_setting_id instrument, mode;
    const char *reason;
} apart[] = {
    {SP_SETTING_PERF_EVENTS, SP_SETTING_TRACK_ASYNC, PER_TASK},
    {SP_SETTING_TRACK_CPU, SP_SETTING_TRACK_ASYNC, PER_TASK},
    {SP_SETTING_USE_LIKWID, SP_SETTING_TRACK_ASYNC, PER_TASK},
    {SP_SETTING_USE_LIKWID, SP_SETTING_AGGREGATION_MODE, SINGLE_CALLS},
    {SP_SETTING_USE_LIKWID, SP_SETTING_TRACK_THREADS, ONE_THREAD},
    {SP_SETTING_USE_NVTX, SP_SETTING_AGGREGATION_MODE, SINGLE_CALLS},
    {SP_SETTING_USE_NVTX, SP_SETTING_TRACK_ASYNC, PER_TASK_RANGES},
    {SP_SETTING_USE_GPU_TIMING, SP_SETTING_AGGREGATION_MODE, SINGLE_CALLS},
    {SP_SETTING_USE_GPU_TIMING, SP_SETTING_TRACK_ASYNC, PER_TASK_DEVICE},
    {SP_SETTING_USE_LINE_PROFILER, SP_SETTING_AGGREGATION_MODE, SINGLE_CALLS},
    {SP_SETTING_USE_LINE_PROFILER, SP_SETTING_TRACK_ASYNC, ONE_THREAD},
    {SP_SETTING_USE_LINE_PROFILER, SP_SETTING_TRACK_THREADS, ONE_THREAD},
    {SP_SETTING_AGGREGATION_MODE, SP_SETTING_TRACK_ASYNC,
     "lanes show single calls, and totals keep none"},
    {SP_SETTING_AGGREGATION_MODE, SP_SETTING_TRACK_THREADS,
     "lanes show single calls, and totals keep none"},
    {SP_SETTING_COUNTERS_PER_CALL, SP_SETTING_AGGREGATION_MODE,
     "totals keep no single calls that it could belong to"},
};

int sp_setting_combination_at(size_t instrument, size_t mode, sp_combination *out)
{
    if (instrument >= sizeof instruments / sizeof *instruments ||
        mode >= sizeof modes / sizeof *modes)
        return SP_ERR_NOT_FOUND;
    *out = (sp_combination){.instrument = sp_setting_at(instruments[instrument]),
                            .mode = sp_setting_at(modes[mode])};
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (apart[i].instrument == instruments[instrument] && apart[i].mode == modes[mode])
            out->reason = apart[i].reason;
    return SP_OK;
}

static bool is_on(const sp_setting_value values[], sp_setting_id id)
{
    return values[id].flag || (values[id].is_given && values[id].num_items > 0);
}

/* What does not go with that mode, by name, and the reason of the first. */
static int check_mode(const sp_setting_value values[], sp_setting_id mode, sp_error *error)
{
    char names[256];
    size_t used = 0;
    const char *reason = NULL;
    for (size_t i = 0; is_on(values, mode) && i < sizeof apart / sizeof *apart; i++) {
        if (apart[i].mode != mode || !is_on(values, apart[i].instrument))
            continue;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used == 0 ? "" : ", ",
                                 sp_setting_at(apart[i].instrument)->name);
        reason = reason == NULL ? apart[i].reason : reason;
    }
    return reason == NULL ? SP_OK
                          : sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                                    "%s cannot be combined with %s: %s", sp_setting_at(mode)->name,
                                    names, reason);
}

int sp_setting_combinations_check(const sp_setting_value values[SP_NUM_SETTINGS], sp_error *error)
{
    int status = SP_OK;
    for (size_t i = 0; i < sizeof modes / sizeof *modes && status == SP_OK; i++)
        status = check_mode(values, modes[i], error);
    return status;
}
