/* json_walk.c - parts of a JSON text, found anew each time: the texts are small and asked for once. */
#include "export/json_walk.h"

#include <math.h>

/* The value that follows, as the text that it is. */
bool sp_json_take(sp_json_reader *reader, sp_json_text *out)
{
    sp_json_token token = sp_json_next(reader, out);
    if (token == SP_JSON_OBJECT || token == SP_JSON_ARRAY) {
        const char *from = reader->at - 1;
        if (!sp_json_skip(reader, token))
            return false;
        *out = (sp_json_text){from, (size_t)(reader->at - from)};
        return true;
    }
    return token == SP_JSON_STRING || token == SP_JSON_NUMBER || token == SP_JSON_TRUE ||
           token == SP_JSON_FALSE || token == SP_JSON_NULL;
}

/* Goes into an object or a list; false when the text is none. */
bool sp_json_enter(sp_json_reader *reader, sp_json_text text, sp_json_token what)
{
    sp_json_reader_init(reader, text.bytes, text.length);
    return sp_json_next(reader, NULL) == what;
}

bool sp_json_member(sp_json_reader *reader, sp_json_text *key, sp_json_text *value)
{
    return sp_json_next(reader, key) == SP_JSON_KEY && sp_json_take(reader, value);
}

sp_json_text sp_json_find(sp_json_text object, const char *name)
{
    sp_json_reader reader;
    sp_json_text key, value;
    bool more = sp_json_enter(&reader, object, SP_JSON_OBJECT);
    while (more && (more = sp_json_member(&reader, &key, &value)))
        if (sp_json_equals(key, name))
            return value;
    return (sp_json_text){"", 0};
}

/* Member number `wanted` of an object; false behind the last. */
bool sp_json_member_at(sp_json_text object, size_t wanted, sp_json_text *key, sp_json_text *value)
{
    sp_json_reader reader;
    bool more = sp_json_enter(&reader, object, SP_JSON_OBJECT);
    for (size_t i = 0; more && i <= wanted; i++)
        more = sp_json_member(&reader, key, value);
    return more;
}

bool sp_json_item_at(sp_json_text list, size_t wanted, sp_json_text *out)
{
    sp_json_reader reader;
    bool more = sp_json_enter(&reader, list, SP_JSON_ARRAY);
    for (size_t i = 0; more && i <= wanted; i++)
        more = sp_json_take(&reader, out);
    return more;
}

double sp_json_number_at(sp_json_text list, size_t i)
{
    sp_json_text item;
    double value;
    return sp_json_item_at(list, i, &item) && sp_json_real_of(item, &value) ? value : (double)NAN;
}
