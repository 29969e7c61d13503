/* setting_text.h - values of settings that come as text: from the table, the environment, a command
 * line. */
#ifndef SP_SESSION_SETTING_TEXT_H
#define SP_SESSION_SETTING_TEXT_H

#include "base/arena.h"
#include "session/settings_table.h"

/* Reads a value from a text and checks it. Flags are written 1, true, yes, on or 0, false, no, off in
 * any case; lists are separated by commas, blanks around an element do not count. `text` must outlive
 * the value; lists are copied to `arena`. SP_ERR_INVALID_ARGUMENT with a text when it is no value of
 * that setting. */
int sp_setting_parse(sp_setting_id id, const char *text, sp_arena *arena, sp_setting_value *out,
                     sp_error *error);

/* A decimal number and nothing else. False: it is none. */
bool sp_setting_parse_number(const char *text, double *out);

#endif
