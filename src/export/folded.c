/* folded.c - one line a call path, with the time outside of the paths below it. */
#include "base/error.h"
#include "export/call_paths.h"
#include "export/output.h"

#include <stdlib.h>

/* A frame stands between semicolons, and the line ends at the first break. */
static void add_frame(sp_text *out, const char *name)
{
    for (size_t length; *name != '\0'; name += length) {
        length = strcspn(name, ";\r\n");
        sp_text_add_n(out, name, length);
        if (name[length] != '\0') {
            sp_text_add(out, name[length] == ';' ? ":" : " ");
            length++;
        }
    }
}

/* The frames of a line, with where each one ends. */
typedef struct folded_line {
    sp_text text;
    SP_VECTOR(size_t) ends;
} folded_line;

/* Makes `name` the frame behind the first `level` ones. */
static bool push_frame(folded_line *line, size_t level, const char *name)
{
    if (!sp_vector_reserve(&line->ends, 1))
        return false;
    line->ends.count = level;
    line->text.length = level == 0 ? 0 : line->ends.items[level - 1];
    sp_text_add(&line->text, level == 0 ? "" : ";");
    add_frame(&line->text, name);
    line->ends.items[line->ends.count++] = line->text.length;
    return true;
}

static int add_paths(sp_output *out, const sp_call_paths *paths, folded_line *line, size_t above,
                     sp_error *error)
{
    uint32_t level = 0, node = SP_PATH_ROOT;
    while ((node = sp_call_paths_next(paths, node, &level)) != SP_PATH_ROOT) {
        const sp_path_node *of = &paths->nodes.items[node];
        const char *name = paths->results->regions.items[of->region].name;
        if (!push_frame(line, above + level - 1, name) || line->text.failed)
            return sp_fail_memory(error, "exporting call paths");
        if (of->remaining <= 0)
            continue;
        sp_output_add_n(out, line->text.bytes, line->text.length);
        sp_output_add(out, " ");
        sp_output_integer(out, of->remaining);
        sp_output_add(out, "\n");
    }
    return SP_OK;
}

static int write_ranks(sp_output *out, sp_results *results, const sp_selection *selection,
                       sp_error *error)
{
    uint32_t *ranks;
    size_t count;
    folded_line line = {.text = {0}};
    int status = sp_selection_ranks(selection, results, &ranks, &count, error);
    if (status != SP_OK)
        return status;
    for (size_t i = 0; status == SP_OK && i < count; i++) {
        sp_call_paths paths;
        char name[32];
        snprintf(name, sizeof name, "rank %u", ranks[i]);
        status = sp_call_paths_init(&paths, results, selection->regions, ranks[i], error);
        if (status != SP_OK)
            break;
        if (count > 1 && !push_frame(&line, 0, name))
            status = sp_fail_memory(error, "exporting call paths");
        if (status == SP_OK)
            status = add_paths(out, &paths, &line, count > 1, error);
        sp_call_paths_release(&paths);
    }
    sp_text_release(&line.text);
    sp_vector_release(&line.ends);
    free(ranks);
    return status;
}

int sp_export_folded(sp_results *results, const sp_export_options *options, const char *path,
                     sp_error *error)
{
    sp_selection selection;
    sp_output out;
    int status = sp_selection_init(&selection, results, options, error);
    if (status != SP_OK)
        return status;
    status = sp_output_open_file(&out, path, false, error);
    if (status == SP_OK)
        status = sp_output_finish(&out, write_ranks(&out, results, &selection, error), error);
    sp_selection_release(&selection);
    return status;
}
