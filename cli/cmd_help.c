/* cmd_help.c - `scope-profiler help [COMMAND]`. */
#include "command.h"
#include "man.h"

static int run(const cli_arguments *arguments)
{
    const cli_command *command;
    bool is_man = cli_has(arguments, "man");
    if (arguments->num_words == 0) {
        if (is_man)
            cli_print_man(NULL);
        else
            cli_print_help();
        return CLI_OK;
    }
    command = cli_find_command(arguments->words[0]);
    if (!command)
        return cli_usage_error(arguments->command, "no command '%s'; '" CLI_PROGRAM " help' lists them",
                               arguments->words[0]);
    if (is_man)
        cli_print_man(command);
    else
        cli_print_command_help(command);
    return CLI_OK;
}

static const cli_option options[] = {
    {.name = "man", .kind = CLI_FLAG, .help = "print the manual page, for man -l -"},
};

const cli_command cli_help = {
    .name = "help",
    .usage = "[COMMAND]",
    .summary = "explain a command",
    .description = "Shows the list of commands, or the help of one of them.",
    .options = options,
    .num_options = CLI_COUNT(options),
    .run = run,
};
