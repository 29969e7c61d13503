/* export_names.c - names from labels. */
#include "export_names.h"

#include "command.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Label of a run, else the stem of its file. Allocated. */
static char *label_of(sp_results *results)
{
    const sp_metadata_entry *label = sp_results_find_metadata(results, "label");
    const char *path = sp_results_path(results);
    const char *slash = strrchr(path, '/');
    char *stem;
    if (label && label->kind == SP_VALUE_TEXT && label->text[0])
        return cli_duplicate(label->text);
    stem = cli_duplicate(slash ? slash + 1 : path);
    if (strrchr(stem, '.') && strrchr(stem, '.') != stem)
        *strrchr(stem, '.') = '\0';
    return stem;
}

static bool is_plain(unsigned char c)
{
    return c >= 0x80 || isalnum(c) || c == '_' || c == '.' || c == '-';
}

/* Turns a text into a part of a file name, in place: what is neither letter nor digit becomes one
 * underscore. */
static void make_slug(char *text)
{
    size_t length = 0;
    for (const char *at = text; *at; at++) {
        char c = is_plain((unsigned char)*at) ? *at : '_';
        if (c != '_' || (length > 0 && text[length - 1] != '_'))
            text[length++] = c;
    }
    while (length > 0 && text[length - 1] == '_')
        length--;
    text[length] = '\0';
}

static bool is_taken(const cli_names *taken, const char *name)
{
    for (size_t i = 0; i < taken->count; i++)
        if (strcmp(taken->items[i], name) == 0)
            return true;
    return false;
}

char *cli_export_name(cli_names *taken, const char *folder, sp_results *results, bool is_one_of_many,
                      const char *ending)
{
    char *label = is_one_of_many ? label_of(results) : NULL;
    char *name;
    if (label)
        make_slug(label);
    name = label ? cli_format("%s/profile_%s%s", folder, label[0] ? label : "run", ending)
                 : cli_format("%s/profile%s", folder, ending);
    for (int number = 2; is_taken(taken, name); number++) {
        free(name);
        name = cli_format("%s/profile_%s_%d%s", folder, label && label[0] ? label : "run", number,
                          ending);
    }
    free(label);
    taken->items = cli_reallocate(taken->items, (taken->count + 1) * sizeof *taken->items);
    taken->items[taken->count++] = cli_duplicate(name);
    return name;
}

void cli_release_names(cli_names *taken)
{
    for (size_t i = 0; i < taken->count; i++)
        free(taken->items[i]);
    free(taken->items);
}
