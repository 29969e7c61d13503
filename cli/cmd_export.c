/* cmd_export.c - `scope-profiler export KIND FILE...`: a run as a file of another tool. */
#include "command.h"
#include "export_names.h"
#include "export_plots.h"
#include "files.h"
#include "part.h"
#include "progress.h"
#include "selection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*run_exporter)(sp_results *results, const sp_export_options *options, const char *path,
                            sp_error *error);
typedef int (*rank_exporter)(sp_results *results, const sp_export_options *options, uint32_t rank,
                             const char *path, sp_error *error);

/* One row a kind: a file a run, a file a rank, or one file of all runs. */
typedef struct export_kind {
    const char *name;
    const char *ending;
    run_exporter of_run;
    rank_exporter of_rank;
} export_kind;

static const export_kind kinds[] = {
    {"chrome-trace", ".trace.json", sp_export_chrome_trace, NULL},
    {"speedscope", ".speedscope.json", sp_export_speedscope, NULL},
    {"prof", ".prof", NULL, sp_export_prof},
    {"flamegraph", ".svg", NULL, sp_export_flamegraph},
    {"folded", ".folded", sp_export_folded, NULL},
    {"csv", ".csv", sp_export_csv, NULL},
    {"json", ".json", sp_export_json, NULL},
    {"plot-data", NULL, NULL, NULL},
    {"statistics", NULL, NULL, NULL},
};

/* Options that not every kind has. */
static const struct {
    const char *option;
    const char *kinds; /* between blanks */
} special[] = {
    {"no-call-paths", " prof flamegraph "}, {"width", " flamegraph "},
    {"threshold", " flamegraph "},          {"fixed-width", " flamegraph "},
    {"gzip", " json "},                     {"indent", " json "},
    {"plots", " plot-data "},               {"format", " plot-data "},
    {"metrics", " plot-data "},             {"reduce", " plot-data "},
    {"sort-by", " plot-data "},             {"top-n", " plot-data "},
    {"bins", " plot-data "},                {"imbalance-metric", " plot-data "},
    {"x", " plot-data "},                   {"start-time", " plot-data "},
    {"end-time", " plot-data "},            {"min-duration", " plot-data "},
    {"compact-callgraph", " plot-data "},   {"with", " plot-data "},
    {"label", " plot-data statistics "},
};

typedef struct export_job {
    const cli_arguments *arguments;
    const export_kind *kind;
    const char *folder;
    sp_export_options options;
    sp_summary_options filters;
    char **files;
    size_t num_files;
    cli_names taken;
    bool has_hinted; /* what the filters miss was told */
} export_job;

static const export_kind *find_kind(const char *name)
{
    for (size_t i = 0; i < CLI_COUNT(kinds); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

static int refuse_kind(const cli_arguments *arguments)
{
    char *list = cli_duplicate("");
    for (size_t i = 0; i < CLI_COUNT(kinds); i++) {
        char *longer = cli_format("%s%s'%s'", list, i ? ", " : "", kinds[i].name);
        free(list);
        list = longer;
    }
    cli_usage_error(arguments->command, "argument KIND: invalid choice: '%s' (choose from %s)",
                    arguments->words[0], list);
    free(list);
    return CLI_USAGE;
}

static int check_options(const export_job *job)
{
    for (size_t i = 0; i < CLI_COUNT(special); i++) {
        char *word = cli_format(" %s ", job->kind->name);
        bool fits = strstr(special[i].kinds, word) != NULL;
        free(word);
        if (!fits && cli_has(job->arguments, special[i].option))
            return cli_usage_error(job->arguments->command, "argument --%s: not for %s, only for%.*s",
                                   special[i].option, job->kind->name,
                                   (int)strlen(special[i].kinds) - 1, special[i].kinds);
    }
    return CLI_OK;
}

static int read_options(export_job *job, const cli_selection *selection)
{
    double indent = 0, threshold = 0;
    int code = cli_read_number(job->arguments, "indent", 0, 16, &indent);
    job->options = (sp_export_options){
        .size = sizeof job->options,
        .include = selection->summary.include, .num_include = selection->summary.num_include,
        .exclude = selection->summary.exclude, .num_exclude = selection->summary.num_exclude,
        .ranks = selection->summary.ranks, .num_ranks = selection->summary.num_ranks,
        .no_call_paths = cli_has(job->arguments, "no-call-paths"),
        .fixed_width = cli_has(job->arguments, "fixed-width"),
    };
    if (code == CLI_OK)
        code = cli_read_number(job->arguments, "width", 100, 1e6, &job->options.width);
    if (code == CLI_OK)
        code = cli_read_number(job->arguments, "threshold", 0, 100, &threshold);
    job->options.indent = (int)indent;
    if (cli_has(job->arguments, "threshold"))
        job->options.threshold = threshold > 0 ? threshold : -1; /* 0 draws everything */
    return code;
}

/* ---- Work ------------------------------------------------------------------------------------*/

static int finish_file(const export_job *job, const char *file, const char *path, int status,
                       const sp_error *error)
{
    cli_hide_progress();
    if (status == SP_OK) {
        if (!cli_has(job->arguments, "quiet"))
            printf("wrote %s\n", path);
        return CLI_OK;
    }
    if (status == SP_ERR_IO || status == SP_ERR_UNSUPPORTED)
        return cli_fail(job->arguments->command, CLI_FAILED, "%s", error->text);
    return cli_fail_on(job->arguments->command, file, status, error);
}

static int export_run(export_job *job, const char *file, sp_results *results)
{
    const char *compressed = cli_has(job->arguments, "gzip") ? ".gz" : "";
    char *ending = cli_format("%s%s", job->kind->ending, compressed);
    char *path = cli_export_name(&job->taken, job->folder, results, job->num_files > 1, ending);
    sp_error error = {0};
    int status = job->kind->of_run(results, &job->options, path, &error);
    int code = finish_file(job, file, path, status, &error);
    free(ending);
    free(path);
    return code;
}

/* Without a choice of ranks, rank 0 is the one. */
static int export_ranks(export_job *job, const char *file, sp_results *results)
{
    static const uint32_t first = 0;
    const uint32_t *ranks = job->options.ranks ? job->options.ranks : &first;
    size_t count = job->options.ranks ? job->options.num_ranks : 1;
    int code = CLI_OK;
    for (size_t i = 0; code == CLI_OK && i < count; i++) {
        char *ending = cli_format("_rank%u%s", ranks[i], job->kind->ending);
        char *path = cli_export_name(&job->taken, job->folder, results, job->num_files > 1, ending);
        sp_error error = {0};
        int status = job->kind->of_rank(results, &job->options, ranks[i], path, &error);
        code = finish_file(job, file, path, status, &error);
        free(ending);
        free(path);
    }
    return code;
}

/* What the profiles are called: the labels of the command line, NULL without any. */
static int read_labels(const export_job *job, const char ***out)
{
    size_t count;
    *out = cli_values(job->arguments, "label", &count);
    if (count == 0 || count == job->num_files)
        return CLI_OK;
    free(*out);
    *out = NULL;
    return cli_usage_error(job->arguments->command,
                           "argument --label: give one for each of the %zu profiles, not %zu",
                           job->num_files, count);
}

static int export_statistics(export_job *job, sp_results **runs, const char *const *labels)
{
    char *path = cli_format("%s/region_statistics.json", job->folder);
    sp_error error = {0};
    int status = sp_export_statistics(runs, labels, job->num_files, &job->options, path, &error);
    int code = finish_file(job, job->files[0], path, status, &error);
    free(path);
    return code;
}

/* A file a plot, and the statistics that plots are labelled with. */
static int export_plots(export_job *job, sp_results **runs, const char *const *labels)
{
    cli_plots plots;
    int code = cli_read_plots(job->arguments, &job->options, &plots);
    for (size_t i = 0; code == CLI_OK && i < plots.num_kinds; i++) {
        char *path = cli_format("%s/%s_data.%s", job->folder, sp_plot_file_stem(plots.kinds[i]),
                                plots.options.as_json ? "json" : "csv");
        sp_error error = {0};
        int status = sp_export_plot_data(runs, labels, job->num_files, plots.kinds[i],
                                         &plots.options, path, &error);
        code = finish_file(job, job->files[0], path, status, &error);
        free(path);
    }
    if (code == CLI_OK)
        code = export_statistics(job, runs, labels);
    cli_release_plots(&plots);
    return code;
}

static int export_files(export_job *job)
{
    int code = CLI_OK;
    for (size_t i = 0; code == CLI_OK && i < job->num_files; i++) {
        sp_results *results;
        code = cli_open_part(job->arguments, job->files[i], &results);
        if (code != CLI_OK)
            break;
        if (!job->has_hinted)
            cli_hint_at_filters(job->arguments->command, job->files[i], results, &job->filters);
        code = job->kind->of_run ? export_run(job, job->files[i], results)
                                 : export_ranks(job, job->files[i], results);
        sp_results_close(results);
    }
    return code;
}

static int export_together(export_job *job)
{
    sp_results **runs = cli_allocate(job->num_files * sizeof *runs);
    const char **labels;
    size_t opened = 0;
    int code = read_labels(job, &labels);
    while (code == CLI_OK && opened < job->num_files) {
        code = cli_open_part(job->arguments, job->files[opened], &runs[opened]);
        opened += code == CLI_OK;
    }
    if (code == CLI_OK)
        cli_hint_at_common_filters(job->arguments->command, runs, opened, &job->filters);
    job->has_hinted = true;
    if (code == CLI_OK)
        code = strcmp(job->kind->name, "statistics") == 0 ? export_statistics(job, runs, labels)
                                                          : export_plots(job, runs, labels);
    for (size_t i = 0; i < opened; i++)
        sp_results_close(runs[i]);
    free(runs);
    free(labels);
    return code;
}

/* Exports of other kinds beside plot data. */
static int export_companions(export_job *job)
{
    size_t count;
    const char **names = cli_values(job->arguments, "with", &count);
    int code = CLI_OK;
    for (size_t i = 0; code == CLI_OK && cli_plot_companions[i]; i++) {
        bool is_wanted = false;
        for (size_t k = 0; k < count; k++)
            is_wanted = is_wanted || strcmp(names[k], cli_plot_companions[i]) == 0 ||
                        strcmp(names[k], "all") == 0;
        job->kind = find_kind(cli_plot_companions[i]);
        if (is_wanted && job->kind)
            code = export_files(job);
    }
    free(names);
    return code;
}

static int run_job(export_job *job)
{
    cli_selection selection;
    int code = cli_select(job->arguments, &selection);
    if (code != CLI_OK)
        return code;
    job->filters = selection.summary;
    code = read_options(job, &selection);
    if (code == CLI_OK && !cli_expand_files(job->arguments, 1, &job->files, &job->num_files))
        code = CLI_FAILED;
    if (code == CLI_OK) {
        code = job->kind->ending ? export_files(job) : export_together(job);
        if (code == CLI_OK && cli_has(job->arguments, "with"))
            code = export_companions(job);
        cli_release_files(job->files, job->num_files);
    }
    cli_release_names(&job->taken);
    cli_release_selection(&selection);
    return code;
}

static int run(const cli_arguments *arguments)
{
    const char *folder = cli_value(arguments, "output");
    export_job job = {.arguments = arguments, .folder = folder ? folder : ".",
                      .kind = find_kind(arguments->words[0])};
    int code;
    if (!job.kind)
        return refuse_kind(arguments);
    if (arguments->num_words < 2)
        return cli_usage_error(arguments->command,
                               "the following arguments are required: FILE...");
    code = check_options(&job);
    return code == CLI_OK ? run_job(&job) : code;
}

static const cli_option options[] = {
    {.name = "output", .letter = 'o', .kind = CLI_VALUE, .value_name = "DIR",
     .help = "folder for the files; it is made when missing (default: the current one)"},
    CLI_FILTER_OPTIONS,
    CLI_PART_OPTIONS,
    {.name = "no-call-paths", .kind = CLI_FLAG,
     .help = "prof, flamegraph: one entry a region, not one a call path"},
    {.name = "width", .kind = CLI_VALUE, .value_name = "PIXELS",
     .help = "flamegraph: width of the picture (default: 1200)"},
    {.name = "threshold", .kind = CLI_VALUE, .value_name = "PERCENT",
     .help = "flamegraph: leave out what takes less of the whole (default: 0.1)"},
    {.name = "fixed-width", .kind = CLI_FLAG,
     .help = "flamegraph: do not scale the picture to the window"},
    {.name = "gzip", .kind = CLI_FLAG, .help = "json: compress the file"},
    {.name = "indent", .kind = CLI_VALUE, .value_name = "N",
     .help = "json: blanks a level (default: all on one line)"},
    CLI_PLOT_OPTIONS,
    {.name = "quiet", .letter = 'q', .kind = CLI_FLAG, .help = "do not name the files written"},
};

const cli_command cli_export = {
    .name = "export",
    .usage = "KIND FILE...",
    .summary = "write profiles in the format of another tool",
    .description =
        "Writes each profile as a file of another kind. KIND is one of\n\n"
        "  chrome-trace  profile.trace.json       Perfetto, chrome://tracing\n"
        "  speedscope    profile.speedscope.json  speedscope.app\n"
        "  prof          profile_rank0.prof       pstats, snakeviz; a file for each rank asked for\n"
        "  flamegraph    profile_rank0.svg        any browser; a file for each rank asked for\n"
        "  folded        profile.folded           tools that draw flame graphs\n"
        "  csv           profile.csv              one line a call\n"
        "  json          profile.json[.gz]        the whole run, without loss\n"
        "  plot-data     <plot>_data.csv          what plots show, of all runs; also statistics\n"
        "  statistics    region_statistics.json   one document of all runs\n\n"
        "With several profiles the names get the label of each: profile_<label>.json.\n"
        "FILE may be a pattern such as 'runs/*.h5'.",
    .options = options,
    .num_options = CLI_COUNT(options),
    .min_words = 1,
    .run = run,
};
