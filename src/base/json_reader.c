#include "base/json_reader.h"

#include "base/json.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { /* what may come next */
    STATE_VALUE,
    STATE_FIRST_ITEM, /* a value or the end of the array */
    STATE_FIRST_KEY,  /* a key or the end of the object */
    STATE_KEY,
    STATE_COLON,
    STATE_AFTER, /* a comma or the end of what is open */
    STATE_BAD
};

void sp_json_reader_init(sp_json_reader *reader, const char *bytes, size_t length)
{
    static const char mark[] = "\xEF\xBB\xBF";
    size_t skipped = length >= 3 && memcmp(bytes, mark, 3) == 0 ? 3 : 0;
    *reader = (sp_json_reader){.start = bytes, .at = bytes + skipped, .end = bytes + length};
}

static sp_json_token bad(sp_json_reader *r, const char *trouble)
{
    if (r->state != STATE_BAD)
        r->trouble = trouble;
    r->state = STATE_BAD;
    return SP_JSON_BAD;
}

static void skip_blanks(sp_json_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r'))
        r->at++;
}

/* ---- Strings and numbers ---------------------------------------------------------------------*/

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Behind a backslash; false when that is no escape. */
static bool scan_escape(sp_json_reader *r)
{
    if (r->at == r->end || *r->at == '\0' || strchr("\"\\/bfnrtu", *r->at) == NULL)
        return false;
    bool is_code = *r->at++ == 'u';
    for (int i = 0; is_code && i < 4; i++, r->at++)
        if (r->at == r->end || hex_digit(*r->at) < 0)
            return false;
    return true;
}

/* From behind the opening quote to behind the closing one. */
static bool scan_string(sp_json_reader *r, sp_json_text *out)
{
    out->bytes = r->at;
    while (r->at < r->end) {
        unsigned char c = (unsigned char)*r->at;
        if (c == '"') {
            out->length = (size_t)(r->at++ - out->bytes);
            return true;
        }
        size_t size = c < 0x20 ? 0
                               : sp_utf8_sequence((const unsigned char *)r->at,
                                                  (size_t)(r->end - r->at));
        if (size == 0)
            return false;
        r->at += size;
        if (c == '\\' && !scan_escape(r))
            return false;
    }
    return false;
}

static bool skip_digits(sp_json_reader *r)
{
    const char *from = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
        r->at++;
    return r->at > from;
}

static bool scan_number(sp_json_reader *r)
{
    if (*r->at == '-')
        r->at++;
    if (r->at < r->end && *r->at == '0')
        r->at++;
    else if (!skip_digits(r))
        return false;
    if (r->at < r->end && *r->at == '.') {
        r->at++;
        if (!skip_digits(r))
            return false;
    }
    if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
        r->at++;
        if (r->at < r->end && (*r->at == '+' || *r->at == '-'))
            r->at++;
        return skip_digits(r);
    }
    return true;
}

static bool take_word(sp_json_reader *r, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

/* ---- Tokens ----------------------------------------------------------------------------------*/

static bool is_in_object(const sp_json_reader *r)
{
    uint32_t level = r->depth - 1;
    return r->depth > 0 && (r->is_object[level / 32] >> level % 32 & 1) != 0;
}

static sp_json_token open_level(sp_json_reader *r, bool is_object)
{
    if (r->depth == SP_JSON_MAX_DEPTH)
        return bad(r, "it is nested too deeply");
    uint32_t bit = (uint32_t)1 << r->depth % 32;
    if (is_object)
        r->is_object[r->depth / 32] |= bit;
    else
        r->is_object[r->depth / 32] &= ~bit;
    r->depth++;
    r->state = is_object ? STATE_FIRST_KEY : STATE_FIRST_ITEM;
    return is_object ? SP_JSON_OBJECT : SP_JSON_ARRAY;
}

static sp_json_token close_level(sp_json_reader *r)
{
    bool was_object = is_in_object(r);
    r->depth--;
    r->state = STATE_AFTER;
    return was_object ? SP_JSON_OBJECT_END : SP_JSON_ARRAY_END;
}

static sp_json_token word_or_number(sp_json_reader *r, sp_json_text *out)
{
    const char *from = r->at;
    sp_json_token token = take_word(r, "true")    ? SP_JSON_TRUE
                          : take_word(r, "false") ? SP_JSON_FALSE
                          : take_word(r, "null")  ? SP_JSON_NULL
                          : take_word(r, "NaN") || take_word(r, "Infinity") ||
                                  take_word(r, "-Infinity") || scan_number(r)
                              ? SP_JSON_NUMBER
                              : SP_JSON_BAD;
    if (token == SP_JSON_BAD)
        return bad(r, "a value is missing or has a wrong form");
    r->state = STATE_AFTER;
    *out = (sp_json_text){from, (size_t)(r->at - from)};
    return token;
}

static sp_json_token value(sp_json_reader *r, sp_json_text *out)
{
    char c = *r->at;
    if (c == '{' || c == '[') {
        r->at++;
        return open_level(r, c == '{');
    }
    if (c != '"')
        return word_or_number(r, out);
    r->at++;
    r->state = STATE_AFTER;
    return scan_string(r, out) ? SP_JSON_STRING : bad(r, "a text has a wrong form");
}

static sp_json_token key(sp_json_reader *r, sp_json_text *out)
{
    if (*r->at++ != '"' || !scan_string(r, out))
        return bad(r, "a key is missing or has a wrong form");
    r->state = STATE_COLON;
    return SP_JSON_KEY;
}

/* Past what stands between two parts. `*out_done` when that was the end of an object or array. */
static bool pass_separator(sp_json_reader *r, bool *out_closes)
{
    char closing = is_in_object(r) ? '}' : ']';
    bool may_close = r->state == STATE_FIRST_KEY || r->state == STATE_FIRST_ITEM ||
                     r->state == STATE_AFTER;
    *out_closes = r->depth > 0 && may_close && *r->at == closing;
    if (*out_closes) {
        r->at++;
        return true;
    }
    if (r->state == STATE_COLON || r->state == STATE_AFTER) {
        if (*r->at != (r->state == STATE_COLON ? ':' : ',') || r->depth == 0)
            return false;
        r->at++;
        r->state = r->state == STATE_AFTER && is_in_object(r) ? STATE_KEY : STATE_VALUE;
        skip_blanks(r);
    }
    return r->at < r->end;
}

sp_json_token sp_json_next(sp_json_reader *reader, sp_json_text *out)
{
    sp_json_text ignored;
    bool closes;
    out = out == NULL ? &ignored : out;
    *out = (sp_json_text){reader->at, 0};
    if (reader->state == STATE_BAD)
        return SP_JSON_BAD;
    skip_blanks(reader);
    if (reader->at == reader->end)
        return reader->state == STATE_AFTER && reader->depth == 0 ? SP_JSON_END
                                                                  : bad(reader, "it ends early");
    if (!pass_separator(reader, &closes))
        return bad(reader, reader->depth == 0 ? "something follows the value"
                                              : "a comma, colon or bracket is missing");
    if (closes)
        return close_level(reader);
    bool wants_key = reader->state == STATE_KEY || reader->state == STATE_FIRST_KEY;
    return wants_key ? key(reader, out) : value(reader, out);
}

bool sp_json_skip(sp_json_reader *reader, sp_json_token first)
{
    if (first != SP_JSON_OBJECT && first != SP_JSON_ARRAY)
        return first != SP_JSON_BAD && first != SP_JSON_END;
    uint32_t outside = reader->depth - 1;
    while (reader->depth > outside)
        if (sp_json_next(reader, NULL) == SP_JSON_BAD)
            return false;
    return true;
}

/* ---- Values ----------------------------------------------------------------------------------*/

static void add_code_point(sp_text *out, uint32_t code)
{
    char bytes[4];
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = length; i-- > 1; code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3F));
    bytes[0] = (char)(leads[length] | code);
    sp_text_add_n(out, bytes, length);
}

static uint32_t code_unit(const char *digits)
{
    uint32_t unit = 0;
    for (int i = 0; i < 4; i++)
        unit = unit << 4 | (uint32_t)hex_digit(digits[i]);
    return unit;
}

/* Behind \u, where at least four digits stand; returns what is taken. */
static size_t decode_unit(sp_text *out, const char *at, size_t left)
{
    uint32_t unit = code_unit(at);
    if (unit >= 0xD800 && unit < 0xDC00 && left >= 10 && at[4] == '\\' && at[5] == 'u') {
        uint32_t low = code_unit(at + 6);
        if (low >= 0xDC00 && low < 0xE000) {
            add_code_point(out, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
            return 10;
        }
    }
    add_code_point(out, unit >= 0xD800 && unit < 0xE000 ? 0xFFFD : unit);
    return 4;
}

void sp_json_decode(sp_text *out, sp_json_text text)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *at = text.bytes, *end = text.bytes + text.length;
    while (at < end) {
        const char *escape = memchr(at, '\\', (size_t)(end - at));
        if (escape == NULL)
            break;
        sp_text_add_n(out, at, (size_t)(escape - at));
        at = escape + 2;
        if (escape[1] == 'u')
            at += decode_unit(out, at, (size_t)(end - at));
        else
            sp_text_add_n(out, &meanings[strchr(letters, escape[1]) - letters], 1);
    }
    sp_text_add_n(out, at, (size_t)(end - at));
}

bool sp_json_equals(sp_json_text text, const char *expected)
{
    if (memchr(text.bytes, '\\', text.length) == NULL)
        return strlen(expected) == text.length && memcmp(text.bytes, expected, text.length) == 0;
    sp_text decoded = {0};
    sp_json_decode(&decoded, text);
    bool equals = !decoded.failed && decoded.length == strlen(expected) &&
                  memcmp(decoded.bytes, expected, decoded.length) == 0;
    sp_text_release(&decoded);
    return equals;
}

bool sp_json_integer_of(sp_json_text text, int64_t *out)
{
    const char *at = text.bytes, *end = text.bytes + text.length;
    bool is_negative = at < end && *at == '-';
    uint64_t value = 0, limit = (uint64_t)INT64_MAX + is_negative;
    for (at += is_negative; at < end; at++) {
        unsigned digit = (unsigned)(*at - '0');
        if (digit > 9 || value > (limit - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = (int64_t)(is_negative ? 0 - value : value);
    return text.length > (size_t)is_negative;
}

bool sp_json_real_of(sp_json_text text, double *out)
{
    char digits[400], *end;
    if (text.length == 0 || text.length >= sizeof digits)
        return false;
    memcpy(digits, text.bytes, text.length);
    digits[text.length] = '\0';
    char *point = strchr(digits, '.');
    if (point != NULL)
        *point = *localeconv()->decimal_point;
    *out = strtod(digits, &end);
    return *end == '\0';
}

/* ---- Copies ----------------------------------------------------------------------------------*/

static void begin_line(sp_text *out, int indent, int level)
{
    if (indent <= 0)
        return;
    sp_text_add(out, "\n");
    sp_text_repeat(out, " ", (size_t)indent * (size_t)level);
}

static void copy_scalar(sp_text *out, sp_json_token token, sp_json_text span)
{
    double number;
    sp_text text = {0};
    if (token == SP_JSON_STRING || token == SP_JSON_KEY) {
        sp_json_decode(&text, span);
        if (!text.failed)
            sp_json_string(out, text.bytes, text.length);
        out->failed = out->failed || text.failed;
        sp_text_release(&text);
    } else if (token == SP_JSON_NUMBER && sp_json_real_of(span, &number) && !isfinite(number)) {
        sp_text_add(out, "null");
    } else {
        sp_text_add_n(out, span.bytes, span.length);
    }
}

bool sp_json_copy(sp_text *out, sp_json_reader *reader, sp_json_token token, sp_json_text span,
                  int indent, int level)
{
    uint32_t outside = reader->depth - (token == SP_JSON_OBJECT || token == SP_JSON_ARRAY);
    bool is_first = true, follows_key = true;
    for (;; token = sp_json_next(reader, &span)) {
        bool closes = token == SP_JSON_OBJECT_END || token == SP_JSON_ARRAY_END;
        bool opens = token == SP_JSON_OBJECT || token == SP_JSON_ARRAY;
        int inside = level + (int)(reader->depth - outside) - opens;
        if (token == SP_JSON_BAD || token == SP_JSON_END)
            return false;
        if (!follows_key && !closes)
            sp_text_add(out, is_first ? "" : indent != 0 ? "," : ", ");
        if (!follows_key && !(closes && is_first))
            begin_line(out, indent, inside);
        if (opens || closes)
            sp_text_add(out, token == SP_JSON_OBJECT       ? "{"
                             : token == SP_JSON_OBJECT_END ? "}"
                             : token == SP_JSON_ARRAY      ? "["
                                                           : "]");
        else
            copy_scalar(out, token, span);
        follows_key = token == SP_JSON_KEY;
        sp_text_add(out, !follows_key ? "" : indent < 0 ? ":" : ": ");
        is_first = opens;
        if (reader->depth == outside && !follows_key)
            return true;
    }
}
