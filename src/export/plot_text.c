/* plot_text.c - a run as bars and block characters, for a terminal. */
#include "base/error.h"
#include "export/number.h"
#include "export/report.h"
#include "export/summary.h"
#include "export/width.h"
#include "results/moments.h"
#include "results/walk.h"

#include <math.h>
#include <stdlib.h>

enum {
    LEAST_WIDTH = 52,
    USUAL_WIDTH = 80,
    MOST_WIDTH = 400,
    MOST_BARS = 15,  /* unless more are asked for */
    MOST_LINES = 12, /* of the timeline: regions, then ranks */
    NAME_COLUMNS = 26
};

static const char *const eighths_across[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
static const char *const eighths_up[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

typedef struct plot_region {
    int64_t own, total;
    uint64_t calls;
    uint32_t region;
} plot_region;

typedef struct plotter {
    sp_results *results;
    const sp_selection *selection;
    sp_text *out;
    size_t columns; /* of the pictures */
    bool color;
    plot_region *regions; /* selected ones with calls, largest own time first */
    size_t num_regions;
    int64_t session; /* region, -1: none */
    /* The timeline: ns inside of each line and column. */
    int64_t origin, span;
    uint32_t *line_of; /* of each region, plus 1; 0: has none */
    size_t num_region_lines, num_lines;
    uint32_t rank_line; /* of the rank at hand; num_lines: none */
    int64_t *busy;      /* num_lines x columns */
    /* Where a rank has been inside of a region so far, by lane. */
    sp_lane_map lanes;
    SP_VECTOR(int64_t) covered_to;
} plotter;

/* ---- Pieces ----------------------------------------------------------------------------------*/

static void colored(const plotter *p, bool on)
{
    if (p->color)
        sp_text_add(p->out, on ? "\x1b[36m" : "\x1b[0m");
}

/* A name in exactly NAME_COLUMNS columns, its end cut off. */
static void add_name(const plotter *p, const char *name)
{
    sp_text visible = {0};
    sp_text_add_visible(&visible, name);
    const char *bytes = visible.bytes == NULL ? "" : visible.bytes;
    size_t length = strlen(bytes);
    sp_text cut = {0};
    sp_text_add_n(&cut, bytes, length);
    while (cut.bytes != NULL && sp_text_width(cut.bytes) > NAME_COLUMNS && length > 0) {
        do
            length--;
        while (length > 0 && ((unsigned char)bytes[length] & 0xC0) == 0x80);
        cut.length = 0;
        sp_text_add_n(&cut, bytes, length);
        sp_text_add(&cut, "…");
    }
    const char *shown = cut.bytes == NULL ? "" : cut.bytes;
    size_t width = sp_text_width(shown);
    sp_text_add(p->out, shown);
    sp_text_repeat(p->out, " ", width < NAME_COLUMNS ? NAME_COLUMNS - width : 0);
    p->out->failed = p->out->failed || visible.failed || cut.failed;
    sp_text_release(&cut);
    sp_text_release(&visible);
}

/* Three digits and a unit, 9 columns wide. */
static void add_time(sp_text *out, double ns)
{
    static const char *const units[] = {"ns", "µs", "ms", "s"};
    sp_text text = {0};
    int unit = 0;
    while (unit < 3 && ns >= 999.5) {
        ns /= 1000;
        unit++;
    }
    sp_text_add_fixed(&text, ns, unit == 0 || ns >= 99.95 ? 0 : ns >= 9.995 ? 1 : 2);
    sp_text_add(&text, " ");
    sp_text_add(&text, units[unit]);
    const char *bytes = text.bytes == NULL ? "" : text.bytes;
    size_t width = sp_text_width(bytes);
    sp_text_repeat(out, " ", width < 9 ? 9 - width : 0);
    sp_text_add(out, bytes);
    sp_text_release(&text);
}

static void add_percent(sp_text *out, double share)
{
    sp_text text = {0};
    sp_text_add_fixed(&text, 100 * share, 1);
    sp_text_add(&text, " %");
    size_t length = text.bytes == NULL ? 0 : strlen(text.bytes);
    sp_text_repeat(out, " ", length < 8 ? 8 - length : 0);
    sp_text_add(out, text.bytes == NULL ? "" : text.bytes);
    sp_text_release(&text);
}

/* ---- Durations -------------------------------------------------------------------------------*/

static int compare_own(const void *a, const void *b)
{
    const plot_region *left = a, *right = b;
    if (left->own != right->own)
        return left->own < right->own ? 1 : -1;
    return (left->region > right->region) - (left->region < right->region);
}

/* Own times; totals where there are none. */
static int gather_regions(plotter *p, sp_error *error)
{
    sp_report_tree tree;
    sp_results *results = p->results;
    p->regions = calloc(results->regions.count + 1, sizeof *p->regions);
    if (p->regions == NULL)
        return sp_fail_memory(error, "plotting a run");
    int status = sp_report_tree_init(&tree, results, p->selection, error);
    for (size_t i = 0; status == SP_OK && i < results->regions.count; i++) {
        plot_region *region = &p->regions[p->num_regions];
        *region = (plot_region){.region = (uint32_t)i};
        for (uint32_t r = results->regions.items[i].first_row;
             status == SP_OK && p->selection->regions[i] && r != SP_NO_ROW;
             r = results->rows.items[r].next_in_region) {
            sp_statistics row;
            if (!sp_rank_filter_takes(&p->selection->ranks, results->rows.items[r].row->rank))
                continue;
            status = sp_results_row_statistics(results, r, &row, error);
            if (status != SP_OK)
                break;
            int64_t own = tree.row_exclusive[r];
            region->own = sp_wrap_add(region->own, own < 0 ? row.total : own);
            region->total = sp_wrap_add(region->total, row.total);
            region->calls += row.calls;
        }
        p->num_regions += region->calls > 0 && (int64_t)i != p->session;
    }
    sp_report_tree_release(&tree);
    qsort(p->regions, p->num_regions, sizeof *p->regions, compare_own);
    return status;
}

static void add_bar(const plotter *p, double part)
{
    size_t room = p->columns - 19; /* behind it come time and share */
    size_t units = (size_t)(part * (double)(8 * room) + 0.5);
    units = units > 8 * room ? 8 * room : units;
    colored(p, true);
    sp_text_repeat(p->out, "█", units / 8);
    sp_text_add(p->out, eighths_across[units % 8]);
    colored(p, false);
    sp_text_repeat(p->out, " ", room - units / 8 - (units % 8 > 0));
}

static void draw_durations(const plotter *p, size_t top)
{
    double all = 0, most = 0;
    size_t count = p->num_regions < top ? p->num_regions : top;
    for (size_t i = 0; i < p->num_regions; i++)
        all += (double)p->regions[i].own;
    most = p->num_regions > 0 ? (double)p->regions[0].own : 0;
    sp_text_add(p->out, "\nOwn time by region\n");
    for (size_t i = 0; i < count; i++) {
        double own = (double)p->regions[i].own;
        sp_text_add(p->out, "  ");
        add_name(p, p->results->regions.items[p->regions[i].region].name);
        sp_text_add(p->out, " ");
        add_bar(p, most > 0 && own > 0 ? own / most : 0);
        add_time(p->out, own);
        add_percent(p->out, all > 0 ? own / all : 0);
        sp_text_add(p->out, "\n");
    }
    if (count < p->num_regions)
        sp_text_format(p->out, "  and %zu more\n", p->num_regions - count);
}

/* ---- Timeline --------------------------------------------------------------------------------*/

/* ns of a column. */
static int64_t step_of(const plotter *p)
{
    return (p->span - 1) / (int64_t)p->columns + 1;
}

static void occupy(const plotter *p, size_t line, int64_t from, int64_t to)
{
    int64_t step = step_of(p);
    int64_t *busy = p->busy + line * p->columns;
    for (int64_t column = from / step; column < (int64_t)p->columns && column * step < to; column++) {
        int64_t begin = from > column * step ? from : column * step;
        int64_t end = to < (column + 1) * step ? to : (column + 1) * step;
        busy[column] = sp_wrap_add(busy[column], end > begin ? end - begin : 0);
    }
}

/* Adds the part of a call in which its lane has not been inside of a region before. */
static bool cover_rank(plotter *p, int64_t lane, int64_t from, int64_t to)
{
    uint32_t number = sp_lane_number(&p->lanes, lane);
    if (number == SP_NUMBER_NONE || !sp_vector_reserve(&p->covered_to, 1))
        return false;
    if (number == p->covered_to.count)
        p->covered_to.items[p->covered_to.count++] = 0;
    int64_t *covered_to = &p->covered_to.items[number];
    if (to > *covered_to) {
        occupy(p, p->rank_line, from > *covered_to ? from : *covered_to, to);
        *covered_to = to;
    }
    return true;
}

static int visit(void *context, const sp_call_window *window, sp_error *error)
{
    plotter *p = context;
    for (size_t i = 0; i < window->count; i++) {
        uint32_t region = p->results->rows.items[window->row[i]].region;
        int64_t from = sp_report_since(window->start[i], p->origin, p->span);
        int64_t to = sp_report_since(window->end[i], p->origin, p->span);
        if (p->line_of[region] > 0)
            occupy(p, p->line_of[region] - 1, from, to);
        if (p->rank_line < p->num_lines && p->selection->regions[region] &&
            (int64_t)region != p->session &&
            !cover_rank(p, window->lane == NULL ? -1 : window->lane[i], from, to))
            return sp_fail_memory(error, "plotting a run");
    }
    return SP_OK;
}

static int fill_lines(plotter *p, const uint32_t *ranks, size_t num_ranks, sp_error *error)
{
    int status = SP_OK;
    for (size_t i = 0; status == SP_OK && i < num_ranks; i++) {
        p->rank_line = (uint32_t)(p->num_region_lines + i < p->num_lines ? p->num_region_lines + i
                                                                         : p->num_lines);
        p->covered_to.count = 0;
        status = sp_run_walk_windows(p->results, ranks[i], 0, visit, p, error);
        sp_number_map_release(&p->lanes.numbers);
        p->lanes = (sp_lane_map){0};
    }
    sp_vector_release(&p->covered_to);
    return status;
}

static void draw_line(const plotter *p, size_t line, double whole)
{
    int64_t step = step_of(p);
    colored(p, true);
    for (size_t column = 0; column < p->columns; column++) {
        double busy = (double)p->busy[line * p->columns + column] / ((double)step * whole);
        int level = busy <= 0 ? 0 : (int)ceil(busy * 8);
        sp_text_add(p->out, eighths_up[level > 8 ? 8 : level]);
    }
    colored(p, false);
    sp_text_add(p->out, "\n");
}

static void draw_axis(const plotter *p)
{
    sp_text end = {0};
    add_time(&end, (double)p->span);
    const char *bytes = end.bytes == NULL ? "" : end.bytes;
    sp_text_repeat(p->out, " ", NAME_COLUMNS + 3);
    sp_text_add(p->out, "0");
    sp_text_repeat(p->out, " ", p->columns - 1 - sp_text_width(bytes));
    sp_text_add(p->out, bytes);
    sp_text_add(p->out, "\n");
    sp_text_release(&end);
}

static void draw_lines(const plotter *p, const uint32_t *ranks, size_t num_ranks)
{
    sp_text_add(p->out, "\nTimeline: how much of the time regions are active");
    sp_text_add(p->out, num_ranks > 1 ? ", over all ranks\n" : "\n");
    for (size_t line = 0; line < p->num_region_lines; line++) {
        sp_text_add(p->out, "  ");
        add_name(p, p->results->regions.items[p->regions[line].region].name);
        sp_text_add(p->out, " ");
        draw_line(p, line, (double)num_ranks);
    }
    if (p->num_lines > p->num_region_lines)
        sp_text_add(p->out, "\nTime inside of regions, by rank\n");
    for (size_t line = p->num_region_lines; line < p->num_lines; line++) {
        char name[32];
        snprintf(name, sizeof name, "rank %u", ranks[line - p->num_region_lines]);
        sp_text_add(p->out, "  ");
        add_name(p, name);
        sp_text_add(p->out, " ");
        draw_line(p, line, 1);
    }
    draw_axis(p);
    if (num_ranks > MOST_LINES)
        sp_text_format(p->out, "  the first %d of %zu ranks\n", MOST_LINES, num_ranks);
}

static int draw_timeline(plotter *p, sp_error *error)
{
    sp_run_times times;
    uint32_t *ranks;
    size_t num_ranks;
    int status = sp_results_times(p->results, &times, error);
    if (status != SP_OK || times.first_entry < 0 || !sp_report_has_calls(p->results))
        return status;
    status = sp_selection_ranks(p->selection, p->results, &ranks, &num_ranks, error);
    if (status != SP_OK)
        return status;
    p->origin = times.first_entry;
    p->span = sp_report_span(sp_wrap_subtract(times.last_exit, times.first_entry));
    p->num_region_lines = p->num_regions < MOST_LINES ? p->num_regions : MOST_LINES;
    size_t rank_lines = num_ranks < 2 ? 0 : num_ranks < MOST_LINES ? num_ranks : MOST_LINES;
    p->num_lines = p->num_region_lines + rank_lines;
    p->busy = calloc((p->num_lines + 1) * p->columns, sizeof *p->busy);
    p->line_of = calloc(p->results->regions.count + 1, sizeof *p->line_of);
    if (p->busy == NULL || p->line_of == NULL)
        status = sp_fail_memory(error, "plotting a run");
    for (size_t i = 0; status == SP_OK && i < p->num_region_lines; i++)
        p->line_of[p->regions[i].region] = (uint32_t)i + 1;
    if (status == SP_OK)
        status = fill_lines(p, ranks, num_ranks, error);
    if (status == SP_OK)
        draw_lines(p, ranks, num_ranks);
    free(ranks);
    return status;
}

/* ---- All of it -------------------------------------------------------------------------------*/

static int draw(plotter *p, size_t top, sp_error *error)
{
    int status = gather_regions(p, error);
    if (status != SP_OK)
        return status;
    if (p->num_regions == 0) {
        sp_text_add(p->out, "\nNothing to plot: no region that is selected has calls.\n");
        return SP_OK;
    }
    draw_durations(p, top > 0 ? top : MOST_BARS);
    return draw_timeline(p, error);
}

int sp_results_plot(sp_results *results, const sp_summary_options *options, size_t width,
                    char **out_text, sp_error *error)
{
    const sp_summary_options none = {.size = sizeof none};
    const sp_summary_options *from = options == NULL ? &none : options;
    const sp_export_options filters = {
        .size = sizeof filters,
        .include = from->include, .num_include = from->num_include,
        .exclude = from->exclude, .num_exclude = from->num_exclude,
        .include_names = from->include_names, .num_include_names = from->num_include_names,
        .ranks = from->ranks, .num_ranks = from->num_ranks};
    sp_selection selection;
    sp_text out = {0};
    int status = sp_selection_init(&selection, results, &filters, error);
    if (status != SP_OK)
        return status;
    width = width == 0 ? USUAL_WIDTH : width < LEAST_WIDTH ? LEAST_WIDTH
            : width > MOST_WIDTH ? MOST_WIDTH : width;
    plotter p = {.results = results, .selection = &selection, .out = &out,
                 .columns = width - NAME_COLUMNS - 3, .color = from->color,
                 .session = sp_results_find_region(results, SP_SESSION_REGION)};
    status = draw(&p, from->top, error);
    free(p.regions);
    free(p.line_of);
    free(p.busy);
    sp_selection_release(&selection);
    char *text = sp_text_take(&out);
    if (status == SP_OK && text == NULL)
        status = sp_fail_memory(error, "plotting a run");
    if (status == SP_OK)
        *out_text = text;
    else
        free(text);
    return status;
}
