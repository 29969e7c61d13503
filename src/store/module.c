#include "store/module.h"

#include "base/error.h"
#include "base/os/file.h"
#include "base/os/library.h"
#include "base/os/thread.h"
#include "base/text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char MODULE_FILE[] = "scope_profiler_hdf5.so";
static const char PATH_VARIABLE[] = "SCOPE_PROFILER_MODULE_PATH";

typedef struct search {
    bool only_looks, is_there;
    const sp_store_table *table; /* found */
    sp_text tried;               /* folders without the file */
    sp_error failure;            /* of the first file that was there but did not load */
} search;

static const sp_store_table *load(const char *path, sp_error *error)
{
    void *library = sp_os_library_open(path, error);
    if (library == NULL)
        return NULL;
    sp_store_entry entry = (sp_store_entry)sp_os_library_function(library, SP_STORE_SYMBOL);
    if (entry == NULL) {
        sp_fail(error, SP_ERR_NO_MODULE, "'%s' is not a store module", path);
        return NULL;
    }
    const sp_store_table *table = entry(error);
    if (table == NULL)
        return NULL;
    /* Entries are only ever added, so a newer table serves and an older one does not. */
    if (table->version != SP_STORE_VERSION ||
        table->size < offsetof(sp_store_table, library_version)) {
        sp_fail(error, SP_ERR_NO_MODULE, "'%s' belongs to another version of the profiler", path);
        return NULL;
    }
    return table;
}

static void look_in(search *state, const char *folder, size_t length)
{
    if (state->table != NULL || length == 0)
        return;
    sp_text path = {0};
    sp_text_add_n(&path, folder, length);
    sp_text_add(&path, "/");
    sp_text_add(&path, MODULE_FILE);
    if (path.failed)
        sp_fail_memory(&state->failure, "looking for the HDF5 module");
    else if (sp_os_file_look(path.bytes, NULL) != SP_OS_FILE_REGULAR) {
        sp_text_add(&state->tried, state->tried.length == 0 ? "" : ", ");
        sp_text_add_n(&state->tried, folder, length);
    } else if (state->only_looks) {
        state->is_there = true;
    } else {
        sp_error error = {0};
        state->table = load(path.bytes, &error);
        if (state->table == NULL && state->failure.status == SP_OK)
            state->failure = error;
    }
    sp_text_release(&path);
}

static void look_below(search *state, const char *folder, const char *below)
{
    char path[PATH_MAX];
    if (strlen(folder) + strlen(below) >= sizeof path)
        return;
    strcpy(path, folder);
    strcat(path, below);
    look_in(state, path, strlen(path));
}

static void look_in_list(search *state, const char *folders)
{
    while (folders != NULL && *folders != '\0') {
        size_t length = strcspn(folders, ":");
        look_in(state, folders, length);
        folders += length + (folders[length] == ':');
    }
}

static void look_beside_program(search *state)
{
    char folder[PATH_MAX], found[PATH_MAX];
    if (!sp_os_program_folder(folder, sizeof folder))
        return;
    look_below(state, folder, "/../lib/scope-profiler");
    if (strlen(folder) + 100 > sizeof folder)
        return;
    strcat(folder, "/../lib/python3*/site-packages/scope_profiler/_core/lib/scope-profiler");
    if (sp_os_file_match(folder, found, sizeof found))
        look_in(state, found, strlen(found));
}

static void look_everywhere(search *state)
{
    char folder[PATH_MAX];
    look_in_list(state, secure_getenv(PATH_VARIABLE));
    if (sp_os_folder_of((sp_os_function)sp_store_hdf5, folder, sizeof folder))
        look_below(state, folder, "/scope-profiler");
    look_beside_program(state);
    look_in(state, SP_MODULE_FOLDER, strlen(SP_MODULE_FOLDER));
}

bool sp_store_hdf5_is_there(void)
{
    search state = {.only_looks = true};
    look_everywhere(&state);
    sp_text_release(&state.tried);
    return state.is_there;
}

static const sp_store_table *look(sp_error *error)
{
    search state = {0};
    look_everywhere(&state);
    if (state.table == NULL && state.failure.status != SP_OK && error != NULL)
        *error = state.failure;
    else if (state.table == NULL)
        sp_fail(error, SP_ERR_NO_MODULE,
                "the HDF5 module %s was not found; name its folder in %s. Looked in: %s",
                MODULE_FILE, PATH_VARIABLE,
                state.tried.bytes == NULL ? "nowhere" : state.tried.bytes);
    sp_text_release(&state.tried);
    return state.table;
}

const sp_store_table *sp_store_hdf5(sp_error *error)
{
    static sp_mutex mutex = SP_MUTEX_INIT;
    static const sp_store_table *table;
    sp_mutex_lock(&mutex);
    if (table == NULL)
        table = look(error);
    const sp_store_table *found = table;
    sp_mutex_unlock(&mutex);
    return found;
}
