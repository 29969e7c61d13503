#include "mpi_calls.h"

#include "linkage.h"

#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PYTHON_FOLDER "/../lib/python3*/site-packages/scope_profiler/_core/lib/scope-profiler"

/* The file in that folder, absolute; NULL when it is not there. The folder may be a pattern. */
static char *look_in(const char *folder, const char *file)
{
    char *pattern = cli_format("%s/%s", folder, file), *found = NULL;
    glob_t matches;
    if (glob(pattern, 0, NULL, &matches) == 0 && matches.gl_pathc > 0)
        found = realpath(matches.gl_pathv[0], NULL);
    globfree(&matches);
    free(pattern);
    return found;
}

/* Where modules are: the folders of the variable, then those beside this command. */
static char *find_library(const char *file)
{
    const char *folders = getenv("SCOPE_PROFILER_MODULE_PATH");
    char own[PATH_MAX], *found = NULL;
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    while (folders != NULL && *folders != '\0' && found == NULL) {
        size_t size = strcspn(folders, ":");
        char *folder = cli_format("%.*s", (int)size, folders);
        found = size > 0 ? look_in(folder, file) : NULL;
        free(folder);
        folders += size + (folders[size] == ':');
    }
    if (length <= 0)
        return found;
    own[length] = '\0';
    *strrchr(own, '/') = '\0';
    const char *const below[] = {"/../" SP_LIBRARY_FOLDER "/scope-profiler", "/../lib/scope-profiler",
                                 PYTHON_FOLDER};
    for (size_t i = 0; i < CLI_COUNT(below) && found == NULL; i++) {
        char *folder = cli_format("%s%s", own, below[i]);
        found = look_in(folder, file);
        free(folder);
    }
    return found;
}

int cli_record_mpi_calls(const cli_command *command, const char *path, const char *word)
{
    const char *mpi = cli_mpi_of(path), *before = getenv("LD_PRELOAD");
    if (mpi == NULL)
        return cli_fail(command, CLI_FAILED, "argument --mpi-calls: '%s' is linked neither to Open MPI nor to "
                        "MPICH; a launcher goes in front: mpirun -n 4 " CLI_PROGRAM " run --mpi-calls -- PROGRAM",
                        word);
    char *file = cli_format("libscope_profiler_pmpi_%s.so", mpi);
    char *library = find_library(file);
    int code = CLI_OK;
    if (library == NULL) {
        code = cli_fail(command, CLI_FAILED, "argument --mpi-calls: '%s' uses %s, and there is no %s beside this "
                        "command; it is built where the headers of that MPI are (Debian: %s)",
                        word, mpi, file, strcmp(mpi, "mpich") == 0 ? "libmpich-dev" : "libopenmpi-dev");
    } else {
        char *list = before != NULL && before[0] != '\0' ? cli_format("%s:%s", library, before)
                                                         : cli_duplicate(library);
        setenv("LD_PRELOAD", list, 1);
        free(list);
    }
    free(library);
    free(file);
    return code;
}
