/* width.h - text from a run as a terminal shows it. */
#ifndef SP_EXPORT_WIDTH_H
#define SP_EXPORT_WIDTH_H

#include "base/text.h"

/* Appends UTF-8 text so that it stays on its line and cannot steer a terminal: control characters
 * become escapes such as \n, bytes that are not UTF-8 U+FFFD. */
void sp_text_add_visible(sp_text *out, const char *text);
void sp_text_add_visible_n(sp_text *out, const char *bytes, size_t length);

/* Columns of a terminal that such text takes: combining marks none, wide characters two. */
size_t sp_text_width(const char *text);

#endif
