/* report_run.c - the members of a report that are about one run. */
#include "base/error.h"
#include "export/costs.h"
#include "export/metadata_section.h"
#include "export/report.h"
#include "results/moments.h"

#include <math.h>
#include <stdlib.h>

enum {
    EXACT_PERCENTILES = 5000000, /* runs of more calls do without: all durations would be sorted */
    MATRIX_CELLS = 20000,
    TEXT_BYTES = 4000, /* of a source text that are shown */
    VALUE_BYTES = 4000,
    DOCUMENT_BYTES = 200000 /* of what other measuring tools left */
};

/* ---- Numbers ---------------------------------------------------------------------------------*/

void sp_report_add_ns(sp_json_layout *layout, double seconds, int decimals)
{
    double units = seconds * (decimals ? 1e10 : 1e9);
    sp_layout_value(layout);
    if (!isfinite(units) || fabs(units) > 9e18)
        sp_output_add(layout->out, "null");
    else if (decimals)
        sp_output_decimal(layout->out, llround(units), 1);
    else
        sp_output_integer(layout->out, llround(units));
}

void sp_report_add_share(sp_json_layout *layout, double value)
{
    sp_layout_value(layout);
    if (!isfinite(value) || fabs(value) > 9e15)
        sp_output_add(layout->out, "null");
    else
        sp_output_decimal(layout->out, llround(value * 1000), 3);
}

static void add_text(sp_json_layout *layout, const char *key, const char *text)
{
    sp_layout_key(layout, key);
    sp_layout_text(layout, text);
}

static void add_integer(sp_json_layout *layout, const char *key, int64_t value)
{
    sp_layout_key(layout, key);
    sp_layout_integer(layout, value);
}

/* Null below 0. */
static void add_known(sp_json_layout *layout, const char *key, int64_t value)
{
    sp_layout_key(layout, key);
    if (value < 0)
        sp_layout_word(layout, "null");
    else
        sp_layout_integer(layout, value);
}

double sp_report_number_of(const sp_results *results, const char *key, double otherwise)
{
    const sp_metadata_entry *entry = sp_results_find_metadata(results, key);
    if (entry == NULL)
        return otherwise;
    if (entry->kind == SP_VALUE_INTEGER)
        return (double)entry->integer;
    if (entry->kind == SP_VALUE_REAL)
        return entry->real;
    double value = entry->kind == SP_VALUE_TEXT ? strtod(entry->text, NULL) : 0;
    return value > 0 ? value : otherwise;
}

bool sp_report_has_calls(const sp_results *results)
{
    for (size_t i = 0; i < results->rows.count; i++)
        if (!(results->rows.items[i].columns & SP_COLUMN_BIT(SP_COLUMN_START)))
            return false;
    return !results->is_aggregate;
}

int64_t sp_report_wall(sp_results *results, const sp_run_times *times)
{
    int64_t longest = 0;
    if (times->first_entry >= 0 && times->last_exit >= times->first_entry)
        return sp_wrap_subtract(times->last_exit, times->first_entry);
    for (size_t i = 0; i < results->rows.count; i++) {
        const sp_row *row = results->rows.items[i].row;
        if (row->has_aggregate && row->aggregate.total > longest)
            longest = row->aggregate.total;
    }
    return longest;
}

/* ---- Headline --------------------------------------------------------------------------------*/

/* Sums over all lanes: time inside regions, and time from first to last call. */
static void sum_lanes(const sp_report_run *run, int64_t *out_covered, int64_t *out_extent)
{
    *out_covered = *out_extent = 0;
    for (size_t i = 0; i < run->calls.lanes.count; i++) {
        const sp_report_lane *lane = &run->calls.lanes.items[i];
        *out_covered = sp_wrap_add(*out_covered, lane->covered);
        if (lane->last > lane->first)
            *out_extent = sp_wrap_add(*out_extent, sp_wrap_subtract(lane->last, lane->first));
    }
}

/* Rows of the thread table; of lanes seen when there is none. */
static size_t count_threads(const sp_report_run *run)
{
    size_t threads = 0, lanes = 0;
    for (size_t i = 0; i < run->results->threads.count; i++)
        threads += sp_rank_filter_takes(&run->selection->ranks,
                                        run->results->threads.items[i]->rank);
    for (size_t i = 0; i < run->calls.lanes.count; i++)
        lanes += run->calls.lanes.items[i].lane < 0;
    return threads > 0 ? threads : lanes;
}

static int64_t count_calls(const sp_report_run *run)
{
    uint64_t calls = 0;
    for (size_t i = 0; i < run->results->rows.count; i++) {
        const sp_row *row = run->results->rows.items[i].row;
        if (run->selection->regions[run->results->rows.items[i].region] &&
            sp_rank_filter_takes(&run->selection->ranks, row->rank))
            calls += row->has_aggregate ? row->aggregate.count : row->count;
    }
    return (int64_t)calls;
}

static int write_headline(const sp_report_run *run, sp_json_layout *layout, sp_error *error)
{
    sp_results *results = run->results;
    int64_t covered, extent;
    uint32_t *ranks;
    size_t num_ranks;
    int status = sp_selection_ranks(run->selection, results, &ranks, &num_ranks, error);
    if (status != SP_OK)
        return status;
    sum_lanes(run, &covered, &extent);
    add_text(layout, "path", results->path);
    add_integer(layout, "file_bytes", (int64_t)results->file_bytes);
    add_integer(layout, "num_ranks", results->num_ranks);
    sp_layout_key(layout, "ranks");
    sp_layout_open(layout, '[');
    for (size_t i = 0; i < num_ranks; i++)
        sp_layout_integer(layout, ranks[i]);
    sp_layout_close(layout, ']');
    free(ranks);
    add_integer(layout, "num_threads", (int64_t)count_threads(run));
    add_integer(layout, "num_tasks", (int64_t)results->tasks.count);
    add_integer(layout, "num_calls", count_calls(run));
    add_integer(layout, "num_calls_recorded", (int64_t)results->num_calls);
    add_integer(layout, "wall", sp_report_wall(results, &run->times));
    add_known(layout, "setup_to_finalize",
              run->times.finalize >= 0 && run->times.start >= 0
                  ? run->times.finalize - run->times.start : -1);
    add_integer(layout, "covered", covered);
    add_integer(layout, "extent", extent);
    sp_layout_key(layout, "aggregate");
    sp_layout_word(layout, sp_report_has_calls(results) ? "false" : "true");
    return SP_OK;
}

static void write_costs(const sp_report_run *run, sp_json_layout *layout)
{
    sp_recording_costs costs = sp_sum_costs(run->results, &run->selection->ranks);
    sp_loss_sums losses;
    sp_sum_losses(run->results, &run->selection->ranks, &losses);
    sp_layout_key(layout, "cost");
    sp_layout_open(layout, '{');
    sp_layout_key(layout, "pair");
    sp_report_add_ns(layout, costs.calls ? costs.pairs / (double)costs.calls / 1e9 : (double)NAN, 1);
    sp_layout_key(layout, "pairs");
    sp_report_add_ns(layout, costs.calls ? costs.pairs / 1e9 : (double)NAN, 0);
    sp_layout_key(layout, "drains");
    sp_report_add_ns(layout, costs.drains / 1e9, 0);
    sp_layout_close(layout, '}');
    sp_layout_key(layout, "losses");
    sp_layout_open(layout, '[');
    for (size_t i = 0; i < losses.used; i++) {
        sp_layout_open(layout, '{');
        add_text(layout, "kind", losses.kinds[i]);
        add_integer(layout, "count", losses.counts[i]);
        sp_layout_close(layout, '}');
    }
    sp_layout_close(layout, ']');
}

/* ---- Regions and ranks -----------------------------------------------------------------------*/

/* A text cut between two characters. */
static void add_clipped(sp_json_layout *layout, const char *key, const char *text, size_t most)
{
    size_t length = strlen(text);
    if (length <= most) {
        add_text(layout, key, text);
        return;
    }
    while (most > 0 && ((unsigned char)text[most] & 0xC0) == 0x80)
        most--;
    sp_text cut = {0};
    sp_text_add_n(&cut, text, most);
    sp_text_add(&cut, "\n[...]");
    add_text(layout, key, cut.bytes == NULL ? "" : cut.bytes);
    sp_text_release(&cut);
}

static void write_regions(const sp_report_run *run, sp_json_layout *layout)
{
    const sp_results *results = run->results;
    sp_layout_key(layout, "regions");
    sp_layout_open(layout, '[');
    for (size_t i = 0; i < results->regions.count; i++) {
        uint32_t first = results->regions.items[i].first_row;
        const sp_row *row = first == SP_NO_ROW ? NULL : results->rows.items[first].row;
        sp_layout_open(layout, '{');
        add_text(layout, "name", results->regions.items[i].name);
        if (row != NULL && row->source_file[0] != '\0') {
            add_text(layout, "file", row->source_file);
            add_integer(layout, "line", row->source_line);
        }
        if (row != NULL && row->source_text[0] != '\0')
            add_clipped(layout, "text", row->source_text, TEXT_BYTES);
        if (row != NULL && strcmp(row->tags_json, "[]") != 0) {
            sp_layout_key(layout, "tags");
            if (!sp_layout_copy(layout, row->tags_json, strlen(row->tags_json)))
                sp_layout_word(layout, "[]");
        }
        sp_layout_close(layout, '}');
    }
    sp_layout_close(layout, ']');
}

typedef struct ranked_region {
    int64_t total;
    uint32_t region;
} ranked_region;

static int compare_regions(const void *a, const void *b)
{
    const ranked_region *left = a, *right = b;
    if (left->total != right->total)
        return left->total < right->total ? 1 : -1;
    return (left->region > right->region) - (left->region < right->region);
}

/* Selected regions that have calls, largest total first; free() them, NULL: out of memory. */
static ranked_region *rank_regions(const sp_report_run *run, size_t *out_count, int *status,
                                   sp_error *error)
{
    size_t count = run->results->regions.count;
    ranked_region *regions = malloc((count + 1) * sizeof *regions);
    *out_count = 0;
    *status = regions == NULL ? sp_fail_memory(error, "gathering a report") : SP_OK;
    for (size_t i = 0; *status == SP_OK && i < count; i++) {
        sp_statistics statistics;
        if (!run->selection->regions[i])
            continue;
        *status = sp_results_region_statistics(
            run->results, i, run->selection->options.ranks, run->selection->options.num_ranks,
            &statistics, error);
        if (statistics.calls > 0 && *status == SP_OK)
            regions[(*out_count)++] = (ranked_region){statistics.total, (uint32_t)i};
    }
    if (*status == SP_OK)
        qsort(regions, *out_count, sizeof *regions, compare_regions);
    return regions;
}

/* One cell: calls, total, own time (null: not known), longest; null without calls. */
static int write_cell(const sp_report_run *run, uint32_t region, uint32_t rank,
                      sp_json_layout *layout, sp_error *error)
{
    int64_t row = sp_results_find_row(run->results, region, rank);
    sp_statistics of_row = {0};
    int status =
        row < 0 ? SP_OK : sp_results_row_statistics(run->results, (size_t)row, &of_row, error);
    if (status != SP_OK || of_row.calls == 0) {
        sp_layout_word(layout, "null");
        return status;
    }
    int64_t own = run->tree.row_exclusive[row];
    sp_layout_open(layout, '[');
    sp_layout_integer(layout, (int64_t)of_row.calls);
    sp_layout_integer(layout, of_row.total);
    if (own < 0)
        sp_layout_word(layout, "null");
    else
        sp_layout_integer(layout, own);
    sp_layout_integer(layout, of_row.maximum);
    sp_layout_close(layout, ']');
    return SP_OK;
}

/* Of as many regions as fit, those with the largest totals first: the cells of all ranks. */
static int write_matrix(const sp_report_run *run, sp_json_layout *layout, sp_error *error)
{
    uint32_t *ranks;
    size_t num_ranks, count, cells = 0;
    int status = sp_selection_ranks(run->selection, run->results, &ranks, &num_ranks, error);
    if (status != SP_OK)
        return status;
    ranked_region *regions = rank_regions(run, &count, &status, error);
    sp_layout_key(layout, "matrix");
    sp_layout_open(layout, '[');
    for (size_t i = 0; status == SP_OK && i < count && cells + num_ranks <= MATRIX_CELLS; i++) {
        sp_layout_open(layout, '[');
        sp_layout_integer(layout, regions[i].region);
        for (size_t r = 0; status == SP_OK && r < num_ranks; r++)
            status = write_cell(run, regions[i].region, ranks[r], layout, error);
        cells += num_ranks;
        sp_layout_close(layout, ']');
    }
    sp_layout_close(layout, ']');
    free(regions);
    free(ranks);
    return status;
}

/* ---- Lanes -----------------------------------------------------------------------------------*/

static int write_lanes(const sp_report_run *run, sp_json_layout *layout, sp_error *error)
{
    sp_layout_key(layout, "lanes");
    sp_layout_open(layout, '[');
    for (size_t i = 0; i < run->calls.lanes.count; i++) {
        const sp_report_lane *lane = &run->calls.lanes.items[i];
        sp_text label = {0};
        if (lane->drawn == UINT16_MAX)
            continue;
        if (lane->lane == -1)
            sp_text_add(&label, "");
        else
            sp_add_lane_label(&label, run->results, lane->rank, lane->lane);
        if (label.failed)
            return sp_fail_memory(error, "gathering a report");
        sp_layout_open(layout, '{');
        add_integer(layout, "rank", lane->rank);
        add_text(layout, "label", label.bytes == NULL ? "" : label.bytes);
        add_integer(layout, "calls", (int64_t)lane->calls);
        add_integer(layout, "covered", lane->covered);
        add_integer(layout, "extent", sp_wrap_subtract(lane->last, lane->first));
        sp_layout_close(layout, '}');
        sp_text_release(&label);
    }
    sp_layout_close(layout, ']');
    add_integer(layout, "num_lanes", (int64_t)run->calls.lanes.count);
    return SP_OK;
}

/* ---- Metadata and what other tools measured --------------------------------------------------*/

static void add_value(sp_json_layout *layout, const sp_metadata_entry *entry)
{
    if (entry->kind == SP_VALUE_INTEGER) {
        sp_layout_integer(layout, entry->integer);
    } else if (entry->kind == SP_VALUE_REAL) {
        sp_layout_real(layout, entry->real);
    } else if (entry->kind == SP_VALUE_TEXT) {
        sp_layout_text(layout, entry->text);
    } else {
        sp_layout_open(layout, '[');
        for (size_t i = 0; i < entry->list_length; i++)
            sp_layout_text(layout, entry->list[i]);
        sp_layout_close(layout, ']');
    }
}

static void write_metadata(const sp_report_run *run, sp_json_layout *layout)
{
    sp_layout_key(layout, "metadata");
    sp_layout_open(layout, '[');
    for (size_t i = 0; i < run->results->metadata.count; i++) {
        const sp_metadata_entry *entry = run->results->metadata.items[i];
        bool is_long = entry->kind == SP_VALUE_TEXT && strlen(entry->text) > VALUE_BYTES;
        sp_layout_open(layout, '{');
        add_text(layout, "section", sp_metadata_section(entry->key));
        add_text(layout, "key", entry->key);
        if (is_long) {
            add_clipped(layout, "value", entry->text, VALUE_BYTES);
        } else {
            sp_layout_key(layout, "value");
            add_value(layout, entry);
        }
        sp_layout_close(layout, '}');
    }
    sp_layout_close(layout, ']');
}

/* Documents that a profile carries along, as rank and content. */
static void write_documents(const sp_report_run *run, const char *key, const char *name,
                            sp_json_layout *layout)
{
    sp_layout_key(layout, key);
    sp_layout_open(layout, '[');
    for (size_t i = 0; i < run->results->extras.count; i++) {
        const sp_extra *extra = run->results->extras.items[i];
        bool fits = strcmp(extra->name, name) == 0 && extra->texts != NULL && extra->length == 1 &&
                    strlen(extra->texts[0]) <= DOCUMENT_BYTES;
        if (!fits)
            continue;
        sp_layout_open(layout, '{');
        add_integer(layout, "rank", extra->rank);
        sp_layout_key(layout, "content");
        if (!sp_layout_copy(layout, extra->texts[0], strlen(extra->texts[0])))
            sp_layout_word(layout, "null");
        sp_layout_close(layout, '}');
    }
    sp_layout_close(layout, ']');
}

/* ---- A run -----------------------------------------------------------------------------------*/

static int write_calls(const sp_report_run *run, sp_json_layout *layout, sp_error *error)
{
    int status = write_lanes(run, layout, error);
    if (status != SP_OK)
        return status;
    sp_layout_key(layout, "timeline");
    sp_layout_open(layout, '{');
    sp_report_timeline_write(&run->calls.timeline, run->calls.num_drawn, layout);
    sp_layout_close(layout, '}');
    sp_layout_key(layout, "spreads");
    return sp_report_spreads_write(&run->calls.spreads, run->results, run->selection,
                                   run->with_percentiles, layout, error);
}

static int write_members(const sp_report_run *run, sp_json_layout *layout, sp_error *error)
{
    int status = write_headline(run, layout, error);
    if (status != SP_OK)
        return status;
    write_costs(run, layout);
    write_regions(run, layout);
    sp_layout_key(layout, "tree");
    sp_report_tree_write(&run->tree, layout);
    status = write_matrix(run, layout, error);
    if (status == SP_OK)
        status = sp_report_write_table(run, layout, error);
    if (status == SP_OK)
        status = sp_report_write_findings(run, layout, error);
    if (status == SP_OK)
        status = write_calls(run, layout, error);
    if (status == SP_OK)
        status = sp_report_write_mpi(run->results, layout, error);
    write_metadata(run, layout);
    write_documents(run, "counters", "json_likwid", layout);
    write_documents(run, "perf_events", "json_perf_events", layout);
    write_documents(run, "line_profile", "json_line_profile", layout);
    return status;
}

int sp_report_write_run(sp_json_layout *layout, sp_results *results,
                        const sp_report_request *request, const char *label, sp_error *error)
{
    sp_selection selection;
    int status = sp_selection_init(&selection, results, &request->selection, error);
    if (status != SP_OK)
        return status;
    sp_report_run run = {.results = results, .selection = &selection, .request = request,
                         .with_percentiles = sp_report_has_calls(results) &&
                                             results->num_calls <= EXACT_PERCENTILES};
    status = sp_results_times(results, &run.times, error);
    if (status == SP_OK)
        status = sp_report_tree_init(&run.tree, results, &selection, error);
    if (status == SP_OK)
        status = sp_report_calls_init(&run.calls, results, &selection, error);
    if (status == SP_OK) {
        add_text(layout, "label", label);
        status = write_members(&run, layout, error);
    }
    sp_report_calls_release(&run.calls);
    sp_report_tree_release(&run.tree);
    sp_selection_release(&selection);
    return status;
}
