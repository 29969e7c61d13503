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
    const char **words = cli_values(arguments, "ranks", &count);
    for (size_t i = 0; i < count; i++) {
        if (read_ranks(&list, words[i]))
            continue;
        cli_usage_error(arguments->command, "argument --ranks: '%s' is not a rank or a range of "
                        "ranks; write them as in 0 2 4-7", words[i]);
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

int cli_select(const cli_arguments *arguments, cli_selection *out)
{
    const char *sort = cli_value(arguments, "sort");
    const char *mode = cli_value(arguments, "percentage-mode");
    *out = (cli_selection){.summary = {.size = sizeof out->summary, .sort = SP_SORT_START}};
    if (sort && sp_summary_parse_sort(sort, &out->summary.sort, NULL) != SP_OK)
        return cli_usage_error(arguments->command, "argument --sort: invalid choice: '%s'", sort);
    if (select_ranks(arguments, out) != CLI_OK)
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

void cli_release_selection(cli_selection *selection)
{
    free(selection->include);
    free(selection->exclude);
    free(selection->columns);
    free(selection->ranks);
}
