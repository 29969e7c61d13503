/* summary_json.c - summaries for machines. */
#include "base/error.h"
#include "export/json_layout.h"
#include "results/model.h"

#include <string.h>

static void add_entry(sp_json_layout *layout, const sp_metadata_entry *entry)
{
    sp_layout_key(layout, entry->key);
    if (entry->kind == SP_VALUE_INTEGER)
        sp_layout_integer(layout, entry->integer);
    else if (entry->kind == SP_VALUE_REAL)
        sp_layout_real(layout, entry->real);
    else if (entry->kind == SP_VALUE_TEXT)
        sp_layout_text(layout, entry->text);
    else {
        sp_layout_open(layout, '[');
        for (size_t i = 0; i < entry->list_length; i++)
            sp_layout_text(layout, entry->list[i]);
        sp_layout_close(layout, ']');
    }
}

static void add_number(sp_json_layout *layout, const char *key, double value)
{
    sp_layout_key(layout, key);
    sp_layout_real(layout, value);
}

static void add_row(sp_json_layout *layout, const sp_summary_row *row)
{
    const struct {
        const char *key;
        double value;
    } numbers[] = {
        {"total", row->total},       {"coverage", row->coverage},
        {"exclusive", row->exclusive}, {"avg", row->average},
        {"min", row->minimum},       {"max", row->maximum},
        {"first", row->first},       {"last", row->last},
        {"std", row->deviation},     {"p50", row->p50},
        {"p95", row->p95},           {"p99", row->p99},
        {"imbalance", row->imbalance}, {"start", row->start},
        {"parent_coverage", row->parent_coverage},
        {"gpu_total", row->gpu_total}, {"gpu_avg", row->gpu_average},
    };
    sp_layout_open(layout, '{');
    sp_layout_key(layout, "name");
    sp_layout_text(layout, row->name);
    sp_layout_key(layout, "call_path");
    sp_layout_text(layout, row->call_path);
    sp_layout_key(layout, "depth");
    sp_layout_integer(layout, row->depth);
    sp_layout_key(layout, "recursive");
    sp_layout_word(layout, row->is_recursive ? "true" : "false");
    sp_layout_key(layout, "num_ranks");
    sp_layout_integer(layout, (int64_t)row->num_ranks);
    sp_layout_key(layout, "calls");
    sp_layout_integer(layout, (int64_t)row->calls);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        add_number(layout, numbers[i].key, numbers[i].value);
    sp_layout_close(layout, '}');
}

static int add_rows(sp_json_layout *layout, sp_results *results, const sp_summary_options *options,
                    sp_error *error)
{
    sp_summary_options wanted = *options;
    sp_summary *summary;
    wanted.with_percentiles = true;
    int status = sp_summary_create(results, &wanted, &summary, error);
    if (status != SP_OK)
        return status;
    sp_layout_key(layout, "regions");
    sp_layout_open(layout, '[');
    for (size_t i = 0; status == SP_OK && i < sp_summary_num_rows(summary); i++) {
        const sp_summary_row *row = sp_summary_get_row(summary, i);
        if (row == NULL)
            status = sp_fail_memory(error, "summing up a run");
        else
            add_row(layout, row);
    }
    sp_layout_close(layout, ']');
    sp_summary_free(summary);
    return status;
}

static void add_time(sp_json_layout *layout, const char *key, int64_t ns)
{
    sp_layout_key(layout, key);
    if (ns < 0)
        sp_layout_word(layout, "null");
    else
        sp_layout_integer(layout, ns);
}

static int add_run(sp_json_layout *layout, sp_results *results,
                   const sp_inspection_options *options, sp_error *error)
{
    sp_run_times times;
    const sp_summary_options no_summary = {.size = sizeof no_summary};
    int status = sp_results_times(results, &times, error);
    if (status != SP_OK)
        return status;
    sp_layout_open(layout, '{');
    sp_layout_key(layout, "file_path");
    sp_layout_text(layout, results->path);
    sp_layout_key(layout, "num_ranks");
    sp_layout_integer(layout, results->num_ranks);
    sp_layout_key(layout, "num_calls");
    sp_layout_integer(layout, (int64_t)results->num_calls);
    add_time(layout, "start_time_ns", times.start);
    add_time(layout, "first_entry_ns", times.first_entry);
    add_time(layout, "last_exit_ns", times.last_exit);
    add_time(layout, "finalize_time_ns", times.finalize);
    if (!options->hide_metadata) {
        sp_layout_key(layout, "metadata");
        sp_layout_open(layout, '{');
        for (size_t i = 0; i < results->metadata.count; i++)
            add_entry(layout, results->metadata.items[i]);
        sp_layout_close(layout, '}');
    }
    if (!options->hide_regions)
        status = add_rows(layout, results, options->summary ? options->summary : &no_summary, error);
    sp_layout_close(layout, '}');
    return status;
}

int sp_results_inspect_json(sp_results *const *runs, size_t num_runs,
                            const sp_inspection_options *options, char **out_text, sp_error *error)
{
    sp_output out;
    size_t length;
    int status = sp_output_open_memory(&out, error);
    if (status != SP_OK)
        return status;
    sp_json_layout layout = {.out = &out, .indent = 2};
    sp_layout_open(&layout, '{');
    sp_layout_key(&layout, "format");
    sp_layout_text(&layout, "scope-profiler-inspection");
    sp_layout_key(&layout, "format_version");
    sp_layout_integer(&layout, 1);
    sp_layout_key(&layout, "files");
    sp_layout_open(&layout, '[');
    for (size_t i = 0; status == SP_OK && i < num_runs; i++)
        status = add_run(&layout, runs[i], options, error);
    sp_layout_close(&layout, ']');
    sp_layout_close(&layout, '}');
    sp_output_add(&out, "\n");
    return sp_output_take(&out, status, out_text, &length, error);
}
