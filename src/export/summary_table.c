/* summary_table.c - the cells of a summary. */
#include "base/error.h"
#include "export/frame.h"
#include "export/number.h"
#include "export/summary.h"
#include "export/width.h"

#include <math.h>
#include <string.h>

enum { INDENT_LEVELS = 64 }; /* deeper rows are indented no further */

/* Columns that the tree prefix of that depth takes. */
static size_t prefix_width(int depth)
{
    int levels = depth < INDENT_LEVELS ? depth : INDENT_LEVELS;
    return levels == 0 ? 0 : 2 * (size_t)(levels - 1) + 3;
}

static void add_prefix(sp_text *cell, int depth)
{
    int levels = depth < INDENT_LEVELS ? depth : INDENT_LEVELS;
    if (levels > 1)
        sp_text_repeat(cell, "│ ", (size_t)(levels - 1));
    if (levels > 0)
        sp_text_add(cell, "└─ ");
}

static void add_percent(sp_text *cell, double share, double whole)
{
    double percent = whole > 0 ? 100.0 * share / whole : (double)NAN;
    sp_text_add_fixed(cell, percent, 2);
    if (!isnan(percent))
        sp_text_add(cell, "%");
}

static bool shows(const sp_table *table, const sp_summary_column *columns, sp_summary_column which)
{
    for (size_t c = 0; c < table->num_columns; c++)
        if (columns[c] == which)
            return true;
    return false;
}

static void add_name(sp_text *cell, const sp_summary_row *row, bool with_count)
{
    add_prefix(cell, row->depth);
    sp_text_add_visible(cell, row->name);
    if (row->is_recursive)
        sp_text_add(cell, " ↻");
    if (with_count && row->calls != 1) {
        sp_text_add(cell, " (");
        sp_text_add_count(cell, row->calls);
        sp_text_add(cell, "x)");
    }
}

static bool is_session(const sp_summary_row *row)
{
    return row->depth == 0 && row->calls > 0 && strcmp(row->name, SP_SESSION_REGION) == 0;
}

static void add_session_percent(sp_text *cell, const sp_summary *summary,
                                const sp_summary_row *row)
{
    bool by_exclusive = summary->request.options.exclusive_percent;
    if (is_session(row))
        sp_text_add(cell, "100.00%");
    else
        add_percent(cell, by_exclusive ? row->exclusive : row->coverage, summary->session_total);
}

static double value_of(const sp_summary_row *row, sp_summary_column column)
{
    bool called = row->calls > 0;
    switch (column) {
    case SP_SUMMARY_MINIMUM:
        return called ? row->minimum : NAN;
    case SP_SUMMARY_MAXIMUM:
        return called ? row->maximum : NAN;
    case SP_SUMMARY_FIRST:
        return called ? row->first : NAN;
    case SP_SUMMARY_LAST:
        return called ? row->last : NAN;
    case SP_SUMMARY_DEVIATION:
        return called ? row->deviation : NAN;
    case SP_SUMMARY_P50:
        return called ? row->p50 : NAN;
    case SP_SUMMARY_P95:
        return called ? row->p95 : NAN;
    default:
        return called ? row->p99 : NAN;
    }
}

static void add_cell(sp_text *cell, const sp_summary *summary, const sp_summary_row *row,
                     sp_summary_column column, bool with_count)
{
    switch (column) {
    case SP_SUMMARY_REGION:
        add_name(cell, row, with_count);
        break;
    case SP_SUMMARY_RANKS:
        sp_text_format(cell, "%zu", row->num_ranks);
        break;
    case SP_SUMMARY_CALLS:
        sp_text_add_count(cell, row->calls);
        break;
    case SP_SUMMARY_TOTAL:
        sp_text_repeat(cell, " ", prefix_width(row->depth));
        sp_text_add_fixed(cell, row->calls > 0 ? row->total : (double)NAN, 6);
        break;
    case SP_SUMMARY_PERCENT:
        sp_text_repeat(cell, " ", prefix_width(row->depth));
        add_session_percent(cell, summary, row);
        break;
    case SP_SUMMARY_PARENT_PERCENT:
        sp_text_repeat(cell, " ", prefix_width(row->depth));
        add_percent(cell, row->coverage, row->parent_coverage);
        break;
    case SP_SUMMARY_AVERAGE:
        sp_text_repeat(cell, " ", prefix_width(row->depth));
        sp_text_add_scientific(cell, row->calls > 0 ? row->average : (double)NAN, 3);
        break;
    case SP_SUMMARY_IMBALANCE:
        sp_text_add_fixed(cell, row->calls > 0 ? row->imbalance : (double)NAN, 2);
        break;
    case SP_SUMMARY_GPU_TOTAL:
        sp_text_add_fixed(cell, row->gpu_total, 6);
        break;
    case SP_SUMMARY_GPU_AVERAGE:
        sp_text_add_fixed(cell, row->gpu_average, 3);
        break;
    default:
        sp_text_add_fixed(cell, value_of(row, column), 3);
    }
}

/* The row below one with children: what they leave of its time. */
static void add_own_cell(sp_text *cell, const sp_summary *summary, const sp_summary_row *row,
                         sp_summary_column column)
{
    int depth = row->depth + 1;
    if (column == SP_SUMMARY_REGION) {
        add_prefix(cell, depth);
        sp_text_add(cell, "(own)");
        return;
    }
    if (column != SP_SUMMARY_TOTAL && column != SP_SUMMARY_PERCENT &&
        column != SP_SUMMARY_PARENT_PERCENT && column != SP_SUMMARY_AVERAGE)
        return;
    sp_text_repeat(cell, " ", prefix_width(depth));
    if (column == SP_SUMMARY_TOTAL)
        sp_text_add_fixed(cell, row->exclusive, 6);
    else if (column == SP_SUMMARY_AVERAGE)
        sp_text_add_scientific(cell, row->exclusive / (double)row->calls, 3);
    else
        add_percent(cell, row->exclusive,
                    column == SP_SUMMARY_PERCENT ? summary->session_total : row->coverage);
}

/* Whether the rows say what the shares are of; of rows made elsewhere whoever made them knows. */
static bool has_whole(const sp_summary *summary)
{
    if (summary->results == NULL)
        return !isnan(summary->session_total);
    for (size_t i = 0; i < summary->entries.count; i++)
        if (is_session(&summary->entries.items[i].row))
            return true;
    return false;
}

static size_t default_columns(const sp_summary *summary, sp_summary_column *columns)
{
    size_t count = 0;
    columns[count++] = SP_SUMMARY_REGION;
    if (has_whole(summary))
        columns[count++] = SP_SUMMARY_PERCENT;
    columns[count++] = SP_SUMMARY_TOTAL;
    if (summary->has_gpu) {
        columns[count++] = SP_SUMMARY_GPU_TOTAL;
        columns[count++] = SP_SUMMARY_GPU_AVERAGE;
    }
    return count;
}

static void add_rows(const sp_summary *summary, const sp_summary_column *columns, sp_table *table)
{
    bool with_count = !shows(table, columns, SP_SUMMARY_CALLS);
    for (size_t i = 0; i < summary->sorted.count; i++) {
        const sp_summary_row *row = &summary->entries.items[summary->sorted.items[i]].row;
        for (size_t c = 0; c < table->num_columns; c++) {
            add_cell(&table->cells, summary, row, columns[c], with_count);
            sp_table_end_cell(table);
        }
        for (size_t c = 0; row->has_children && c < table->num_columns; c++) {
            add_own_cell(&table->cells, summary, row, columns[c]);
            sp_table_end_cell(table);
        }
    }
}

/* Columns to show, into `room` when they are the default set. */
static const sp_summary_column *shown_columns(const sp_summary *summary, sp_summary_column *room,
                                              size_t *out_count)
{
    *out_count = summary->request.num_columns;
    if (*out_count > 0)
        return summary->request.columns;
    *out_count = default_columns(summary, room);
    return room;
}

bool sp_summary_shows_percent(const sp_summary *summary)
{
    sp_summary_column defaults[SP_SUMMARY_NUM_COLUMNS];
    size_t count;
    const sp_summary_column *columns = shown_columns(summary, defaults, &count);
    for (size_t c = 0; c < count; c++)
        if (columns[c] == SP_SUMMARY_PERCENT)
            return true;
    return false;
}

void sp_summary_write_table(const sp_summary *summary, sp_text *out)
{
    sp_summary_column defaults[SP_SUMMARY_NUM_COLUMNS];
    size_t count;
    const sp_summary_column *columns = shown_columns(summary, defaults, &count);
    const char *headers[SP_SUMMARY_NUM_COLUMNS];
    sp_table table = {.num_columns = count, .headers = headers,
                      .color = summary->request.options.color};
    for (size_t c = 0; c < count; c++)
        headers[c] = sp_summary_header(columns[c]);
    add_rows(summary, columns, &table);
    sp_table_write(&table, out);
    sp_table_release(&table);
}

int sp_summary_get_cells(sp_summary *summary, sp_summary_cells *out, sp_error *error)
{
    sp_summary_column defaults[SP_SUMMARY_NUM_COLUMNS];
    size_t count;
    const sp_summary_column *columns = shown_columns(summary, defaults, &count);
    const char **names = sp_arena_array(&summary->arena, 2 * count, sizeof *names);
    if (names == NULL)
        return sp_fail_memory(error, "making a table");
    for (size_t c = 0; c < count; c++) {
        names[c] = sp_summary_key(columns[c]);
        names[count + c] = sp_summary_header(columns[c]);
    }
    sp_table_release(&summary->cells);
    summary->cells = (sp_table){.num_columns = count, .headers = names + count};
    add_rows(summary, columns, &summary->cells);
    if (summary->cells.cells.failed)
        return sp_fail_memory(error, "making a table");
    *out = (sp_summary_cells){count, summary->cells.num_cells / count, names, names + count,
                              summary->cells.cells.bytes};
    return SP_OK;
}
