/* man.c - manual pages, made from the tables. */
#include "man.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text that the formatter must take as it is: a backslash, a minus, and a dot or quote where a line
 * begins mean something to it. */
static void print_text(const char *text, size_t length)
{
    bool begins_line = true;
    for (size_t i = 0; i < length; i++) {
        if (begins_line && (text[i] == '.' || text[i] == '\''))
            fputs("\\&", stdout);
        if (text[i] == '\\')
            fputs("\\e", stdout);
        else if (text[i] == '-')
            fputs("\\-", stdout);
        else
            putchar(text[i]);
        begins_line = text[i] == '\n';
    }
}

static void print_words(const char *text)
{
    print_text(text, strlen(text));
}

/* Paragraphs; lines that are indented stay lines. */
static void print_paragraphs(const char *text)
{
    bool is_table = false;
    while (*text) {
        size_t length = strcspn(text, "\n");
        bool is_indented = text[0] == ' ';
        if (is_indented != is_table && length > 0) {
            puts(is_indented ? ".nf" : ".fi");
            is_table = is_indented;
        }
        if (length == 0)
            fputs(is_table ? "" : ".PP", stdout);
        else
            print_text(text, length);
        if (length > 0 || !is_table)
            putchar('\n');
        text += length + (text[length] == '\n');
    }
    if (is_table)
        puts(".fi");
}

static void print_upper(const char *text)
{
    for (; *text; text++)
        if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(toupper((unsigned char)*text));
}

static void print_title(const cli_command *command)
{
    fputs(".TH SCOPE\\-PROFILER", stdout);
    if (command) {
        fputs("\\-", stdout);
        print_upper(command->name);
    }
    printf(" 1 \"\" \"" CLI_PROGRAM " %s\" \"User Commands\"\n.SH NAME\nscope\\-profiler", SP_VERSION);
    if (command) {
        fputs("\\-", stdout);
        print_words(command->name);
    }
    fputs(" \\- ", stdout);
    print_words(command ? command->summary : "record where the time of a program goes and show it");
    putchar('\n');
}

static void print_option(const cli_option *option)
{
    puts(".TP");
    if (option->letter)
        printf("\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", stdout);
    print_words(option->name);
    fputs("\\fR", stdout);
    if (option->kind != CLI_FLAG) {
        fputs(" \\fI", stdout);
        print_words(option->value_name);
        fputs(option->kind == CLI_LIST ? "\\fR..." : "\\fR", stdout);
    }
    putchar('\n');
    print_words(option->help);
    if (option->choices) {
        fputs(": ", stdout);
        for (size_t i = 0; option->choices[i]; i++) {
            fputs(i ? ", " : "", stdout);
            print_words(option->choices[i]);
        }
    }
    putchar('\n');
}

static void print_exit_codes(const cli_command *command)
{
    puts(".SH EXIT STATUS");
    for (int code = 0; cli_exit_text(command, code); code++) {
        printf(".TP\n.B %d\n", code);
        print_words(cli_exit_text(command, code));
        putchar('\n');
    }
}

static void print_command_page(const cli_command *command)
{
    fputs(".SH SYNOPSIS\n.B scope\\-profiler ", stdout);
    print_words(command->name);
    fputs("\n[options] ", stdout);
    print_words(command->usage);
    puts("\n.SH DESCRIPTION");
    print_paragraphs(command->description);
    puts(".SH OPTIONS\n.TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nshow the help of the command and exit");
    for (size_t i = 0; i < command->num_options; i++)
        print_option(&command->options[i]);
    print_exit_codes(command);
    puts(".SH SEE ALSO\n.BR scope\\-profiler (1)");
}

static void print_program_page(void)
{
    puts(".SH SYNOPSIS\n.B scope\\-profiler\n[\\fB\\-\\-version\\fR] [\\fB\\-\\-help\\fR] "
         "\\fIcommand\\fR ...\n.SH DESCRIPTION\n"
         "Records Python, C, C++ and Fortran programs in which regions are marked, and shows what was "
         "recorded.\n.SH COMMANDS");
    for (const cli_command *const *command = cli_commands; *command; command++) {
        fputs(".TP\n.B ", stdout);
        print_words((*command)->name);
        putchar('\n');
        print_words((*command)->summary);
        putchar('\n');
    }
    puts(".SH OPTIONS\n.TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nshow the list of commands and exit\n"
         ".TP\n\\fB\\-\\-version\\fR\nshow the version and exit");
    print_exit_codes(NULL);
    puts(".SH SEE ALSO");
    for (const cli_command *const *command = cli_commands; *command; command++) {
        fputs(".BR scope\\-profiler\\-", stdout);
        print_words((*command)->name);
        puts(command[1] ? " (1)," : " (1)");
    }
}

void cli_print_man(const cli_command *command)
{
    print_title(command);
    if (command)
        print_command_page(command);
    else
        print_program_page();
}
