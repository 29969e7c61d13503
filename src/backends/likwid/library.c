#include "backends/likwid/library.h"

#include "base/error.h"
#include "base/os/library.h"
#include "base/os/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_ROOM = 4096 };

static const char *const file_names[] = {"liblikwid.so.5", "liblikwid.so.5.2", "liblikwid.so.5.3",
                                         "liblikwid.so.5.4", "liblikwid.so"};
enum { NUM_NAMES = sizeof file_names / sizeof *file_names };

static struct {
    likwid_functions functions;
    bool is_there, was_there;
    sp_error error;
} found;

static void *open_loaded(void)
{
    void *library = NULL;
    for (int i = 0; i < NUM_NAMES && library == NULL; i++)
        library = sp_os_library_loaded(file_names[i]);
    return library;
}

/* In a folder, or in what is called so below it. */
static void *open_in(const char *folder, int length, const char *below)
{
    char path[PATH_ROOM];
    void *library = NULL;
    for (int i = 0; i < NUM_NAMES && library == NULL; i++)
        if (snprintf(path, sizeof path, "%.*s%s/%s", length, folder, below, file_names[i]) <
            (int)sizeof path)
            library = sp_os_library_open_plain(path, NULL);
    return library;
}

static void *open_of_environment(void)
{
    static const char *const prefixes[] = {"LIKWID_HOME", "LIKWID_ROOT", "LIKWID_PREFIX"};
    const char *given = getenv("LIKWID_LIB");
    void *library = NULL;
    if (given != NULL && *given != '\0') {
        library = sp_os_library_open_plain(given, NULL);
        library = library != NULL ? library : open_in(given, (int)strlen(given), "");
    }
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes && library == NULL; i++) {
        const char *prefix = getenv(prefixes[i]);
        if (prefix == NULL || *prefix == '\0')
            continue;
        library = open_in(prefix, (int)strlen(prefix), "/lib");
        library = library != NULL ? library : open_in(prefix, (int)strlen(prefix), "/lib64");
    }
    return library;
}

/* Of the installation that the first likwid-perfctr on the path belongs to. */
static void *open_beside_command(void)
{
    const char *at = getenv("PATH");
    while (at != NULL && *at != '\0') {
        char path[PATH_ROOM];
        int length = (int)strcspn(at, ":");
        int used = snprintf(path, sizeof path, "%.*s/likwid-perfctr", length, at);
        FILE *command = used < (int)sizeof path ? fopen(path, "re") : NULL;
        if (command != NULL) {
            fclose(command);
            return open_in(at, length, "/../lib");
        }
        at += length;
        at += *at == ':';
    }
    return NULL;
}

static void *open_library(void)
{
    void *library = open_loaded();
    found.was_there = library != NULL;
    library = library != NULL ? library : open_of_environment();
    library = library != NULL ? library : open_beside_command();
    for (int i = 0; i < NUM_NAMES && library == NULL; i++)
        library = sp_os_library_open_plain(file_names[i], i == 0 ? &found.error : NULL);
    return library;
}

static int load(void)
{
    /* In the order of likwid_functions. */
    static const char *const names[] = {
        "likwid_markerInit",          "likwid_markerThreadInit",  "likwid_markerClose",
        "likwid_markerStartRegion",   "likwid_markerStopRegion",  "likwid_markerGetRegion",
        "likwid_getProcessorId",      "perfmon_getNumberOfGroups", "perfmon_getIdOfActiveGroup",
        "perfmon_getNumberOfEvents",  "perfmon_getGroupName",     "perfmon_getEventName",
        "perfmon_getCounterName",
    };
    enum { COUNT = sizeof names / sizeof *names };
    sp_os_function functions[COUNT];
    void *library = open_library();
    if (library == NULL) {
        sp_error loader = found.error;
        return sp_fail(&found.error, SP_ERR_NO_MODULE,
                       "use_likwid: LIKWID's library is not found (%.300s), and no pylikwid has "
                       "loaded it; install LIKWID, or name its folder in LIKWID_LIB",
                       loader.text);
    }
    for (int i = 0; i < COUNT; i++) {
        functions[i] = sp_os_library_function(library, names[i]);
        if (functions[i] == NULL)
            return sp_fail(&found.error, SP_ERR_NO_MODULE,
                           "use_likwid: LIKWID's library has no %s; LIKWID 5 or later is needed",
                           names[i]);
    }
    _Static_assert(sizeof found.functions == sizeof functions, "as many functions as names");
    memcpy(&found.functions, functions, sizeof functions);
    return SP_OK;
}

static void look(void)
{
    found.is_there = load() == SP_OK;
}

const likwid_functions *sp_likwid_library(sp_error *error)
{
    static sp_once once = SP_ONCE_INIT;
    sp_once_run(&once, look);
    if (!found.is_there && error != NULL)
        *error = found.error;
    return found.is_there ? &found.functions : NULL;
}

bool sp_likwid_library_was_there(void)
{
    return found.was_there;
}
