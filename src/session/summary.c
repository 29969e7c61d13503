#include "session/summary.h"

#include "base/error.h"
#include "base/os/library.h"
#include "base/os/process.h"
#include "scope_results.h"
#include "session/complaint.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define LIBRARY "libscope_results.so.1"

typedef struct results_library {
    int (*open)(const char *, sp_results **, sp_error *);
    int (*open_image)(void *, size_t, sp_results **, sp_error *);
    int (*print)(sp_results *, const sp_summary_options *, FILE *, sp_error *);
    void (*close)(sp_results *);
} results_library;

/* Beside this code; seen from the program (when this code is part of it); where the loader looks. */
static void *open_library(sp_error *error)
{
    char folder[PATH_MAX], path[PATH_MAX + sizeof LIBRARY + 16];
    void *library = NULL;
    static const char *const places[] = {"", "../lib/"};
    for (size_t i = 0; i < sizeof places / sizeof *places && library == NULL; i++) {
        bool is_known = i == 0 ? sp_os_folder_of((sp_os_function)sp_summary_print, folder,
                                                 sizeof folder)
                               : sp_os_program_folder(folder, sizeof folder);
        if (!is_known)
            continue;
        snprintf(path, sizeof path, "%s/%s" LIBRARY, folder, places[i]);
        library = sp_os_library_open(path, error);
    }
    return library != NULL ? library : sp_os_library_open(LIBRARY, error);
}

static bool load(results_library *out, sp_error *error)
{
    void *library = open_library(error);
    if (library == NULL)
        return false;
    out->open = (int (*)(const char *, sp_results **, sp_error *))sp_os_library_function(
        library, "sp_results_open");
    out->open_image = (int (*)(void *, size_t, sp_results **, sp_error *))sp_os_library_function(
        library, "sp_results_open_image");
    out->print = (int (*)(sp_results *, const sp_summary_options *, FILE *,
                          sp_error *))sp_os_library_function(library, "sp_results_print_summary");
    out->close = (void (*)(sp_results *))sp_os_library_function(library, "sp_results_close");
    if (out->open == NULL || out->open_image == NULL || out->print == NULL || out->close == NULL) {
        sp_fail(error, SP_ERR_NO_MODULE, LIBRARY " is not the one of this recorder");
        return false;
    }
    return true;
}

static int print(const results_library *library, sp_results *results, const char *path,
                 sp_error *error)
{
    FILE *stream = sp_os_is_terminal(stdout) ? stdout : stderr;
    const char *no_color = sp_os_environment("NO_COLOR");
    sp_summary_options options = {
        .size = sizeof options,
        .color = (no_color == NULL || no_color[0] == '\0') &&
                 sp_os_is_terminal(stream),
        .file_path = path,
    };
    int status = library->print(results, &options, stream, error);
    fflush(stream);
    return status;
}

void sp_summary_print(const char *path, void *image, size_t image_size)
{
    sp_error error = {0};
    results_library library;
    sp_results *results = NULL;
    int status = SP_ERR_NO_MODULE;
    if (!load(&library, &error))
        free(image);
    else if (path != NULL)
        status = library.open(path, &results, &error);
    else
        status = library.open_image(image, image_size, &results, &error);
    if (status == SP_OK) {
        status = print(&library, results, path, &error);
        library.close(results);
    }
    if (status != SP_OK)
        sp_complain("no summary: %s", error.text);
}
