/* scope_profiler.c - for programs that compile one more file along instead of linking a library:
 *
 *     cc program.c /path/to/include/scope_profiler.c -I/path/to/include
 *
 * It holds no recorder, since two in a process would not know of each other. When the program starts it
 * finds libscope_profiler.so.1 - one that is loaded already, such as Python's, else that of
 * $SCOPE_PROFILER_CORE, else one where the loader looks, else the one beside this file - and passes every
 * call on. Where there is none, nothing is recorded and sp_init says so, once.
 *
 * C99 with dlopen; before glibc 2.34 it needs -ldl.
 */
#ifndef SP_DISABLE_PROFILING

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of this program or library alone: the recorder has functions of the same names. */
#ifndef SP_STATIC
#define SP_STATIC
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif
#include "scope_profiler_functions.h"

#define SP_SHIM_LIBRARY "libscope_profiler.so.1"

/* NULL: there is no library, or an older one without that function. */
static struct {
#define SP_SHIM_POINTER(type, name, parameters, arguments, otherwise) type(*name) parameters;
#define SP_SHIM_PROCEDURE_POINTER(name, parameters, arguments) void(*name) parameters;
    SP_FUNCTIONS(SP_SHIM_POINTER, SP_SHIM_PROCEDURE_POINTER)
    const char *(*sp_error_string)(int status);
    const char *(*sp_version)(void);
    int64_t (*sp_now_ns)(void);
    int (*sp_hdf5_available)(void);
    sp_output_format (*sp_default_output_format)(void);
} sp_shim;

static void *sp_shim_open_in(const char *folder, size_t length, const char *below)
{
    char path[4096];
    if (length + strlen(below) + sizeof SP_SHIM_LIBRARY > sizeof path)
        return NULL;
    memcpy(path, folder, length);
    strcpy(path + length, below);
    strcat(path, SP_SHIM_LIBRARY);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *sp_shim_open(void)
{
    const char *core = getenv("SCOPE_PROFILER_CORE"), *slash = strrchr(__FILE__, '/');
    void *library = dlopen(SP_SHIM_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    if (library == NULL && core != NULL && core[0] != '\0')
        library = sp_shim_open_in(core, strlen(core), "/lib/");
    if (library == NULL)
        library = dlopen(SP_SHIM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL && slash != NULL)
        library = sp_shim_open_in(__FILE__, (size_t)(slash - __FILE__), "/../lib/");
    return library;
}

/* POSIX gives functions as object pointers; C has no conversion, so the bytes are copied. */
static void sp_shim_look_up(void *library, const char *name, void *out)
{
    void *symbol = dlsym(library, name);
    memcpy(out, &symbol, sizeof symbol);
}

static __attribute__((constructor)) void sp_shim_start(void)
{
    void *library = sp_shim_open();
    if (library == NULL)
        return;
#define SP_SHIM_LOOK_UP(name) sp_shim_look_up(library, #name, (void *)&sp_shim.name);
#define SP_SHIM_LOOK_UP_FUNCTION(type, name, parameters, arguments, otherwise) SP_SHIM_LOOK_UP(name)
#define SP_SHIM_LOOK_UP_PROCEDURE(name, parameters, arguments) SP_SHIM_LOOK_UP(name)
    SP_FUNCTIONS(SP_SHIM_LOOK_UP_FUNCTION, SP_SHIM_LOOK_UP_PROCEDURE)
    SP_SHIM_LOOK_UP(sp_error_string)
    SP_SHIM_LOOK_UP(sp_version)
    SP_SHIM_LOOK_UP(sp_now_ns)
    SP_SHIM_LOOK_UP(sp_hdf5_available)
    SP_SHIM_LOOK_UP(sp_default_output_format)
}

static int sp_shim_absent(void)
{
    static int has_said;
    if (!has_said)
        fputs("scope-profiler: " SP_SHIM_LIBRARY " was not found, nothing is recorded; name the "
              "folder above its lib/ in SCOPE_PROFILER_CORE\n",
              stderr);
    has_said = 1;
    return SP_ERR_NO_MODULE;
}

#define SP_ABSENT_STATUS sp_shim_absent()
#define SP_ABSENT_TEXT SP_SHIM_LIBRARY " was not found"
#define SP_SHIM_FUNCTION(type, name, parameters, arguments, otherwise)                             \
    type name parameters                                                                           \
    {                                                                                              \
        return sp_shim.name != NULL ? sp_shim.name arguments : otherwise;                          \
    }
#define SP_SHIM_PROCEDURE(name, parameters, arguments)                                             \
    void name parameters                                                                           \
    {                                                                                              \
        if (sp_shim.name != NULL)                                                                  \
            sp_shim.name arguments;                                                                \
    }
SP_FUNCTIONS(SP_SHIM_FUNCTION, SP_SHIM_PROCEDURE)

const char *sp_error_string(int status)
{
    static const char *const texts[] = {
#define SP_SHIM_TEXT(name, value, text) text,
        SP_STATUS_TABLE(SP_SHIM_TEXT)
    };
    if (sp_shim.sp_error_string != NULL)
        return sp_shim.sp_error_string(status);
    return status >= 0 && status < SP_STATUS_LIMIT_ ? texts[status] : "unknown status";
}

const char *sp_version(void)
{
    return sp_shim.sp_version != NULL ? sp_shim.sp_version() : "";
}

int64_t sp_now_ns(void)
{
    return sp_shim.sp_now_ns != NULL ? sp_shim.sp_now_ns() : 0;
}

int sp_hdf5_available(void)
{
    return sp_shim.sp_hdf5_available != NULL ? sp_shim.sp_hdf5_available() : 0;
}

sp_output_format sp_default_output_format(void)
{
    return sp_shim.sp_default_output_format != NULL ? sp_shim.sp_default_output_format()
                                                    : SP_OUTPUT_TRACE;
}

#else
typedef int sp_shim_is_empty; /* C has no empty files */
#endif
