/* command.h - what a command of `scope-profiler` is: a row of the table in main.c and one file
 * cmd_<name>.c. The option table of a command drives parsing, help text and error messages, so a
 * new option is one row and a new command one file and one row.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#define CLI_PROGRAM "scope-profiler"

/* Exit codes; docs/guide/command.md lists them. `run` hands on the code of its program. */
enum {
    CLI_OK = 0,
    CLI_FAILED = 1,  /* the work could not be done: file missing, cannot write, ... */
    CLI_USAGE = 2,   /* the command line makes no sense */
    CLI_BAD_FILE = 3 /* a file is there but is no readable profile */
};

typedef enum cli_kind {
    CLI_FLAG,  /* no value */
    CLI_VALUE, /* one value */
    CLI_LIST   /* one or more values, up to the next option */
} cli_kind;

typedef struct cli_option {
    const char *name; /* long form without dashes */
    char letter;      /* short form, 0: none */
    cli_kind kind;
    const char *value_name; /* shown in help */
    const char *help;
    const char *const *choices; /* allowed values, NULL-terminated; NULL: any */
    const char *excludes;       /* name of an option that must not be given too, or NULL */
    bool is_program; /* what is to be run: the next word whatever it is, then the words of that */
    /* CLI_LIST: whether a second or later word still belongs to it; NULL: every word does. */
    bool (*belongs)(const char *word);
} cli_option;

/* One option as it was given; a list gives one entry a value. */
typedef struct cli_given {
    const cli_option *option;
    const char *value; /* NULL for a flag */
} cli_given;

typedef struct cli_command cli_command;

/* A parsed command line. Strings point into argv. */
typedef struct cli_arguments {
    const cli_command *command;
    cli_given *given;
    size_t num_given;
    const char **words; /* everything that is not an option, NULL-terminated */
    size_t num_words;
    size_t words_before_dashes; /* how many words came before a `--`; num_words without one */
} cli_arguments;

struct cli_command {
    const char *name;
    const char *usage;       /* what follows the options in the usage line */
    const char *summary;     /* one line in the list of commands */
    const char *description; /* paragraphs of its own help, lines already broken */
    const cli_option *options;
    size_t num_options;
    size_t min_words;
    bool words_end_options; /* the first word ends the options (run: the script's come next) */
    const char *exit_0, *exit_1; /* what these codes mean here; NULL: as everywhere */
    int (*run)(const cli_arguments *arguments);
};

#define CLI_COUNT(array) (sizeof(array) / sizeof *(array))

/* The table, NULL-terminated (main.c). */
extern const cli_command *const cli_commands[];
const cli_command *cli_find_command(const char *name);

extern const cli_command cli_run, cli_inspect, cli_report, cli_export, cli_plot, cli_diff, cli_check,
    cli_convert, cli_merge, cli_completion, cli_import_native, cli_recover, cli_top,
    cli_config, cli_doctor, cli_line_profile, cli_help;

/* ---- arguments.c -----------------------------------------------------------------------------*/

/* Parses the words after the command's name. Returns true to go on; else *out_code is the exit code
 * (help was printed, or a usage error was). */
bool cli_parse(const cli_command *command, int argc, char **argv, cli_arguments *out,
               int *out_code);
void cli_release_arguments(cli_arguments *arguments);

bool cli_has(const cli_arguments *arguments, const char *name);
/* Last value given, NULL when absent. */
const char *cli_value(const cli_arguments *arguments, const char *name);
/* All values given, in order: allocated array of `*out_count`, NULL when there are none. */
const char **cli_values(const cli_arguments *arguments, const char *name, size_t *out_count);

/* ---- help.c ----------------------------------------------------------------------------------*/

void cli_print_help(void);
void cli_print_command_help(const cli_command *command);
/* What an exit code of a command means (NULL: of the program), NULL behind the last one. */
const char *cli_exit_text(const cli_command *command, int code);

/* ---- messages.c ------------------------------------------------------------------------------*/

/* One line on stderr: "scope-profiler <command>: <text>". Returns `code`. */
int cli_fail(const cli_command *command, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Usage line and "scope-profiler <command>: error: <text>" on stderr; returns CLI_USAGE. `command`
 * NULL: the program itself. */
int cli_usage_error(const cli_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Ends the program when memory is short. */
void *cli_allocate(size_t size);
void *cli_reallocate(void *memory, size_t size);
char *cli_duplicate(const char *text);
char *cli_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Columns of the terminal behind `descriptor`, else of $COLUMNS; 0: not known. */
size_t cli_columns(int descriptor);
/* True when `stream` is a terminal that wants colour (NO_COLOR, TERM=dumb say no). */
bool cli_wants_color(int descriptor);

#endif
