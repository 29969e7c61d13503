#include "session/region.h"

#include "base/os/file.h"
#include "session/complaint.h"

#include <limits.h>
#include <string.h>

/* Where a file is, without telling where the program was built: as seen from the current folder when
 * it lies below it, else its name alone. */
static const char *site_of(const char *file)
{
    char folder[PATH_MAX];
    if (file[0] != '/')
        return file;
    size_t length = sp_os_current_folder(folder, sizeof folder) ? strlen(folder) : 0;
    if (length > 1 && strncmp(file, folder, length) == 0 && file[length] == '/')
        return file + length + 1;
    return strrchr(file, '/') + 1;
}

int sp_region_define(sp_profiler *profiler, const char *name, const char *file, int line)
{
    if (name == NULL)
        return SP_INVALID_REGION;
    int32_t region = sp_names_intern(name, strlen(name), NULL);
    if (region == SP_INVALID_REGION)
        return SP_INVALID_REGION;
    sp_recording *recording = &profiler->recording;
    sp_region_table *table = &recording->regions;
    sp_lane *own = sp_recording_lock(recording);
    /* One that the host has switched off stays off. */
    bool is_known = sp_region_table_state(table, (uint32_t)region) != SP_REGION_UNKNOWN ||
                    sp_region_table_set(table, region, SP_REGION_RECORD);
    sp_region_entry *entry = is_known ? sp_region_table_find(table, region) : NULL;
    if (entry != NULL && entry->source_file == NULL && file != NULL)
        sp_region_table_source(table, entry, site_of(file), line, NULL);
    sp_recording_unlock(recording, own);
    return entry == NULL ? SP_INVALID_REGION : region;
}

void sp_region_complain_unmatched(sp_profiler *profiler, int region)
{
    if (!atomic_exchange(&profiler->said_unmatched, true))
        sp_complain("sp_end('%s') without a matching sp_begin", sp_names_get(region));
}
