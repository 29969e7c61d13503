#include "session/run_metadata.h"

#include "base/os/file.h"
#include "base/os/host.h"
#include "base/os/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longest text stored: an attribute of an HDF5 file takes no more. */
enum { MOST_TEXT = 60000 };
static const char cut[] = "...[truncated]";

/* Cut on the border of a character. */
static const char *keep_text(sp_arena *texts, const char *text)
{
    size_t length = strlen(text), kept = MOST_TEXT - (sizeof cut - 1);
    if (length <= MOST_TEXT)
        return sp_arena_text_n(texts, text, length);
    while (kept > 0 && ((unsigned char)text[kept] & 0xc0) == 0x80)
        kept--;
    char *copy = sp_arena_alloc(texts, kept + sizeof cut);
    if (copy != NULL) {
        memcpy(copy, text, kept);
        memcpy(copy + kept, cut, sizeof cut);
    }
    return copy;
}

static const char *const *keep_list(sp_arena *texts, const sp_metadata_entry *entry)
{
    const char **list = sp_arena_array(texts, entry->list_length + 1, sizeof *list);
    for (size_t i = 0; list != NULL && i < entry->list_length; i++)
        if ((list[i] = keep_text(texts, entry->list[i])) == NULL)
            return NULL;
    return list;
}

void sp_run_metadata_add(sp_run_metadata *metadata, const sp_metadata_entry *entry)
{
    sp_metadata_entry copy = *entry;
    bool fits = sp_vector_reserve(&metadata->entries, 1);
    copy.key = sp_arena_text(&metadata->texts, entry->key);
    fits = fits && copy.key != NULL;
    if (fits && entry->kind == SP_VALUE_TEXT)
        fits = (copy.text = keep_text(&metadata->texts, entry->text)) != NULL;
    if (fits && entry->kind == SP_VALUE_TEXT_LIST)
        fits = (copy.list = keep_list(&metadata->texts, entry)) != NULL;
    if (fits)
        metadata->entries.items[metadata->entries.count++] = copy;
}

void sp_run_metadata_add_text(sp_run_metadata *metadata, const char *key, const char *text)
{
    const sp_metadata_entry entry = {.key = key, .kind = SP_VALUE_TEXT, .text = text};
    sp_run_metadata_add(metadata, &entry);
}

void sp_run_metadata_add_integer(sp_run_metadata *metadata, const char *key, int64_t integer)
{
    const sp_metadata_entry entry = {.key = key, .kind = SP_VALUE_INTEGER, .integer = integer};
    sp_run_metadata_add(metadata, &entry);
}

/* ---- Details ---------------------------------------------------------------------------------*/

static const char *const variables[] = {
    "LD_LIBRARY_PATH", "LOADEDMODULES", "MODULEPATH", "MODULESHOME", "MODULES_CMD",
    "MODULES_RUN_QUARANTINE", "PATH", "PYTHON_HOME", "PYTHON_INC", "PYTHON_INCLUDE", "PYTHON_LIB",
    "VIRTUAL_ENV"};
static const char *const prefixes[] = {"SLURM_", "SLURMD_"};

static bool is_wanted(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (strlen(variables[i]) == length && memcmp(variables[i], name, length) == 0)
            return true;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (length >= strlen(prefixes[i]) && memcmp(prefixes[i], name, strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static void add_environment(sp_run_metadata *metadata)
{
    for (char *const *variable = sp_os_environment_all(); *variable != NULL; variable++) {
        const char *equals = strchr(*variable, '=');
        if (equals == NULL || !is_wanted(*variable, (size_t)(equals - *variable)))
            continue;
        const char *name = sp_arena_text_n(&metadata->texts, *variable, (size_t)(equals - *variable));
        if (name != NULL)
            sp_run_metadata_add_text(metadata, name, equals + 1);
    }
}

/* The loaded modules of the machine's software, a list: empty without any. */
static void add_modules(sp_run_metadata *metadata)
{
    const char *loaded = sp_os_environment("LOADEDMODULES");
    char *text = sp_arena_text(&metadata->texts, loaded == NULL ? "" : loaded);
    size_t room = text == NULL ? 0 : strlen(text) / 2 + 1;
    const char **list = sp_arena_array(&metadata->texts, room + 1, sizeof *list);
    sp_metadata_entry entry = {.key = "modules", .kind = SP_VALUE_TEXT_LIST, .list = list};
    char *rest = NULL;
    if (text == NULL || list == NULL)
        return;
    for (char *part = strtok_r(text, ":", &rest); part != NULL; part = strtok_r(NULL, ":", &rest))
        list[entry.list_length++] = part;
    sp_run_metadata_add(metadata, &entry);
}

static void add_user(sp_run_metadata *metadata)
{
    static const char *const names[] = {"LOGNAME", "USER", "LNAME", "USERNAME"};
    char number[24];
    const char *user = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && (user == NULL || *user == '\0'); i++)
        user = sp_os_environment(names[i]);
    if (user == NULL || *user == '\0') {
        snprintf(number, sizeof number, "%lld", (long long)sp_os_user_id());
        user = number;
    }
    sp_run_metadata_add_text(metadata, "user", user);
}

void sp_run_metadata_add_details(sp_run_metadata *metadata)
{
    enum { ROOM = 4096 };
    char text[ROOM];
    add_user(metadata);
    if (sp_os_host_name(text, sizeof text))
        sp_run_metadata_add_text(metadata, "hostname", text);
    if (sp_os_system_name(text, sizeof text))
        sp_run_metadata_add_text(metadata, "uname", text);
    if (sp_os_current_folder(text, sizeof text))
        sp_run_metadata_add_text(metadata, "working_directory", text);
    if (sp_os_command_line(text, sizeof text))
        sp_run_metadata_add_text(metadata, "command_line", text);
    add_modules(metadata);
    add_environment(metadata);
}

void sp_run_metadata_release(sp_run_metadata *metadata)
{
    sp_vector_release(&metadata->entries);
    sp_arena_release(&metadata->texts);
}
