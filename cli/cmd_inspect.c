/* cmd_inspect.c - `scope-profiler inspect FILE...`: what is in a profile. */
#include "command.h"
#include "files.h"
#include "output.h"
#include "part.h"
#include "progress.h"
#include "selection.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A document about all files. */
typedef int (*document_maker)(sp_results *const *runs, size_t count,
                              const sp_inspection_options *options, char **out_text,
                              sp_error *error);

static int make_metadata(sp_results *const *runs, size_t count, const sp_inspection_options *options,
                         char **out_text, sp_error *error)
{
    (void)options;
    return sp_results_metadata_json(runs, count, out_text, error);
}

/* Writes the document, or nothing when one of the files cannot be read. */
static int write_document(const cli_arguments *arguments, char *const *files, size_t count,
                          document_maker make, const sp_inspection_options *options,
                          const char *path)
{
    const cli_command *command = arguments->command;
    sp_results **runs = cli_allocate(count * sizeof *runs);
    sp_error error = {0};
    char *text = NULL;
    size_t opened = 0;
    int code = CLI_OK;
    while (opened < count && code == CLI_OK) {
        code = cli_open_part(arguments, files[opened], &runs[opened]);
        if (code == CLI_OK && options)
            cli_hint_at_filters(command, files[opened], runs[opened], options->summary);
        opened += code == CLI_OK;
    }
    if (code == CLI_OK) {
        int status = make(runs, count, options, &text, &error);
        code = status == SP_OK ? cli_write_text(command, path, text)
                               : cli_fail_on(command, files[0], status, &error);
    }
    free(text);
    for (size_t i = 0; i < opened; i++)
        sp_results_close(runs[i]);
    free(runs);
    return code;
}

static int print(const cli_command *command, const char *path, sp_results *results,
                 const sp_inspection_options *options)
{
    sp_error error = {0};
    char *text;
    int status;
    cli_hint_at_filters(command, path, results, options->summary);
    status = sp_results_inspect(results, options, &text, &error);
    if (status != SP_OK)
        return cli_fail_on(command, path, status, &error);
    cli_hide_progress();
    fputs(text, stdout);
    free(text);
    return CLI_OK;
}

static int plot(const cli_command *command, const char *path, sp_results *results,
                const sp_inspection_options *options)
{
    sp_error error = {0};
    char *text;
    int status = sp_results_plot(results, options->summary, cli_columns(STDOUT_FILENO), &text,
                                 &error);
    if (status != SP_OK)
        return cli_fail_on(command, path, status, &error);
    cli_hide_progress();
    fputs(text, stdout);
    free(text);
    return CLI_OK;
}

/* Opens the file also when nothing is to be printed: then the exit code is the answer. */
static int inspect_file(const cli_arguments *arguments, const char *path,
                        const sp_inspection_options *options)
{
    sp_results *results;
    int code = cli_open_part(arguments, path, &results);
    if (code != CLI_OK)
        return code;
    if (!cli_has(arguments, "quiet"))
        code = print(arguments->command, path, results, options);
    if (code == CLI_OK && cli_has(arguments, "plot"))
        code = plot(arguments->command, path, results, options);
    sp_results_close(results);
    return code;
}

/* A file that cannot be shown does not keep the others from being shown; the first failure gives
 * the exit code. */
static int inspect_files(const cli_arguments *arguments, char *const *files, size_t count,
                         cli_selection *selection)
{
    sp_inspection_options options = {
        .size = sizeof options,
        .summary = &selection->summary,
        .hide_metadata = cli_has(arguments, "regions-only"),
        .hide_regions = cli_has(arguments, "metadata-only"),
        .full = cli_has(arguments, "full"),
        .show_mpi = cli_has(arguments, "mpi"),
    };
    const char **sources = cli_values(arguments, "source", &options.num_sources);
    int first_failure = CLI_OK;
    options.sources = sources;
    selection->summary.color = cli_wants_color(STDOUT_FILENO);
    if (cli_has(arguments, "json"))
        first_failure = write_document(arguments, files, count, sp_results_inspect_json,
                                       &options, "-");
    for (size_t i = 0; i < count && !cli_has(arguments, "json"); i++) {
        int code;
        selection->summary.file_path = files[i];
        code = inspect_file(arguments, files[i], &options);
        if (first_failure == CLI_OK)
            first_failure = code;
        if (code == CLI_USAGE)
            break; /* it would be said again for every file */
    }
    free(sources);
    return first_failure;
}

static int run(const cli_arguments *arguments)
{
    const char *metadata_path = cli_value(arguments, "export-metadata");
    cli_selection selection;
    char **files;
    size_t count;
    int code = cli_select(arguments, &selection);
    if (code != CLI_OK)
        return code;
    if (!cli_expand_files(arguments, 0, &files, &count)) {
        cli_release_selection(&selection);
        return CLI_FAILED;
    }
    if (metadata_path)
        code = write_document(arguments, files, count, make_metadata, NULL, metadata_path);
    if (code == CLI_OK)
        code = inspect_files(arguments, files, count, &selection);
    cli_release_files(files, count);
    cli_release_selection(&selection);
    return code;
}

static const cli_option options[] = {
    CLI_FILTER_OPTIONS,
    CLI_PART_OPTIONS,
    CLI_TABLE_OPTIONS,
    {.name = "full", .kind = CLI_FLAG, .help = "do not shorten long metadata values"},
    {.name = "source", .kind = CLI_LIST, .value_name = "NAME",
     .help = "show where these regions are defined, and their source text"},
    {.name = "mpi", .kind = CLI_FLAG, .excludes = "json",
     .help = "show the calls of MPI: time by rank and operation, messages between ranks"},
    {.name = "export-metadata", .kind = CLI_VALUE, .value_name = "PATH",
     .help = "write the metadata of all files as JSON to PATH ('-': standard output)"},
    {.name = "plot", .kind = CLI_FLAG, .excludes = "quiet",
     .help = "draw durations and a timeline as block characters, as wide as the terminal"},
    {.name = "quiet", .letter = 'q', .kind = CLI_FLAG,
     .help = "print nothing; for --export-metadata, and to check that files can be read"},
    {.name = "metadata-only", .kind = CLI_FLAG, .excludes = "regions-only",
     .help = "leave out the region table"},
    {.name = "regions-only", .kind = CLI_FLAG, .excludes = "metadata-only",
     .help = "leave out the metadata"},
    {.name = "json", .kind = CLI_FLAG, .excludes = "quiet",
     .help = "print one JSON document of all files"},
};

const cli_command cli_inspect = {
    .name = "inspect",
    .usage = "FILE...",
    .summary = "show the metadata and the regions of profiles",
    .description = "Shows what is in one or more profiles: title and size, metadata, regions.\n"
                   "FILE may be a pattern such as 'runs/*.h5'.",
    .options = options,
    .num_options = CLI_COUNT(options),
    .min_words = 1,
    .exit_1 = "it could not be done; of several files the first that failed tells",
    .run = run,
};
