/* What a setting may be: by itself, and together with others. */
#include "session/settings_table.h"

#include "base/error.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONGEST_FILTER = 8,
    ROOM_FOR_CHOICES = 512 /* all choices of a setting, or names of settings, in a row */
};

/* ---- One value -------------------------------------------------------------------------------*/

/* The choices of a setting, each between `quote`s. */
static const char *list_choices(const sp_setting *setting, const char *quote,
                                char out[ROOM_FOR_CHOICES])
{
    size_t used = 0;
    for (const char *const *choice = setting->choices; *choice != NULL; choice++)
        used += (size_t)snprintf(out + used, ROOM_FOR_CHOICES - used, "%s%s%s%s",
                                 used == 0 ? "" : ", ", quote, *choice, quote);
    return out;
}

/* The table's own copy of a choice; NULL: it is none. */
static const char *find_choice(const sp_setting *setting, const char *text)
{
    const char *const *choice = setting->choices;
    while (*choice != NULL && strcmp(*choice, text) != 0)
        choice++;
    return *choice;
}

static int check_integer(const sp_setting *setting, int64_t number, sp_error *error)
{
    if (number >= setting->lowest && number <= setting->highest)
        return SP_OK;
    return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "%s must %s, got %lld", setting->name,
                   setting->lowest == 0 ? "not be negative" : "be a positive integer",
                   (long long)number);
}

static int check_number(const sp_setting *setting, double number, sp_error *error)
{
    if (number >= (double)setting->lowest && number <= (double)setting->highest)
        return SP_OK;
    if (setting->highest == INT64_MAX)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "%s must be a number from %lld on, got %g",
                       setting->name, (long long)setting->lowest, number);
    return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "%s must be a number from %lld to %lld, got %g",
                   setting->name, (long long)setting->lowest, (long long)setting->highest, number);
}

/* A number of bytes: digits, perhaps a fraction, a unit in any case; K is 1024. False: it is none. */
static bool parse_size(const char *text, int64_t *out)
{
    static const char units[] = "kmgt";
    char *end;
    double number = strtod(text, &end);
    bool is_number = end != text && strchr("0123456789.", text[strspn(text, " \t")]) != NULL;
    end += strspn(end, " \t");
    const char *unit = *end == '\0' ? NULL : strchr(units, tolower((unsigned char)*end));
    for (const char *at = units; unit != NULL && at <= unit; at++)
        number *= 1024;
    end += unit != NULL;
    end += unit != NULL && tolower((unsigned char)*end) == 'i';
    end += tolower((unsigned char)*end) == 'b';
    end += strspn(end, " \t");
    if (!is_number || *end != '\0' || !(number >= 0 && number < 9e18))
        return false;
    *out = (int64_t)number;
    return true;
}

static int check_size(const sp_setting *setting, sp_setting_value *value, sp_error *error)
{
    if (value->text == NULL || !parse_size(value->text, &value->integer))
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "%s must be a number of bytes or a text like '256MB', got '%s'", setting->name,
                       value->text == NULL ? "" : value->text);
    if (value->integer >= setting->lowest)
        return SP_OK;
    return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "%s must be at least %lld bytes, got '%s'",
                   setting->name, (long long)setting->lowest, value->text);
}

static int check_path(const sp_setting *setting, const char *path, sp_error *error)
{
    if (path[0] != '\0')
        return SP_OK;
    return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                   "Profiling setting '%s' must name a file, got ''", setting->name);
}

static int check_choice(const sp_setting *setting, sp_setting_value *value, sp_error *error)
{
    char choices[ROOM_FOR_CHOICES];
    const char *own = find_choice(setting, value->text);
    if (own == NULL)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "%s must be one of %s, got '%s'",
                       setting->name, list_choices(setting, "'", choices), value->text);
    value->text = own;
    return SP_OK;
}

/* Copies a word without the blanks around it, in small letters. False: it is longer than a filter. */
static bool copy_word(const char *text, char out[LONGEST_FILTER + 1])
{
    static const char blanks[] = " \t\r\n\v\f";
    text += strspn(text, blanks);
    size_t length = strlen(text);
    while (length > 0 && strchr(blanks, text[length - 1]) != NULL)
        length--;
    for (size_t i = 0; i < length && length <= LONGEST_FILTER; i++)
        out[i] = (char)tolower((unsigned char)text[i]);
    out[length <= LONGEST_FILTER ? length : 0] = '\0';
    return length <= LONGEST_FILTER;
}

static int check_filter(const sp_setting *setting, sp_setting_value *value, sp_error *error)
{
    char word[LONGEST_FILTER + 1], choices[ROOM_FOR_CHOICES];
    if (value->text == NULL)
        return SP_OK;
    bool is_short = copy_word(value->text, word);
    bool is_none = is_short && (word[0] == '\0' || strcmp(word, "none") == 0);
    const char *own = is_none ? NULL : find_choice(setting, word);
    if (own == NULL && !is_none)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "%s must be %s or None, got '%s'",
                       setting->name, list_choices(setting, "'", choices), value->text);
    value->text = own;
    return SP_OK;
}

/* An event by the number that the processor's manual gives it. */
static bool is_raw_event(const char *event)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    size_t length = strlen(event);
    return event[0] == 'r' && length >= 2 && length <= 17 &&
           strspn(event + 1, digits) == length - 1;
}

static int check_events(const sp_setting *setting, const sp_setting_value *value, sp_error *error)
{
    char choices[ROOM_FOR_CHOICES];
    list_choices(setting, "", choices);
    if (value->num_items == 0)
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                       "%s must name at least one event; supported: %s", setting->name, choices);
    for (size_t i = 0; i < value->num_items; i++) {
        const char *event = value->items[i];
        if (find_choice(setting, event) == NULL && !is_raw_event(event))
            return sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                           "%s: unknown event '%s'; supported: %s", setting->name, event, choices);
        for (size_t k = 0; k < i; k++)
            if (strcmp(value->items[k], event) == 0)
                return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "%s names the event '%s' twice",
                               setting->name, event);
    }
    return SP_OK;
}

int sp_setting_check(sp_setting_id id, sp_setting_value *value, sp_error *error)
{
    const sp_setting *setting = sp_setting_at(id);
    if (!value->is_given)
        return SP_OK;
    switch (setting->kind) {
    case SP_SETTING_INTEGER:
        return check_integer(setting, value->integer, error);
    case SP_SETTING_NUMBER:
        return check_number(setting, value->number, error);
    case SP_SETTING_SIZE:
        return check_size(setting, value, error);
    case SP_SETTING_PATH:
        return check_path(setting, value->text, error);
    case SP_SETTING_CHOICE:
        return check_choice(setting, value, error);
    case SP_SETTING_FILTER:
        return check_filter(setting, value, error);
    case SP_SETTING_EVENTS:
        return check_events(setting, value, error);
    default:
        return SP_OK;
    }
}

int sp_setting_wrong_kind(sp_setting_id id, const char *shown, sp_error *error)
{
    static const char *const wanted[] = {
        [SP_SETTING_FLAG] = "true or false", [SP_SETTING_INTEGER] = "an integer",
        [SP_SETTING_TEXT] = "a string",      [SP_SETTING_PATH] = "a path",
        [SP_SETTING_CHOICE] = "a string",    [SP_SETTING_FILTER] = "a string",
        [SP_SETTING_EVENTS] = "a list of strings",
        [SP_SETTING_TAGS] = "a list of strings",
        [SP_SETTING_SIZE] = "a number of bytes or a text like '256MB'",
        [SP_SETTING_NUMBER] = "a number",
        [SP_SETTING_OBJECT] = "an object",
    };
    const sp_setting *setting = sp_setting_at(id);
    return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "Profiling setting '%s' must be %s, got %s",
                   setting->name, wanted[setting->kind], shown);
}

/* ---- Together --------------------------------------------------------------------------------*/

static int check_level(const sp_setting_value values[], sp_error *error)
{
    static const struct {
        const char *filter;
        int lowest, highest;
    } ranges[] = {{"auto", 0, 9}, {"gzip", 0, 9}, {"zstd", 1, 22}};
    const char *filter = values[SP_SETTING_HDF5_COMPRESSION].text;
    const sp_setting_value *level = &values[SP_SETTING_HDF5_COMPRESSION_LEVEL];
    const char *name = sp_setting_at(SP_SETTING_HDF5_COMPRESSION_LEVEL)->name;
    if (!level->is_given || filter == NULL)
        return SP_OK;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (strcmp(ranges[i].filter, filter) != 0)
            continue;
        if (level->integer >= ranges[i].lowest && level->integer <= ranges[i].highest)
            return SP_OK;
        return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "%s must be %d to %d for '%s', got %lld",
                       name, ranges[i].lowest, ranges[i].highest, filter,
                       (long long)level->integer);
    }
    return sp_fail(error, SP_ERR_INVALID_ARGUMENT, "%s does not go with hdf5_compression='%s'", name,
                   filter);
}

static bool is_on(const sp_setting_value values[], sp_setting_id id)
{
    return values[id].flag || (values[id].is_given && values[id].num_items > 0);
}

int sp_setting_check_together(const sp_setting_value values[SP_NUM_SETTINGS], sp_error *error)
{
    int status = check_level(values, error);
    if (status == SP_OK && is_on(values, SP_SETTING_GPU_SYNC_ON_EXIT) &&
        !is_on(values, SP_SETTING_USE_GPU_TIMING))
        status = sp_fail(error, SP_ERR_INVALID_ARGUMENT,
                         "gpu_sync_on_exit requires use_gpu_timing=True");
    if (status == SP_OK)
        status = sp_setting_combinations_check(values, error);
    return status;
}
