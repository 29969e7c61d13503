/* json_walk.h - members and items of the JSON that runs bring along, as the texts that they are. A text
 * of another form than expected has none. */
#ifndef SP_EXPORT_JSON_WALK_H
#define SP_EXPORT_JSON_WALK_H

#include "base/json_reader.h"

/* The value that comes next. */
bool sp_json_take(sp_json_reader *reader, sp_json_text *out);
/* Goes into an object or a list; false when the text is none. */
bool sp_json_enter(sp_json_reader *reader, sp_json_text text, sp_json_token what);
bool sp_json_member(sp_json_reader *reader, sp_json_text *key, sp_json_text *value);
/* An empty text when there is no such member. */
sp_json_text sp_json_find(sp_json_text object, const char *name);
/* Member number `wanted` of an object; false behind the last. */
bool sp_json_member_at(sp_json_text object, size_t wanted, sp_json_text *key, sp_json_text *value);
bool sp_json_item_at(sp_json_text list, size_t wanted, sp_json_text *out);
/* NaN when there is none. */
double sp_json_number_at(sp_json_text list, size_t i);

#endif
