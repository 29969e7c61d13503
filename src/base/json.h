/* json.h - writing JSON text. (Reading it is the job of a library, where a layer needs it.) */
#ifndef SP_BASE_JSON_H
#define SP_BASE_JSON_H

#include "base/text.h"

#include <stdint.h>

/* A quoted JSON string. Bytes that are not UTF-8 become U+FFFD; control characters, quote,
 * backslash are escaped, everything else stays as it is. */
void sp_json_string(sp_text *out, const char *bytes, size_t length);
/* Shortest decimal that reads back as the same double; null for NaN and infinities. */
void sp_json_real(sp_text *out, double value);
void sp_json_integer(sp_text *out, int64_t value);

/* Length of the valid UTF-8 sequence at `bytes` (1 to 4), 0 when it is not one. */
size_t sp_utf8_sequence(const unsigned char *bytes, size_t length);

#endif
