/* library.h - shared objects opened at run time, and where this code itself lies. */
#ifndef SP_BASE_OS_LIBRARY_H
#define SP_BASE_OS_LIBRARY_H

#include "scope_plugin.h"

/* Opens `path` so that its symbols neither reach nor come from the rest of the process: what it
 * needs it finds among its own dependencies first. Never closed. NULL with the loader's words. */
void *sp_os_library_open(const char *path, sp_error *error);

/* The same as the library's own program would open it: by path or name, bound to what the process has.
 * For what works on the whole process, such as a driver or a tool. */
void *sp_os_library_open_plain(const char *name, sp_error *error);

/* A library that the process has loaded under that name (the one that it gives itself), NULL when it has
 * none. Nothing is loaded and it stays as it is. */
void *sp_os_library_loaded(const char *name);
/* The function of that name in what was loaded after the caller's library, of those that the whole
 * process sees; NULL when they have none. */
void (*sp_os_next_function(const char *name))(void);
/* Grows with every library that the process loads. */
uint64_t sp_os_num_loaded(void);

/* A pointer to the function of that name, NULL when there is none. */
typedef void (*sp_os_function)(void);
sp_os_function sp_os_library_function(void *library, const char *name);

/* Address of a variable as the program and its own libraries see it, whatever copies of it the
 * caller's library is bound to; NULL when they have none. */
const void *sp_os_program_variable(const char *name);

/* Folder of the library or program that holds the function, of the running program; absolute,
 * without a slash at the end. False when it cannot be told or does not fit. */
bool sp_os_folder_of(sp_os_function function, char *out, size_t room);
bool sp_os_program_folder(char *out, size_t room);

/* What lies at an address of code, for people: its function, else "file+0x1f3". */
void sp_os_describe_code(const void *code, char *out, size_t room);

#endif
