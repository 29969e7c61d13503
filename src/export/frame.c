#include "export/frame.h"

#include "export/width.h"

#include <stdlib.h>
#include <string.h>

static const char HEADING_ON[] = "\x1b[1;36m", HEADING_OFF[] = "\x1b[0m";
enum { HEADER_ROOM = 2 }; /* a column is at least this much wider than its header */

static void add_blanks(sp_text *out, size_t count)
{
    sp_text_repeat(out, " ", count);
}

/* A text and blanks up to `width` columns. */
static void add_padded(sp_text *out, const char *text, size_t width, bool color)
{
    size_t taken = sp_text_width(text);
    sp_text_add(out, color ? HEADING_ON : "");
    sp_text_add(out, text);
    sp_text_add(out, color ? HEADING_OFF : "");
    add_blanks(out, taken < width ? width - taken : 0);
}

static void add_rule(sp_text *out, const char *left, size_t width, const char *right)
{
    sp_text_add(out, left);
    sp_text_repeat(out, "─", width);
    sp_text_add(out, right);
}

/* ---- Tables ----------------------------------------------------------------------------------*/

void sp_table_end_cell(sp_table *table)
{
    sp_text_add_n(&table->cells, "", 1);
    table->num_cells++;
}

static const char *next_cell(const char *cell)
{
    return cell + strlen(cell) + 1;
}

/* One blank on both sides of a cell, two between columns. */
static const char *write_row(const sp_table *table, const size_t *widths, const char *cell,
                             sp_text *out)
{
    sp_text_add(out, "  │");
    for (size_t c = 0; c < table->num_columns; c++) {
        sp_text_add(out, c == 0 ? " " : "   ");
        add_padded(out, cell == NULL ? table->headers[c] : cell, widths[c],
                   cell == NULL && table->color);
        sp_text_add(out, " ");
        cell = cell == NULL ? NULL : next_cell(cell);
    }
    sp_text_add(out, "│\n");
    return cell;
}

static void measure(const sp_table *table, size_t *widths, size_t header_room)
{
    const char *cell = table->cells.bytes;
    for (size_t c = 0; c < table->num_columns; c++)
        widths[c] = sp_text_width(table->headers[c]) + header_room;
    for (size_t i = 0; i < table->num_cells; i++, cell = next_cell(cell)) {
        size_t width = sp_text_width(cell);
        size_t *column = &widths[i % table->num_columns];
        *column = width > *column ? width : *column;
    }
}

void sp_table_write(const sp_table *table, sp_text *out)
{
    size_t *widths = calloc(table->num_columns + 1, sizeof *widths);
    if (widths == NULL || table->cells.failed) {
        out->failed = true;
        free(widths);
        return;
    }
    measure(table, widths, HEADER_ROOM);
    size_t inside = 2 * (table->num_columns - 1);
    for (size_t c = 0; c < table->num_columns; c++)
        inside += widths[c] + 2;
    add_rule(out, "  ╭", inside, "╮\n");
    write_row(table, widths, NULL, out);
    add_rule(out, "  ├", inside, "┤\n");
    const char *cell = table->cells.bytes;
    for (size_t r = 0; r < table->num_cells / table->num_columns; r++)
        cell = write_row(table, widths, cell, out);
    add_rule(out, "  ╰", inside, "╯\n");
    free(widths);
}

/* ---- Outlines --------------------------------------------------------------------------------*/

static void add_outline_rule(const sp_table *table, const size_t *widths, const char *left,
                             const char *middle, const char *right, sp_text *out)
{
    sp_text_add(out, table->is_indented ? "  " : "");
    for (size_t c = 0; c < table->num_columns; c++) {
        sp_text_add(out, c == 0 ? left : middle);
        sp_text_repeat(out, "─", widths[c] + 2);
    }
    sp_text_add(out, right);
    sp_text_add(out, "\n");
}

static const char *write_outline_row(const sp_table *table, const size_t *widths, const char *cell,
                                     sp_text *out)
{
    sp_text_add(out, table->is_indented ? "  " : "");
    for (size_t c = 0; c < table->num_columns; c++) {
        const char *text = cell == NULL ? table->headers[c] : cell;
        bool is_left = c == 0 || table->is_indented;
        sp_text_add(out, "│ ");
        if (!is_left)
            add_blanks(out, widths[c] - sp_text_width(text));
        add_padded(out, text, is_left ? widths[c] : 0, false);
        sp_text_add(out, " ");
        cell = cell == NULL ? NULL : next_cell(cell);
    }
    sp_text_add(out, "│\n");
    return cell;
}

void sp_table_write_outline(const sp_table *table, sp_text *out)
{
    size_t *widths = calloc(table->num_columns + 1, sizeof *widths);
    if (widths == NULL || table->cells.failed) {
        out->failed = true;
        free(widths);
        return;
    }
    measure(table, widths, table->is_indented ? 2 : 0);
    add_outline_rule(table, widths, "╭", "┬", "╮", out);
    write_outline_row(table, widths, NULL, out);
    add_outline_rule(table, widths, "├", "┼", "┤", out);
    const char *cell = table->cells.bytes;
    for (size_t r = 0; r < table->num_cells / table->num_columns; r++)
        cell = write_outline_row(table, widths, cell, out);
    add_outline_rule(table, widths, "╰", "┴", "╯", out);
    free(widths);
}

void sp_table_release(sp_table *table)
{
    sp_text_release(&table->cells);
}

/* ---- Boxes -----------------------------------------------------------------------------------*/

enum { LINE_PLAIN = 'p', LINE_HEADING = 'h' };

static void add_line(sp_box *box, char kind, const char *line, size_t length)
{
    sp_text_add_n(&box->lines, &kind, 1);
    sp_text_add_n(&box->lines, line, length);
    sp_text_add_n(&box->lines, "", 1);
}

void sp_box_add(sp_box *box, const char *line)
{
    add_line(box, LINE_PLAIN, line, strlen(line));
}

void sp_box_add_heading(sp_box *box, const char *line)
{
    add_line(box, LINE_HEADING, line, strlen(line));
}

static size_t width_of_bytes(const char *bytes, size_t length)
{
    sp_text part = {0};
    sp_text_add_n(&part, bytes, length);
    size_t width = part.failed ? length : sp_text_width(part.bytes);
    sp_text_release(&part);
    return width;
}

void sp_box_add_wrapped(sp_box *box, const char *line, size_t width)
{
    while (*line != '\0') {
        size_t end = strcspn(line, " ");
        for (size_t next = end; line[next] == ' ';) {
            next += 1 + strcspn(line + next + 1, " ");
            if (width_of_bytes(line, next) > width)
                break;
            end = next;
        }
        add_line(box, LINE_PLAIN, line, end);
        line += end;
        line += strspn(line, " ");
    }
}

void sp_box_write(const sp_box *box, const char *title, sp_text *out)
{
    size_t width = sp_text_width(title) + 2;
    const char *end = box->lines.bytes + box->lines.length;
    if (box->lines.failed || box->lines.bytes == NULL) {
        out->failed = out->failed || box->lines.failed;
        return;
    }
    for (const char *line = box->lines.bytes; line < end; line = next_cell(line)) {
        size_t taken = sp_text_width(line + 1);
        width = taken > width ? taken : width;
    }
    sp_text_add(out, "  ╭─ ");
    add_padded(out, title, 0, box->color);
    add_rule(out, " ", width - sp_text_width(title) - 1, "╮\n");
    for (const char *line = box->lines.bytes; line < end; line = next_cell(line)) {
        sp_text_add(out, "  │ ");
        add_padded(out, line + 1, width, box->color && *line == LINE_HEADING);
        sp_text_add(out, " │\n");
    }
    add_rule(out, "  ╰", width + 2, "╯\n");
}

void sp_box_release(sp_box *box)
{
    sp_text_release(&box->lines);
}
