#include "base/os/library.h"

#include "base/error.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <link.h>
#endif

/* Local scope alone does not shield a library from a program that is linked to another version of
 * one of its dependencies: the program's symbols still win. Deep binding does, but sanitizers,
 * which live by interposing, refuse it. */
#if defined(RTLD_DEEPBIND) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define OPEN_MODE (RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)
#else
#define OPEN_MODE (RTLD_NOW | RTLD_LOCAL)
#endif

static void *open_library(const char *name, int mode, sp_error *error)
{
    void *library = dlopen(name, mode);
    if (library == NULL)
        sp_fail(error, SP_ERR_NO_MODULE, "cannot load '%s': %s", name, dlerror());
    return library;
}

void *sp_os_library_open(const char *path, sp_error *error)
{
    return open_library(path, OPEN_MODE, error);
}

void *sp_os_library_open_plain(const char *name, sp_error *error)
{
    return open_library(name, RTLD_NOW | RTLD_LOCAL, error);
}

void *sp_os_library_loaded(const char *name)
{
    return dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
}

#ifdef __linux__
static int read_count(struct dl_phdr_info *info, size_t size, void *out)
{
    if (size >= offsetof(struct dl_phdr_info, dlpi_subs))
        *(uint64_t *)out = info->dlpi_adds;
    return 1;
}

uint64_t sp_os_num_loaded(void)
{
    uint64_t count = 0;
    dl_iterate_phdr(read_count, &count);
    return count;
}
#else
uint64_t sp_os_num_loaded(void)
{
    static _Atomic uint64_t asked;
    return ++asked; /* cannot be told here: there may always be a new one */
}
#endif

/* POSIX gives functions as object pointers; C has no conversion, so the bytes are copied. */
static sp_os_function as_function(void *symbol)
{
    sp_os_function function;
    memcpy(&function, &symbol, sizeof function);
    return function;
}

sp_os_function sp_os_library_function(void *library, const char *name)
{
    return as_function(dlsym(library, name));
}

sp_os_function sp_os_next_function(const char *name)
{
    return as_function(dlsym(RTLD_NEXT, name));
}

const void *sp_os_program_variable(const char *name)
{
    /* RTLD_DEFAULT would not do: in a library that is bound deeply it means that library first. */
    void *program = dlopen(NULL, RTLD_LAZY);
    if (program == NULL)
        return NULL;
    const void *variable = dlsym(program, name);
    dlclose(program);
    return variable;
}

static bool cut_to_folder(const char *path, char *out, size_t room)
{
    char whole[PATH_MAX];
    if (realpath(path, whole) == NULL)
        return false;
    char *slash = strrchr(whole, '/');
    if (slash == NULL || (size_t)(slash - whole) >= room)
        return false;
    memcpy(out, whole, (size_t)(slash - whole));
    out[slash - whole] = '\0';
    return true;
}

bool sp_os_folder_of(sp_os_function function, char *out, size_t room)
{
    void *address;
    memcpy(&address, &function, sizeof address);
    Dl_info info;
    /* Without a slash it is a program's argv[0], not a path. */
    return dladdr(address, &info) != 0 && info.dli_fname != NULL &&
           strchr(info.dli_fname, '/') != NULL && cut_to_folder(info.dli_fname, out, room);
}

bool sp_os_program_folder(char *out, size_t room)
{
    return cut_to_folder("/proc/self/exe", out, room);
}

void sp_os_describe_code(const void *code, char *out, size_t room)
{
    Dl_info info;
    if (dladdr(code, &info) == 0 || info.dli_fname == NULL) {
        snprintf(out, room, "%p", code);
    } else if (info.dli_sname != NULL) {
        snprintf(out, room, "%s", info.dli_sname);
    } else {
        const char *slash = strrchr(info.dli_fname, '/');
        snprintf(out, room, "%s+0x%zx", slash == NULL ? info.dli_fname : slash + 1,
                 (size_t)((uintptr_t)code - (uintptr_t)info.dli_fbase));
    }
}
