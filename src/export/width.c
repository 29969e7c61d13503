#include "export/width.h"

#include "base/json.h"
#include "export/width_table.h"

#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Code of the character at `bytes` and how many bytes it takes; 0xFFFD for a wrong byte. */
static uint32_t decode(const char *bytes, size_t length, size_t *out_size)
{
    const unsigned char *b = (const unsigned char *)bytes;
    size_t size = sp_utf8_sequence(b, length);
    *out_size = size == 0 ? 1 : size;
    switch (size) {
    case 1:
        return b[0];
    case 2:
        return (b[0] & 0x1Fu) << 6 | (b[1] & 0x3Fu);
    case 3:
        return (b[0] & 0x0Fu) << 12 | (b[1] & 0x3Fu) << 6 | (b[2] & 0x3Fu);
    case 4:
        return (b[0] & 0x07u) << 18 | (b[1] & 0x3Fu) << 12 | (b[2] & 0x3Fu) << 6 | (b[3] & 0x3Fu);
    default:
        return 0xFFFD;
    }
}

/* Control characters, line and paragraph separators, and the marks that turn the direction of
 * writing and would drag the frame along. */
static bool needs_escape(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 ||
           (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ||
           code == 0x200E || code == 0x200F;
}

static void add_escape(sp_text *out, uint32_t code)
{
    static const char letters[] = "\a\b\t\n\v\f\r", names[] = "abtnvfr";
    const char *letter = code < 0x80 && code != 0 ? strchr(letters, (int)code) : NULL;
    if (letter != NULL)
        sp_text_format(out, "\\%c", names[letter - letters]);
    else if (code < 0x100)
        sp_text_format(out, "\\x%02x", (unsigned)code);
    else
        sp_text_format(out, "\\u%04x", (unsigned)code);
}

void sp_text_add_visible(sp_text *out, const char *text)
{
    sp_text_add_visible_n(out, text, strlen(text));
}

void sp_text_add_visible_n(sp_text *out, const char *bytes, size_t length)
{
    size_t size;
    for (size_t i = 0; i < length; i += size) {
        uint32_t code = decode(bytes + i, length - i, &size);
        if (needs_escape(code))
            add_escape(out, code);
        else if (code == 0xFFFD)
            sp_text_add(out, "\xEF\xBF\xBD");
        else
            sp_text_add_n(out, bytes + i, size);
    }
}

static bool lies_in(const width_range *ranges, size_t count, uint32_t code)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code > ranges[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && code >= ranges[low].first;
}

size_t sp_text_width(const char *text)
{
    size_t length = strlen(text), width = 0, size;
    for (size_t i = 0; i < length; i += size) {
        uint32_t code = decode(text + i, length - i, &size);
        if (code < 0x300)
            width++;
        else if (!lies_in(no_width, COUNT_OF(no_width), code))
            width += lies_in(two_wide, COUNT_OF(two_wide), code) ? 2 : 1;
    }
    return width;
}
