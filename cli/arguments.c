/* arguments.c - reads a command line by the option table of its command. Words and options may be
 * mixed; `--` ends the options; `--name=value`, `--name value`, `-xVALUE`, joined short flags and
 * unambiguous beginnings of long names are understood. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct parser {
    const cli_command *command;
    char **argv;
    int argc, next;
    cli_arguments *out;
    size_t room;
    bool wants_help;
    bool has_program; /* an option names what is to be run */
} parser;

static const cli_option help_option = {
    .name = "help", .letter = 'h', .kind = CLI_FLAG, .help = "show this help and exit"};

/* How many options start with the first `length` bytes of `name`; an exact match counts alone. */
static size_t match_long(const cli_command *command, const char *name, size_t length,
                         const cli_option **out)
{
    size_t matches = 0;
    for (size_t i = 0; i <= command->num_options; i++) {
        const cli_option *option = i < command->num_options ? &command->options[i] : &help_option;
        if (strncmp(option->name, name, length) != 0)
            continue;
        *out = option;
        if (option->name[length] == '\0')
            return 1;
        matches++;
    }
    return matches;
}

static const cli_option *match_letter(const cli_command *command, char letter)
{
    for (size_t i = 0; i < command->num_options; i++)
        if (command->options[i].letter == letter)
            return &command->options[i];
    return letter == help_option.letter ? &help_option : NULL;
}

/* A word that must not be taken for a value: it names an option, or ends them. */
static bool looks_like_option(const cli_command *command, const char *word)
{
    const cli_option *option;
    if (word[0] != '-' || word[1] == '\0')
        return false;
    if (word[1] != '-')
        return match_letter(command, word[1]) != NULL;
    return word[2] == '\0' || match_long(command, word + 2, strcspn(word + 2, "="), &option) > 0;
}

static bool is_choice(const cli_option *option, const char *value)
{
    for (const char *const *choice = option->choices; *choice; choice++)
        if (strcmp(*choice, value) == 0)
            return true;
    return false;
}

static bool refuse_choice(const parser *p, const cli_option *option, const char *value)
{
    char *list = cli_duplicate("");
    for (const char *const *choice = option->choices; *choice; choice++) {
        char *longer = cli_format("%s%s'%s'", list, list[0] ? ", " : "", *choice);
        free(list);
        list = longer;
    }
    cli_usage_error(p->command, "argument --%s: invalid choice: '%s' (choose from %s)",
                    option->name, value, list);
    free(list);
    return false;
}

static bool keep(parser *p, const cli_option *option, const char *value)
{
    if (value && option->choices && !is_choice(option, value))
        return refuse_choice(p, option, value);
    if (option->excludes && cli_has(p->out, option->excludes)) {
        cli_usage_error(p->command, "argument --%s: not allowed with argument --%s", option->name,
                        option->excludes);
        return false;
    }
    if (option == &help_option) {
        p->wants_help = true;
        return true;
    }
    if (p->out->num_given == p->room) {
        p->room = p->room ? 2 * p->room : 16;
        p->out->given = cli_reallocate(p->out->given, p->room * sizeof *p->out->given);
    }
    p->out->given[p->out->num_given++] = (cli_given){option, value};
    return true;
}

/* Takes the value(s) of `option`; `attached` is the part after '=' or the letter, or NULL. */
static bool take_values(parser *p, const cli_option *option, const char *attached)
{
    size_t taken = 0;
    p->has_program |= option->is_program;
    if (attached)
        return keep(p, option, attached);
    while (p->next < p->argc &&
           (option->is_program || !looks_like_option(p->command, p->argv[p->next]))) {
        const char *word = p->argv[p->next];
        if (taken > 0 && option->belongs && !option->belongs(word))
            break;
        p->next++;
        taken++;
        if (!keep(p, option, word))
            return false;
        if (option->kind == CLI_VALUE)
            break;
    }
    if (taken == 0)
        cli_usage_error(p->command, "argument --%s: expected %s", option->name,
                        option->kind == CLI_LIST ? "at least one value" : "one value");
    return taken > 0;
}

static bool parse_long(parser *p, const char *word)
{
    const cli_option *option = NULL;
    size_t length = strcspn(word, "=");
    const char *attached = word[length] == '=' ? word + length + 1 : NULL;
    size_t matches = match_long(p->command, word, length, &option);
    if (matches != 1) {
        cli_usage_error(p->command, matches ? "ambiguous option: --%.*s" :
                        "unrecognized arguments: --%.*s", (int)length, word);
        return false;
    }
    if (option->kind != CLI_FLAG)
        return take_values(p, option, attached);
    if (attached) {
        cli_usage_error(p->command, "argument --%s: takes no value, got '%s'", option->name,
                        attached);
        return false;
    }
    return keep(p, option, NULL);
}

static bool parse_letters(parser *p, const char *letters)
{
    for (; *letters; letters++) {
        const cli_option *option = match_letter(p->command, *letters);
        if (!option) {
            cli_usage_error(p->command, "unrecognized arguments: -%c", *letters);
            return false;
        }
        if (option->kind != CLI_FLAG)
            return take_values(p, option, letters[1] ? letters + 1 : NULL);
        if (!keep(p, option, NULL))
            return false;
    }
    return true;
}

static void take_remaining_words(parser *p)
{
    while (p->next < p->argc)
        p->out->words[p->out->num_words++] = p->argv[p->next++];
}

/* Options and words up to the end, to `--`, or to the first word where that ends the options. */
static bool parse_all(parser *p)
{
    bool saw_dashes = false;
    while (p->next < p->argc) {
        const char *word = p->argv[p->next];
        if (strcmp(word, "--") == 0) {
            p->next++;
            saw_dashes = true;
            p->out->words_before_dashes = p->out->num_words;
            take_remaining_words(p);
        } else if (word[0] != '-' || word[1] == '\0') {
            p->out->words[p->out->num_words++] = word;
            p->next++;
            if (p->command->words_end_options)
                take_remaining_words(p);
        } else {
            p->next++;
            if (!(word[1] == '-' ? parse_long(p, word + 2) : parse_letters(p, word + 1)))
                return false;
        }
        if (p->wants_help)
            return true;
        if (p->has_program)
            take_remaining_words(p);
    }
    if (!saw_dashes)
        p->out->words_before_dashes = p->out->num_words;
    return true;
}

bool cli_parse(const cli_command *command, int argc, char **argv, cli_arguments *out,
               int *out_code)
{
    parser p = {.command = command, .argv = argv, .argc = argc, .out = out};
    *out = (cli_arguments){.command = command};
    out->words = cli_allocate(((size_t)argc + 1) * sizeof *out->words);
    if (!parse_all(&p)) {
        *out_code = CLI_USAGE;
    } else if (p.wants_help) {
        cli_print_command_help(command);
        *out_code = CLI_OK;
    } else if (out->num_words < command->min_words && !p.has_program) {
        *out_code = cli_usage_error(command, "the following arguments are required: %s",
                                    command->usage);
    } else {
        return true;
    }
    cli_release_arguments(out);
    return false;
}

void cli_release_arguments(cli_arguments *arguments)
{
    free(arguments->given);
    free(arguments->words);
    *arguments = (cli_arguments){0};
}

bool cli_has(const cli_arguments *arguments, const char *name)
{
    for (size_t i = 0; i < arguments->num_given; i++)
        if (strcmp(arguments->given[i].option->name, name) == 0)
            return true;
    return false;
}

const char *cli_value(const cli_arguments *arguments, const char *name)
{
    for (size_t i = arguments->num_given; i-- > 0;)
        if (strcmp(arguments->given[i].option->name, name) == 0)
            return arguments->given[i].value;
    return NULL;
}

const char **cli_values(const cli_arguments *arguments, const char *name, size_t *out_count)
{
    const char **values = NULL;
    *out_count = 0;
    for (size_t i = 0; i < arguments->num_given; i++) {
        if (strcmp(arguments->given[i].option->name, name) != 0)
            continue;
        if (!values)
            values = cli_allocate(arguments->num_given * sizeof *values);
        values[(*out_count)++] = arguments->given[i].value;
    }
    return values;
}
