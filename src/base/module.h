/* module.h - finding an optional part, a file that is opened at run time. Looked for in the folders of
 * SCOPE_PROFILER_MODULE_PATH, in scope-profiler/ beside the library that asks, in lib/scope-profiler of
 * the installation that the running program belongs to, and where it was to be installed. */
#ifndef SP_BASE_MODULE_H
#define SP_BASE_MODULE_H

#include "base/os/library.h"

#include <stdbool.h>

typedef struct sp_module {
    const char *file;     /* "scope_profiler_hdf5.so" */
    const char *what;     /* "HDF5 module" */
    sp_os_function asker; /* a function of the library that asks */
    const char *folder;   /* compiled in, "": none */
    /* Takes what is wanted from the opened library; false: it is not fit, with `error` filled. */
    bool (*take)(void *library, const char *path, void *context, sp_error *error);
    void *context;
} sp_module;

/* Opens the first file that is fit. SP_ERR_NO_MODULE with where it was looked for, or what is wrong with
 * the first that was there. */
int sp_module_open(const sp_module *module, sp_error *error);
/* Whether there is such a file at all; nothing is opened. */
bool sp_module_is_there(const sp_module *module);

#endif
