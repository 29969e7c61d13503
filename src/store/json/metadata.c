/* metadata.c - metadata and lane tables of a JSON profile. */
#include "base/json.h"
#include "store/json/document.h"

#include <math.h>
#include <string.h>

/* ---- Metadata --------------------------------------------------------------------------------*/

/* Members of which the model keeps a text of JSON only, as an object of their own. */
typedef struct odd_members {
    sp_text json;
    size_t count;
} odd_members;

static void add_odd(odd_members *odd, const char *key, const char *json)
{
    sp_text_add(&odd->json, odd->count++ == 0 ? "{" : ", ");
    sp_json_string(&odd->json, key, strlen(key));
    sp_text_add(&odd->json, ": ");
    sp_text_add(&odd->json, json);
}

/* Texts of a list; `*out_fits` is false when it holds anything else. */
static int take_list(sp_json_document *doc, const char *json, sp_metadata_entry *entry,
                     bool *out_fits)
{
    SP_VECTOR(const char *) texts = {0};
    sp_json_reader list;
    sp_json_text span;
    sp_json_token token;
    int status = SP_OK;
    sp_json_reader_init(&list, json, strlen(json));
    sp_json_next(&list, NULL);
    while (status == SP_OK && (token = sp_json_next(&list, &span)) == SP_JSON_STRING) {
        const char *text;
        status = sp_json_take_text(doc, "a list of metadata", token, span, &text);
        if (status == SP_OK && !sp_vector_reserve(&texts, 1))
            status = sp_json_out_of_memory(doc);
        if (status == SP_OK)
            texts.items[texts.count++] = text;
    }
    *out_fits = status == SP_OK && token == SP_JSON_ARRAY_END;
    if (*out_fits) {
        const char **kept = sp_arena_array(&doc->arena, texts.count, sizeof *kept);
        if (kept != NULL && texts.count > 0)
            memcpy(kept, texts.items, texts.count * sizeof *kept);
        entry->kind = SP_VALUE_TEXT_LIST;
        entry->list = kept;
        entry->list_length = texts.count;
        status = kept == NULL ? sp_json_out_of_memory(doc) : SP_OK;
    }
    sp_vector_release(&texts);
    return status;
}

/* A number, as whole as it was written; null was written for one that JSON cannot hold. */
static bool take_number(sp_json_token token, sp_json_text span, sp_metadata_entry *entry)
{
    entry->kind = SP_VALUE_INTEGER;
    if (token == SP_JSON_NUMBER && sp_json_integer_of(span, &entry->integer))
        return true;
    bool has_fraction = false;
    for (size_t i = 0; i < span.length; i++)
        has_fraction = has_fraction || strchr(".eENI", span.bytes[i]) != NULL;
    entry->kind = SP_VALUE_REAL;
    entry->real = (double)NAN;
    return token == SP_JSON_NULL ||
           (token == SP_JSON_NUMBER && has_fraction && sp_json_real_of(span, &entry->real));
}

/* Anything else: a truth value becomes a number, the rest its JSON; both are kept as they are aside. */
static int take_odd(sp_json_document *doc, odd_members *odd, sp_json_token token, sp_json_text span,
                    sp_metadata_entry *entry)
{
    const char *json;
    bool fits = false;
    int status = sp_json_take_json(doc, token, span, &json);
    if (status == SP_OK && token == SP_JSON_ARRAY)
        status = take_list(doc, json, entry, &fits);
    if (status != SP_OK || fits)
        return status;
    add_odd(odd, entry->key, json);
    entry->kind = SP_VALUE_TEXT;
    entry->text = json;
    if (token == SP_JSON_TRUE || token == SP_JSON_FALSE) {
        entry->kind = SP_VALUE_INTEGER;
        entry->integer = token == SP_JSON_TRUE;
    }
    return SP_OK;
}

static int take_entry(sp_json_document *doc, odd_members *odd, sp_json_text key)
{
    sp_metadata_entry entry = {.key = ""};
    sp_json_text span;
    int status = sp_json_take_text(doc, "a key of the metadata", SP_JSON_STRING, key, &entry.key);
    sp_json_token token = sp_json_next(&doc->json, &span);
    if (status == SP_OK && token == SP_JSON_BAD)
        status = sp_json_malformed(doc);
    if (status == SP_OK && token == SP_JSON_STRING) {
        entry.kind = SP_VALUE_TEXT;
        status = sp_json_take_text(doc, "metadata", token, span, &entry.text);
    } else if (status == SP_OK && !take_number(token, span, &entry)) {
        status = take_odd(doc, odd, token, span, &entry);
    }
    if (status == SP_OK && !sp_vector_reserve(&doc->metadata, 1))
        status = sp_json_out_of_memory(doc);
    if (status == SP_OK)
        doc->metadata.items[doc->metadata.count++] = entry;
    return status;
}

int sp_json_take_metadata(sp_json_document *doc, sp_json_token token)
{
    odd_members odd = {{0}, 0};
    sp_json_text key;
    int status = SP_OK;
    if (token == SP_JSON_NULL)
        return SP_OK;
    if (token != SP_JSON_OBJECT)
        return sp_json_wrong(doc, "metadata is not an object");
    while (status == SP_OK && (token = sp_json_next(&doc->json, &key)) == SP_JSON_KEY)
        status = take_entry(doc, &odd, key);
    if (status == SP_OK && token != SP_JSON_OBJECT_END)
        status = sp_json_malformed(doc);
    if (status == SP_OK && odd.count > 0) {
        sp_text_add(&odd.json, "}");
        const char *text = odd.json.failed ? NULL : sp_arena_text(&doc->arena, odd.json.bytes);
        status = text == NULL ? sp_json_out_of_memory(doc)
                              : sp_json_add_extra(doc, "json_metadata", text);
    }
    sp_text_release(&odd.json);
    return status;
}

/* ---- Lanes -----------------------------------------------------------------------------------*/

static int take_thread_member(sp_json_document *doc, void *context, const char *key,
                              sp_json_token token, sp_json_text span)
{
    sp_thread_row *row = context;
    const struct {
        const char *key;
        int64_t *value;
    } integers[] = {{"index", &row->index},       {"ident", &row->ident},
                    {"native_id", &row->native_id}, {"start_ns", &row->start_ns},
                    {"end_ns", &row->end_ns},     {"cpu_ns", &row->cpu_ns}};
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        if (strcmp(key, integers[i].key) == 0)
            return sp_json_take_integer(doc, key, token, span, integers[i].value);
    if (strcmp(key, "name") == 0)
        return sp_json_take_text(doc, key, token, span, &row->name);
    if (strcmp(key, "daemon") == 0)
        row->is_daemon = token == SP_JSON_TRUE;
    return sp_json_skip_value(doc, token);
}

static int take_task_member(sp_json_document *doc, void *context, const char *key,
                            sp_json_token token, sp_json_text span)
{
    sp_task_row *row = context;
    const struct {
        const char *key;
        int64_t *value;
    } integers[] = {
        {"index", &row->index},           {"thread_index", &row->thread_index},
        {"created_ns", &row->created_ns}, {"done_ns", &row->done_ns},
        {"steps", &row->steps},           {"running_ns", &row->running_ns},
        {"suspended_ns", &row->suspended_ns}};
    const struct {
        const char *key;
        const char **value;
    } texts[] = {{"kind", &row->kind}, {"name", &row->name}, {"coro_name", &row->coroutine_name}};
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        if (strcmp(key, integers[i].key) == 0)
            return sp_json_take_integer(doc, key, token, span, integers[i].value);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(key, texts[i].key) == 0)
            return sp_json_take_text(doc, key, token, span, texts[i].value);
    return sp_json_skip_value(doc, token);
}

static int take_lane(sp_json_document *doc, bool is_task, uint32_t rank)
{
    sp_thread_row thread = {.rank = rank, .index = -1, .ident = -1, .native_id = -1, .start_ns = -1,
                            .end_ns = -1, .cpu_ns = -1, .name = ""};
    sp_task_row task = {.rank = rank, .index = -1, .thread_index = -1, .created_ns = -1,
                        .done_ns = -1, .steps = -1, .running_ns = -1, .suspended_ns = -1,
                        .kind = "", .name = "", .coroutine_name = ""};
    int status = is_task ? sp_json_members(doc, take_task_member, &task)
                         : sp_json_members(doc, take_thread_member, &thread);
    if (status != SP_OK)
        return status;
    if (is_task) {
        if (!sp_vector_reserve(&doc->tasks, 1))
            return sp_json_out_of_memory(doc);
        doc->tasks.items[doc->tasks.count++] = task;
    } else {
        if (!sp_vector_reserve(&doc->threads, 1))
            return sp_json_out_of_memory(doc);
        doc->threads.items[doc->threads.count++] = thread;
    }
    return SP_OK;
}

static int take_lanes_of_rank(sp_json_document *doc, void *context, const char *key,
                              sp_json_token token, sp_json_text span)
{
    const bool *are_tasks = context;
    int64_t rank;
    (void)span;
    if (!sp_json_integer_of((sp_json_text){key, strlen(key)}, &rank) || rank < 0 ||
        rank >= UINT32_MAX)
        return sp_json_wrong(doc, "'%s' in a table of lanes is not a rank", key);
    if (token != SP_JSON_ARRAY)
        return sp_json_wrong(doc, "the lanes of rank %s are not a list", key);
    while ((token = sp_json_next(&doc->json, NULL)) == SP_JSON_OBJECT) {
        int status = take_lane(doc, *are_tasks, (uint32_t)rank);
        if (status != SP_OK)
            return status;
    }
    if (token == SP_JSON_BAD)
        return sp_json_malformed(doc);
    return token == SP_JSON_ARRAY_END ? SP_OK
                                      : sp_json_wrong(doc, "a lane of rank %s is not an object", key);
}

int sp_json_take_lanes(sp_json_document *doc, sp_json_token token, bool are_tasks)
{
    if (token == SP_JSON_NULL)
        return SP_OK;
    if (token != SP_JSON_OBJECT)
        return sp_json_wrong(doc, "%s is not an object", are_tasks ? "tasks" : "threads");
    return sp_json_members(doc, take_lanes_of_rank, &are_tasks);
}
