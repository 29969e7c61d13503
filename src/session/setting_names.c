/* Names that are no settings, and which settings were meant. */
#include "session/settings_table.h"

#include "base/error.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_NAME = 64 };

/* What programs for version 0.2 and older pass, and what says it now. */
static const struct {
    const char *name, *now;
} renamed[] = {
    {"profiling_activated", "deactivate_profiling, with the opposite meaning"},
    {"flush_to_disk", "deactivate_file_output, with the opposite meaning"},
    {"time_trace", "nothing: calls are recorded unless aggregation_mode=True"},
};

static const char *new_spelling(const char *name)
{
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (strcmp(renamed[i].name, name) == 0)
            return renamed[i].now;
    return NULL;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Least number of letters to add, drop or change; two neighbours that changed places count as one.
 * Both names have at most LONGEST_NAME letters. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][LONGEST_NAME + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    size_t a_length = strlen(a), b_length = strlen(b);
    for (size_t k = 0; k <= b_length; k++)
        row[k] = k;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *unused = before;
        before = last;
        last = row;
        row = unused;
        row[0] = i;
        for (size_t k = 1; k <= b_length; k++) {
            row[k] = smaller(smaller(last[k], row[k - 1]) + 1,
                             last[k - 1] + (a[i - 1] != b[k - 1]));
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                row[k] = smaller(row[k], before[k - 2] + 1);
        }
    }
    return row[b_length];
}

/* Keeps the nearer of two candidates; the first of equals. */
static void consider(const char *name, const char *candidate, const char **best, size_t *nearest)
{
    size_t steps = distance(name, candidate);
    /* Two in five letters may differ: below that a name has little in common with the other. */
    if (steps < *nearest && 5 * steps <= 2 * strlen(candidate)) {
        *best = candidate;
        *nearest = steps;
    }
}

static const char *closest(const char *group, const char *name)
{
    const char *best = NULL;
    size_t nearest = SIZE_MAX;
    if (strlen(name) > LONGEST_NAME)
        return NULL;
    for (size_t id = 0; id < SP_NUM_SETTINGS; id++) {
        const sp_setting *setting = sp_setting_at(id);
        if (group == NULL)
            consider(name, setting->name, &best, &nearest);
        if (setting->group != NULL && group == NULL)
            consider(name, setting->group, &best, &nearest);
        else if (setting->group != NULL && strcmp(setting->group, group) == 0)
            consider(name, setting->field, &best, &nearest);
    }
    return best;
}

static void add_name(sp_text *text, const char *group, const char *name)
{
    const char *now = group == NULL ? new_spelling(name) : NULL;
    const char *meant = now == NULL ? closest(group, name) : NULL;
    sp_text_format(text, "'%s'", name);
    if (now != NULL)
        sp_text_format(text, " (now %s)", now);
    else if (meant != NULL)
        sp_text_format(text, " (did you mean '%s'?)", meant);
}

int sp_setting_unknown(const char *group, const char *const *names, size_t count, sp_error *error)
{
    sp_text text = {0};
    if (group == NULL)
        sp_text_add(&text, "Unknown profiling setting(s): ");
    else
        sp_text_format(&text, "Unknown [%s] profiling setting(s): ", group);
    for (size_t i = 0; i < count; i++) {
        sp_text_add(&text, i == 0 ? "" : ", ");
        add_name(&text, group, names[i]);
    }
    int status = text.failed ? sp_fail_memory(error, "looking for a setting")
                             : sp_fail(error, SP_ERR_INVALID_ARGUMENT, "%s", text.bytes);
    sp_text_release(&text);
    return status;
}
