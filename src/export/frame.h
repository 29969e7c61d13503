/* frame.h - rounded frames around tables and texts. */
#ifndef SP_EXPORT_FRAME_H
#define SP_EXPORT_FRAME_H

#include "base/text.h"

#include <stdint.h>

/* A table of texts, filled cell by cell and row by row. Cells are UTF-8 without control
 * characters. Zeroed memory but for num_columns and headers is an empty table. */
typedef struct sp_table {
    size_t num_columns;
    const char *const *headers;
    sp_text cells; /* each with a NUL behind it */
    size_t num_cells;
    bool color; /* headings bold cyan */
    bool is_indented; /* an outline: by two blanks, everything to the left */
} sp_table;

/* Ends the cell that was appended to `table->cells`. */
void sp_table_end_cell(sp_table *table);
/* Writes frame, headers and cells, indented by two blanks. */
void sp_table_write(const sp_table *table, sp_text *out);
/* The same with bars between the columns, numbers (all columns but the first) to the right, not
 * indented. */
void sp_table_write_outline(const sp_table *table, sp_text *out);
void sp_table_release(sp_table *table);

/* Lines of text in a frame with a title. A heading is colored when colors are on. */
typedef struct sp_box {
    sp_text lines; /* each with a NUL behind it, the first byte tells headings */
    bool color;
} sp_box;

void sp_box_add(sp_box *box, const char *line);
void sp_box_add_heading(sp_box *box, const char *line);
/* Broken between words so that no line is wider than `width` columns, where words allow it. */
void sp_box_add_wrapped(sp_box *box, const char *line, size_t width);
void sp_box_write(const sp_box *box, const char *title, sp_text *out);
void sp_box_release(sp_box *box);

#endif
