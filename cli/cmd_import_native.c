/* cmd_import_native.c - `scope-profiler import-native INPUT... -o PATH`: the files that the ranks of a
 * native program left, as one profile. */
#include "command.h"
#include "files.h"
#include "native_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Name of a file without folder and ending. Allocated. */
static char *stem_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    int length = dot && dot != name ? (int)(dot - name) : (int)strlen(name);
    return cli_format("%.*s", length, name);
}

/* Errors of one file name it; two files with one rank, or one region in both runs, concern no single
 * one and are no mistake of the command line. */
static int fail(const cli_command *command, const char *path, int status, const sp_error *error)
{
    if (status == SP_ERR_INVALID_ARGUMENT)
        return cli_fail(command, CLI_FAILED, "%s", error->text);
    return cli_fail_on(command, path, status, error);
}

/* Puts the native run beside the profile and takes its place. */
static int merge(const cli_command *command, const char *path, const char *label,
                 sp_results **native)
{
    sp_results *profile, *both = NULL;
    sp_error error = {0};
    int code = cli_open(command, path, &profile), status;
    if (code != CLI_OK)
        return code;
    status = sp_results_merge(profile, *native, &both, &error);
    if (status == SP_OK && label) {
        sp_metadata_entry entry = {.key = "label", .kind = SP_VALUE_TEXT, .text = label};
        status = sp_results_set_metadata(both, &entry, &error);
    }
    sp_results_close(profile);
    if (status != SP_OK) {
        sp_results_close(both);
        return fail(command, path, status, &error);
    }
    sp_results_close(*native);
    *native = both;
    return CLI_OK;
}

static int write_run(const cli_arguments *arguments, sp_results *run, const char *path)
{
    sp_error error = {0};
    int status = sp_results_write(run, path, NULL, &error);
    if (status != SP_OK)
        return fail(arguments->command, path, status, &error);
    if (!cli_has(arguments, "quiet"))
        printf("%s: %" PRIu32 " rank(s), %zu region(s), %" PRIu64 " call(s)\n", path,
               sp_results_num_ranks(run), sp_results_num_regions(run), sp_results_num_calls(run));
    return CLI_OK;
}

static int import(const cli_arguments *arguments, char *const *files, size_t count,
                  const char *output)
{
    const char *label = cli_value(arguments, "label"), *profile = cli_value(arguments, "merge");
    char *stem = stem_of(output);
    sp_results *run;
    sp_error error = {0};
    int code = CLI_OK, status = sp_results_import((const char *const *)files, count,
                                                  label ? label : stem, &run, &error);
    free(stem);
    if (status != SP_OK)
        return fail(arguments->command, files[0], status, &error);
    if (profile)
        code = merge(arguments->command, profile, label, &run);
    if (code == CLI_OK)
        code = write_run(arguments, run, output);
    sp_results_close(run);
    return code;
}

static int run(const cli_arguments *arguments)
{
    const char *output = cli_value(arguments, "output");
    char **files;
    size_t count;
    int code;
    if (!output)
        output = cli_value(arguments, "merge");
    if (!output)
        return cli_usage_error(arguments->command,
                               "the following arguments are required: -o/--output");
    code = cli_find_native_files(arguments, &files, &count);
    if (code != CLI_OK)
        return code;
    code = import(arguments, files, count, output);
    cli_release_files(files, count);
    return code;
}

static const cli_option options[] = {
    {.name = "output", .letter = 'o', .kind = CLI_VALUE, .value_name = "PATH",
     .help = "the profile to write"},
    {.name = "label", .kind = CLI_VALUE, .value_name = "TEXT",
     .help = "label of the run (default: the name of the output without its ending)"},
    {.name = "merge", .kind = CLI_VALUE, .value_name = "PROFILE",
     .help = "fold the traces into this profile; without -o it is replaced"},
    {.name = "quiet", .letter = 'q', .kind = CLI_FLAG, .help = "print nothing"},
};

const cli_command cli_import_native = {
    .name = "import-native",
    .usage = "INPUT...",
    .summary = "make one profile of the files of a native program",
    .description = "Reads native traces (.spt) and per-rank profiles (.h5) and writes one profile.\n"
                   "INPUT is a file, a pattern, or a folder that holds such files.",
    .options = options,
    .num_options = CLI_COUNT(options),
    .min_words = 1,
    .run = run,
};
