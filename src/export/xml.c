#include "export/xml.h"

#include "base/json.h"
#include "export/width.h"

#include <stdint.h>
#include <string.h>

static const char *entity_of(char c)
{
    return c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : NULL;
}

void sp_xml_add_clipped(sp_text *out, const char *text, size_t max_letters)
{
    sp_text visible = {0};
    sp_text_add_visible(&visible, text);
    const char *at = visible.failed ? "" : visible.bytes;
    for (size_t letters = 0, length; *at != '\0'; at += length, letters++) {
        length = sp_utf8_sequence((const unsigned char *)at, strlen(at));
        length = length == 0 ? 1 : length;
        if (letters + 2 == max_letters && strlen(at) > 2) {
            sp_text_add(out, "..");
            break;
        }
        bool is_no_character = length == 3 && (memcmp(at, "\xEF\xBF\xBE", 3) == 0 ||
                                               memcmp(at, "\xEF\xBF\xBF", 3) == 0);
        if (entity_of(*at) != NULL)
            sp_text_add(out, entity_of(*at));
        else
            sp_text_add_n(out, is_no_character ? "\xEF\xBF\xBD" : at, length);
    }
    out->failed = out->failed || visible.failed;
    sp_text_release(&visible);
}

void sp_xml_add_text(sp_text *out, const char *text)
{
    sp_xml_add_clipped(out, text, SIZE_MAX);
}
