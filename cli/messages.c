/* messages.c - error lines, and memory that ends the program when it is short. */
#include "command.h"
#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void print_name(const cli_command *command)
{
    fprintf(stderr, CLI_PROGRAM "%s%s: ", command ? " " : "", command ? command->name : "");
}

int cli_fail(const cli_command *command, int code, const char *format, ...)
{
    va_list list;
    cli_hide_progress();
    fflush(stdout); /* what was printed so far comes first, also when both go to one file */
    print_name(command);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    return code;
}

int cli_usage_error(const cli_command *command, const char *format, ...)
{
    va_list list;
    cli_hide_progress();
    fflush(stdout);
    if (command)
        fprintf(stderr, "usage: " CLI_PROGRAM " %s [options]%s%s\n", command->name,
                command->usage[0] ? " " : "", command->usage);
    else
        fprintf(stderr, "usage: " CLI_PROGRAM " [--version] [--help] <command> ...\n");
    print_name(command);
    fprintf(stderr, "error: ");
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    return CLI_USAGE;
}

static void *need(void *memory)
{
    if (!memory) {
        fprintf(stderr, CLI_PROGRAM ": out of memory\n");
        exit(CLI_FAILED);
    }
    return memory;
}

void *cli_allocate(size_t size)
{
    return need(calloc(1, size ? size : 1));
}

void *cli_reallocate(void *memory, size_t size)
{
    return need(realloc(memory, size ? size : 1));
}

char *cli_duplicate(const char *text)
{
    return need(strdup(text));
}

char *cli_format(const char *format, ...)
{
    va_list list;
    char *text;
    int length;
    va_start(list, format);
    length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    text = cli_allocate((size_t)length + 1);
    va_start(list, format);
    vsnprintf(text, (size_t)length + 1, format, list);
    va_end(list);
    return text;
}

bool cli_wants_color(int descriptor)
{
    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    if (no_color && no_color[0])
        return false;
    if (!terminal || strcmp(terminal, "dumb") == 0)
        return false;
    return isatty(descriptor) != 0;
}

size_t cli_columns(int descriptor)
{
    const char *columns = getenv("COLUMNS");
    struct winsize window;
    if (ioctl(descriptor, TIOCGWINSZ, &window) == 0 && window.ws_col > 0)
        return window.ws_col;
    return columns ? strtoul(columns, NULL, 10) : 0;
}
