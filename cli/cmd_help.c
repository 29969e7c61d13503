/* cmd_help.c - `scope-profiler help [COMMAND]`. */
#include "command.h"

static int run(const cli_arguments *arguments)
{
    const cli_command *command;
    if (arguments->num_words == 0) {
        cli_print_help();
        return CLI_OK;
    }
    command = cli_find_command(arguments->words[0]);
    if (!command)
        return cli_usage_error(&cli_help, "no command '%s'; '" CLI_PROGRAM " help' lists them",
                               arguments->words[0]);
    cli_print_command_help(command);
    return CLI_OK;
}

const cli_command cli_help = {
    .name = "help",
    .usage = "[COMMAND]",
    .summary = "explain a command",
    .description = "Shows the list of commands, or the help of one of them.",
    .run = run,
};
