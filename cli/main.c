/* main.c - the command table of `scope-profiler`. */
#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const cli_command *const cli_commands[] = {
    &cli_run,
    &cli_inspect,
    &cli_report,
    &cli_line_profile,
    &cli_diff,
    &cli_check,
    &cli_export,
    &cli_plot,
    &cli_convert,
    &cli_merge,
    &cli_import_native,
    &cli_recover,
    &cli_top,
    &cli_config,
    &cli_doctor,
    &cli_completion,
    &cli_help,
    NULL,
};

const cli_command *cli_find_command(const char *name)
{
    for (const cli_command *const *command = cli_commands; *command; command++)
        if (strcmp((*command)->name, name) == 0)
            return *command;
    return NULL;
}

static int refuse_command(const char *name)
{
    char *list = cli_duplicate("");
    int code;
    for (const cli_command *const *command = cli_commands; *command; command++) {
        char *longer = cli_format("%s%s'%s'", list, list[0] ? ", " : "", (*command)->name);
        free(list);
        list = longer;
    }
    code = cli_usage_error(NULL, "argument command: invalid choice: '%s' (choose from %s)", name,
                           list);
    free(list);
    return code;
}

static int run_command(const cli_command *command, int argc, char **argv)
{
    cli_arguments arguments;
    int code;
    if (!cli_parse(command, argc, argv, &arguments, &code))
        return code;
    code = command->run(&arguments);
    cli_release_arguments(&arguments);
    return code;
}

static int dispatch(int argc, char **argv)
{
    const char *first = argc > 1 ? argv[1] : NULL;
    const cli_command *command;
    if (!first) {
        cli_print_help();
        return CLI_FAILED;
    }
    if (strcmp(first, "--version") == 0) {
        puts(CLI_PROGRAM " " SP_VERSION);
        return CLI_OK;
    }
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
        cli_print_help();
        return CLI_OK;
    }
    if (first[0] == '-')
        return cli_usage_error(NULL, "unrecognized arguments: %s", first);
    command = cli_find_command(first);
    return command ? run_command(command, argc - 2, argv + 2) : refuse_command(first);
}

int main(int argc, char **argv)
{
    int code = dispatch(argc, argv);
    /* Output that did not arrive (full disk, closed pipe) must not look like success. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, CLI_PROGRAM ": cannot write to standard output: %s\n", strerror(errno));
        return code == CLI_OK ? CLI_FAILED : code;
    }
    return code;
}
