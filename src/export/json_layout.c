#include "export/json_layout.h"

static void begin_line(sp_json_layout *layout)
{
    static const char blanks[] = "                                ";
    size_t count = (size_t)layout->indent * (size_t)layout->level;
    sp_output_add_n(layout->out, "\n", 1);
    for (; count > sizeof blanks - 1; count -= sizeof blanks - 1)
        sp_output_add_n(layout->out, blanks, sizeof blanks - 1);
    sp_output_add_n(layout->out, blanks, count);
}

void sp_layout_value(sp_json_layout *layout)
{
    if (layout->follows_key) {
        layout->follows_key = false;
        return;
    }
    if (layout->level == 0)
        return;
    if (layout->has_items)
        sp_output_add(layout->out, layout->indent == 0 ? ", " : ",");
    if (layout->indent > 0)
        begin_line(layout);
    layout->has_items = true;
}

void sp_layout_open(sp_json_layout *layout, char bracket)
{
    sp_layout_value(layout);
    sp_output_add_n(layout->out, &bracket, 1);
    layout->level++;
    layout->has_items = false;
}

void sp_layout_close(sp_json_layout *layout, char bracket)
{
    layout->level--;
    if (layout->has_items && layout->indent > 0)
        begin_line(layout);
    sp_output_add_n(layout->out, &bracket, 1);
    layout->has_items = true;
}

void sp_layout_key(sp_json_layout *layout, const char *key)
{
    sp_layout_text(layout, key);
    sp_output_add(layout->out, layout->indent < 0 ? ":" : ": ");
    layout->follows_key = true;
}

void sp_layout_text(sp_json_layout *layout, const char *text)
{
    sp_layout_value(layout);
    sp_output_string(layout->out, text);
}

void sp_layout_integer(sp_json_layout *layout, int64_t value)
{
    sp_layout_value(layout);
    sp_output_integer(layout->out, value);
}

void sp_layout_real(sp_json_layout *layout, double value)
{
    sp_layout_value(layout);
    sp_output_real(layout->out, value);
}

void sp_layout_word(sp_json_layout *layout, const char *word)
{
    sp_layout_value(layout);
    sp_output_add(layout->out, word);
}

bool sp_layout_copy(sp_json_layout *layout, const char *json, size_t length)
{
    sp_json_reader reader;
    sp_json_text span;
    sp_json_reader_init(&reader, json, length);
    sp_json_token first = sp_json_next(&reader, &span);
    sp_layout_value(layout);
    bool done = sp_json_copy(&layout->out->scratch, &reader, first, span, layout->indent,
                             layout->level) &&
                sp_json_next(&reader, NULL) == SP_JSON_END;
    if (done) {
        sp_output_add_scratch(layout->out);
    } else {
        layout->out->scratch.length = 0;
        sp_output_add(layout->out, "null");
    }
    return done;
}
