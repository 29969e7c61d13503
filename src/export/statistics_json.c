/* statistics_json.c - the statistics of every region of several runs as one document, for scripts. */
#include "base/error.h"
#include "base/os/file.h"
#include "export/json_layout.h"
#include "export/selection.h"

#include <math.h>
#include <stdlib.h>

typedef struct document {
    sp_json_layout layout;
    sp_results *const *runs;
    const char *const *labels;
    size_t num_runs;
    sp_selection *selections; /* of each run */
} document;

static void add_texts(sp_json_layout *layout, const char *const *texts, size_t count)
{
    if (count == 0) {
        sp_layout_word(layout, "null");
        return;
    }
    sp_layout_open(layout, '[');
    for (size_t i = 0; i < count; i++)
        sp_layout_text(layout, texts[i]);
    sp_layout_close(layout, ']');
}

static void add_filters(document *d)
{
    const sp_export_options *options = &d->selections[0].options;
    sp_layout_key(&d->layout, "filters");
    sp_layout_open(&d->layout, '{');
    sp_layout_key(&d->layout, "include");
    add_texts(&d->layout, options->include, options->num_include);
    sp_layout_key(&d->layout, "exclude");
    add_texts(&d->layout, options->exclude, options->num_exclude);
    sp_layout_key(&d->layout, "ranks");
    if (options->ranks == NULL) {
        sp_layout_word(&d->layout, "null");
    } else {
        sp_layout_open(&d->layout, '[');
        for (size_t i = 0; i < options->num_ranks; i++)
            sp_layout_integer(&d->layout, options->ranks[i]);
        sp_layout_close(&d->layout, ']');
    }
    sp_layout_close(&d->layout, '}');
}

/* ---- Numbers ---------------------------------------------------------------------------------*/

static void add_seconds(sp_json_layout *layout, const char *key, double ns, bool is_known)
{
    sp_layout_key(layout, key);
    sp_layout_real(layout, is_known ? ns / 1e9 : (double)NAN);
}

static void add_statistics(sp_json_layout *layout, const sp_statistics *s, bool is_aggregate)
{
    bool any = s->calls > 0, knows_calls = any && !is_aggregate;
    sp_layout_key(layout, "count");
    sp_layout_integer(layout, (int64_t)s->calls);
    add_seconds(layout, "average_duration_seconds", s->mean, any);
    add_seconds(layout, "min_duration_seconds", (double)s->minimum, any);
    add_seconds(layout, "max_duration_seconds", (double)s->maximum, any);
    add_seconds(layout, "first_duration_seconds", (double)s->first, knows_calls);
    add_seconds(layout, "last_duration_seconds", (double)s->last, knows_calls);
    add_seconds(layout, "std_duration_seconds", s->deviation, knows_calls);
    add_seconds(layout, "total_duration_seconds", (double)s->total, any);
}

static int add_rank(document *d, size_t run, uint32_t row, sp_error *error)
{
    char key[16];
    sp_statistics s;
    const sp_row *of = d->runs[run]->rows.items[row].row;
    int status = sp_results_row_statistics(d->runs[run], row, &s, error);
    if (status != SP_OK)
        return status;
    snprintf(key, sizeof key, "%u", of->rank);
    sp_layout_key(&d->layout, key);
    sp_layout_open(&d->layout, '{');
    add_statistics(&d->layout, &s, of->has_aggregate);
    sp_layout_close(&d->layout, '}');
    return SP_OK;
}

static int add_region(document *d, size_t run, size_t region, sp_error *error)
{
    sp_results *results = d->runs[run];
    const sp_export_options *options = &d->selections[run].options;
    sp_statistics pooled;
    int status = sp_results_region_statistics(results, region, options->ranks, options->num_ranks,
                                              &pooled, error);
    if (status != SP_OK)
        return status;
    sp_layout_key(&d->layout, results->regions.items[region].name);
    sp_layout_open(&d->layout, '{');
    add_statistics(&d->layout, &pooled, results->is_aggregate);
    sp_layout_key(&d->layout, "per_rank");
    sp_layout_open(&d->layout, '{');
    for (uint32_t r = results->regions.items[region].first_row; status == SP_OK && r != SP_NO_ROW;
         r = results->rows.items[r].next_in_region)
        if (sp_rank_filter_takes(&d->selections[run].ranks, results->rows.items[r].row->rank))
            status = add_rank(d, run, r, error);
    sp_layout_close(&d->layout, '}');
    sp_layout_close(&d->layout, '}');
    return status;
}

/* ---- Order of regions ------------------------------------------------------------------------*/

/* Names that every run has, in the order of the first. */
static int add_common(document *d, sp_error *error)
{
    size_t *order = NULL, count = 0;
    int status = d->num_runs == 0 ? SP_OK : sp_selection_order(&d->selections[0], d->runs[0], &order,
                                                              &count, error);
    if (status != SP_OK)
        return status;
    sp_layout_key(&d->layout, "common_regions");
    sp_layout_open(&d->layout, '[');
    for (size_t i = 0; i < count; i++) {
        const char *name = d->runs[0]->regions.items[order[i]].name;
        bool is_common = true;
        for (size_t run = 1; is_common && run < d->num_runs; run++) {
            int64_t there = sp_results_find_region(d->runs[run], name);
            is_common = there >= 0 && d->selections[run].regions[there];
        }
        if (is_common)
            sp_layout_text(&d->layout, name);
    }
    sp_layout_close(&d->layout, ']');
    free(order);
    return SP_OK;
}

/* ---- Runs ------------------------------------------------------------------------------------*/

static void add_path(sp_json_layout *layout, const char *path)
{
    char folder[4096];
    sp_text absolute = {0};
    sp_layout_key(layout, "file_path");
    if (path[0] == '\0') {
        sp_layout_word(layout, "null");
        return;
    }
    if (path[0] != '/' && sp_os_current_folder(folder, sizeof folder))
        sp_text_format(&absolute, "%s/", folder);
    sp_text_add(&absolute, path);
    sp_layout_text(layout, absolute.failed ? path : absolute.bytes);
    sp_text_release(&absolute);
}

static int add_run(document *d, size_t run, sp_error *error)
{
    sp_json_layout *layout = &d->layout;
    sp_results *results = d->runs[run];
    size_t *order, count;
    sp_run_times times;
    sp_text label = {0};
    int status = sp_results_times(results, &times, error);
    if (status == SP_OK)
        status = sp_selection_order(&d->selections[run], results, &order, &count, error);
    if (status != SP_OK)
        return status;
    if (d->labels != NULL && d->labels[run] != NULL)
        sp_text_add(&label, d->labels[run]);
    else
        sp_selection_add_label(&d->selections[run], results, &label);
    sp_layout_open(layout, '{');
    sp_layout_key(layout, "label");
    sp_layout_text(layout, label.failed ? "" : label.bytes);
    add_path(layout, results->path);
    sp_layout_key(layout, "num_ranks");
    sp_layout_integer(layout, results->num_ranks);
    bool has_total = times.start >= 0 && times.finalize >= 0;
    add_seconds(layout, "total_time_seconds", (double)(times.finalize - times.start), has_total);
    sp_layout_key(layout, "region_statistics");
    sp_layout_open(layout, '{');
    for (size_t i = 0; status == SP_OK && i < count; i++)
        status = add_region(d, run, order[i], error);
    sp_layout_close(layout, '}');
    sp_layout_close(layout, '}');
    sp_text_release(&label);
    free(order);
    return status;
}

static int write_document(document *d, sp_error *error)
{
    sp_json_layout *layout = &d->layout;
    sp_layout_open(layout, '{');
    sp_layout_key(layout, "format");
    sp_layout_text(layout, "scope-profiler-plot-data");
    sp_layout_key(layout, "format_version");
    sp_layout_integer(layout, 1);
    sp_layout_key(layout, "plot");
    sp_layout_text(layout, "region_statistics");
    sp_layout_key(layout, "units");
    sp_layout_open(layout, '{');
    sp_layout_key(layout, "durations");
    sp_layout_text(layout, "seconds");
    sp_layout_close(layout, '}');
    add_filters(d);
    int status = add_common(d, error);
    sp_layout_key(layout, "files");
    sp_layout_open(layout, '[');
    for (size_t run = 0; status == SP_OK && run < d->num_runs; run++)
        status = add_run(d, run, error);
    sp_layout_close(layout, ']');
    sp_layout_close(layout, '}');
    sp_output_add(layout->out, "\n");
    return status;
}

int sp_export_statistics(sp_results *const *runs, const char *const *labels, size_t num_runs,
                         const sp_export_options *options, const char *path, sp_error *error)
{
    document d = {.runs = runs, .labels = labels, .num_runs = num_runs};
    size_t selected = 0;
    sp_output out;
    if (num_runs == 0)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "statistics of no run were asked for");
    d.selections = calloc(num_runs, sizeof *d.selections);
    int status = d.selections == NULL ? sp_fail_memory(error, "exporting statistics") : SP_OK;
    while (status == SP_OK && selected < num_runs) {
        status = sp_selection_init(&d.selections[selected], runs[selected], options, error);
        selected += status == SP_OK;
    }
    if (status == SP_OK)
        status = sp_output_open_file(&out, path, false, error);
    if (status == SP_OK) {
        d.layout = (sp_json_layout){.out = &out, .indent = 2};
        status = sp_output_finish(&out, write_document(&d, error), error);
    }
    for (size_t i = 0; i < selected; i++)
        sp_selection_release(&d.selections[i]);
    free(d.selections);
    return status;
}
