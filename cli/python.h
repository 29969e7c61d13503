/* python.h - the interpreter that runs Python scripts. */
#ifndef CLI_PYTHON_H
#define CLI_PYTHON_H

#include "command.h"

/* Full path of this program; NULL when it cannot be found out. Allocated. */
char *cli_program_path(void);

/* Path of `name` as a shell would find it: itself when it holds a slash, else along PATH. NULL when
 * there is no such executable. Allocated. */
char *cli_find_executable(const char *name);

/* Looks, in this order, at $SCOPE_PROFILER_PYTHON, the folder of this program, $VIRTUAL_ENV,
 * $CONDA_PREFIX and PATH; the first interpreter counts. Returns its path (allocated) and where it
 * was found in *out_origin, or NULL with the reason (allocated) in *out_reason. */
char *cli_find_python(const char **out_origin, char **out_reason);

/* Becomes the interpreter, which calls main() of a module of the package scope_profiler with the options
 * as --name=value, then `--`, then the words. Returns only when it cannot: a code, after an error line. */
int cli_become_python(const cli_arguments *arguments, const char *module);

#endif
