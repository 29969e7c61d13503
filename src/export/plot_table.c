/* plot_table.c - rows of cells as CSV or JSON. */
#include "base/colour.h"
#include "base/error.h"
#include "export/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Rows ------------------------------------------------------------------------------------*/

void sp_plot_open_table(sp_plot *plot, const char *key, const char *const *headers, size_t count,
                        size_t num_csv)
{
    plot->headers = headers;
    plot->num_headers = count;
    plot->num_csv_headers = num_csv;
    if (plot->is_json) {
        sp_layout_key(&plot->layout, key);
        sp_layout_open(&plot->layout, '[');
        return;
    }
    for (size_t i = 0; i < num_csv; i++)
        sp_output_print(&plot->out, "%s%s", i == 0 ? "" : ",", headers[i]);
    sp_output_add(&plot->out, "\n");
}

void sp_plot_close_table(sp_plot *plot)
{
    if (plot->is_json)
        sp_layout_close(&plot->layout, ']');
}

void sp_plot_open_row(sp_plot *plot)
{
    plot->column = 0;
    if (plot->is_json)
        sp_layout_open(&plot->layout, '{');
}

void sp_plot_close_row(sp_plot *plot)
{
    if (plot->is_json)
        sp_layout_close(&plot->layout, '}');
    else
        sp_output_add_n(&plot->out, "\n", 1);
}

/* Moves on to the next cell; false when it is not shown in this form. */
static bool next_cell(sp_plot *plot)
{
    size_t column = plot->column++;
    if (plot->is_json)
        sp_layout_key(&plot->layout, plot->headers[column]);
    else if (column > 0 && column < plot->num_csv_headers)
        sp_output_add_n(&plot->out, ",", 1);
    return plot->is_json || column < plot->num_csv_headers;
}

void sp_plot_none(sp_plot *plot)
{
    if (next_cell(plot) && plot->is_json)
        sp_layout_word(&plot->layout, "null");
}

void sp_plot_text(sp_plot *plot, const char *text)
{
    if (text == NULL) {
        sp_plot_none(plot);
        return;
    }
    if (!next_cell(plot))
        return;
    if (plot->is_json)
        sp_layout_text(&plot->layout, text);
    else
        sp_output_field(&plot->out, text);
}

void sp_plot_integer(sp_plot *plot, int64_t value)
{
    if (!next_cell(plot))
        return;
    if (plot->is_json)
        sp_layout_integer(&plot->layout, value);
    else
        sp_output_integer(&plot->out, value);
}

void sp_plot_real(sp_plot *plot, double value)
{
    if (!isfinite(value)) {
        sp_plot_none(plot);
        return;
    }
    if (!next_cell(plot))
        return;
    if (plot->is_json)
        sp_layout_real(&plot->layout, value);
    else
        sp_output_real(&plot->out, value);
}

void sp_plot_seconds(sp_plot *plot, int64_t ns)
{
    sp_plot_real(plot, (double)ns / 1e9);
}

/* ---- Colours ---------------------------------------------------------------------------------*/

void sp_plot_region_color(const char *name, char out[SP_COLOR_TEXT])
{
    snprintf(out, SP_COLOR_TEXT, "#%06x", (unsigned)sp_colour_of_region(name) & 0xffffffu);
}

void sp_plot_add_colors(sp_plot *plot, const char *const *names, size_t count)
{
    if (!plot->is_json)
        return;
    sp_layout_key(&plot->layout, "colors");
    sp_layout_open(&plot->layout, '{');
    for (size_t i = 0; i < count; i++) {
        sp_layout_key(&plot->layout, names[i]);
        char text[SP_COLOR_TEXT];
        sp_plot_region_color(names[i], text);
        sp_layout_text(&plot->layout, text);
    }
    sp_layout_close(&plot->layout, '}');
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int sp_plot_add_region_colors(sp_plot *plot, bool by_name, sp_error *error)
{
    SP_VECTOR(const char *) names = {0};
    sp_map seen = {0};
    bool failed = false;
    if (!plot->is_json)
        return SP_OK;
    for (size_t r = 0; r < plot->num_runs; r++)
        for (size_t i = 0; !failed && i < plot->runs[r].num_regions; i++) {
            const sp_plot_run *run = &plot->runs[r];
            const char *name = run->results->regions.items[run->regions[i]].name;
            if (sp_map_get(&seen, name, strlen(name)) != SP_MAP_NONE)
                continue;
            failed = !sp_map_add(&seen, name, strlen(name), (uint32_t)names.count) ||
                     !sp_vector_reserve(&names, 1);
            if (!failed)
                names.items[names.count++] = name;
        }
    if (!failed && by_name && names.count > 0)
        qsort(names.items, names.count, sizeof *names.items, compare_names);
    if (!failed)
        sp_plot_add_colors(plot, names.items, names.count);
    sp_vector_release(&names);
    sp_map_release(&seen);
    return failed ? sp_fail_memory(error, "exporting plot data") : SP_OK;
}

void sp_plot_add_file_ranks(sp_plot *plot)
{
    if (!plot->is_json)
        return;
    sp_layout_key(&plot->layout, "file_ranks");
    sp_layout_open(&plot->layout, '{');
    for (size_t i = 0; i < plot->num_runs; i++) {
        sp_layout_key(&plot->layout, plot->runs[i].label);
        sp_layout_integer(&plot->layout, plot->runs[i].results->num_ranks);
    }
    sp_layout_close(&plot->layout, '}');
}
