/* Call sites that remember their region, as scope_profiler.h declares them. */
#include "recorder/fast.h"
#include "recorder/path.h"
#include "registry/cell.h"
#include "session/binding.h"
#include "session/copies.h"
#include "session/publish_int.h"
#include "session/region.h"

#define RECORDING (&sp_default.recording)

_Static_assert(sizeof(sp_site) == sizeof(sp_cell), "a call site holds a cell");

/* Which recording it is: the number differs from that of every recording before, as long as a
 * program does not start four thousand million of them. */
static uint32_t recording_number(const sp_recording *recording)
{
    return (uint32_t)atomic_load_explicit(&recording->generation, memory_order_relaxed);
}

static __attribute__((noinline, cold)) int define(sp_profiler *profiler, sp_site *site,
                                                  uint32_t number, const char *name,
                                                  const char *file, int line)
{
    int region = sp_region_define(profiler, name, file, line);
    sp_cell_set((sp_cell *)site, number, region);
    return region;
}

static inline sp_call begin(sp_phase phase, uint32_t number, int region)
{
    if (SP_UNLIKELY(!sp_fast_begin(phase, sp_lane_current, (uint32_t)region)))
        sp_region_begin_slowly(region);
    return (sp_call){.region = region, .recording = number};
}

static __attribute__((noinline, cold)) sp_call site_begin_slowly(sp_phase phase, sp_site *site,
                                                                 const char *name,
                                                                 const char *file, int line)
{
    SP_PASS_ON(sp_site_begin, (site, name, file, line));
    uint32_t number = recording_number(RECORDING);
    return begin(phase, number, define(&sp_default, site, number, name, file, line));
}

sp_call sp_site_begin(sp_site *site, const char *name, const char *file, int line)
{
    sp_phase phase = sp_recording_phase(RECORDING);
    if (SP_IN_LINE(phase == SP_PHASE_OFF))
        return (sp_call){.region = SP_INVALID_REGION};
    uint32_t number = recording_number(RECORDING);
    int region = sp_cell_get((sp_cell *)site, number);
    if (SP_UNLIKELY(region == SP_INVALID_REGION))
        return site_begin_slowly(phase, site, name, file, line);
    return begin(phase, number, region);
}

sp_call sp_call_begin(int region)
{
    sp_phase phase = sp_recording_phase(RECORDING);
    if (SP_IN_LINE(phase == SP_PHASE_OFF))
        return (sp_call){.region = SP_INVALID_REGION};
    return begin(phase, recording_number(RECORDING), region);
}

void sp_call_end(const sp_call *call)
{
    if (call->region == SP_INVALID_REGION)
        return;
    if (SP_LIKELY(call->recording == recording_number(RECORDING)))
        sp_end(call->region);
    else
        SP_PASS_ON_VOID(sp_call_end, (call));
}

bool sp_binding_takes_calls(void)
{
    sp_phase phase = sp_recording_phase(RECORDING);
    return phase != SP_PHASE_OFF && phase != SP_PHASE_ELSEWHERE && !sp_publish_is_talking();
}

sp_call sp_binding_call_begin(sp_site *site, const char *name, const char *tags, const char *members)
{
    sp_phase phase = sp_recording_phase(RECORDING);
    if (!sp_binding_takes_calls())
        return (sp_call){.region = SP_INVALID_REGION};
    uint32_t number = recording_number(RECORDING);
    int region = sp_cell_get((sp_cell *)site, number);
    if (SP_UNLIKELY(region == SP_INVALID_REGION)) {
        region = sp_region_tagged(name, tags);
        sp_cell_set((sp_cell *)site, number, region);
    }
    sp_call call = begin(phase, number, region);
    if (members[0] != '\0' && region != SP_INVALID_REGION)
        sp_path_note(RECORDING, "", members);
    return call;
}

int sp_profiler_site(sp_profiler *profiler, sp_site *site, const char *name, const char *file,
                     int line)
{
    SP_PASS_ON(sp_profiler_site, (profiler, site, name, file, line));
    if (profiler == NULL || sp_recording_phase(&profiler->recording) == SP_PHASE_OFF)
        return SP_INVALID_REGION;
    uint32_t number = recording_number(&profiler->recording);
    int region = sp_cell_get((sp_cell *)site, number);
    return region != SP_INVALID_REGION ? region
                                       : define(profiler, site, number, name, file, line);
}
