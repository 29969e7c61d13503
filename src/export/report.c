/* report.c - a page for a browser: the page that was built from viewer/, with a title and one block
 * of data in it. */
#include "export/report.h"

#include "base/error.h"
#include "export/summary.h"

#include <stdlib.h>

/* Where the page wants its title and its data. */
static const char title_mark[] = "<!--title-->", data_mark[] = "<!--data-->";

/* What the reports of one call have in common. */
typedef struct report_job {
    sp_results *const *runs;
    size_t num_runs;
    sp_report_request request;
    const char *path;
    char **labels; /* of each run */
    char **links;  /* names of the pages of each run, beside `path`; NULL: there are none */
} report_job;

/* ---- The data --------------------------------------------------------------------------------*/

static void add_texts(sp_json_layout *layout, const char *key, const char *const *texts,
                      size_t count)
{
    sp_layout_key(layout, key);
    sp_layout_open(layout, '[');
    for (size_t i = 0; i < count; i++)
        sp_layout_text(layout, texts[i]);
    sp_layout_close(layout, ']');
}

static void write_head(const report_job *job, sp_json_layout *layout, const char *kind)
{
    const sp_report_options *options = &job->request.options;
    sp_layout_key(layout, "format");
    sp_layout_text(layout, "scope-profiler-report");
    sp_layout_key(layout, "format_version");
    sp_layout_integer(layout, SP_REPORT_FORMAT_VERSION);
    sp_layout_key(layout, "exporter");
    sp_layout_text(layout, "scope-profiler@" SP_VERSION);
    sp_layout_key(layout, "kind");
    sp_layout_text(layout, kind);
    sp_layout_key(layout, "charts");
    sp_layout_word(layout, options->no_charts ? "false" : "true");
    add_texts(layout, "include", options->include, options->num_include);
    add_texts(layout, "exclude", options->exclude, options->num_exclude);
    add_texts(layout, "shown_columns", options->columns, options->num_columns);
    sp_layout_key(layout, "ranks_chosen");
    sp_layout_word(layout, options->ranks == NULL ? "false" : "true");
}

/* The document of one run, or of the comparison when `run` is none of them. */
static int make_data(const report_job *job, size_t run, char **out_bytes, size_t *out_count,
                     sp_error *error)
{
    sp_output out;
    int status = sp_output_open_memory(&out, error);
    if (status != SP_OK)
        return status;
    sp_json_layout layout = {.out = &out, .indent = -1};
    sp_layout_open(&layout, '{');
    write_head(job, &layout, run < job->num_runs ? "run" : "comparison");
    if (run < job->num_runs)
        status = sp_report_write_run(&layout, job->runs[run], &job->request, job->labels[run],
                                     error);
    else
        status = sp_report_write_comparison(&layout, job->runs,
                                            (const char *const *)job->labels,
                                            (const char *const *)job->links, job->num_runs,
                                            &job->request, error);
    sp_layout_close(&layout, '}');
    return sp_output_take(&out, status, out_bytes, out_count, error);
}

/* JSON inside of HTML: no tag can begin in it, and no line ends where JavaScript sees one. */
static void add_escaped(sp_output *out, const char *bytes, size_t count)
{
    size_t from = 0;
    for (size_t i = 0; i < count; i++) {
        const char *instead = NULL;
        size_t length = 1;
        if (bytes[i] == '<') {
            instead = "\\u003c";
        } else if (bytes[i] == '&') {
            instead = "\\u0026";
        } else if (i + 2 < count && memcmp(bytes + i, "\xE2\x80", 2) == 0 &&
                   (bytes[i + 2] == '\xA8' || bytes[i + 2] == '\xA9')) {
            instead = bytes[i + 2] == '\xA8' ? "\\u2028" : "\\u2029";
            length = 3;
        }
        if (instead == NULL)
            continue;
        sp_output_add_n(out, bytes + from, i - from);
        sp_output_add(out, instead);
        from = i + length;
        i += length - 1;
    }
    sp_output_add_n(out, bytes + from, count - from);
}

/* ---- The page --------------------------------------------------------------------------------*/

static void add_title(sp_output *out, const char *title)
{
    for (; *title != '\0'; title++) {
        const char *instead = *title == '<'   ? "&lt;"
                              : *title == '>' ? "&gt;"
                              : *title == '&' ? "&amp;" : NULL;
        if (instead != NULL)
            sp_output_add(out, instead);
        else
            sp_output_add_n(out, title, 1);
    }
}

static const char *find(const char *from, const char *end, const char *mark)
{
    return memmem(from, (size_t)(end - from), mark, strlen(mark));
}

static int write_page(const char *path, const char *title, const char *data, size_t data_bytes,
                      sp_error *error)
{
    const char *from = sp_report_page_built.bytes, *end = from + sp_report_page_built.size;
    const char *title_at = find(from, end, title_mark);
    const char *data_at = title_at == NULL ? NULL : find(title_at, end, data_mark);
    sp_output out;
    if (data_at == NULL)
        return sp_fail(error, SP_ERR_UNSUPPORTED, "this build has no page for reports");
    int status = sp_output_open_file(&out, path, false, error);
    if (status != SP_OK)
        return status;
    sp_output_add_n(&out, from, (size_t)(title_at - from));
    add_title(&out, title);
    from = title_at + strlen(title_mark);
    sp_output_add_n(&out, from, (size_t)(data_at - from));
    sp_output_add(&out, "<script id=\"data\" type=\"application/json\">");
    add_escaped(&out, data, data_bytes);
    sp_output_add(&out, "</script>");
    from = data_at + strlen(data_mark);
    sp_output_add_n(&out, from, (size_t)(end - from));
    return sp_output_finish(&out, SP_OK, error);
}

static int write_report(const report_job *job, size_t run, const char *path, sp_error *error)
{
    char *data;
    size_t count;
    sp_text title = {0};
    int status = make_data(job, run, &data, &count, error);
    if (status != SP_OK)
        return status;
    if (run < job->num_runs) {
        sp_text_add(&title, job->labels[run]);
        sp_text_add(&title, " \xC2\xB7 scope-profiler report");
    } else {
        sp_text_add(&title, "scope-profiler comparison");
    }
    status = title.failed ? sp_fail_memory(error, "writing a report")
                          : write_page(path, title.bytes, data, count, error);
    sp_text_release(&title);
    free(data);
    return status;
}

/* ---- Names -----------------------------------------------------------------------------------*/

static bool is_plain(unsigned char c)
{
    return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           c == '_' || c == '.';
}

enum { SLUG_BYTES = 60 };

/* The label as a part of a file name: what is neither letter nor digit becomes one dash. */
static void add_slug(sp_text *out, const char *label)
{
    size_t begin = out->length, most = SLUG_BYTES;
    bool is_dash = true;
    while (most > 0 && ((unsigned char)label[strnlen(label, most)] & 0xC0) == 0x80)
        most--;
    for (size_t i = 0; i < most && label[i] != '\0'; i++) {
        bool plain = is_plain((unsigned char)label[i]);
        if (plain || !is_dash)
            sp_text_add_n(out, plain ? &label[i] : "-", 1);
        is_dash = !plain;
    }
    while (out->bytes != NULL && out->length > begin && out->bytes[out->length - 1] == '-')
        out->bytes[--out->length] = '\0';
    if (out->length == begin)
        sp_text_add(out, "run");
}

/* Name of the page of a run, without folder. */
static char *make_link(const report_job *job, size_t run)
{
    const char *slash = strrchr(job->path, '/'), *name = slash == NULL ? job->path : slash + 1;
    const char *dot = strrchr(name, '.');
    sp_text link = {0};
    sp_text_add_n(&link, name, dot == NULL || dot == name ? strlen(name) : (size_t)(dot - name));
    sp_text_format(&link, "-%zu-", run + 1);
    add_slug(&link, job->labels[run]);
    sp_text_add(&link, ".html");
    return sp_text_take(&link);
}

static int make_labels(report_job *job, sp_error *error)
{
    const char *const *given = job->request.options.labels;
    for (size_t i = 0; i < job->num_runs; i++) {
        sp_text label = {0};
        const sp_selection selection = {.options = {.label = given == NULL ? NULL : given[i]}};
        sp_selection_add_label(&selection, job->runs[i], &label);
        job->labels[i] = sp_text_take(&label);
        if (job->labels[i] == NULL)
            return sp_fail_memory(error, "writing a report");
    }
    for (size_t i = 0; job->links != NULL && i < job->num_runs; i++) {
        job->links[i] = make_link(job, i);
        if (job->links[i] == NULL)
            return sp_fail_memory(error, "writing a report");
    }
    return SP_OK;
}

/* ---- All of it -------------------------------------------------------------------------------*/

static int write_individual(const report_job *job, size_t run, sp_error *error)
{
    const char *slash = strrchr(job->path, '/');
    sp_text path = {0};
    sp_text_add_n(&path, job->path, slash == NULL ? 0 : (size_t)(slash + 1 - job->path));
    sp_text_add(&path, job->links[run]);
    int status = path.failed ? sp_fail_memory(error, "writing a report")
                             : write_report(job, run, path.bytes, error);
    sp_text_release(&path);
    return status;
}

static int write_reports(report_job *job, sp_error *error)
{
    int status = make_labels(job, error);
    for (size_t i = 0; status == SP_OK && job->links != NULL && i < job->num_runs; i++)
        status = write_individual(job, i, error);
    if (status == SP_OK)
        status = write_report(job, job->num_runs > 1 ? job->num_runs : 0, job->path, error);
    return status;
}

/* Callers of an older header know fewer options. */
static void take_options(sp_report_request *request, const sp_report_options *from)
{
    sp_report_options *to = &request->options;
    *to = (sp_report_options){.size = sizeof *to};
    if (from != NULL)
        memcpy(to, from, from->size < sizeof *to ? from->size : sizeof *to);
    to->size = sizeof *to;
    request->selection = (sp_export_options){
        .size = sizeof request->selection,
        .include = to->include, .num_include = to->num_include,
        .exclude = to->exclude, .num_exclude = to->num_exclude,
        .include_names = to->include_names, .num_include_names = to->num_include_names,
        .ranks = to->ranks, .num_ranks = to->num_ranks};
}

static int check(const report_job *job, sp_error *error)
{
    const sp_report_options *options = &job->request.options;
    sp_summary_column columns[SP_SUMMARY_NUM_COLUMNS];
    if (job->num_runs == 0)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "At least one profiling result is required.");
    if (job->num_runs > SP_REPORT_RUNS)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "a report compares up to %d runs, got %zu", SP_REPORT_RUNS, job->num_runs);
    for (size_t i = 0; i < options->num_columns; i++) {
        int status = sp_summary_parse_columns(options->columns + i, 1, columns, error);
        if (status != SP_OK)
            return status;
    }
    return SP_OK;
}

static void release_texts(char **texts, size_t count)
{
    for (size_t i = 0; texts != NULL && i < count; i++)
        free(texts[i]);
    free(texts);
}

int sp_export_report(sp_results *const *runs, size_t num_runs, const sp_report_options *options,
                     const char *path, sp_error *error)
{
    report_job job = {.runs = runs, .num_runs = num_runs, .path = path};
    take_options(&job.request, options);
    int status = check(&job, error);
    if (status != SP_OK)
        return status;
    job.labels = calloc(num_runs, sizeof *job.labels);
    if (num_runs > 1 && !job.request.options.no_individual_reports)
        job.links = calloc(num_runs, sizeof *job.links);
    if (job.labels == NULL ||
        (job.links == NULL && num_runs > 1 && !job.request.options.no_individual_reports))
        status = sp_fail_memory(error, "writing a report");
    else
        status = write_reports(&job, error);
    release_texts(job.labels, num_runs);
    release_texts(job.links, num_runs);
    return status;
}
