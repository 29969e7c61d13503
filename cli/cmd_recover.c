/* cmd_recover.c - `scope-profiler recover`: profiles of recordings that did not end well. */
#include "command.h"
#include "files.h"

#include "scope_results.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define SECOND_NS INT64_C(1000000000)

static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), size = strlen(ending);
    return length > size && strcasecmp(path + length - size, ending) == 0;
}

/* run.h5 becomes run.recovered.h5; whatever ending it had, the profile is HDF5. */
static char *output_of(const cli_arguments *arguments, const sp_recovery_info *info, size_t number)
{
    const char *wanted = cli_value(arguments, "output");
    if (wanted)
        return cli_duplicate(wanted);
    const char *slash = strrchr(info->output, '/'), *dot = strrchr(info->output, '.');
    if (!dot || (slash && dot < slash))
        dot = info->output + strlen(info->output);
    int stem = (int)(dot - info->output);
    return number == 0 ? cli_format("%.*s.recovered.h5", stem, info->output)
                       : cli_format("%.*s.recovered-%zu.h5", stem, info->output, number + 1);
}

static void print_when(int64_t at_ns)
{
    time_t seconds = (time_t)(at_ns / SECOND_NS);
    struct tm parts;
    char text[40];
    if (localtime_r(&seconds, &parts) && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts))
        printf("started %s", text);
}

/* What is not there, in the words of the one who wants to know what to trust. */
static void print_completeness(const sp_recovery_info *info)
{
    if (!info->has_rings)
        printf("  its rings are gone: calls after the last flush and open calls are not in it\n");
    if (info->missing_calls > 0)
        printf("  %" PRIu64 " call(s) that were recorded are not found\n", info->missing_calls);
    if (info->damaged_blocks > 0 || info->damaged_bytes > 0)
        printf("  damaged: %" PRIu64 " block(s) and %" PRIu64 " further byte(s) of the journal are left "
               "out\n", info->damaged_blocks, info->damaged_bytes);
    if (info->damaged_rings > 0)
        printf("  damaged: %" PRIu64 " ring(s) or stack(s) were read up to the damage\n",
               info->damaged_rings);
    if (info->torn_bytes > 0)
        printf("  %" PRIu64 " byte(s) of the journal were being written; the rings %s\n",
               info->torn_bytes, info->has_rings ? "have what they held" : "are gone");
    if (info->losses[0])
        printf("  while it recorded it lost: %s\n", info->losses);
    if (info->has_rings && info->missing_calls == 0 && info->damaged_rings == 0)
        printf("  complete: every call that had ended is in it\n");
}

static void print_found(const sp_recovery_info *info)
{
    printf("%s: process %" PRId64 " (%s)%s, ", info->output, info->pid, info->program,
           info->is_running     ? " which still runs"
           : info->is_elsewhere ? " of another machine"
                                : "");
    print_when(info->started_at_ns);
    printf(", lasted %.3f s\n", (double)(info->last_ns - info->first_ns) / (double)SECOND_NS);
    printf("  %" PRIu64 " call(s) that had ended, %" PRIu64 " open\n", info->num_calls,
           info->num_open);
    print_completeness(info);
}

static int write_profile(sp_recovery *recovery, size_t i, const char *path, sp_error *error)
{
    sp_results *run;
    if (!ends_in(path, ".json") && !ends_in(path, ".json.gz"))
        return sp_recovery_write(recovery, i, path, NULL, error);
    int status = sp_recovery_open(recovery, i, &run, error);
    if (status != SP_OK)
        return status;
    status = sp_export_json(run, NULL, path, error);
    sp_results_close(run);
    return status;
}

static int recover_one(const cli_arguments *arguments, sp_recovery *recovery, size_t i,
                       size_t number)
{
    sp_recovery_info info = {.size = sizeof info};
    sp_error error = {0};
    int status = sp_recovery_describe(recovery, i, &info, &error);
    if (status != SP_OK)
        return cli_fail(arguments->command, CLI_BAD_FILE, "%s", error.text);
    if (!cli_has(arguments, "quiet"))
        print_found(&info);
    if (cli_has(arguments, "dry-run"))
        return CLI_OK;
    char *path = output_of(arguments, &info, number);
    status = write_profile(recovery, i, path, &error);
    if (status == SP_OK && !cli_has(arguments, "quiet"))
        printf("  written to %s\n", path);
    free(path);
    if (status == SP_OK && cli_has(arguments, "remove"))
        status = sp_recovery_remove(recovery, i, &error);
    return status == SP_OK ? CLI_OK : cli_fail(arguments->command, CLI_FAILED, "%s", error.text);
}

/* How many recordings before this one were to write the same profile. */
static size_t number_of(sp_recovery *recovery, size_t i)
{
    sp_recovery_info info = {.size = sizeof info}, other = {.size = sizeof other};
    size_t number = 0;
    if (sp_recovery_describe(recovery, i, &info, NULL) != SP_OK)
        return 0;
    for (size_t k = 0; k < i; k++)
        if (sp_recovery_describe(recovery, k, &other, NULL) == SP_OK)
            number += strcmp(info.output, other.output) == 0;
    return number;
}

static int run(const cli_arguments *arguments)
{
    const char *path = arguments->num_words > 0 ? arguments->words[0] : ".";
    sp_recovery *recovery;
    sp_error error = {0};
    if (arguments->num_words > 1)
        return cli_usage_error(arguments->command, "one output, journal or folder at a time");
    int status = sp_recovery_search(path, &recovery, &error);
    if (status != SP_OK)
        return cli_fail(arguments->command, CLI_FAILED, "%s", error.text);
    size_t count = sp_recovery_count(recovery);
    int code = CLI_OK;
    if (cli_value(arguments, "output") && count > 1) {
        code = cli_usage_error(arguments->command,
                               "argument --output: %zu recordings are left here; name one journal",
                               count);
        count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        int one = recover_one(arguments, recovery, i, number_of(recovery, i));
        code = one != CLI_OK ? one : code;
    }
    sp_recovery_release(recovery);
    return code;
}

static const cli_option options[] = {
    {.name = "output", .letter = 'o', .kind = CLI_VALUE, .value_name = "PATH",
     .help = "the profile to write: .json and .json.gz are JSON, all else HDF5 (default: "
             "<name>.recovered.h5 beside the one that was to be written)"},
    {.name = "dry-run", .kind = CLI_FLAG, .help = "only say what there is"},
    {.name = "remove", .kind = CLI_FLAG, .help = "remove the journal once its profile is written"},
    {.name = "quiet", .letter = 'q', .kind = CLI_FLAG, .help = "say nothing but errors"},
};

const cli_command cli_recover = {
    .name = "recover",
    .usage = "[FILE | FOLDER]",
    .summary = "make a profile of a recording that did not end well",
    .description =
        "A program that was killed leaves the journal of its recording: <output>.journal beside the\n"
        "profile that it was to write, and its rings in shared memory until the machine restarts.\n"
        "FILE is that profile, or a journal; of a FOLDER (default: the current one) every recording\n"
        "is recovered. Calls that were open get the mark 'open' and end at the last moment known.",
    .options = options,
    .num_options = CLI_COUNT(options),
    .run = run,
};
