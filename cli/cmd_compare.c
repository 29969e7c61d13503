/* cmd_compare.c - `scope-profiler diff` and `check`: two profiles, or two groups of them. */
#include "command.h"
#include "files.h"
#include "output.h"
#include "part.h"
#include "selection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const metrics[] = {"total", "avg", "min", "max", "p50", "p95", "p99", "imbalance",
                                      "calls", "gpu_total", "gpu_avg", "first", "last", NULL};
static const char *const sort_keys[] = {"delta", "pct", "name", NULL};

enum { LEAST_REPEATS = 3 };

/* The profiles of one side. */
typedef struct side {
    char **files;
    sp_results **runs;
    size_t count, opened;
} side;

typedef struct compare_job {
    const cli_arguments *arguments;
    sp_compare_options options;
    side a, b;
} compare_job;

/* ---- The command line ------------------------------------------------------------------------*/

static int read_percent(const cli_arguments *arguments, const char *name, double *out)
{
    const char *word = cli_value(arguments, name);
    char *end;
    if (!word)
        return CLI_OK;
    *out = strtod(word, &end);
    if (end == word || strcmp(end, "%") == 0)
        end += end != word;
    if (*end || end == word || !(*out >= 0 && *out <= 1e9))
        return cli_usage_error(arguments->command,
                               "argument --%s: '%s' is not a percentage of 0 or more", name, word);
    return CLI_OK;
}

static int read_options(compare_job *job, const cli_selection *selection)
{
    const cli_arguments *arguments = job->arguments;
    const char *metric = cli_value(arguments, "metric");
    const char *reduction = cli_value(arguments, "reduce");
    const char *sort = cli_value(arguments, "sort");
    sp_compare_options *options = &job->options;
    int code;
    *options = (sp_compare_options){
        .size = sizeof *options,
        .include = selection->summary.include, .num_include = selection->summary.num_include,
        .exclude = selection->summary.exclude, .num_exclude = selection->summary.num_exclude,
        .ranks = selection->summary.ranks, .num_ranks = selection->summary.num_ranks,
        .is_check = arguments->command == &cli_check,
        .fail_on_new = cli_has(arguments, "fail-on-new"),
    };
    if ((metric && sp_compare_parse_metric(metric, &options->metric, NULL) != SP_OK) ||
        (reduction && sp_compare_parse_reduction(reduction, &options->reduction, NULL) != SP_OK) ||
        (sort && sp_compare_parse_sort(sort, &options->sort, NULL) != SP_OK))
        return CLI_USAGE; /* the option table lists the same choices */
    code = read_percent(arguments, "threshold", &options->threshold);
    return code == CLI_OK ? read_percent(arguments, "max-regression", &options->max_regression) : code;
}

/* Words before and behind `--`; without one, the first and the second. */
static int read_sides(compare_job *job)
{
    const cli_arguments *arguments = job->arguments;
    size_t middle = arguments->words_before_dashes;
    bool has_dashes = middle < arguments->num_words;
    if (!has_dashes && arguments->num_words != 2)
        return cli_usage_error(arguments->command, "give two profiles, or several a side with -- "
                               "between them");
    middle = has_dashes ? middle : 1;
    if (!cli_expand_words(arguments, 0, middle, &job->a.files, &job->a.count) ||
        !cli_expand_words(arguments, middle, arguments->num_words, &job->b.files, &job->b.count))
        return CLI_FAILED;
    if (cli_has(arguments, "repeats") &&
        (job->a.count < LEAST_REPEATS || job->b.count < LEAST_REPEATS))
        return cli_usage_error(arguments->command, "argument --repeats: needs %d or more profiles a "
                               "side, got %zu and %zu", LEAST_REPEATS, job->a.count, job->b.count);
    return CLI_OK;
}

/* ---- Work ------------------------------------------------------------------------------------*/

static int open_side(const cli_arguments *arguments, side *of)
{
    int code = CLI_OK;
    of->runs = cli_allocate(of->count * sizeof *of->runs);
    while (code == CLI_OK && of->opened < of->count) {
        code = cli_open_part(arguments, of->files[of->opened], &of->runs[of->opened]);
        of->opened += code == CLI_OK;
    }
    return code;
}

static void release_side(side *of)
{
    for (size_t i = 0; i < of->opened; i++)
        sp_results_close(of->runs[i]);
    free(of->runs);
    cli_release_files(of->files, of->count);
}

static int print_form(const compare_job *job, const sp_comparison *comparison, sp_compare_form form,
                      const char *path)
{
    sp_error error = {0};
    char *text;
    int code, status = sp_comparison_format(comparison, form, &text, &error);
    if (status != SP_OK)
        return cli_fail_on(job->arguments->command, job->a.files[0], status, &error);
    code = cli_write_text(job->arguments->command, path, text);
    free(text);
    return code;
}

static int tell(const compare_job *job, const sp_comparison *comparison)
{
    const char *junit = cli_value(job->arguments, "junit");
    sp_compare_form form = cli_has(job->arguments, "json")       ? SP_COMPARE_JSON
                           : cli_has(job->arguments, "markdown") ? SP_COMPARE_MARKDOWN
                                                                 : SP_COMPARE_TEXT;
    int code = print_form(job, comparison, form, "-");
    if (code == CLI_OK && junit)
        code = print_form(job, comparison, SP_COMPARE_JUNIT, junit);
    if (code == CLI_OK && job->options.is_check && !sp_comparison_passes(comparison))
        code = CLI_FAILED;
    return code;
}

/* Tells what of the filters fits in none of the profiles. */
static void hint(const compare_job *job)
{
    size_t count = job->a.count + job->b.count;
    sp_results **runs = cli_allocate(count * sizeof *runs);
    const sp_summary_options filters = {
        .size = sizeof filters,
        .include = job->options.include, .num_include = job->options.num_include,
        .exclude = job->options.exclude, .num_exclude = job->options.num_exclude,
        .ranks = job->options.ranks, .num_ranks = job->options.num_ranks};
    memcpy(runs, job->a.runs, job->a.count * sizeof *runs);
    memcpy(runs + job->a.count, job->b.runs, job->b.count * sizeof *runs);
    cli_hint_at_common_filters(job->arguments->command, runs, count, &filters);
    free(runs);
}

static int compare(compare_job *job)
{
    sp_comparison *comparison;
    sp_error error = {0};
    int status, code = open_side(job->arguments, &job->a);
    if (code == CLI_OK)
        code = open_side(job->arguments, &job->b);
    if (code != CLI_OK)
        return code;
    hint(job);
    status = sp_comparison_create(job->a.runs, job->a.count, job->b.runs, job->b.count,
                                  &job->options, &comparison, &error);
    if (status != SP_OK)
        return cli_fail_on(job->arguments->command, job->a.files[0], status, &error);
    code = tell(job, comparison);
    sp_comparison_free(comparison);
    return code;
}

static int run(const cli_arguments *arguments)
{
    compare_job job = {.arguments = arguments};
    cli_selection selection;
    int code = cli_select(arguments, &selection);
    if (code != CLI_OK)
        return code;
    code = read_options(&job, &selection);
    if (code == CLI_OK)
        code = read_sides(&job);
    if (code == CLI_OK)
        code = compare(&job);
    release_side(&job.a);
    release_side(&job.b);
    cli_release_selection(&selection);
    return code;
}

/* ---- Tables ----------------------------------------------------------------------------------*/

#define COMPARE_OPTIONS                                                                            \
    CLI_FILTER_OPTIONS,                                                                            \
    CLI_PART_OPTIONS,                                                                              \
    {.name = "metric", .kind = CLI_VALUE, .value_name = "METRIC", .choices = metrics,              \
     .help = "what is compared (default: total)"},                                                 \
    {.name = "reduce", .kind = CLI_VALUE, .value_name = "HOW", .choices = cli_reductions,            \
     .help = "what becomes of several ranks (default: pooled, all calls together)"},               \
    {.name = "sort", .kind = CLI_VALUE, .value_name = "KEY", .choices = sort_keys,                 \
     .help = "order of the regions, largest change first (default: delta)"},                       \
    {.name = "threshold", .kind = CLI_VALUE, .value_name = "PERCENT",                              \
     .help = "leave out regions that changed less"},                                               \
    {.name = "markdown", .kind = CLI_FLAG, .excludes = "json",                                     \
     .help = "print a Markdown table, for pull requests"},                                         \
    {.name = "json", .kind = CLI_FLAG, .excludes = "markdown", .help = "print JSON"}

static const cli_option diff_options[] = {COMPARE_OPTIONS};

static const cli_option check_options[] = {
    COMPARE_OPTIONS,
    {.name = "max-regression", .kind = CLI_VALUE, .value_name = "PERCENT",
     .help = "growth that passes (default: 0)"},
    {.name = "fail-on-new", .kind = CLI_FLAG, .help = "fail when B has a region that A lacks"},
    {.name = "repeats", .kind = CLI_FLAG,
     .help = "insist on three or more profiles a side, so that noise alone does not fail"},
    {.name = "junit", .kind = CLI_VALUE, .value_name = "PATH",
     .help = "also write JUnit XML to PATH ('-': standard output)"},
};

const cli_command cli_diff = {
    .name = "diff",
    .usage = "A B | A... -- B...",
    .summary = "compare two profiles, or two groups of them",
    .description =
        "Shows what changed from A to B, region by region.\n\n"
        "With three or more profiles on each side of -- it shows medians, the spread between\n"
        "runs, the change with its interval, and how likely the change is chance.\n"
        "Profiles may be HDF5, JSON or native traces, mixed.",
    .options = diff_options,
    .num_options = CLI_COUNT(diff_options),
    .min_words = 2,
    .run = run,
};

const cli_command cli_check = {
    .name = "check",
    .usage = "A B | A... -- B...",
    .summary = "fail when profiles got slower than a budget allows",
    .description =
        "Compares B with the baseline A. Exit code 0: within the budget, 1: not.\n\n"
        "With one profile a side every region that grew more than --max-regression fails. With\n"
        "three or more on each side of -- an exact rank test on the time of the whole run\n"
        "decides at 5 %, so that noise does not fail; slower regions are named.",
    .options = check_options,
    .num_options = CLI_COUNT(check_options),
    .min_words = 2,
    .exit_0 = "within the budget",
    .exit_1 = "beyond the budget, or it could not be done",
    .run = run,
};
