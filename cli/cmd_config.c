/* cmd_config.c - `scope-profiler config`: how to build programs against this installation. */
#include "command.h"
#include "python.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libscope_profiler.so.1"
#define OPENMP_TOOL "scope-profiler/scope_profiler_ompt.so"
#define FORTRAN_LIBRARY "libscope_profiler_fortran.a"

/* An installation, below one folder. All allocated. */
typedef struct installation {
    char *prefix, *include, *library;
} installation;

static void release(installation *found)
{
    free(found->prefix);
    free(found->include);
    free(found->library);
}

static bool exists(const char *folder, const char *name)
{
    char *path = cli_format("%s/%s", folder, name);
    bool is_there = access(path, R_OK) == 0;
    free(path);
    return is_there;
}

/* The folder of the libraries below a prefix; NULL when there are none. Allocated. */
static char *library_folder(const char *prefix)
{
    static const char *const names[] = {SP_LIBRARY_FOLDER, "lib", "lib64"};
    for (size_t i = 0; i < CLI_COUNT(names); i++) {
        char *folder = cli_format("%s/%s", prefix, names[i]);
        if (exists(folder, LIBRARY))
            return folder;
        free(folder);
    }
    return NULL;
}

/* Takes the prefix, which is allocated or NULL, when headers and libraries lie below it. */
static bool look_below(char *prefix, installation *out)
{
    char *resolved = prefix ? realpath(prefix, NULL) : NULL;
    free(prefix);
    if (!resolved)
        return false;
    installation found = {
        .prefix = resolved,
        .include = cli_format("%s/include", resolved),
        .library = library_folder(resolved),
    };
    if (found.library && exists(found.include, "scope_profiler.h")) {
        *out = found;
        return true;
    }
    release(&found);
    return false;
}

static bool look_in_packages(const char *folder, installation *out)
{
    glob_t matches;
    bool found = false;
    char *pattern = cli_format("%s/../lib/python3*/site-packages/scope_profiler/_core", folder);
    if (glob(pattern, 0, NULL, &matches) == 0) {
        for (size_t i = 0; i < matches.gl_pathc && !found; i++)
            found = look_below(cli_duplicate(matches.gl_pathv[i]), out);
        globfree(&matches);
    }
    free(pattern);
    return found;
}

/* The package of the Python that called, the tree that this program is installed in, or a package
 * beside it. */
static bool find_installation(installation *out)
{
    const char *core = getenv("SCOPE_PROFILER_CORE");
    char *program = cli_program_path();
    bool found = core && look_below(cli_duplicate(core), out);
    if (!found && program && strrchr(program, '/')) {
        *strrchr(program, '/') = '\0';
        found = look_below(cli_format("%s/..", program), out) || look_in_packages(program, out);
    }
    free(program);
    return found;
}

/* One word for a shell: blanks and what else means something to it are escaped. */
static void print_word(const char *before, const char *path, const char *after)
{
    fputs(before, stdout);
    for (; *path; path++) {
        if (strchr(" \t\"'\\$`&;()<>|*?[]#~", *path))
            putchar('\\');
        putchar(*path);
    }
    fputs(after, stdout);
}

static void print_flags(const installation *found, bool cflags, bool libs, bool fortran)
{
    if (cflags)
        print_word("-I", found->include, fortran ? "/fortran" : "");
    if (cflags && libs)
        putchar(' ');
    if (libs) {
        print_word("-L", found->library, fortran ? " -lscope_profiler_fortran" : "");
        print_word(" -lscope_profiler -Wl,-rpath,", found->library, "");
    }
    putchar('\n');
}

static void print_all(const installation *found)
{
    printf("prefix    %s\ncflags    ", found->prefix);
    print_flags(found, true, false, false);
    printf("libs      ");
    print_flags(found, false, true, false);
    printf("cmakedir  %s/cmake/scope-profiler\nfortran   %s/fortran/scope_profiler.f90\n",
           found->library, found->include);
}

static int answer(const cli_arguments *arguments, const installation *found)
{
    bool fortran = cli_has(arguments, "fortran"), cflags = cli_has(arguments, "cflags");
    bool libs = cli_has(arguments, "libs");
    if (arguments->num_given == 0)
        print_all(found);
    if (fortran && libs && !exists(found->library, FORTRAN_LIBRARY))
        return cli_fail(arguments->command, CLI_FAILED,
                        "this installation was built without a Fortran compiler; compile "
                        "%s/fortran/scope_profiler.f90 along with your program and use --libs "
                        "without --fortran", found->include);
    if (cli_has(arguments, "prefix"))
        printf("%s\n", found->prefix);
    if (cflags || libs)
        print_flags(found, cflags, libs, fortran);
    else if (fortran)
        printf("%s/fortran/scope_profiler.f90\n", found->include);
    if (cli_has(arguments, "cmakedir"))
        printf("%s/cmake/scope-profiler\n", found->library);
    if (cli_has(arguments, "openmp-tool")) {
        if (!exists(found->library, OPENMP_TOOL))
            return cli_fail(arguments->command, CLI_FAILED,
                            "this installation was built without the OpenMP tool (Debian: "
                            "libomp-dev when it is built)");
        printf("%s/" OPENMP_TOOL "\n", found->library);
    }
    return CLI_OK;
}

static int run(const cli_arguments *arguments)
{
    installation found;
    if (arguments->num_words > 0)
        return cli_usage_error(arguments->command, "unrecognized arguments: %s",
                               arguments->words[0]);
    if (!find_installation(&found))
        return cli_fail(arguments->command, CLI_FAILED,
                        "no scope_profiler.h and " LIBRARY " beside this program; name the folder "
                        "that they are installed below in SCOPE_PROFILER_CORE");
    int code = answer(arguments, &found);
    release(&found);
    return code;
}

static const cli_option options[] = {
    {.name = "cflags", .kind = CLI_FLAG, .help = "flags for the compiler"},
    {.name = "libs", .kind = CLI_FLAG, .help = "flags for the linker"},
    {.name = "fortran", .kind = CLI_FLAG,
     .help = "those flags are for Fortran; alone: the source of the module"},
    {.name = "cmakedir", .kind = CLI_FLAG, .help = "folder of the CMake package (scope-profiler_DIR)"},
    {.name = "openmp-tool", .kind = CLI_FLAG,
     .help = "library that shows parallel regions, for OMP_TOOL_LIBRARIES"},
    {.name = "prefix", .kind = CLI_FLAG, .help = "folder of the installation"},
};

const cli_command cli_config = {
    .name = "config",
    .usage = "",
    .summary = "tell how to build programs that record",
    .description = "Prints the flags with which C, C++ and Fortran programs are built against this\n"
                   "installation, for example:\n\n"
                   "  cc solver.c $(scope-profiler config --cflags --libs) -o solver",
    .options = options,
    .num_options = CLI_COUNT(options),
    .run = run,
};
