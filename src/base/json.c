#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Well-formed sequences of the Unicode standard, table 3-7: no overlong forms, no surrogates,
 * nothing above U+10FFFF. */
size_t sp_utf8_sequence(const unsigned char *b, size_t length)
{
    if (length == 0)
        return 0;
    if (b[0] < 0x80)
        return 1;
    size_t size = b[0] >= 0xC2 && b[0] <= 0xDF ? 2 : b[0] >= 0xE0 && b[0] <= 0xEF ? 3
                : b[0] >= 0xF0 && b[0] <= 0xF4 ? 4 : 0;
    if (size == 0 || size > length)
        return 0;
    for (size_t i = 1; i < size; i++)
        if ((b[i] & 0xC0) != 0x80)
            return 0;
    if ((b[0] == 0xE0 && b[1] < 0xA0) || (b[0] == 0xED && b[1] > 0x9F) ||
        (b[0] == 0xF0 && b[1] < 0x90) || (b[0] == 0xF4 && b[1] > 0x8F))
        return 0;
    return size;
}

static void escape(sp_text *out, unsigned char byte)
{
    const char *short_form = byte == '"'    ? "\\\""
                             : byte == '\\' ? "\\\\"
                             : byte == '\n' ? "\\n"
                             : byte == '\r' ? "\\r"
                             : byte == '\t' ? "\\t"
                             : byte == '\b' ? "\\b"
                             : byte == '\f' ? "\\f"
                                            : NULL;
    if (short_form != NULL)
        sp_text_add(out, short_form);
    else
        sp_text_format(out, "\\u%04x", byte);
}

void sp_json_string(sp_text *out, const char *bytes, size_t length)
{
    const unsigned char *p = (const unsigned char *)bytes;
    size_t start = 0;
    sp_text_add_n(out, "\"", 1);
    for (size_t i = 0; i < length;) {
        size_t size = sp_utf8_sequence(p + i, length - i);
        if (size == 1 && p[i] >= 0x20 && p[i] != '"' && p[i] != '\\') {
            i++;
        } else if (size > 1) {
            i += size;
        } else {
            sp_text_add_n(out, bytes + start, i - start);
            if (size == 0)
                sp_text_add(out, "\xEF\xBF\xBD");
            else
                escape(out, p[i]);
            start = ++i;
        }
    }
    sp_text_add_n(out, bytes + start, length - start);
    sp_text_add_n(out, "\"", 1);
}

void sp_json_integer(sp_text *out, int64_t value)
{
    sp_text_format(out, "%" PRId64, value);
}

void sp_json_real(sp_text *out, double value)
{
    if (!isfinite(value)) {
        sp_text_add(out, "null");
        return;
    }
    char digits[40];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    /* printf follows the locale's decimal sign; JSON does not. */
    for (char *p = digits; *p != '\0'; p++)
        if (*p == ',')
            *p = '.';
    sp_text_add(out, digits);
}
