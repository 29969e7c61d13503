/* cmd_line_profile.c - `scope-profiler line-profile FILE`: time by line, beside the source. */
#include "command.h"
#include "files.h"
#include "selection.h"

#include <stdio.h>
#include <stdlib.h>

static int show(const cli_arguments *arguments, const char *path, const cli_selection *selection)
{
    sp_results *results;
    sp_error error = {0};
    char *text;
    int code = cli_open(arguments->command, path, &results);
    if (code != CLI_OK)
        return code;
    int status = sp_results_line_tables(results, &selection->summary,
                                        cli_value(arguments, "function"),
                                        cli_value(arguments, "region"), &text, &error);
    sp_results_close(results);
    if (status != SP_OK)
        return cli_fail_on(arguments->command, path, status, &error);
    printf("Line profile: %s\n%s", path, text);
    free(text);
    return CLI_OK;
}

static int run(const cli_arguments *arguments)
{
    cli_selection selection;
    char **files;
    size_t count;
    int first_failure = CLI_OK;
    int code = cli_select(arguments, &selection);
    if (code != CLI_OK)
        return code;
    if (!cli_expand_files(arguments, 0, &files, &count)) {
        cli_release_selection(&selection);
        return CLI_FAILED;
    }
    for (size_t i = 0; i < count; i++) {
        code = show(arguments, files[i], &selection);
        first_failure = first_failure == CLI_OK ? code : first_failure;
    }
    cli_release_files(files, count);
    cli_release_selection(&selection);
    return first_failure;
}

static const cli_option options[] = {
    {.name = "rank", .letter = 'r', .kind = CLI_LIST, .value_name = "RANK",
     .belongs = cli_is_rank_word, .help = "only these ranks: numbers and ranges, as in 0 2 4-7"},
    {.name = "function", .kind = CLI_VALUE, .value_name = "NAME",
     .help = "only the function of this name"},
    {.name = "region", .kind = CLI_VALUE, .value_name = "NAME",
     .help = "only functions that were timed in this region"},
};

const cli_command cli_line_profile = {
    .name = "line-profile",
    .usage = "FILE...",
    .summary = "show time by line",
    .description = "Shows the line timings of profiles that were recorded with line profiling, one\n"
                   "table a function, beside the source.\n"
                   "FILE may be a pattern such as 'runs/*.h5'.",
    .options = options,
    .num_options = CLI_COUNT(options),
    .min_words = 1,
    .exit_1 = "it could not be done; of several files the first that failed tells",
    .run = run,
};
