/* selection.c - reads the options that choose regions and ranks. */
#include "selection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RANK 16777215ul /* larger than any machine; keeps a mistyped range from filling memory */

const char *const cli_sort_keys[] = {"start", "total", "calls", "avg", "min", "max", "first",
                                     "last", "std", "p50", "p95", "p99", "imbalance", "name",
                                     NULL};
const char *const cli_percentage_modes[] = {"coverage", "exclusive", NULL};
const char *const cli_reductions[] = {"pooled", "max", "mean", "min", "sum", NULL};

typedef struct rank_list {
    uint32_t *items;
    size_t count, room;
} rank_list;

bool cli_is_rank_word(const char *word)
{
    return word[0] != '\0' && strspn(word, "0123456789-, ") == strlen(word);
}

static bool read_rank(const char **at, unsigned long *out)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    *out = strtoul(*at, &end, 10);
    *at = end;
    return errno == 0 && *out <= MAX_RANK;
}

static void push_range(rank_list *list, unsigned long first, unsigned long last)
{
    for (unsigned long rank = first; rank <= last; rank++) {
        if (list->count == list->room) {
            list->room = list->room ? 2 * list->room : 64;
            list->items = cli_reallocate(list->items, list->room * sizeof *list->items);
        }
        list->items[list->count++] = (uint32_t)rank;
    }
}

/* One word: numbers and ranges, separated by blanks or commas. */
static bool read_ranks(rank_list *list, const char *word)
{
    const char *at = word + strspn(word, ", ");
    if (!*at)
        return false;
    while (*at) {
        unsigned long first, last;
        if (!read_rank(&at, &first))
            return false;
        last = first;
        if (*at == '-') {
            at++;
            if (!read_rank(&at, &last) || last < first)
                return false;
        }
        if (*at && *at != ',' && *at != ' ')
            return false;
        push_range(list, first, last);
        at += strspn(at, ", ");
    }
    return true;
}

static int compare_ranks(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static int select_ranks(const cli_arguments *arguments, cli_selection *out)
{
    rank_list list = {0};
    size_t count, kept = 0;
    const char *name = "ranks"; /* "rank" where an older name of the option is kept */
    const char **words = cli_values(arguments, name, &count);
    if (words == NULL)
        words = cli_values(arguments, name = "rank", &count);
    for (size_t i = 0; i < count; i++) {
        if (read_ranks(&list, words[i]))
            continue;
        cli_usage_error(arguments->command, "argument --%s: '%s' is not a rank or a range of "
                        "ranks; write them as in 0 2 4-7", name, words[i]);
        free(list.items);
        free(words);
        return CLI_USAGE;
    }
    free(words);
    if (list.count > 0)
        qsort(list.items, list.count, sizeof *list.items, compare_ranks);
    for (size_t i = 0; i < list.count; i++)
        if (kept == 0 || list.items[i] != list.items[kept - 1])
            list.items[kept++] = list.items[i];
    out->ranks = list.items;
    out->summary.ranks = list.items;
    out->summary.num_ranks = kept;
    return CLI_OK;
}

/* A count of 1 or more; CLI_USAGE after an error line. */
static int read_count(const cli_arguments *arguments, const char *name, size_t *out)
{
    const char *word = cli_value(arguments, name);
    char *end;
    unsigned long long count;
    if (!word)
        return CLI_OK;
    errno = 0;
    count = strtoull(word, &end, 10);
    if (errno != 0 || end == word || *end || word[0] == '-' || count == 0)
        return cli_usage_error(arguments->command, "argument --%s: '%s' is not a number of 1 or more",
                               name, word);
    *out = (size_t)count;
    return CLI_OK;
}

static int read_percent(const cli_arguments *arguments, double *out)
{
    const char *word = cli_value(arguments, "min-percent");
    char *end;
    double percent;
    if (!word)
        return CLI_OK;
    percent = strtod(word, &end);
    if (end == word || *end || !(percent >= 0 && percent <= 100))
        return cli_usage_error(arguments->command,
                               "argument --min-percent: '%s' is not a number from 0 to 100", word);
    *out = percent;
    return CLI_OK;
}

int cli_select(const cli_arguments *arguments, cli_selection *out)
{
    const char *sort = cli_value(arguments, "sort");
    const char *mode = cli_value(arguments, "percentage-mode");
    const char *reduction = cli_value(arguments, "reduce");
    *out = (cli_selection){.summary = {.size = sizeof out->summary, .sort = SP_SORT_START}};
    if (reduction && sp_compare_parse_reduction(reduction, &out->summary.reduction, NULL) != SP_OK)
        return cli_usage_error(arguments->command, "argument --reduce: invalid choice: '%s'", reduction);
    if (sort && sp_summary_parse_sort(sort, &out->summary.sort, NULL) != SP_OK)
        return cli_usage_error(arguments->command, "argument --sort: invalid choice: '%s'", sort);
    if (read_count(arguments, "top", &out->summary.top) != CLI_OK ||
        read_count(arguments, "depth", &out->summary.max_depth) != CLI_OK ||
        read_percent(arguments, &out->summary.min_percent) != CLI_OK ||
        select_ranks(arguments, out) != CLI_OK)
        return CLI_USAGE;
    out->summary.include = out->include =
        cli_values(arguments, "include", &out->summary.num_include);
    out->summary.exclude = out->exclude =
        cli_values(arguments, "exclude", &out->summary.num_exclude);
    out->summary.columns = out->columns =
        cli_values(arguments, "columns", &out->summary.num_columns);
    out->summary.exclusive_percent = mode && strcmp(mode, "exclusive") == 0;
    return CLI_OK;
}

/* The part of a hint that is the same whatever the run has instead. */
static size_t hint_length(const char *line)
{
    return strcspn(line, ";\n");
}

static bool has_hint(const char *hints, const char *wanted)
{
    for (const char *line = hints; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (hint_length(line) == hint_length(wanted) &&
            strncmp(line, wanted, hint_length(wanted)) == 0)
            return true;
    return false;
}

void cli_hint_at_filters(const cli_command *command, const char *path, sp_results *results,
                         const sp_summary_options *options)
{
    char *hints;
    if (sp_results_filter_hints(results, options, &hints, NULL) != SP_OK)
        return; /* the work itself will fail on the same and tell */
    for (char *line = hints; *line;) {
        size_t length = strcspn(line, "\n");
        cli_fail(command, CLI_OK, "%s: %.*s", path, (int)length, line);
        line += length + (line[length] == '\n');
    }
    free(hints);
}

void cli_hint_at_common_filters(const cli_command *command, sp_results *const *runs, size_t num_runs,
                                const sp_summary_options *options)
{
    char **hints = cli_allocate((num_runs + 1) * sizeof *hints);
    size_t known = 0;
    while (known < num_runs &&
           sp_results_filter_hints(runs[known], options, &hints[known], NULL) == SP_OK)
        known++;
    for (const char *line = known == num_runs && num_runs > 0 ? hints[0] : ""; *line;) {
        size_t length = strcspn(line, "\n");
        bool is_common = true;
        for (size_t i = 1; is_common && i < known; i++)
            is_common = has_hint(hints[i], line);
        if (is_common)
            cli_fail(command, CLI_OK, "%.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
    for (size_t i = 0; i < known; i++)
        free(hints[i]);
    free(hints);
}

void cli_release_selection(cli_selection *selection)
{
    free(selection->include);
    free(selection->exclude);
    free(selection->columns);
    free(selection->ranks);
}
