#include "session/setting_text.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_word(const char *text, const char *const words[4])
{
    for (size_t i = 0; i < 4; i++)
        if (strcasecmp(text, words[i]) == 0)
            return true;
    return false;
}

static bool parse_flag(const char *text, bool *out)
{
    static const char *const yes[] = {"1", "true", "yes", "on"};
    static const char *const no[] = {"0", "false", "no", "off"};
    *out = is_word(text, yes);
    return *out || is_word(text, no);
}

static bool parse_integer(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    *out = number;
    return end != text && *end == '\0' && errno == 0;
}

bool sp_setting_parse_number(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && strpbrk(text, "xXnN") == NULL;
}

/* The elements of a list, in the arena. False: memory is short. */
static bool split(const char *text, sp_arena *arena, sp_setting_value *out)
{
    size_t most = 1;
    for (const char *comma = strchr(text, ','); comma != NULL; comma = strchr(comma + 1, ','))
        most++;
    const char **items = sp_arena_array(arena, most, sizeof *items);
    if (items == NULL)
        return false;
    out->items = items;
    while (*text != '\0') {
        text += strspn(text, ", \t\n");
        size_t length = strcspn(text, ","), kept = length;
        while (kept > 0 && strchr(" \t\n", text[kept - 1]) != NULL)
            kept--;
        if (kept > 0 && (items[out->num_items++] = sp_arena_text_n(arena, text, kept)) == NULL)
            return false;
        text += length;
    }
    return true;
}

int sp_setting_parse(sp_setting_id id, const char *text, sp_arena *arena, sp_setting_value *out,
                     sp_error *error)
{
    sp_setting_value value = {.is_given = true};
    bool is_kind = true;
    switch (sp_setting_at(id)->kind) {
    case SP_SETTING_FLAG:
        is_kind = parse_flag(text, &value.flag);
        break;
    case SP_SETTING_INTEGER:
        is_kind = parse_integer(text, &value.integer);
        break;
    case SP_SETTING_NUMBER:
        is_kind = sp_setting_parse_number(text, &value.number);
        break;
    case SP_SETTING_EVENTS:
    case SP_SETTING_TAGS:
        if (!split(text, arena, &value))
            return sp_fail_memory(error, "reading a setting");
        break;
    default:
        value.text = text;
        break;
    }
    int status = is_kind ? sp_setting_check(id, &value, error)
                         : sp_setting_wrong_kind(id, text, error);
    if (status == SP_OK)
        *out = value;
    return status;
}
