/* summary_notes.c - the box below a summary: what it is of, what to do next, how to read it. */
#include "base/os/file.h"
#include "export/frame.h"
#include "export/summary.h"
#include "export/width.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { NOTE_WIDTH = 76 };

/* A path as seen from the current folder when it lies below that, else as it is. */
static const char *relative_path(const char *path)
{
    char folder[PATH_MAX];
    if (path[0] != '/' || !sp_os_current_folder(folder, sizeof folder))
        return path;
    size_t length = strlen(folder);
    bool is_below = strncmp(path, folder, length) == 0 && path[length] == '/' &&
                    path[length + 1] != '\0';
    return is_below ? path + length + 1 : path;
}

void sp_summary_write_title(const sp_summary *summary, sp_text *out)
{
    if (summary->request.options.title != NULL) {
        sp_text_add_visible(out, summary->request.options.title);
        return;
    }
    const char *path = sp_results_path(summary->results);
    const sp_metadata_entry *label = sp_results_find_metadata(summary->results, "label");
    const char *name = label != NULL && label->kind == SP_VALUE_TEXT ? label->text : "";
    sp_text_add_visible(out, name);
    if (path[0] != '\0') {
        sp_text_add(out, name[0] == '\0' ? "" : " - ");
        sp_text_add_visible(out, relative_path(path));
    }
    sp_text_add(out, out->length == 0 ? "" : " ");
    sp_text_format(out, path[0] == '\0' ? "(in memory, %u rank(s))" : "(%u rank(s))",
                   sp_results_num_ranks(summary->results));
}

/* A path as one word of a shell. */
static void add_quoted(sp_text *out, const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "@%+=:,./-_";
    if (path[0] != '\0' && path[strspn(path, plain)] == '\0') {
        sp_text_add(out, path);
        return;
    }
    sp_text_add(out, "'");
    for (; *path != '\0'; path++)
        if (*path == '\'')
            sp_text_add(out, "'\"'\"'");
        else
            sp_text_add_n(out, path, 1);
    sp_text_add(out, "'");
}

/* What to do with the file, by heading; a command joins here when the program has it. */
static const struct {
    const char *heading, *command, *behind;
} hints[] = {
    {"Explore:", "inspect", ""},
};

/* A page is for a browser: no command reads it. */
static bool is_page(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL && (strcmp(dot, ".html") == 0 || strcmp(dot, ".htm") == 0);
}

static void add_hints(const sp_summary *summary, sp_box *box)
{
    const char *path = summary->request.options.file_path, *heading = "";
    if (path == NULL || is_page(path))
        return;
    sp_text quoted = {0}, line = {0};
    add_quoted(&quoted, relative_path(path));
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        if (strcmp(heading, hints[i].heading) != 0) {
            heading = hints[i].heading;
            sp_box_add(box, "");
            sp_box_add_heading(box, heading);
        }
        sp_text_format(&line, "  scope-profiler %s ", hints[i].command);
        sp_text_add_visible(&line, quoted.bytes == NULL ? "" : quoted.bytes);
        sp_text_add(&line, hints[i].behind);
        sp_box_add(box, line.bytes == NULL ? "" : line.bytes);
        line.length = 0;
    }
    box->lines.failed = box->lines.failed || quoted.failed || line.failed;
    sp_text_release(&quoted);
    sp_text_release(&line);
}

static void note(sp_box *box, const char *text)
{
    sp_box_add_wrapped(box, text, NOTE_WIDTH);
}

/* Adds what `write` has to say. */
static void note_written(const sp_summary *summary, sp_box *box,
                         void (*write)(const sp_summary *summary, sp_text *out))
{
    sp_text text = {0};
    if (summary->results != NULL) /* NULL: rows from elsewhere */
        write(summary, &text);
    if (text.bytes != NULL)
        note(box, text.bytes);
    box->lines.failed = box->lines.failed || text.failed;
    sp_text_release(&text);
}

static void write_small(const sp_summary *summary, sp_text *out)
{
    if (summary->num_small == 0)
        return;
    sp_text_format(out, "%zu more row%s take%s less than %g %% of the largest each.", summary->num_small,
                 summary->num_small == 1 ? "" : "s", summary->num_small == 1 ? "s" : "",
                 summary->request.options.min_percent);
}

/* Why there is one row a region. */
static void write_reason(const sp_summary *summary, sp_text *out)
{
    if (!summary->is_flat)
        return;
    sp_text_add(out, "One row per region, without call paths: ");
    sp_text_add_visible(out, summary->results->is_aggregate ? "the run kept totals, no calls"
                                                            : summary->reason);
    sp_text_add(out, ".");
}

static void write_left_out(const sp_summary *summary, sp_text *out)
{
    if (summary->results->left_out[0] == '\0')
        return;
    sp_text_add(out, "Left out: ");
    sp_text_add_visible(out, summary->results->left_out);
    sp_text_add(out, ".");
}

static void write_reduction(const sp_summary *summary, sp_text *out)
{
    static const char *const texts[] = {
        [SP_REDUCE_POOLED] = "", [SP_REDUCE_MAXIMUM] = "the largest of the ranks",
        [SP_REDUCE_MEAN] = "the mean of the ranks", [SP_REDUCE_MINIMUM] = "the smallest of the ranks",
        [SP_REDUCE_SUM] = "the sum over the ranks"};
    sp_rank_reduction reduction = summary->request.options.reduction;
    if (reduction != SP_REDUCE_POOLED)
        sp_text_format(out, "Each number is %s that have the row.", texts[reduction]);
}

static void add_notes(const sp_summary *summary, sp_box *box)
{
    bool is_recursive = false, has_uncalled = false;
    for (size_t i = 0; i < summary->entries.count; i++) {
        is_recursive = is_recursive || summary->entries.items[i].row.is_recursive;
        has_uncalled = has_uncalled || summary->entries.items[i].row.calls == 0;
    }
    sp_box_add(box, "");
    note(box, "Durations are in seconds.");
    if (summary->entries.count > 1)
        note(box, "Time in nested regions counts in the row of the inner and of the outer one.");
    if (is_recursive)
        note(box, "↻ marks a region that calls itself: one row holds the calls of all levels, and "
                  "shares count time on several levels once.");
    if (!isnan(summary->session_total) && sp_summary_shows_percent(summary))
        note(box, summary->request.options.exclusive_percent
                      ? "% session is the share of the session spent in the region itself, not in "
                        "regions inside it."
                      : "% session is the share of the session during which the region was "
                        "active.");
    if (has_uncalled)
        note(box, "A row without time is a region that has no calls on the selected ranks.");
    if (summary->has_gpu)
        note(box, "Warning: asynchronous GPU work may still run when its region has ended, so "
                  "device times need not fit into the times beside them.");
    note_written(summary, box, write_left_out);
    note_written(summary, box, write_reduction);
    note_written(summary, box, write_small);
    note_written(summary, box, write_reason);
    note_written(summary, box, sp_summary_write_open_calls);
    note_written(summary, box, sp_summary_write_totals);
    note_written(summary, box, sp_summary_write_losses);
    note_written(summary, box, sp_summary_write_costs);
}

void sp_summary_write_notes(const sp_summary *summary, sp_text *out)
{
    sp_box box = {.color = summary->request.options.color};
    sp_text title = {0};
    sp_text line = {0};
    sp_summary_write_title(summary, &title);
    sp_text_add(&line, "Summary: ");
    sp_text_add(&line, title.bytes == NULL ? "" : title.bytes);
    sp_box_add(&box, line.bytes == NULL ? "" : line.bytes);
    add_hints(summary, &box);
    add_notes(summary, &box);
    sp_text_add(out, "\n");
    sp_box_write(&box, "Info", out);
    out->failed = out->failed || title.failed || line.failed;
    sp_box_release(&box);
    sp_text_release(&line);
    sp_text_release(&title);
}
