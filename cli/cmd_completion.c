/* cmd_completion.c - `scope-profiler completion SHELL`: what a shell needs to complete commands,
 * options and their values, made from the option tables. */
#include "command.h"

#include <stdio.h>
#include <string.h>

static const char *const help_words[] = {"--help", "--version", NULL};

/* Prints text inside single quotes of a shell. */
static void print_quoted(const char *text)
{
    putchar('\'');
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*text);
    putchar('\'');
}

static void print_words(const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        printf("%s%s", i ? " " : "", words[i]);
}

static void print_option_words(const cli_command *command)
{
    fputs("--help", stdout);
    for (size_t i = 0; i < command->num_options; i++) {
        printf(" --%s", command->options[i].name);
        if (command->options[i].letter)
            printf(" -%c", command->options[i].letter);
    }
}

static void print_command_names(void)
{
    for (size_t i = 0; cli_commands[i]; i++)
        printf("%s%s", i ? " " : "", cli_commands[i]->name);
}

/* ---- bash ------------------------------------------------------------------------------------*/

static void print_bash_choices(const cli_command *command)
{
    for (size_t i = 0; i < command->num_options; i++) {
        const cli_option *option = &command->options[i];
        if (!option->choices)
            continue;
        printf("        %s:--%s) words='", command->name, option->name);
        print_words(option->choices);
        puts("' ;;");
    }
}

static void print_bash(void)
{
    puts("# bash completion of scope-profiler");
    puts("_scope_profiler()\n{");
    puts("    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}");
    puts("    local command=${COMP_WORDS[1]} words=");
    puts("    if [ \"$COMP_CWORD\" -eq 1 ]; then");
    fputs("        words='", stdout);
    print_command_names();
    putchar(' ');
    print_words(help_words);
    puts("'");
    puts("    else\n        case $command:$before in");
    for (size_t i = 0; cli_commands[i]; i++)
        print_bash_choices(cli_commands[i]);
    puts("        esac");
    puts("        if [ -z \"$words\" ] && [[ $word == -* ]]; then\n            case $command in");
    for (size_t i = 0; cli_commands[i]; i++) {
        printf("            %s) words='", cli_commands[i]->name);
        print_option_words(cli_commands[i]);
        puts("' ;;");
    }
    puts("            esac\n        fi\n    fi");
    puts("    [ -n \"$words\" ] && COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}");
    puts("complete -o default -F _scope_profiler scope-profiler");
}

/* ---- zsh -------------------------------------------------------------------------------------*/

/* Help inside the brackets of a specification: brackets and colons would end it. */
static void print_zsh_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (strchr("[]:\\", *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void print_zsh_option(const cli_option *option)
{
    fputs("                '*--", stdout);
    fputs(option->name, stdout);
    putchar('[');
    print_zsh_text(option->help);
    putchar(']');
    if (option->kind != CLI_FLAG) {
        printf(":%s:", option->value_name);
        if (option->choices) {
            putchar('(');
            print_words(option->choices);
            putchar(')');
        } else {
            fputs("_files", stdout);
        }
    }
    puts("' \\");
}

static void print_zsh(void)
{
    puts("#compdef scope-profiler\n\n_scope_profiler()\n{\n    local -a commands\n    commands=(");
    for (size_t i = 0; cli_commands[i]; i++) {
        printf("        '%s:", cli_commands[i]->name);
        print_zsh_text(cli_commands[i]->summary);
        puts("'");
    }
    puts("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n"
         "    fi\n    case ${words[2]} in");
    for (size_t i = 0; cli_commands[i]; i++) {
        printf("        %s)\n            _arguments \\\n                '--help[show help]' \\\n",
               cli_commands[i]->name);
        for (size_t j = 0; j < cli_commands[i]->num_options; j++)
            print_zsh_option(&cli_commands[i]->options[j]);
        puts("                '*:file:_files' ;;");
    }
    puts("    esac\n}\n\ncompdef _scope_profiler scope-profiler");
}

/* ---- fish ------------------------------------------------------------------------------------*/

static void print_fish_option(const cli_command *command, const cli_option *option)
{
    printf("complete -c scope-profiler -n '__fish_seen_subcommand_from %s' -l %s", command->name,
           option->name);
    if (option->letter)
        printf(" -s %c", option->letter);
    if (option->kind != CLI_FLAG)
        fputs(" -r", stdout);
    if (option->choices) {
        fputs(" -f -a '", stdout);
        print_words(option->choices);
        putchar('\'');
    }
    fputs(" -d ", stdout);
    print_quoted(option->help);
    putchar('\n');
}

static void print_fish(void)
{
    puts("# fish completion of scope-profiler");
    for (size_t i = 0; cli_commands[i]; i++) {
        printf("complete -c scope-profiler -n __fish_use_subcommand -f -a %s -d ",
               cli_commands[i]->name);
        print_quoted(cli_commands[i]->summary);
        putchar('\n');
    }
    for (size_t i = 0; cli_commands[i]; i++)
        for (size_t j = 0; j < cli_commands[i]->num_options; j++)
            print_fish_option(cli_commands[i], &cli_commands[i]->options[j]);
}

/* ---- The command -----------------------------------------------------------------------------*/

static int run(const cli_arguments *arguments)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t i = 0; i < CLI_COUNT(shells); i++) {
        if (strcmp(shells[i].name, arguments->words[0]) != 0)
            continue;
        shells[i].print();
        return CLI_OK;
    }
    return cli_usage_error(arguments->command, "argument SHELL: invalid choice: '%s' (choose from "
                           "'bash', 'zsh', 'fish')", arguments->words[0]);
}

const cli_command cli_completion = {
    .name = "completion",
    .usage = "SHELL",
    .summary = "print a script that completes commands in a shell",
    .description =
        "Prints completion for bash, zsh or fish. The output belongs into\n\n"
        "  bash  ~/.local/share/bash-completion/completions/scope-profiler\n"
        "  fish  ~/.config/fish/completions/scope-profiler.fish\n"
        "  zsh   _scope-profiler in a folder of $fpath",
    .min_words = 1,
    .run = run,
};
