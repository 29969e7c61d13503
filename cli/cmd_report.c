/* cmd_report.c - `scope-profiler report FILE...`: profiles as a page for a browser. */
#include "command.h"
#include "files.h"
#include "part.h"
#include "progress.h"
#include "selection.h"
#include "show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const scalings[] = {"auto", "strong", "weak", "both", NULL};
static const char *const axes[] = {"auto", "ranks", "nodes", "threads", "cores", NULL};

typedef struct report_job {
    const cli_arguments *arguments;
    sp_report_options options;
    const char **labels;
    const char *path;
    char **files;
    size_t num_files;
} report_job;

/* Position of a word that the option table has checked; 0 without one. */
static int choice_of(const cli_arguments *arguments, const char *name, const char *const *choices)
{
    const char *word = cli_value(arguments, name);
    for (int i = 0; word && choices[i]; i++)
        if (strcmp(choices[i], word) == 0)
            return i;
    return 0;
}

static int read_options(report_job *job, const cli_selection *selection)
{
    const cli_arguments *arguments = job->arguments;
    const char *output = cli_value(arguments, "output");
    size_t num_labels;
    job->path = output ? output : "report.html";
    job->labels = cli_values(arguments, "label", &num_labels);
    if (job->labels && num_labels != job->num_files)
        return cli_usage_error(arguments->command,
                               "argument --label: one a file, got %zu for %zu file(s)", num_labels,
                               job->num_files);
    job->options = (sp_report_options){
        .size = sizeof job->options,
        .include = selection->summary.include, .num_include = selection->summary.num_include,
        .exclude = selection->summary.exclude, .num_exclude = selection->summary.num_exclude,
        .ranks = selection->summary.ranks, .num_ranks = selection->summary.num_ranks,
        .labels = job->labels,
        .sort = selection->summary.sort,
        .columns = selection->summary.columns, .num_columns = selection->summary.num_columns,
        .no_charts = cli_has(arguments, "no-charts"),
        .no_individual_reports = cli_has(arguments, "no-individual-reports"),
        .scaling = (sp_report_scaling)choice_of(arguments, "scaling", scalings),
        .x = (sp_report_axis)choice_of(arguments, "speedup-x", axes),
    };
    return CLI_OK;
}

/* ---- Work ------------------------------------------------------------------------------------*/

static int write_report(const report_job *job, sp_results **runs)
{
    const cli_command *command = job->arguments->command;
    sp_error error = {0};
    int status = sp_export_report(runs, job->num_files, &job->options, job->path, &error);
    cli_hide_progress();
    if (status == SP_ERR_IO || status == SP_ERR_UNSUPPORTED)
        return cli_fail(command, CLI_FAILED, "%s", error.text);
    if (status != SP_OK)
        return cli_fail_on(command, job->files[0], status, &error);
    if (!cli_has(job->arguments, "quiet"))
        printf("Report written to: %s\n", job->path);
    return cli_has(job->arguments, "show") ? cli_show(command, job->path) : CLI_OK;
}

static int report_files(const report_job *job, const sp_summary_options *filters)
{
    sp_results **runs = cli_allocate(job->num_files * sizeof *runs);
    size_t opened = 0;
    int code = CLI_OK;
    while (code == CLI_OK && opened < job->num_files) {
        code = cli_open_part(job->arguments, job->files[opened], &runs[opened]);
        if (code == CLI_OK)
            cli_hint_at_filters(job->arguments->command, job->files[opened], runs[opened], filters);
        opened += code == CLI_OK;
    }
    if (code == CLI_OK)
        code = write_report(job, runs);
    for (size_t i = 0; i < opened; i++)
        sp_results_close(runs[i]);
    free(runs);
    return code;
}

static int run(const cli_arguments *arguments)
{
    report_job job = {.arguments = arguments};
    cli_selection selection;
    int code = cli_select(arguments, &selection);
    if (code != CLI_OK)
        return code;
    if (!cli_expand_files(arguments, 0, &job.files, &job.num_files)) {
        cli_release_selection(&selection);
        return CLI_FAILED;
    }
    code = read_options(&job, &selection);
    if (code == CLI_OK)
        code = report_files(&job, &selection.summary);
    free(job.labels);
    cli_release_files(job.files, job.num_files);
    cli_release_selection(&selection);
    return code;
}

static const cli_option options[] = {
    {.name = "output", .letter = 'o', .kind = CLI_VALUE, .value_name = "PATH",
     .help = "the page (default: report.html)"},
    CLI_FILTER_OPTIONS,
    CLI_PART_OPTIONS,
    {.name = "label", .kind = CLI_VALUE, .value_name = "TEXT",
     .help = "what a file is called, once for each of them"},
    {.name = "sort", .kind = CLI_VALUE, .value_name = "KEY", .choices = cli_sort_keys,
     .help = "order of the regions (default: start)"},
    {.name = "columns", .kind = CLI_LIST, .value_name = "COLUMN",
     .help = "columns that the table shows first; the page can show all"},
    {.name = "no-charts", .kind = CLI_FLAG, .help = "tables and texts only"},
    {.name = "charts-cdn", .kind = CLI_FLAG,
     .help = "accepted for old command lines; the page always holds its charts itself"},
    {.name = "no-individual-reports", .kind = CLI_FLAG,
     .help = "several files: only the comparison, no page of each"},
    {.name = "scaling", .kind = CLI_VALUE, .value_name = "KIND", .choices = scalings,
     .help = "several files: whether the work stays (strong) or grows with the ranks (weak)"},
    {.name = "speedup-x", .kind = CLI_VALUE, .value_name = "AXIS", .choices = axes,
     .help = "several files: what they are scaled over"},
    {.name = "show", .kind = CLI_FLAG, .help = "open the page in the browser"},
    {.name = "quiet", .letter = 'q', .kind = CLI_FLAG, .help = "print nothing"},
};

const cli_command cli_report = {
    .name = "report",
    .usage = "FILE...",
    .summary = "make a page for the browser of profiles",
    .description =
        "Makes one page that needs nothing else: of one profile everything that is known, of\n"
        "several their comparison with the first, and a page of each, linked.\n"
        "FILE may be a pattern such as 'runs/*.h5'.",
    .options = options,
    .num_options = CLI_COUNT(options),
    .min_words = 1,
    .run = run,
};
