/* python.c - finds the interpreter that runs Python scripts. */
#include "python.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_ROOM 4096

static bool is_executable_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

char *cli_program_path(void)
{
    char path[PATH_ROOM];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return NULL;
    path[length] = '\0';
    return cli_duplicate(path);
}

/* `folder`/`name` when that is an executable file, else NULL. An empty folder is the current one. */
static char *in_folder(const char *folder, size_t length, const char *name)
{
    char *path = length ? cli_format("%.*s/%s", (int)length, folder, name)
                        : cli_format("./%s", name);
    if (is_executable_file(path))
        return path;
    free(path);
    return NULL;
}

char *cli_find_executable(const char *name)
{
    const char *path = getenv("PATH");
    if (strchr(name, '/'))
        return is_executable_file(name) ? cli_duplicate(name) : NULL;
    while (path) {
        size_t length = strcspn(path, ":");
        char *found = in_folder(path, length, name);
        if (found)
            return found;
        path = path[length] ? path + length + 1 : NULL;
    }
    return NULL;
}

static char *python_in(const char *folder, size_t length)
{
    char *found = in_folder(folder, length, "python3");
    return found ? found : in_folder(folder, length, "python");
}

static char *python_beside(void)
{
    char *program = cli_program_path();
    char *slash = program ? strrchr(program, '/') : NULL;
    char *found = slash && slash > program ? python_in(program, (size_t)(slash - program)) : NULL;
    free(program);
    return found;
}

static char *python_under(const char *variable)
{
    const char *prefix = getenv(variable);
    char *folder, *found;
    if (!prefix || !prefix[0])
        return NULL;
    folder = cli_format("%s/bin", prefix);
    found = python_in(folder, strlen(folder));
    free(folder);
    return found;
}

static char *python_on_path(void)
{
    char *found = cli_find_executable("python3");
    return found ? found : cli_find_executable("python");
}

char *cli_find_python(const char **out_origin, char **out_reason)
{
    const char *chosen = getenv("SCOPE_PROFILER_PYTHON");
    char *found;
    if (chosen && chosen[0]) {
        *out_origin = "SCOPE_PROFILER_PYTHON";
        found = cli_find_executable(chosen);
        if (!found)
            *out_reason = cli_format("SCOPE_PROFILER_PYTHON names '%s', which is no executable "
                                     "file", chosen);
        return found;
    }
    *out_origin = "beside this program";
    if ((found = python_beside()))
        return found;
    *out_origin = "VIRTUAL_ENV";
    if ((found = python_under("VIRTUAL_ENV")))
        return found;
    *out_origin = "CONDA_PREFIX";
    if ((found = python_under("CONDA_PREFIX")))
        return found;
    *out_origin = "PATH";
    if ((found = python_on_path()))
        return found;
    *out_reason = cli_duplicate("no Python interpreter found: none beside this program, none in "
                                "VIRTUAL_ENV or CONDA_PREFIX, none on PATH; set "
                                "SCOPE_PROFILER_PYTHON");
    return NULL;
}

/* argv of the interpreter: version, command, module, then what main() gets. */
static const char call_module[] =
    "import importlib, sys\n"
    "if sys.path and not sys.path[0]:\n"
    "    del sys.path[0]\n"
    "try:\n"
    "    module = importlib.import_module('scope_profiler.' + sys.argv[3])\n"
    "except ImportError as error:\n"
    "    sys.exit(f'" CLI_PROGRAM " {sys.argv[2]}: {sys.executable} cannot import scope_profiler: '\n"
    "             f'{error}\\n  install scope-profiler {sys.argv[1]} for it, or name another '\n"
    "             f'interpreter in SCOPE_PROFILER_PYTHON')\n"
    "sys.exit(module.main(sys.argv[4:]))\n";

static char *option_as_word(const cli_given *given)
{
    return given->value ? cli_format("--%s=%s", given->option->name, given->value)
                        : cli_format("--%s", given->option->name);
}

int cli_become_python(const cli_arguments *arguments, const char *module)
{
    enum { FIXED = 8 };
    const char *origin;
    char *reason = NULL, *python = cli_find_python(&origin, &reason);
    if (!python) {
        cli_fail(arguments->command, CLI_FAILED, "%s", reason);
        free(reason);
        return CLI_FAILED;
    }
    size_t room = arguments->num_given + arguments->num_words + FIXED, count = 0;
    const char **words = cli_allocate(room * sizeof *words);
    words[count++] = python;
    words[count++] = "-c";
    words[count++] = call_module;
    words[count++] = SP_VERSION;
    words[count++] = arguments->command->name;
    words[count++] = module;
    for (size_t i = 0; i < arguments->num_given; i++)
        words[count++] = option_as_word(&arguments->given[i]);
    words[count++] = "--";
    for (size_t i = 0; i < arguments->num_words; i++)
        words[count++] = arguments->words[i];
    words[count] = NULL;
    execv(python, (char *const *)(uintptr_t)words);
    return cli_fail(arguments->command, CLI_FAILED, "can't run '%s': %s", python, strerror(errno));
}
