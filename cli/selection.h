/* selection.h - the options that choose regions and ranks, shared by the reading commands. */
#ifndef CLI_SELECTION_H
#define CLI_SELECTION_H

#include "command.h"

#include "scope_results.h"

extern const char *const cli_sort_keys[];
extern const char *const cli_percentage_modes[];
extern const char *const cli_reductions[]; /* of several ranks */

/* Whether a word can be part of a rank list ("0", "4-7"). */
bool cli_is_rank_word(const char *word);

/* Rows of an option table. */
#define CLI_FILTER_OPTIONS                                                                         \
    {.name = "include", .letter = 'i', .kind = CLI_VALUE, .value_name = "REGEX",                   \
     .help = "only regions whose name starts with a match of REGEX; may be repeated"},             \
    {.name = "exclude", .letter = 'e', .kind = CLI_VALUE, .value_name = "REGEX",                   \
     .help = "leave out regions whose name starts with a match of REGEX; may be repeated"},        \
    {.name = "ranks", .letter = 'r', .kind = CLI_LIST, .value_name = "RANK",                       \
     .belongs = cli_is_rank_word, .help = "only these ranks: numbers and ranges, as in 0 2 4-7"}

#define CLI_TABLE_OPTIONS                                                                          \
    {.name = "sort", .kind = CLI_VALUE, .value_name = "KEY", .choices = cli_sort_keys,             \
     .help = "order of the regions (default: start)"},                                             \
    {.name = "columns", .kind = CLI_LIST, .value_name = "COLUMN",                                  \
     .help = "columns of the table: region, ranks, calls, total, percent, parent_percent, avg, "   \
             "min, max, first, last, std, p50, p95, p99, imbalance, gpu_total, gpu_avg"},          \
    {.name = "percentage-mode", .kind = CLI_VALUE, .value_name = "MODE",                           \
     .choices = cli_percentage_modes, .help = "what the percentages count"},                       \
    {.name = "reduce", .kind = CLI_VALUE, .value_name = "HOW", .choices = cli_reductions,          \
     .help = "what becomes of several ranks (default: pooled, all calls together)"},               \
    {.name = "top", .kind = CLI_VALUE, .value_name = "N",                                          \
     .help = "only the N most important rows: by the sort key, in order of start by total"},       \
    {.name = "depth", .kind = CLI_VALUE, .value_name = "N",                                        \
     .help = "only N levels of calls"},                                                            \
    {.name = "min-percent", .kind = CLI_VALUE, .value_name = "P",                                  \
     .help = "leave out rows with less than P percent of the largest row's total"}

/* The arrays behind an sp_summary_options. */
typedef struct cli_selection {
    sp_summary_options summary;
    const char **include, **exclude, **columns;
    uint32_t *ranks;
} cli_selection;

/* Reads the rows above from a command line. Returns CLI_OK, or CLI_USAGE after an error line. */
int cli_select(const cli_arguments *arguments, cli_selection *out);
/* Tells on stderr, one line each, what of the filters fits nothing in a run. */
void cli_hint_at_filters(const cli_command *command, const char *path, sp_results *results,
                         const sp_summary_options *options);
/* The same of several runs that are shown together: what fits nothing in any of them. */
void cli_hint_at_common_filters(const cli_command *command, sp_results *const *runs, size_t num_runs,
                                const sp_summary_options *options);
void cli_release_selection(cli_selection *selection);

#endif
