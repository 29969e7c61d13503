#include "base/module.h"

#include "base/error.h"
#include "base/os/file.h"
#include "base/text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char PATH_VARIABLE[] = "SCOPE_PROFILER_MODULE_PATH";

typedef struct search {
    const sp_module *module;
    bool only_looks, is_found;
    sp_text tried;    /* folders without the file */
    sp_error failure; /* of the first file that was there but not fit */
} search;

static bool take(const sp_module *module, const char *path, sp_error *error)
{
    void *library = sp_os_library_open(path, error);
    return library != NULL && module->take(library, path, module->context, error);
}

static void look_in(search *state, const char *folder, size_t length)
{
    if (state->is_found || length == 0)
        return;
    sp_text path = {0};
    sp_text_add_n(&path, folder, length);
    sp_text_add(&path, "/");
    sp_text_add(&path, state->module->file);
    if (path.failed)
        sp_fail_memory(&state->failure, "looking for a module");
    else if (sp_os_file_look(path.bytes, NULL) != SP_OS_FILE_REGULAR) {
        sp_text_add(&state->tried, state->tried.length == 0 ? "" : ", ");
        sp_text_add_n(&state->tried, folder, length);
    } else if (state->only_looks) {
        state->is_found = true;
    } else {
        sp_error error = {0};
        state->is_found = take(state->module, path.bytes, &error);
        if (!state->is_found && state->failure.status == SP_OK)
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
    if (sp_os_folder_of(state->module->asker, folder, sizeof folder))
        look_below(state, folder, "/scope-profiler");
    look_beside_program(state);
    look_in(state, state->module->folder, strlen(state->module->folder));
}

bool sp_module_is_there(const sp_module *module)
{
    search state = {.module = module, .only_looks = true};
    look_everywhere(&state);
    sp_text_release(&state.tried);
    return state.is_found;
}

int sp_module_open(const sp_module *module, sp_error *error)
{
    search state = {.module = module};
    int status = SP_OK;
    look_everywhere(&state);
    if (!state.is_found && state.failure.status != SP_OK) {
        status = state.failure.status;
        if (error != NULL)
            *error = state.failure;
    } else if (!state.is_found) {
        status = sp_fail(error, SP_ERR_NO_MODULE,
                         "the %s %s was not found; name its folder in %s. Looked in: %s",
                         module->what, module->file, PATH_VARIABLE,
                         state.tried.bytes == NULL ? "nowhere" : state.tried.bytes);
    }
    sp_text_release(&state.tried);
    return status;
}
