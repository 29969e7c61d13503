#include "session/bounds.h"

#include "base/os/process.h"
#include "session/complaint.h"

#include <string.h>

static void say(const char *what, const char *folder)
{
    sp_complain("%s (%s): calls beyond max_memory are kept as totals from here on; TMPDIR names another "
                "folder for them",
                what, folder == NULL ? "no folder" : folder);
}

static sp_on_full on_full_of(const char *choice)
{
    static const struct {
        const char *choice;
        sp_on_full on_full;
    } all[] = {{"spill", SP_ON_FULL_SPILL},
               {"aggregate", SP_ON_FULL_AGGREGATE},
               {"ring", SP_ON_FULL_RING},
               {"stop", SP_ON_FULL_STOP}};
    for (size_t i = 0; choice != NULL && i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].choice, choice) == 0)
            return all[i].on_full;
    return SP_ON_FULL_SPILL;
}

/* NULL when memory is short: then there is one folder less. */
static const char *folder_of(const char *path, sp_arena *texts)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return sp_arena_text(texts, ".");
    return slash == path ? sp_arena_text(texts, "/")
                         : sp_arena_text_n(texts, path, (size_t)(slash - path));
}

/* Where the user says, then beside the output, where there is room for it, then where there is always
 * something, though perhaps memory. */
static void fill_folders(const sp_settings *settings, sp_arena *texts, const char **folders)
{
    const char *chosen = sp_os_environment("TMPDIR");
    size_t count = 0;
    if (chosen != NULL && chosen[0] != '\0')
        folders[count] = sp_arena_text(texts, chosen);
    count += folders[count] != NULL;
    if (settings->output != NULL)
        folders[count] = folder_of(settings->output, texts);
    count += folders[count] != NULL;
    folders[count] = "/tmp";
}

void sp_bounds_fill(const sp_settings *settings, sp_arena *texts, sp_recording_settings *out)
{
    sp_setting_value standard = sp_setting_initial(SP_SETTING_MAX_MEMORY);
    out->max_memory = settings->max_memory > 0 ? settings->max_memory : (size_t)standard.integer;
    out->on_full = on_full_of(settings->on_full);
    out->say = say;
    fill_folders(settings, texts, out->spill_folders);
}
