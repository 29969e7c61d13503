/* recorder_case.h - a recording for one test case, and calls as the exported functions make them. */
#ifndef RECORDER_CASE_H
#define RECORDER_CASE_H

#include "recorder/fast.h"
#include "recorder/path.h"
#include "recorder/query.h"

#include <string.h>

static inline void case_start(sp_recording *recording, size_t ring_words, size_t max_memory)
{
    sp_recording_settings settings = {.ring_words = ring_words, .max_memory = max_memory};
    sp_recording_start(recording, &settings, NULL);
}

static inline uint32_t case_region(sp_recording *recording, const char *name)
{
    int32_t region = sp_names_intern(name, strlen(name), NULL);
    sp_mutex_lock(&recording->lock);
    sp_region_table_set(&recording->regions, region, SP_REGION_RECORD);
    sp_mutex_unlock(&recording->lock);
    return (uint32_t)region;
}

static inline int case_begin(sp_recording *recording, uint32_t region)
{
    sp_phase phase = sp_recording_phase(recording);
    if (phase != SP_PHASE_OFF && sp_fast_begin(phase, sp_lane_of(recording), region))
        return SP_OK;
    return sp_path_begin(recording, region, 0);
}

static inline int case_end(sp_recording *recording, uint32_t region)
{
    sp_phase phase = sp_recording_phase(recording);
    if (phase != SP_PHASE_OFF && sp_fast_end(phase, sp_lane_of(recording), region))
        return SP_OK;
    return sp_path_end(recording, region);
}

#endif
