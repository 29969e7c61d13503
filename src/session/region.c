#include "session/region.h"

#include "session/complaint.h"

#include <string.h>

int sp_region_define(sp_profiler *profiler, const char *name, const char *file, int line)
{
    if (name == NULL)
        return SP_INVALID_REGION;
    int32_t region = sp_names_intern(name, strlen(name), NULL);
    if (region == SP_INVALID_REGION)
        return SP_INVALID_REGION;
    sp_recording *recording = &profiler->recording;
    sp_region_table *table = &recording->regions;
    sp_mutex_lock(&recording->lock);
    /* One that the host has switched off stays off. */
    bool is_known = sp_region_table_state(table, (uint32_t)region) != SP_REGION_UNKNOWN ||
                    sp_region_table_set(table, region, SP_REGION_RECORD);
    sp_region_entry *entry = is_known ? sp_region_table_find(table, region) : NULL;
    if (entry != NULL && file != NULL)
        sp_region_table_source(table, entry, file, line, NULL);
    sp_mutex_unlock(&recording->lock);
    return entry == NULL ? SP_INVALID_REGION : region;
}

void sp_region_complain_unmatched(sp_profiler *profiler, int region)
{
    if (!atomic_exchange(&profiler->said_unmatched, true))
        sp_complain("sp_end('%s') without a matching sp_begin", sp_names_get(region));
}
