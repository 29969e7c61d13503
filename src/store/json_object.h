/* json_object.h - just enough JSON reading to merge objects: checks that a text is one object, and
 * joins the members of several. */
#ifndef SP_STORE_JSON_OBJECT_H
#define SP_STORE_JSON_OBJECT_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct sp_json_span {
    const char *bytes;
    size_t length;
} sp_json_span;

/* True when the whole text is one JSON object (blanks around it are fine). */
bool sp_json_is_object(const char *bytes, size_t length);

/* Appends one object with the members of all: a key stands where it came first and has the value
 * that came last. Each of the objects has passed sp_json_is_object. A text that finds no memory is
 * marked as failed. */
void sp_json_merge(sp_text *out, const sp_json_span *objects, size_t count);

#endif
