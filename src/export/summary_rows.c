/* summary_rows.c - a summary of rows that were made elsewhere. */
#include "base/error.h"
#include "export/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The nearest row above that lies one level higher; it gets a row for its own time. */
static uint32_t find_parent(sp_summary *summary, size_t child)
{
    sp_summary_entry *entries = summary->entries.items;
    uint32_t above = child == 0 ? SP_NO_ROW : (uint32_t)child - 1;
    while (above != SP_NO_ROW && entries[above].row.depth >= entries[child].row.depth)
        above = entries[above].parent;
    if (above != SP_NO_ROW)
        entries[above].row.has_children = true;
    return above;
}

static int add_row(sp_summary *summary, const sp_summary_row *row, sp_error *error)
{
    if (!sp_vector_reserve(&summary->entries, 1) || !sp_vector_reserve(&summary->sorted, 1))
        return sp_fail_memory(error, "making a table");
    size_t index = summary->entries.count++;
    sp_summary_entry *entry = &summary->entries.items[index];
    const char *path = row->call_path != NULL ? row->call_path : row->name;
    entry->row = *row;
    entry->row.name = sp_arena_text(&summary->arena, row->name);
    entry->row.call_path = sp_arena_text(&summary->arena, path);
    entry->row.has_children = false;
    if (entry->row.name == NULL || entry->row.call_path == NULL)
        return sp_fail_memory(error, "making a table");
    entry->parent = find_parent(summary, index);
    summary->sorted.items[summary->sorted.count++] = (uint32_t)index;
    summary->has_gpu = summary->has_gpu || !isnan(row->gpu_total);
    if (row->depth == 0 && row->calls > 0 && strcmp(row->name, SP_SESSION_REGION) == 0 &&
        isnan(summary->session_total))
        summary->session_total = row->total;
    return SP_OK;
}

int sp_summary_from_rows(const sp_summary_row *rows, size_t num_rows,
                         const sp_summary_options *options, double session_total,
                         sp_summary **out, sp_error *error)
{
    sp_summary *summary = calloc(1, sizeof *summary);
    if (summary == NULL)
        return sp_fail_memory(error, "making a table");
    summary->session_total = session_total;
    int status = sp_summary_take_layout(summary, options, error);
    if (summary->request.options.title == NULL)
        summary->request.options.title = "";
    for (size_t i = 0; status == SP_OK && i < num_rows; i++)
        status = add_row(summary, &rows[i], error);
    if (status != SP_OK) {
        sp_summary_free(summary);
        return status;
    }
    *out = summary;
    return SP_OK;
}
