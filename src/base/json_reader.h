/* json_reader.h - reading JSON text piece by piece. Nothing is built and nothing is allocated: the
 * reader hands out spans of the text, so that a document of a million numbers needs no more memory
 * than its bytes. Strict in form (RFC 8259), except that NaN, Infinity and -Infinity are numbers, as
 * the JSON of several languages has them. */
#ifndef SP_BASE_JSON_READER_H
#define SP_BASE_JSON_READER_H

#include "base/text.h"

#include <stdint.h>

enum { SP_JSON_MAX_DEPTH = 512 };

typedef enum sp_json_token {
    SP_JSON_END, /* nothing follows */
    SP_JSON_OBJECT,
    SP_JSON_OBJECT_END,
    SP_JSON_ARRAY,
    SP_JSON_ARRAY_END,
    SP_JSON_KEY,    /* span: between the quotes, escapes as they are */
    SP_JSON_STRING, /* the same */
    SP_JSON_NUMBER, /* span: the whole token, as for the three below */
    SP_JSON_TRUE,
    SP_JSON_FALSE,
    SP_JSON_NULL,
    SP_JSON_BAD /* wrong form or too deep; stays so, `trouble` and `at` tell what and where */
} sp_json_token;

typedef struct sp_json_reader {
    const char *start, *at, *end;
    const char *trouble;
    uint32_t depth;
    unsigned char state;
    uint32_t is_object[SP_JSON_MAX_DEPTH / 32]; /* a bit a level */
} sp_json_reader;

typedef struct sp_json_text {
    const char *bytes;
    size_t length;
} sp_json_text;

/* A byte order mark before the text is passed over. */
void sp_json_reader_init(sp_json_reader *reader, const char *bytes, size_t length);
/* The next token; `out` (may be NULL) is its span. */
sp_json_token sp_json_next(sp_json_reader *reader, sp_json_text *out);
/* Goes past the rest of the value that began with `first`; false when it has a wrong form. */
bool sp_json_skip(sp_json_reader *reader, sp_json_token first);

/* Appends the text of a string or key, escapes resolved; half of a surrogate pair becomes U+FFFD. */
void sp_json_decode(sp_text *out, sp_json_text text);
/* Whether a string or key, escapes resolved, is that text. */
bool sp_json_equals(sp_json_text text, const char *expected);
/* A number without fraction and exponent that fits; false for any other. */
bool sp_json_integer_of(sp_json_text text, int64_t *out);
/* Any number; false when it is none. */
bool sp_json_real_of(sp_json_text text, double *out);

/* Appends the value that begins with `first` (its span is `span`) in one form, whatever form it had:
 * ", " and ": " between parts (indent 0), no blanks (below 0), or each part on its own line at
 * `level` and below. NaN and infinities become null. False when the value has a wrong form. */
bool sp_json_copy(sp_text *out, sp_json_reader *reader, sp_json_token first, sp_json_text span,
                  int indent, int level);

#endif
