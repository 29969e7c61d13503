/* cmd_top.c - `scope-profiler top`: what a running program is doing. */
#include "command.h"
#include "top_view.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_INTERVAL 1.0
#define SHORTEST_INTERVAL 0.05
#define LONGEST_INTERVAL 86400.0
#define SECOND_NS INT64_C(1000000000)

typedef struct watch {
    const cli_command *command;
    double interval;
    bool is_json, is_once, is_screen; /* is_screen: each view replaces the one before */
    cli_top_options view;
} watch;

static bool read_number(const cli_arguments *arguments, const char *name, double least, double most,
                        double *out)
{
    const char *value = cli_value(arguments, name);
    char *end;
    if (!value)
        return true;
    *out = strtod(value, &end);
    if (end != value && *end == '\0' && isfinite(*out) && *out >= least && *out <= most)
        return true;
    cli_usage_error(arguments->command, "argument --%s: '%s' is no number from %g to %g", name, value,
                    least, most);
    return false;
}

/* A number is a process, unless there is a file of that name. */
static bool is_pid(const char *word, int64_t *out)
{
    char *end;
    errno = 0;
    long long value = strtoll(word, &end, 10);
    *out = value;
    return end != word && *end == '\0' && errno == 0 && value > 0 && access(word, F_OK) != 0;
}

/* ---- Without an argument ---------------------------------------------------------------------*/

static void list_one(void *context, const sp_live_process *process)
{
    size_t *count = context;
    if ((*count)++ == 0)
        printf("%10s  %5s  %-16s  %12s  %s\n", "PID", "RANK", "PROGRAM", "SECONDS", "OUTPUT");
    printf("%10" PRId64 "  %5" PRId64 "  %-16s  %12.1f  %s\n", process->pid, process->rank,
           process->program, (double)process->elapsed_ns / (double)SECOND_NS, process->output);
}

static int list(const cli_arguments *arguments)
{
    size_t count = 0;
    sp_live_find(list_one, &count);
    if (count > 0)
        return CLI_OK;
    return cli_fail(arguments->command, CLI_FAILED,
                    "no program of yours is recording with a journal here; programs that record in "
                    "memory, with totals only, or with journal=\"off\" (SCOPE_PROFILER_JOURNAL) cannot be "
                    "looked into");
}

/* ---- With one --------------------------------------------------------------------------------*/

static int show(const watch *w, const sp_live *live)
{
    sp_error error = {0};
    char *text;
    if (w->is_screen)
        fputs("\033[H\033[J", stdout);
    if (!w->is_json) {
        cli_top_print(live, &w->view);
    } else if (sp_live_json(live, &text, &error) == SP_OK) {
        fputs(text, stdout);
        free(text);
    } else {
        return cli_fail(w->command, CLI_FAILED, "%s", error.text);
    }
    if (!w->is_json && !w->is_once && !w->is_screen)
        putchar('\n');
    return fflush(stdout) == 0 ? CLI_OK : CLI_FAILED;
}

static void rest(double seconds)
{
    struct timespec left = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)((seconds - floor(seconds)) * (double)SECOND_NS)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

/* Says how each process ended. */
static void say_ended(const sp_live *live)
{
    for (size_t i = 0; i < sp_live_num_processes(live); i++) {
        sp_live_process process = {.size = sizeof process};
        sp_live_process_at(live, i, &process);
        if (process.has_left)
            fprintf(stderr, CLI_PROGRAM " top: process %" PRId64 " has ended without finishing its "
                    "recording; '" CLI_PROGRAM " recover %s' makes a profile of it\n",
                    process.pid, process.output);
        else
            fprintf(stderr, CLI_PROGRAM " top: process %" PRId64 " has finished; '" CLI_PROGRAM
                    " inspect %s' shows its profile\n", process.pid, process.output);
    }
}

static int watch_on(const watch *w, sp_live *live)
{
    sp_error error = {0};
    int code = show(w, live);
    while (code == CLI_OK && !w->is_once && sp_live_num_running(live) > 0) {
        rest(w->interval);
        if (sp_live_refresh(live, &error) != SP_OK)
            return cli_fail(w->command, CLI_FAILED, "%s", error.text);
        code = show(w, live);
    }
    if (code == CLI_OK && sp_live_num_running(live) == 0)
        say_ended(live);
    return code;
}

static int run(const cli_arguments *arguments)
{
    double regions = CLI_TOP_REGIONS;
    bool is_terminal = isatty(STDOUT_FILENO);
    watch w = {.command = arguments->command, .interval = DEFAULT_INTERVAL,
               .is_json = cli_has(arguments, "json"), .is_once = cli_has(arguments, "once")};
    sp_live *live;
    sp_error error = {0};
    int64_t pid;
    if (arguments->num_words > 1)
        return cli_usage_error(arguments->command, "one process, output or folder at a time");
    if (!read_number(arguments, "interval", SHORTEST_INTERVAL, LONGEST_INTERVAL, &w.interval) ||
        !read_number(arguments, "regions", 1, 1e9, &regions))
        return CLI_USAGE;
    if (arguments->num_words == 0)
        return list(arguments);
    w.is_screen = is_terminal && !w.is_json && !w.is_once;
    w.view = (cli_top_options){.regions = (size_t)regions, .columns = cli_columns(STDOUT_FILENO),
                               .has_color = cli_wants_color(STDOUT_FILENO)};
    const char *word = arguments->words[0];
    int status = is_pid(word, &pid) ? sp_live_open(pid, &live, &error)
                                    : sp_live_open_path(word, &live, &error);
    if (status != SP_OK)
        return cli_fail(arguments->command, CLI_FAILED, "%s", error.text);
    int code = watch_on(&w, live);
    sp_live_close(live);
    return code;
}

static const cli_option options[] = {
    {.name = "once", .kind = CLI_FLAG, .help = "one view, then end"},
    {.name = "json", .kind = CLI_FLAG, .help = "each view as one line of JSON"},
    {.name = "interval", .letter = 'i', .kind = CLI_VALUE, .value_name = "SECONDS",
     .help = "time between views (default: 1)"},
    {.name = "regions", .letter = 'n', .kind = CLI_VALUE, .value_name = "N",
     .help = "how many regions to show (default: 15)"},
};

const cli_command cli_top = {
    .name = "top",
    .usage = "[PID | FILE | FOLDER]",
    .summary = "look into a running program",
    .description =
        "Shows, once a second, the calls that are open in each thread and the regions that take the time.\n"
        "The program is not touched: its journal and its rings are read, also while it hangs. FILE is the\n"
        "profile that it will write, or its journal; ranks on this machine that write the same profile are\n"
        "shown together, and of a FOLDER all programs that record into it. Without an argument: what there\n"
        "is to look into. Shares are of the time since the view before; own time is without inner calls.",
    .options = options,
    .num_options = CLI_COUNT(options),
    .run = run,
};
