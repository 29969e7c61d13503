#include "session/region.h"

#include "recorder/attach.h"
#include "recorder/path.h"

#include "base/os/file.h"
#include "session/complaint.h"
#include "session/copies.h"
#include "session/journal.h"
#include "session/native_job.h"
#include "session/tags.h"

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

/* Known to the profiler from now on; one that the host has switched off stays off. NULL: no memory.
 * Under the lock of the recording. */
static sp_region_entry *know(sp_region_table *table, int32_t region, sp_region_state first)
{
    bool is_new = sp_region_table_state(table, (uint32_t)region) == SP_REGION_UNKNOWN;
    if (is_new && !sp_region_table_set(table, region, first))
        return NULL;
    sp_region_entry *entry = sp_region_table_find(table, region);
    if (entry != NULL && is_new)
        entry->is_native = true;
    return entry;
}

/* False: memory is short. */
static bool define(sp_profiler *profiler, int32_t region, const char *file, int line)
{
    sp_recording *recording = &profiler->recording;
    sp_region_table *table = &recording->regions;
    sp_region_state first = sp_tags_first_state(profiler, region);
    sp_lane *own = sp_recording_lock(recording);
    sp_region_entry *entry = know(table, region, first);
    const char *site = file == NULL ? NULL : site_of(file);
    bool has_new_site = site != NULL && entry != NULL && entry->source_file == NULL;
    if (has_new_site)
        sp_region_table_source(table, entry, site, line, NULL);
    if (entry != NULL)
        sp_profiler_journal_region(profiler, entry);
    sp_recording_unlock(recording, own);
    if (profiler->settings.is_joint && profiler == &sp_default)
        sp_job_watch();
    if (has_new_site && profiler == &sp_default)
        sp_tags_remember_site(region, site, line);
    return entry != NULL;
}

int sp_region_define(sp_profiler *profiler, const char *name, const char *file, int line)
{
    int32_t region = name == NULL ? SP_INVALID_REGION : sp_names_intern(name, strlen(name), NULL);
    return region != SP_INVALID_REGION && define(profiler, region, file, line) ? region
                                                                            : SP_INVALID_REGION;
}

void sp_region_begin_slowly(int region)
{
    SP_PASS_ON_VOID(sp_begin, (region));
    sp_recording *recording = &sp_default.recording;
    int status = sp_path_begin(recording, (uint32_t)region, 0);
    /* A signal handler whose thread holds a lock cannot have another one. */
    if (status == SP_ERR_INVALID_ARGUMENT && sp_names_get(region) != NULL &&
        !sp_thread_is_occupied() && define(&sp_default, region, NULL, -1)) {
        sp_tags_restore(region);
        sp_path_begin(recording, (uint32_t)region, 0);
    }
}

void sp_region_complain_unmatched(sp_profiler *profiler, int region)
{
    if (!atomic_exchange(&profiler->said_unmatched, true))
        sp_complain("sp_end('%s') without a matching sp_begin", sp_names_get(region));
}
