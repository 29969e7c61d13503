#include "session/settings_file.h"

#include "base/error.h"
#include "base/module.h"
#include "base/os/file.h"
#include "base/os/thread.h"
#include "session/setting_text.h"
#include "toml/document.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20 }; /* of a settings file; what is larger is none */

/* ---- The parser ------------------------------------------------------------------------------*/

static bool take(void *library, const char *path, void *context, sp_error *error)
{
    const sp_toml_table **out = context;
    sp_toml_entry entry = (sp_toml_entry)sp_os_library_function(library, SP_TOML_SYMBOL);
    const sp_toml_table *table = entry == NULL ? NULL : entry();
    bool fits = table != NULL && table->version == SP_TOML_VERSION && table->size >= sizeof *table;
    if (fits)
        *out = table;
    else
        sp_fail(error, SP_ERR_NO_MODULE, "'%s' belongs to another version of the profiler", path);
    return fits;
}

static const sp_toml_table *parser(sp_error *error)
{
    static sp_mutex mutex = SP_MUTEX_INIT;
    static const sp_toml_table *table;
    sp_module module = {.file = "scope_profiler_toml.so",
                        .what = "TOML module, which reads settings files,",
                        .asker = (sp_os_function)sp_settings_file_read,
                        .folder = SP_MODULE_FOLDER,
                        .take = take,
                        .context = &table};
    sp_mutex_lock(&mutex);
    if (table == NULL)
        sp_module_open(&module, error);
    const sp_toml_table *found = table;
    sp_mutex_unlock(&mutex);
    return found;
}

/* ---- Values ----------------------------------------------------------------------------------*/

typedef struct reader {
    const char *path;
    sp_arena *arena;
    sp_setting_value *values;
    sp_error *error;
} reader;

/* The same error, which now names the file, too. */
static int naming(const reader *r, const sp_toml_node *node)
{
    sp_error told = *r->error;
    int room = (int)sizeof told.text - (int)strlen(r->path) - 40;
    if (told.status == SP_ERR_NO_MEMORY || room < 0)
        return told.status;
    if (node == NULL)
        return sp_fail(r->error, told.status, "%.*s in '%s'", room, told.text, r->path);
    return sp_fail(r->error, told.status, "%.*s in '%s', line %u", room, told.text, r->path,
                   (unsigned)node->line);
}

static bool is_plain(const sp_toml_node *node)
{
    return node->kind == SP_TOML_TEXT && strlen(node->text) == node->length;
}

/* A list of texts, or one text. False: it is something else, or memory is short (`*out_status`). */
static bool read_items(const reader *r, const sp_toml_node *node, sp_setting_value *value,
                       int *out_status)
{
    const sp_toml_node *items = node->kind == SP_TOML_ARRAY ? node->items : node;
    size_t count = node->kind == SP_TOML_ARRAY ? node->num_items : 1;
    const char **texts = sp_arena_array(r->arena, count + 1, sizeof *texts);
    for (size_t i = 0; i < count && texts != NULL; i++) {
        if (!is_plain(&items[i]))
            return false;
        texts[i] = sp_arena_text(r->arena, items[i].text);
        if (texts[i] == NULL)
            texts = NULL;
    }
    if (texts == NULL) {
        *out_status = sp_fail_memory(r->error, "reading settings");
        return false;
    }
    value->items = texts;
    value->num_items = count;
    return true;
}

/* Whether the node is a value of the setting's kind, which is then in `value`. */
static bool read_kind(const reader *r, const sp_setting *setting, const sp_toml_node *node,
                      sp_setting_value *value, int *out_status)
{
    switch (setting->kind) {
    case SP_SETTING_FLAG: /* 0 and 1 as shell scripts have them */
        value->flag = node->kind == SP_TOML_FLAG ? node->flag : node->integer == 1;
        return node->kind == SP_TOML_FLAG ||
               (node->kind == SP_TOML_INTEGER && (node->integer == 0 || node->integer == 1));
    case SP_SETTING_INTEGER:
        value->integer = node->integer;
        return node->kind == SP_TOML_INTEGER;
    case SP_SETTING_NUMBER:
        return (node->kind == SP_TOML_INTEGER || node->kind == SP_TOML_OTHER) &&
               sp_setting_parse_number(node->shown, &value->number);
    case SP_SETTING_SIZE:
        if (node->kind != SP_TOML_INTEGER && !is_plain(node))
            return false;
        value->text = sp_arena_text(r->arena, is_plain(node) ? node->text : node->shown);
        if (value->text == NULL)
            *out_status = sp_fail_memory(r->error, "reading settings");
        return value->text != NULL;
    case SP_SETTING_EVENTS:
    case SP_SETTING_TAGS:
        return read_items(r, node, value, out_status);
    case SP_SETTING_OBJECT: /* of which a file can only have the name */
        if (node->kind == SP_TOML_TEXT)
            value->text = sp_arena_text(r->arena, node->text);
        return true;
    default:
        if (!is_plain(node))
            return false;
        value->text = sp_arena_text(r->arena, node->text);
        if (value->text == NULL)
            *out_status = sp_fail_memory(r->error, "reading settings");
        return value->text != NULL;
    }
}

static int read_value(const reader *r, sp_setting_id id, const sp_toml_node *node)
{
    sp_setting_value value = {.is_given = true};
    int status = SP_OK;
    if (!read_kind(r, sp_setting_at((size_t)id), node, &value, &status) && status == SP_OK)
        status = sp_setting_wrong_kind(id, node->shown, r->error);
    if (status == SP_OK)
        status = sp_setting_check(id, &value, r->error);
    if (status != SP_OK)
        return naming(r, node);
    r->values[id] = value;
    return SP_OK;
}

/* ---- Tables ----------------------------------------------------------------------------------*/

static const sp_toml_node *find(const sp_toml_node *table, const char *key)
{
    for (size_t i = 0; i < table->num_items; i++)
        if (strcmp(table->items[i].key, key) == 0)
            return &table->items[i];
    return NULL;
}

static int id_of(const char *group, const char *key)
{
    return group == NULL ? sp_setting_find(key) : sp_setting_find_in(group, key);
}

/* The error about all names that mean nothing, if there are any. */
static int check_names(const reader *r, const sp_toml_node *table, const char *group)
{
    size_t count = 0;
    const char **names = sp_arena_array(r->arena, table->num_items + 1, sizeof *names);
    if (names == NULL)
        return sp_fail_memory(r->error, "reading settings");
    for (size_t i = 0; i < table->num_items; i++) {
        const char *key = table->items[i].key;
        if (id_of(group, key) < 0 && !(group == NULL && sp_setting_is_group(key)))
            names[count++] = key;
    }
    if (count == 0)
        return SP_OK;
    sp_setting_unknown(group, names, count, r->error);
    return naming(r, NULL);
}

static int fail_twice(const reader *r, const sp_setting *setting)
{
    return sp_fail(r->error, SP_ERR_INVALID_ARGUMENT,
                   "Profiling setting '%s' is set both directly and as %s.%s in '%s'",
                   setting->name, setting->group, setting->field, r->path);
}

/* A group's table, beside the one that it stands in. */
static int read_group(const reader *r, const sp_toml_node *beside, const sp_toml_node *group)
{
    if (group->kind != SP_TOML_TABLE)
        return sp_fail(r->error, SP_ERR_INVALID_ARGUMENT,
                       "[profiling.%s] in '%s' must be a TOML table", group->key, r->path);
    int status = check_names(r, group, group->key);
    for (size_t i = 0; i < group->num_items && status == SP_OK; i++) {
        int id = id_of(group->key, group->items[i].key);
        const sp_setting *setting = sp_setting_at((size_t)id);
        status = find(beside, setting->name) != NULL
                     ? fail_twice(r, setting)
                     : read_value(r, (sp_setting_id)id, &group->items[i]);
    }
    return status;
}

static int read_table(const reader *r, const sp_toml_node *root)
{
    const sp_toml_node *table = find(root, "profiling");
    table = table == NULL ? root : table;
    if (table->kind != SP_TOML_TABLE)
        return sp_fail(r->error, SP_ERR_INVALID_ARGUMENT,
                       "[profiling] in '%s' must be a TOML table", r->path);
    int status = check_names(r, table, NULL);
    for (size_t i = 0; i < table->num_items && status == SP_OK; i++) {
        const sp_toml_node *node = &table->items[i];
        int id = sp_setting_find(node->key);
        status = id >= 0 ? read_value(r, (sp_setting_id)id, node) : read_group(r, table, node);
    }
    return status;
}

/* ---- The file --------------------------------------------------------------------------------*/

/* Allocated; NULL with the error filled. */
static char *load(const char *path, size_t *out_length, sp_error *error)
{
    sp_error cause = {0};
    uint64_t size = 0;
    sp_os_file_kind kind = sp_os_file_look(path, &size);
    if (kind == SP_OS_FILE_OTHER || size > MOST_BYTES) {
        sp_fail(error, SP_ERR_INVALID_ARGUMENT, "Could not read profiling config '%s': %s", path,
                kind == SP_OS_FILE_OTHER ? "it is no file" : "it is too large for settings");
        return NULL;
    }
    char *text = malloc(MOST_BYTES);
    if (text == NULL) {
        sp_fail_memory(error, "reading settings");
        return NULL;
    }
    if (sp_os_file_piece(path, 0, text, MOST_BYTES, out_length, &cause) == SP_OK)
        return text;
    sp_fail(error, SP_ERR_IO, "Could not read profiling config %s", cause.text);
    free(text);
    return NULL;
}

int sp_settings_file_read(const char *path, sp_arena *arena,
                          sp_setting_value values[SP_NUM_SETTINGS], sp_error *error)
{
    sp_error own;
    error = error == NULL ? &own : error;
    reader r = {path, arena, values, error};
    const sp_toml_table *toml = parser(error);
    if (toml == NULL)
        return SP_ERR_NO_MODULE;
    size_t length = 0;
    sp_error cause = {0};
    char *text = load(path, &length, error);
    if (text == NULL)
        return error->status;
    sp_toml_document *document;
    int status = toml->parse(text, length, &document, &cause);
    free(text);
    if (status != SP_OK)
        return sp_fail(error, status, "Invalid profiling TOML in '%s': %s", path, cause.text);
    status = read_table(&r, toml->root(document));
    toml->release(document);
    if (status == SP_OK && sp_setting_check_together(values, error) != SP_OK)
        status = naming(&r, NULL);
    return status;
}
