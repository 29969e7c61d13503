/* progress.c - a bar on standard error while work takes longer than a second. */
#include "progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 40 };

static const double patience = 1.0, pause_between = 0.1; /* seconds */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* What there is of the bar. */
static struct {
    bool is_shown, is_eager;
    double begun, drawn;
} bar;

static void draw(uint64_t done, uint64_t total)
{
    double part = (double)done / (double)total;
    int filled = (int)(part * WIDTH);
    char cells[WIDTH + 1];
    memset(cells, ' ', WIDTH);
    memset(cells, '=', (size_t)filled);
    if (filled < WIDTH)
        cells[filled] = '>';
    cells[WIDTH] = '\0';
    fprintf(stderr, "\r[%s] %3d %% of %.3g M calls", cells, (int)(part * 100), (double)total / 1e6);
    fflush(stderr);
    bar.is_shown = true;
}

static void advance(void *context, uint64_t done, uint64_t total)
{
    double time = now();
    (void)context;
    if (!bar.is_eager && (time - bar.begun < patience || time - bar.drawn < pause_between))
        return;
    bar.drawn = time;
    draw(done, total);
}

void cli_show_progress(sp_results *results)
{
    const char *wish = getenv("SCOPE_PROFILER_PROGRESS");
    const char *terminal = getenv("TERM");
    bool is_dumb = !terminal || strcmp(terminal, "dumb") == 0;
    bool is_wanted = isatty(STDERR_FILENO) && !is_dumb;
    if (wish && strcmp(wish, "never") == 0)
        return;
    bar.is_eager = wish && strcmp(wish, "always") == 0;
    if (!is_wanted && !bar.is_eager)
        return;
    if (bar.begun <= 0)
        bar.begun = now();
    sp_results_set_progress(results, advance, NULL);
}

void cli_hide_progress(void)
{
    if (!bar.is_shown)
        return;
    fprintf(stderr, "\r%*s\r", WIDTH + 32, "");
    fflush(stderr);
    bar.is_shown = false;
}
