/* report_table.c - the rows of the summary, as the table of a report takes them. */
#include "base/error.h"
#include "export/report.h"
#include "export/summary.h"

#include <stdlib.h>

enum { WRITTEN_ROWS = 1500 };

/* Percentages have three decimals, everything else is ns. */
static const char *const row_columns[] = {
    "region", "parent", "depth", "ranks", "recursive", "calls", "total", "exclusive", "start",
    "min", "max", "first", "last", "gpu_total", "avg", "std", "p50", "p95", "p99", "gpu_avg",
    "percent", "parent_percent", "imbalance"};

static void write_row(const sp_summary *summary, const sp_summary_entry *entry, int64_t region,
                      int64_t parent, sp_json_layout *layout)
{
    const sp_summary_row *row = &entry->row;
    const double times[] = {row->total, row->exclusive, row->start,     row->minimum,
                            row->maximum, row->first,   row->last,      row->gpu_total};
    const double means[] = {row->average, row->deviation, row->p50, row->p95, row->p99,
                            row->gpu_average};
    const double shares[] = {100 * row->coverage / summary->session_total,
                             100 * row->coverage / row->parent_coverage, row->imbalance};
    const int64_t numbers[] = {region, parent, row->depth, (int64_t)row->num_ranks,
                               row->is_recursive, (int64_t)row->calls};
    sp_layout_open(layout, '[');
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sp_layout_integer(layout, numbers[i]);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        sp_report_add_ns(layout, times[i], 0);
    for (size_t i = 0; i < sizeof means / sizeof *means; i++)
        sp_report_add_ns(layout, means[i], 1);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        sp_report_add_share(layout, shares[i]);
    sp_layout_close(layout, ']');
}

static void write_rows(const sp_summary *summary, const uint32_t *place, sp_json_layout *layout)
{
    sp_layout_open(layout, '[');
    for (size_t i = 0; i < summary->sorted.count; i++) {
        const sp_summary_entry *entry = &summary->entries.items[summary->sorted.items[i]];
        int64_t region = sp_results_find_region(summary->results, entry->row.name);
        int64_t parent = entry->parent == SP_NO_ROW || place[entry->parent] == UINT32_MAX
                             ? -1 : (int64_t)place[entry->parent];
        write_row(summary, entry, region, parent, layout);
    }
    sp_layout_close(layout, ']');
}

static int write_summary(const sp_summary *summary, sp_json_layout *layout, sp_error *error)
{
    uint32_t *place = malloc((summary->entries.count + 1) * sizeof *place);
    if (place == NULL)
        return sp_fail_memory(error, "gathering a report");
    memset(place, 0xFF, (summary->entries.count + 1) * sizeof *place);
    for (size_t i = 0; i < summary->sorted.count; i++)
        place[summary->sorted.items[i]] = (uint32_t)i;
    sp_layout_key(layout, "columns");
    sp_layout_open(layout, '[');
    for (size_t i = 0; i < sizeof row_columns / sizeof *row_columns; i++)
        sp_layout_text(layout, row_columns[i]);
    sp_layout_close(layout, ']');
    sp_layout_key(layout, "rows");
    write_rows(summary, place, layout);
    sp_layout_key(layout, "left_out");
    sp_layout_integer(layout, (int64_t)(summary->entries.count - summary->sorted.count));
    sp_layout_key(layout, "flat");
    sp_layout_word(layout, summary->is_flat ? "true" : "false");
    free(place);
    return SP_OK;
}

int sp_report_write_table(const sp_report_run *run, sp_json_layout *layout, sp_error *error)
{
    const sp_report_options *from = &run->request->options;
    const sp_summary_options options = {
        .size = sizeof options,
        .include = from->include, .num_include = from->num_include,
        .exclude = from->exclude, .num_exclude = from->num_exclude,
        .include_names = from->include_names, .num_include_names = from->num_include_names,
        .ranks = from->ranks, .num_ranks = from->num_ranks,
        .sort = from->sort, .columns = from->columns, .num_columns = from->num_columns,
        .with_percentiles = run->with_percentiles, .top = WRITTEN_ROWS};
    sp_summary *summary;
    int status = sp_summary_create(run->results, &options, &summary, error);
    if (status != SP_OK)
        return status;
    sp_layout_key(layout, "table");
    sp_layout_open(layout, '{');
    status = write_summary(summary, layout, error);
    sp_layout_close(layout, '}');
    sp_summary_free(summary);
    return status;
}
