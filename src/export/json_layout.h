/* json_layout.h - JSON documents piece by piece, on one line or indented. */
#ifndef SP_EXPORT_JSON_LAYOUT_H
#define SP_EXPORT_JSON_LAYOUT_H

#include "base/json_reader.h"
#include "export/output.h"

/* Zeroed but for `out` and `indent` (blanks a level; 0: one line; below 0: that without
 * blanks). */
typedef struct sp_json_layout {
    sp_output *out;
    int indent, level;
    bool has_items;     /* in the object or array at hand */
    bool follows_key;
} sp_json_layout;

void sp_layout_open(sp_json_layout *layout, char bracket); /* '{' or '[' */
void sp_layout_close(sp_json_layout *layout, char bracket);
void sp_layout_key(sp_json_layout *layout, const char *key);
/* Before a value that is written to `out` by hand. */
void sp_layout_value(sp_json_layout *layout);

void sp_layout_text(sp_json_layout *layout, const char *text);
void sp_layout_integer(sp_json_layout *layout, int64_t value);
void sp_layout_real(sp_json_layout *layout, double value);
/* A literal: true, null, 0.5, ... */
void sp_layout_word(sp_json_layout *layout, const char *word);
/* A value in any form, in that of this document; false when it has a wrong form. */
bool sp_layout_copy(sp_json_layout *layout, const char *json, size_t length);

#endif
