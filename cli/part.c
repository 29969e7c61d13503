/* part.c - profiles without what is not wanted of them. */
#include "part.h"

#include "files.h"
#include "progress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int read_count(const cli_arguments *arguments, const char *word, const char *digits,
                      uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(digits, &end, 10);
    if (errno != 0 || end == digits || *end || digits[0] == '-' || digits[0] == '+')
        return cli_usage_error(arguments->command,
                               "argument --skip-calls: '%s' is not a number of calls, or a region and "
                               "a number as in solve=3", word);
    return CLI_OK;
}

/* Names are copied to `names`. A region may have an '=' in its name: the last one counts. */
static int read_skips(const cli_arguments *arguments, sp_narrow_options *options,
                      sp_region_skip *skips, char **names)
{
    size_t count;
    const char **words = cli_values(arguments, "skip-calls", &count);
    int code = CLI_OK;
    for (size_t i = 0; code == CLI_OK && i < count; i++) {
        const char *equals = strrchr(words[i], '=');
        if (!equals) {
            code = read_count(arguments, words[i], words[i], &options->skip_calls);
            continue;
        }
        names[options->num_skips] = cli_format("%.*s", (int)(equals - words[i]), words[i]);
        skips[options->num_skips].region = names[options->num_skips];
        code = read_count(arguments, words[i], equals + 1, &skips[options->num_skips].calls);
        options->num_skips++;
    }
    options->skips = skips;
    free(words);
    return code;
}

static int read_seconds(const cli_arguments *arguments, const char *name, int64_t *out_ns)
{
    const char *word = cli_value(arguments, name);
    char *end;
    double value;
    if (!word)
        return CLI_OK;
    value = strtod(word, &end);
    if (end == word || *end || !(value >= 0 && value < 9e9))
        return cli_usage_error(arguments->command,
                               "argument --%s: '%s' is not a number of seconds of 0 or more", name,
                               word);
    *out_ns = (int64_t)(value * 1e9 + 0.5);
    return CLI_OK;
}

static int read_part(const cli_arguments *arguments, sp_narrow_options *options,
                     sp_region_skip *skips, char **names)
{
    int code = read_skips(arguments, options, skips, names);
    if (code == CLI_OK)
        code = read_seconds(arguments, "from", &options->start_ns);
    if (code == CLI_OK)
        code = read_seconds(arguments, "to", &options->end_ns);
    options->after_region = cli_value(arguments, "warmup");
    if (code == CLI_OK && cli_has(arguments, "to") && options->end_ns <= options->start_ns)
        code = cli_usage_error(arguments->command, "argument --to: must lie behind --from");
    return code;
}

/* A region that is not there, with the nearest names. */
static int check_region(const cli_command *command, const char *path, sp_results *whole,
                        const char *region)
{
    char *hint;
    int code = CLI_OK;
    if (!region || sp_results_name_hint(whole, region, &hint, NULL) != SP_OK)
        return CLI_OK;
    if (hint[0])
        code = cli_fail(command, CLI_FAILED, "%s: %s", path, hint);
    free(hint);
    return code;
}

static int take_part(const cli_arguments *arguments, const char *path, sp_results *whole,
                     sp_narrow_options *options, sp_results **out)
{
    sp_error error = {0};
    int status, code = check_region(arguments->command, path, whole, options->after_region);
    for (size_t i = 0; code == CLI_OK && i < options->num_skips; i++)
        code = check_region(arguments->command, path, whole, options->skips[i].region);
    if (code != CLI_OK)
        return code;
    options->takes_over = true;
    status = sp_results_narrow(whole, options, out, &error);
    if (status == SP_OK)
        cli_show_progress(*out);
    return status == SP_OK ? CLI_OK : cli_fail_on(arguments->command, path, status, &error);
}

int cli_open_part(const cli_arguments *arguments, const char *path, sp_results **out)
{
    sp_narrow_options options = {.size = sizeof options};
    sp_region_skip *skips = cli_allocate((arguments->num_given + 1) * sizeof *skips);
    char **names = cli_allocate((arguments->num_given + 1) * sizeof *names);
    sp_results *whole = NULL;
    int code = read_part(arguments, &options, skips, names);
    bool is_part = options.skip_calls > 0 || options.num_skips > 0 || options.start_ns > 0 ||
                   options.end_ns > 0 || options.after_region;
    if (code == CLI_OK)
        code = cli_open(arguments->command, path, &whole);
    if (code == CLI_OK && is_part)
        code = take_part(arguments, path, whole, &options, out);
    else if (code == CLI_OK)
        *out = whole;
    if (code != CLI_OK)
        sp_results_close(whole);
    for (size_t i = 0; i < options.num_skips; i++)
        free(names[i]);
    free(names);
    free(skips);
    return code;
}
