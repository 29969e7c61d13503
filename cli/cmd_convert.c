/* cmd_convert.c - `scope-profiler convert` and `merge`: profiles into one of the formats that are read
 * back. */
#include "command.h"
#include "files.h"
#include "part.h"
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const compressions[] = {"none", "auto", "gzip", "lzf", "zstd", NULL};

static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), size = strlen(ending);
    return length > size && strcasecmp(path + length - size, ending) == 0;
}

/* What is wrong belongs to the work, not to the command line. */
static int fail(const cli_command *command, const char *path, int status, const sp_error *error)
{
    if (status == SP_ERR_INVALID_ARGUMENT || status == SP_ERR_IO || status == SP_ERR_UNSUPPORTED)
        return cli_fail(command, CLI_FAILED, "%s", error->text);
    return cli_fail_on(command, path, status, error);
}

/* The name decides about the format. */
static int write_run(const cli_arguments *arguments, const char *input, sp_results *run)
{
    const char *path = cli_value(arguments, "output");
    const char *compression = cli_value(arguments, "compression");
    bool is_plain = compression && strcmp(compression, "none") == 0;
    sp_store_options store = {.size = sizeof store, .compression = is_plain ? NULL : compression,
                              .compression_level = -1,
                              .is_aggregate = sp_results_is_aggregate(run)};
    sp_error error = {0};
    int status = ends_in(path, ".json") || ends_in(path, ".json.gz")
                     ? sp_export_json(run, NULL, path, &error)
                     : sp_results_write(run, path, &store, &error);
    cli_hide_progress();
    if (status != SP_OK)
        return fail(arguments->command, input, status, &error);
    if (!cli_has(arguments, "quiet"))
        printf("%s: %" PRIu32 " rank(s), %zu region(s), %" PRIu64 " call(s)\n", path,
               sp_results_num_ranks(run), sp_results_num_regions(run), sp_results_num_calls(run));
    return CLI_OK;
}

static int check_output(const cli_arguments *arguments)
{
    const char *path = cli_value(arguments, "output");
    if (!path)
        return cli_usage_error(arguments->command,
                               "the following arguments are required: -o/--output");
    if (ends_in(path, ".html") || ends_in(path, ".htm"))
        return cli_usage_error(arguments->command,
                               "argument --output: '%s' is the name of a report; choose one that "
                               "ends in .h5, .json or .json.gz", path);
    return CLI_OK;
}

static int set_label(const cli_arguments *arguments, const char *input, sp_results *run)
{
    const char *label = cli_value(arguments, "label");
    sp_metadata_entry entry = {.key = "label", .kind = SP_VALUE_TEXT, .text = label};
    sp_error error = {0};
    int status = label ? sp_results_set_metadata(run, &entry, &error) : SP_OK;
    return status == SP_OK ? CLI_OK : fail(arguments->command, input, status, &error);
}

static int run_convert(const cli_arguments *arguments)
{
    sp_results *run;
    int code = check_output(arguments);
    if (code == CLI_OK && arguments->num_words > 1)
        code = cli_usage_error(arguments->command, "one profile at a time; 'merge' makes one of several");
    if (code == CLI_OK)
        code = cli_open_part(arguments, arguments->words[0], &run);
    if (code != CLI_OK)
        return code;
    code = set_label(arguments, arguments->words[0], run);
    if (code == CLI_OK)
        code = write_run(arguments, arguments->words[0], run);
    sp_results_close(run);
    return code;
}

/* Puts one more profile beside those that are together already. */
static int add_profile(const cli_command *command, const char *path, sp_results **together)
{
    sp_results *next, *both;
    sp_error error = {0};
    int code = cli_open(command, path, &next), status;
    if (code != CLI_OK)
        return code;
    if (!*together) {
        *together = next;
        return CLI_OK;
    }
    status = sp_results_merge(*together, next, &both, &error);
    sp_results_close(next);
    if (status != SP_OK)
        return fail(command, path, status, &error);
    sp_results_close(*together);
    *together = both;
    return CLI_OK;
}

static int run_merge(const cli_arguments *arguments)
{
    sp_results *together = NULL;
    char **files;
    size_t count;
    int code = check_output(arguments);
    if (code != CLI_OK)
        return code;
    if (!cli_expand_files(arguments, 0, &files, &count))
        return CLI_FAILED;
    for (size_t i = 0; code == CLI_OK && i < count; i++)
        code = add_profile(arguments->command, files[i], &together);
    if (code == CLI_OK)
        code = set_label(arguments, files[0], together);
    if (code == CLI_OK)
        code = write_run(arguments, files[0], together);
    sp_results_close(together);
    cli_release_files(files, count);
    return code;
}

#define OUTPUT_OPTIONS \
    {.name = "output", .letter = 'o', .kind = CLI_VALUE, .value_name = "PATH", \
     .help = "the profile to write: .json and .json.gz are JSON, all else HDF5"}, \
    {.name = "label", .kind = CLI_VALUE, .value_name = "TEXT", .help = "label of the result"}, \
    {.name = "compression", .kind = CLI_VALUE, .value_name = "HOW", .choices = compressions, \
     .help = "of an HDF5 profile (default: none)"}, \
    {.name = "quiet", .letter = 'q', .kind = CLI_FLAG, .help = "print nothing"}

static const cli_option convert_options[] = {OUTPUT_OPTIONS, CLI_PART_OPTIONS};

static const cli_option merge_options[] = {OUTPUT_OPTIONS};

const cli_command cli_convert = {
    .name = "convert",
    .usage = "PROFILE -o PATH",
    .summary = "write a profile in another format",
    .description = "Reads a profile of any format (HDF5, JSON, native trace) and writes it as HDF5 or\n"
                   "JSON, without loss.",
    .options = convert_options,
    .num_options = CLI_COUNT(convert_options),
    .min_words = 1,
    .run = run_convert,
};

const cli_command cli_merge = {
    .name = "merge",
    .usage = "PROFILE... -o PATH",
    .summary = "make one profile of several",
    .description =
        "Puts the ranks and regions of several profiles into one. Metadata are those of the first.\n"
        "A region that two of them have on one rank is an error.",
    .options = merge_options,
    .num_options = CLI_COUNT(merge_options),
    .min_words = 1,
    .run = run_merge,
};
