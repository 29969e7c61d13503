/* compare_text.c - a comparison for people: tables on a terminal and in Markdown. */
#include "export/compare.h"
#include "export/frame.h"
#include "export/number.h"
#include "export/width.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Numbers ---------------------------------------------------------------------------------*/

void sp_compare_add_percent(sp_text *out, double percent, int decimals)
{
    if (isnan(percent)) {
        sp_text_add(out, "-");
        return;
    }
    sp_text_add(out, percent >= 0 ? "+" : "");
    sp_text_add_fixed(out, percent, decimals);
    sp_text_add(out, "%");
}

void sp_compare_add_value(sp_text *out, sp_metric metric, double value)
{
    int decimals = metric == SP_METRIC_CALLS ? 0 : metric == SP_METRIC_IMBALANCE ? 2 : 6;
    if (metric == SP_METRIC_CALLS && value != floor(value))
        decimals = 1; /* a median between two counts */
    sp_text_add_fixed(out, value, decimals);
}

static void add_spread(sp_text *out, double spread)
{
    if (isnan(spread)) {
        sp_text_add(out, "-");
        return;
    }
    sp_text_add_fixed(out, spread, 1);
    sp_text_add(out, "%");
}

static void add_interval(sp_text *out, const sp_compare_row *row)
{
    if (isnan(row->low)) {
        sp_text_add(out, "-");
        return;
    }
    sp_compare_add_percent(out, row->low, 1);
    sp_text_add(out, " .. ");
    sp_compare_add_percent(out, row->high, 1);
}

static void add_probability(sp_text *out, double p)
{
    if (p < 0.001)
        sp_text_add(out, "<0.001");
    else
        sp_text_add_fixed(out, p, 3);
}

/* ---- Tables ----------------------------------------------------------------------------------*/

enum { MAX_COLUMNS = 8, HEADER_ROOM = 32 };

/* Columns of the table: those of one run a side, those of several. */
typedef struct layout {
    size_t count;
    char headers[MAX_COLUMNS][HEADER_ROOM];
} layout;

static void add_header(layout *l, const char *name, const char *unit)
{
    snprintf(l->headers[l->count++], HEADER_ROOM, unit[0] ? "%s [%s]" : "%s", name, unit);
}

static layout choose_layout(const sp_comparison *comparison)
{
    layout l = {0};
    const char *unit = sp_compare_unit(comparison->options.metric);
    add_header(&l, "region", "");
    add_header(&l, "a", unit);
    if (comparison->has_whole)
        add_header(&l, "a spread", "");
    add_header(&l, "b", unit);
    if (comparison->has_whole) {
        add_header(&l, "b spread", "");
        add_header(&l, "change", "");
        add_header(&l, "interval", "");
        add_header(&l, "fdr", "");
    } else {
        add_header(&l, "delta", unit);
        add_header(&l, "change", "");
    }
    return l;
}

typedef void (*end_cell)(void *context);

/* The cells of a row but for the name. */
static void add_cells(const sp_comparison *comparison, const sp_compare_row *row, sp_text *out,
                      end_cell end, void *context)
{
    sp_metric metric = comparison->options.metric;
    bool is_whole = row == &comparison->whole;
    sp_compare_add_value(out, is_whole ? SP_METRIC_TOTAL : metric, row->a);
    end(context);
    if (comparison->has_whole) {
        add_spread(out, row->spread_a);
        end(context);
    }
    sp_compare_add_value(out, is_whole ? SP_METRIC_TOTAL : metric, row->b);
    end(context);
    if (comparison->has_whole) {
        add_spread(out, row->spread_b);
        end(context);
    } else {
        sp_text_add(out, row->delta > 0 ? "+" : "");
        sp_compare_add_value(out, metric, row->delta);
        end(context);
    }
    sp_compare_add_percent(out, row->percent, 2);
    end(context);
    if (!comparison->has_whole)
        return;
    add_interval(out, row);
    end(context);
    add_probability(out, is_whole ? row->p_value : row->rate);
    end(context);
}

static void end_table_cell(void *context)
{
    sp_table_end_cell(context);
}

static void write_table(const sp_comparison *comparison, sp_text *out)
{
    layout l = choose_layout(comparison);
    const char *headers[MAX_COLUMNS];
    for (size_t i = 0; i < l.count; i++)
        headers[i] = l.headers[i];
    sp_table table = {.num_columns = l.count, .headers = headers};
    for (size_t i = 0; i < comparison->rows.count; i++) {
        sp_text_add_visible(&table.cells, comparison->rows.items[i].name);
        sp_table_end_cell(&table);
        add_cells(comparison, &comparison->rows.items[i], &table.cells, end_table_cell, &table);
    }
    if (comparison->has_whole) {
        sp_text_add(&table.cells, "(run total, seconds)");
        sp_table_end_cell(&table);
        add_cells(comparison, &comparison->whole, &table.cells, end_table_cell, &table);
    }
    sp_table_write_outline(&table, out);
    sp_table_release(&table);
}

/* ---- Sentences -------------------------------------------------------------------------------*/

static void add_names(sp_text *out, const char *heading, const char *const *names, size_t count)
{
    if (count == 0)
        return;
    sp_text_add(out, heading);
    for (size_t i = 0; i < count; i++) {
        sp_text_add(out, i ? ", " : "");
        sp_text_add_visible(out, names[i]);
    }
    sp_text_add(out, "\n");
}

void sp_compare_add_violation(sp_text *out, const sp_comparison *comparison,
                              const sp_compare_row *row)
{
    sp_text_add_visible(out, row->name);
    if (!row->is_in_a) {
        sp_text_add(out, " (new region)");
        return;
    }
    sp_text_add(out, " (");
    sp_compare_add_percent(out, row->percent, 2);
    if (comparison->has_whole) {
        sp_text_add(out, row == &comparison->whole ? ", p = " : ", fdr = ");
        add_probability(out, row == &comparison->whole ? row->p_value : row->rate);
    }
    sp_text_add(out, ")");
}

static void add_violations(const sp_comparison *comparison, sp_text *out, const char *heading,
                           bool of_whole)
{
    size_t count = 0;
    if (of_whole && comparison->has_whole && comparison->whole.is_violation) {
        sp_text_add(out, heading);
        sp_compare_add_violation(out, comparison, &comparison->whole);
        count++;
    }
    for (size_t i = 0; i < comparison->rows.count; i++) {
        const sp_compare_row *row = &comparison->rows.items[i];
        bool decides = !comparison->has_whole || !row->is_in_a;
        if (!row->is_violation || decides != of_whole)
            continue;
        sp_text_add(out, count++ == 0 ? heading : ", ");
        sp_compare_add_violation(out, comparison, row);
    }
    sp_text_add(out, count > 0 ? "\n" : "");
}

static void add_budget(const sp_comparison *comparison, sp_text *out)
{
    sp_text_format(out, "Regression budget: +%g%% (%s)\n", comparison->options.max_regression,
                   sp_compare_metric_name(comparison->options.metric));
}

static void add_verdict(const sp_comparison *comparison, sp_text *out)
{
    sp_text_format(out, "Regression check: %s\n", comparison->has_failed ? "FAIL" : "PASS");
    add_violations(comparison, out, "Budget violations: ", true);
    add_violations(comparison, out, "Slower regions: ", false);
}

static void add_repeats_note(const sp_comparison *comparison, sp_text *out)
{
    if (!comparison->has_whole)
        return;
    sp_text_format(out, "%zu runs against %zu: medians, standard deviations, the change with its ",
                   comparison->num_a, comparison->num_b);
    sp_text_add_fixed(out, comparison->whole.confidence * 100, 0);
    sp_text_add(out, "% interval, and how likely it is chance (regions: false discovery rate).\n");
}

void sp_compare_write_text(const sp_comparison *comparison, sp_text *out)
{
    bool is_check = comparison->options.is_check;
    sp_text_add(out, is_check ? "Baseline:  " : "a: ");
    sp_text_add_visible(out, comparison->options.label_a);
    sp_text_add(out, is_check ? "\nCandidate: " : "\nb: ");
    sp_text_add_visible(out, comparison->options.label_b);
    sp_text_add(out, "\n");
    if (is_check)
        add_budget(comparison, out);
    else
        sp_text_format(out, "Metric: %s\n", sp_compare_metric_name(comparison->options.metric));
    if (comparison->rows.count > 0 || comparison->has_whole)
        write_table(comparison, out);
    else
        sp_text_add(out, "(no regions)\n");
    add_repeats_note(comparison, out);
    add_names(out, "Only in a: ", comparison->only_a.items, comparison->only_a.count);
    add_names(out, "Only in b: ", comparison->only_b.items, comparison->only_b.count);
    if (is_check)
        add_verdict(comparison, out);
}

/* ---- Markdown --------------------------------------------------------------------------------*/

/* A name in a cell: as code, which nothing inside can end or leave. */
static void add_code(sp_text *out, const char *name)
{
    sp_text visible = {0};
    sp_text_add_visible(&visible, name);
    sp_text_add(out, "`");
    for (const char *at = visible.failed ? "" : visible.bytes; *at != '\0'; at++)
        if (*at == '|')
            sp_text_add(out, "\\|");
        else
            sp_text_add_n(out, *at == '`' ? "'" : at, 1);
    sp_text_add(out, "`");
    out->failed = out->failed || visible.failed;
    sp_text_release(&visible);
}

static void end_markdown_cell(void *context)
{
    sp_text_add(context, " | ");
}

static void write_markdown_row(const sp_comparison *comparison, const sp_compare_row *row,
                               sp_text *out)
{
    sp_text_add(out, "| ");
    if (row == &comparison->whole)
        sp_text_add(out, "run total, seconds");
    else
        add_code(out, row->name);
    sp_text_add(out, row->is_violation ? " :warning: | " : " | ");
    add_cells(comparison, row, out, end_markdown_cell, out);
    out->length -= !out->failed; /* the blank behind the last bar */
    sp_text_add(out, "\n");
}

void sp_compare_write_markdown(const sp_comparison *comparison, sp_text *out)
{
    layout l = choose_layout(comparison);
    if (comparison->options.is_check)
        sp_text_format(out, "**Regression check: %s** (budget +%g%%, %s)\n\n",
                       comparison->has_failed ? "FAIL" : "PASS", comparison->options.max_regression,
                       sp_compare_metric_name(comparison->options.metric));
    for (size_t i = 0; i < l.count; i++)
        sp_text_format(out, "| %s ", l.headers[i]);
    sp_text_add(out, "|\n| :--- ");
    for (size_t i = 1; i < l.count; i++)
        sp_text_add(out, "| ---: ");
    sp_text_add(out, "|\n");
    for (size_t i = 0; i < comparison->rows.count; i++)
        write_markdown_row(comparison, &comparison->rows.items[i], out);
    if (comparison->has_whole)
        write_markdown_row(comparison, &comparison->whole, out);
}
