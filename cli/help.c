/* help.c - help text, made from the tables. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HELP_COLUMN 26
#define HELP_WIDTH 80

/* Prints `text` word by word between HELP_COLUMN and HELP_WIDTH; the first line is indented
 * already. */
static void print_wrapped(const char *text)
{
    size_t at = HELP_COLUMN;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (at > HELP_COLUMN && at + 1 + length > HELP_WIDTH) {
            printf("\n%*s", HELP_COLUMN, "");
            at = HELP_COLUMN;
        } else if (at > HELP_COLUMN) {
            putchar(' ');
            at++;
        }
        fwrite(text, 1, length, stdout);
        at += length;
        text += length;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void print_row(const char *left, const char *help)
{
    printf("  %s", left);
    if (strlen(left) + 4 > HELP_COLUMN)
        printf("\n%*s", HELP_COLUMN, "");
    else
        printf("%*s", (int)(HELP_COLUMN - 2 - strlen(left)), "");
    print_wrapped(help);
}

static char *join_choices(const char *const *choices)
{
    char *text = cli_duplicate("");
    for (; *choices; choices++) {
        char *longer = cli_format("%s%s%s", text, text[0] ? ", " : "", *choices);
        free(text);
        text = longer;
    }
    return text;
}

static void print_option(const cli_option *option)
{
    char letter[8] = "";
    char *left, *help;
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    left = cli_format("%s--%s%s%s%s", letter, option->name, option->kind == CLI_FLAG ? "" : " ",
                      option->kind == CLI_FLAG ? "" : option->value_name,
                      option->kind == CLI_LIST ? "..." : "");
    if (option->choices) {
        char *choices = join_choices(option->choices);
        help = cli_format("%s: %s", option->help, choices);
        free(choices);
    } else {
        help = cli_duplicate(option->help);
    }
    print_row(left, help);
    free(left);
    free(help);
}

const char *cli_exit_text(const cli_command *command, int code)
{
    static const char *const texts[] = {
        [CLI_OK] = "done",
        [CLI_FAILED] = "it could not be done",
        [CLI_USAGE] = "the command line makes no sense",
        [CLI_BAD_FILE] = ("a file is there but is no readable profile: another format, damaged, of a "
                          "newer version")};
    if (command && code == CLI_OK && command->exit_0)
        return command->exit_0;
    if (command && code == CLI_FAILED && command->exit_1)
        return command->exit_1;
    return code >= 0 && (size_t)code < CLI_COUNT(texts) ? texts[code] : NULL;
}

static void print_exit_codes(const cli_command *command)
{
    printf("\nexit codes:\n");
    for (int code = 0; cli_exit_text(command, code); code++) {
        char left[16];
        snprintf(left, sizeof left, "%d", code);
        print_row(left, cli_exit_text(command, code));
    }
}

void cli_print_command_help(const cli_command *command)
{
    printf("usage: " CLI_PROGRAM " %s [options]%s%s\n\n%s\n\noptions:\n", command->name,
           command->usage[0] ? " " : "", command->usage, command->description);
    print_row("-h, --help", "show this help and exit");
    for (size_t i = 0; i < command->num_options; i++)
        print_option(&command->options[i]);
    print_exit_codes(command);
}

void cli_print_help(void)
{
    printf("usage: " CLI_PROGRAM " [--version] [--help] <command> ...\n\n"
           "Records where the time of a program goes and shows it.\n\ncommands:\n");
    for (const cli_command *const *command = cli_commands; *command; command++)
        print_row((*command)->name, (*command)->summary);
    printf("\noptions:\n");
    print_row("-h, --help", "show this help and exit");
    print_row("--version", "show the version and exit");
    print_exit_codes(NULL);
    printf("\n'" CLI_PROGRAM " <command> --help' explains a command.\n");
}
