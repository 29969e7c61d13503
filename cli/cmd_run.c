/* cmd_run.c - `scope-profiler run`: hands the program over to what records it and is gone, so exit
 * status, signals, terminal and process id are the program's own.
 *
 * A Python script goes to the interpreter of python.h:
 *
 *     python -c <bootstrap> VERSION OPTION... -- SCRIPT ARGUMENT...
 *
 * (with --module=NAME or --command=CODE among the options: no SCRIPT)
 * where the bootstrap calls scope_profiler._run.main([VERSION, OPTION..., "--", SCRIPT, ...]). Each
 * OPTION is one word in the order given: "--name" for a flag, "--name=value" else, long names only,
 * checked against the table below. `main` refuses another VERSION than its own, sets up, runs the
 * script as __main__ and exits with the script's status. Doing it this way instead of with -m keeps
 * the current folder off the module path and lets an interpreter without the package be named.
 *
 * A native program is started directly; the recorder in it reads these variables when it is loaded:
 *
 *     SCOPE_PROFILER_RUN_OUTPUT   absolute path of the file; empty: none is written
 *     SCOPE_PROFILER_RUN_SUMMARY  1: print the summary after publishing
 *     SCOPE_PROFILER_RUN_LABEL    label of the run
 *     SCOPE_PROFILER_RUN_STARTED  ns since 1970, by the clock of file times: a file written since then
 *                                 is of this run, and another process does not replace it
 */
#include "command.h"
#include "linkage.h"
#include "mpi_calls.h"
#include "python.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_OUTPUT "profiling_data.h5"

static const char bootstrap[] =
    "import sys\n"
    "if sys.path and not sys.path[0]:\n"
    "    del sys.path[0]\n"
    "try:\n"
    "    from scope_profiler import _run\n"
    "except ImportError as error:\n"
    "    sys.exit(f'" CLI_PROGRAM " run: {sys.executable} cannot import scope_profiler: {error}\\n'\n"
    "             f'  install scope-profiler {sys.argv[1]} for it, or name another interpreter in '\n"
    "             f'SCOPE_PROFILER_PYTHON')\n"
    "sys.exit(_run.main(sys.argv[1:]))\n";

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* ---- Python scripts --------------------------------------------------------------------------*/

static char *option_word(const cli_given *given)
{
    return given->value ? cli_format("--%s=%s", given->option->name, given->value)
                        : cli_format("--%s", given->option->name);
}

/* Whether -m or -c says what to run. */
static bool names_program(const cli_arguments *arguments)
{
    return cli_has(arguments, "module") || cli_has(arguments, "command");
}

/* Index of the first argument of the program; a `--` before its arguments is not one of them, unless
 * -m or -c is: there Python itself takes everything for arguments. */
static size_t first_argument(const cli_arguments *arguments)
{
    if (names_program(arguments))
        return 0;
    bool has_dashes = arguments->words_before_dashes > 1 &&
                      strcmp(arguments->words[1], "--") == 0;
    return has_dashes ? 2 : 1;
}

/* The command line of the interpreter, NULL-terminated. exec takes char *, and changes nothing. */
static char **python_words(const cli_arguments *arguments, char *python)
{
    char **words = cli_allocate((arguments->num_given + arguments->num_words + 6) * sizeof *words);
    size_t count = 0;
    words[count++] = python;
    words[count++] = cli_duplicate("-c");
    words[count++] = cli_duplicate(bootstrap);
    words[count++] = cli_duplicate(SP_VERSION);
    for (size_t k = 0; k < arguments->num_given; k++)
        words[count++] = option_word(&arguments->given[k]);
    words[count++] = cli_duplicate("--");
    if (!names_program(arguments))
        words[count++] = cli_duplicate(arguments->words[0]);
    for (size_t i = first_argument(arguments); i < arguments->num_words; i++)
        words[count++] = cli_duplicate(arguments->words[i]);
    return words;
}

static int run_python(const cli_arguments *arguments)
{
    const char *origin;
    char *reason = NULL, *python = cli_find_python(&origin, &reason);
    if (!python) {
        cli_fail(&cli_run, CLI_FAILED, "%s", reason);
        free(reason);
        return CLI_FAILED;
    }
    /* Left by an outer `run` of a native program; here Python is the host. */
    unsetenv("SCOPE_PROFILER_RUN_OUTPUT");
    unsetenv("SCOPE_PROFILER_RUN_SUMMARY");
    unsetenv("SCOPE_PROFILER_RUN_LABEL");
    unsetenv("SCOPE_PROFILER_RUN_STARTED");
    execv(python, python_words(arguments, python));
    return cli_fail(&cli_run, CLI_FAILED, "can't run '%s': %s", python, strerror(errno));
}

static int run_script(const cli_arguments *arguments)
{
    const char *script = arguments->words[0];
    struct stat status;
    if (stat(script, &status) != 0)
        return cli_fail(&cli_run, CLI_FAILED, "can't open file '%s': %s", script, strerror(errno));
    return run_python(arguments);
}

/* ---- Native programs -------------------------------------------------------------------------*/

static const char *const native_options[] = {"outfile", "no-output", "quiet",
                                             "label", "mpi-calls", "no-mpi-calls", NULL};

static const cli_option *find_python_option(const cli_arguments *arguments)
{
    for (size_t i = 0; i < arguments->num_given; i++) {
        const cli_option *option = arguments->given[i].option;
        bool fine = false;
        for (const char *const *name = native_options; *name; name++)
            fine = fine || strcmp(*name, option->name) == 0;
        if (!fine)
            return option;
    }
    return NULL;
}

/* Absolute form of the output's name; NULL when the current folder is gone. */
static char *absolute_path(const char *path)
{
    char folder[PATH_MAX];
    if (path[0] == '/')
        return cli_duplicate(path);
    return getcwd(folder, sizeof folder) ? cli_format("%s/%s", folder, path) : NULL;
}

static void set_started(void)
{
#ifdef CLOCK_REALTIME_COARSE
    clockid_t clock = CLOCK_REALTIME_COARSE;
#else
    clockid_t clock = CLOCK_REALTIME;
#endif
    struct timespec now = {0};
    char text[32];
    clock_gettime(clock, &now);
    snprintf(text, sizeof text, "%lld%09ld", (long long)now.tv_sec, now.tv_nsec);
    setenv("SCOPE_PROFILER_RUN_STARTED", text, 1);
}

static int set_environment(const cli_arguments *arguments)
{
    const char *output = cli_value(arguments, "outfile");
    const char *label = cli_value(arguments, "label");
    char *path = cli_has(arguments, "no-output") ? cli_duplicate("")
                                                 : absolute_path(output ? output : DEFAULT_OUTPUT);
    if (!path)
        return cli_fail(&cli_run, CLI_FAILED, "cannot tell the current folder: %s",
                        strerror(errno));
    setenv("SCOPE_PROFILER_RUN_OUTPUT", path, 1);
    setenv("SCOPE_PROFILER_RUN_SUMMARY", cli_has(arguments, "quiet") ? "0" : "1", 1);
    if (label)
        setenv("SCOPE_PROFILER_RUN_LABEL", label, 1);
    else
        unsetenv("SCOPE_PROFILER_RUN_LABEL");
    set_started();
    free(path);
    return CLI_OK;
}

static int check_native(const cli_arguments *arguments)
{
    const cli_option *option = find_python_option(arguments);
    const char *output = cli_value(arguments, "outfile");
    if (option)
        return cli_usage_error(&cli_run, "argument --%s: only for Python scripts, and '%s' is a "
                               "native program", option->name, arguments->words[0]);
    if (output && (ends_with(output, ".json") || ends_with(output, ".json.gz") ||
                   ends_with(output, ".html")))
        return cli_usage_error(&cli_run, "argument --outfile: a native program writes HDF5; give "
                               "'%s' a name that ends in .h5", output);
    return CLI_OK;
}

/* The last of the two options counts. */
static bool wants_mpi_calls(const cli_arguments *arguments)
{
    bool wants = false;
    for (size_t i = 0; i < arguments->num_given; i++) {
        const char *name = arguments->given[i].option->name;
        if (strcmp(name, "mpi-calls") == 0 || strcmp(name, "no-mpi-calls") == 0)
            wants = name[0] == 'm';
    }
    return wants;
}

static int run_native(const cli_arguments *arguments, const char *path)
{
    const char **words = arguments->words + first_argument(arguments) - 1;
    int code = check_native(arguments);
    if (code == CLI_OK)
        code = set_environment(arguments);
    if (code == CLI_OK && wants_mpi_calls(arguments))
        code = cli_record_mpi_calls(&cli_run, path, arguments->words[0]);
    if (code != CLI_OK)
        return code;
    if (cli_lacks_recorder(path))
        cli_fail(&cli_run, CLI_OK, "warning: '%s' does not use libscope_profiler; unless it starts "
                 "or loads a program that does, nothing will be recorded", arguments->words[0]);
    words[0] = arguments->words[0];
    execv(path, (char *const *)(uintptr_t)words);
    return cli_fail(&cli_run, CLI_FAILED, "can't run '%s': %s", path, strerror(errno));
}

/* ---- Which of the two ------------------------------------------------------------------------*/

/* Path of the native program to start, NULL when the first word is a script. A binary is a program
 * wherever it stands; after `--` every executable that is not named like a script is one. */
static char *native_program(const cli_arguments *arguments)
{
    const char *word = arguments->words[0];
    if (cli_is_binary(word))
        return cli_duplicate(word);
    if (arguments->words_before_dashes > 0 || ends_with(word, ".py"))
        return NULL;
    return cli_find_executable(word);
}

static int run(const cli_arguments *arguments)
{
    char *program;
    int code;
    if (names_program(arguments))
        return run_python(arguments);
    program = native_program(arguments);
    if (!program)
        return run_script(arguments);
    code = run_native(arguments, program);
    free(program);
    return code;
}

static const cli_option options[] = {
    {.name = "module", .letter = 'm', .kind = CLI_VALUE, .value_name = "MODULE",
     .is_program = true, .help = "run a Python module, as `python -m` does; ends the options"},
    {.name = "command", .letter = 'c', .kind = CLI_VALUE, .value_name = "CODE",
     .is_program = true, .help = "run Python code, as `python -c` does; ends the options"},
    {.name = "outfile", .letter = 'o', .kind = CLI_VALUE, .value_name = "PATH",
     .excludes = "no-output", .help = "output file (default: " DEFAULT_OUTPUT ")"},
    {.name = "no-output", .kind = CLI_FLAG, .excludes = "outfile",
     .help = "write no file, only print the summary"},
    {.name = "quiet", .letter = 'q', .kind = CLI_FLAG, .help = "print no summary"},
    {.name = "label", .kind = CLI_VALUE, .value_name = "TEXT",
     .help = "name of the run, stored in the file"},
    {.name = "config", .kind = CLI_VALUE, .value_name = "FILE", .help = "TOML file with settings"},
    {.name = "recursive", .kind = CLI_FLAG,
     .help = "trace all Python calls of the program's own code"},
    {.name = "no-recursive", .kind = CLI_FLAG,
     .help = "record only the regions that the script marks (default)"},
    {.name = "all", .kind = CLI_FLAG,
     .help = "with --recursive: trace the standard library and installed packages too"},
    {.name = "include", .kind = CLI_VALUE, .value_name = "GLOB",
     .help = "with --recursive: trace only these functions; may be repeated"},
    {.name = "exclude", .kind = CLI_VALUE, .value_name = "GLOB",
     .help = "with --recursive: do not trace these functions; may be repeated"},
    {.name = "entrypoint", .kind = CLI_VALUE, .value_name = "NAME",
     .help = "with --recursive: a function to record under just this name"},
    {.name = "max-depth", .kind = CLI_VALUE, .value_name = "N",
     .help = "with --recursive: leave out calls nested deeper than this"},
    {.name = "min-duration", .kind = CLI_VALUE, .value_name = "TIME",
     .help = "with --recursive: fold calls shorter than this, such as 20us, into their callers"},
    {.name = "c-calls", .kind = CLI_FLAG,
     .help = "with --recursive: record the builtin functions and methods that are called, too"},
    {.name = "min-percent", .kind = CLI_VALUE, .value_name = "P",
     .help = "leave rows with less than P percent of the largest row's total out of the summary "
             "(default: 1 with --recursive, else 0)"},
    {.name = "tag", .kind = CLI_VALUE, .value_name = "TAG",
     .help = "record only regions that carry one of these tags; may be repeated"},
    {.name = "enable-tag", .kind = CLI_VALUE, .value_name = "TAG",
     .help = "switch on the regions of an opt-in tag; may be repeated"},
    {.name = "line-profile", .kind = CLI_FLAG, .help = "time the lines of registered functions"},
    {.name = "memory-profile", .kind = CLI_FLAG,
     .help = "capture allocations with Memray beside the output"},
    {.name = "buffer-limit", .kind = CLI_VALUE, .value_name = "N",
     .help = "initial number of calls that a region has room for"},
    {.name = "aggregation-mode", .kind = CLI_FLAG,
     .help = "keep counts and totals only, no single calls"},
    {.name = "mpi-calls", .kind = CLI_FLAG, .help = "record the calls of MPI"},
    {.name = "no-mpi-calls", .kind = CLI_FLAG,
     .help = "do not record the calls of MPI (default)"},
};

const cli_command cli_run = {
    .name = "run",
    .usage = "SCRIPT|-m MODULE|-c CODE|-- PROGRAM [ARGS]",
    .summary = "run a Python script or a native program and record it",
    .description =
        "Runs SCRIPT, MODULE or CODE with Python, or PROGRAM, a native program that uses\n"
        "libscope_profiler, with recording switched on, and prints a summary at its end. The\n"
        "exit status is the program's own. Options of this command stand before it; what\n"
        "follows goes to the program unchanged. For a native program -o, --no-output, -q,\n"
        "--label and --mpi-calls count. A launcher of MPI goes in front of this command.",
    .options = options,
    .num_options = CLI_COUNT(options),
    .min_words = 1,
    .words_end_options = true,
    .exit_0 = "done; once the program runs, the code is the program's own",
    .run = run,
};
