#include "store/hdf5/records.h"

#include "base/error.h"
#include "base/json.h"
#include "base/json_reader.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One number of a list, in both readings; which holds is known when the list ends. */
typedef struct number {
    int64_t integer;
    double real;
} number;

typedef struct parse {
    sp_records *out;
    sp_json_reader json;
    sp_record_kind kind;
    sp_text scratch, more;
    SP_VECTOR(const char *) texts;
    SP_VECTOR(number) numbers;
    bool all_integers, all_numbers; /* of `numbers` */
    bool failed;                    /* out of memory; else a step that returns false did not fit */
} parse;

static bool fail(parse *p)
{
    p->failed = true;
    return false;
}

/* ---- Scalars ---------------------------------------------------------------------------------*/

static const char *take_text(parse *p, sp_json_text span)
{
    p->scratch.length = 0;
    sp_json_decode(&p->scratch, span);
    if (p->scratch.failed || span.length == 0) {
        p->failed = p->failed || p->scratch.failed;
        return span.length == 0 ? "" : NULL;
    }
    if (memchr(p->scratch.bytes, '\0', p->scratch.length) != NULL)
        return NULL; /* would be cut there */
    const char *text = sp_arena_text_n(&p->out->arena, p->scratch.bytes, p->scratch.length);
    p->failed = p->failed || text == NULL;
    return text;
}

static bool add_attribute(parse *p, sp_record *record, sp_metadata_entry entry)
{
    if (entry.key[0] == '\0')
        return false;
    if (!sp_vector_reserve(&record->attributes, 1))
        return fail(p);
    record->attributes.items[record->attributes.count++] = entry;
    return true;
}

static bool add_text(parse *p, sp_record *record, const char *key, sp_json_text span)
{
    const char *text = take_text(p, span);
    return text != NULL && add_attribute(p, record, (sp_metadata_entry){
                                             .key = key, .kind = SP_VALUE_TEXT, .text = text});
}

static bool is_whole(sp_json_text span)
{
    return memchr(span.bytes, '.', span.length) == NULL &&
           memchr(span.bytes, 'e', span.length) == NULL &&
           memchr(span.bytes, 'E', span.length) == NULL;
}

static bool add_number(parse *p, sp_record *record, const char *key, sp_json_text span)
{
    sp_metadata_entry entry = {.key = key, .kind = SP_VALUE_INTEGER};
    bool is_real = p->kind == SP_RECORD_LINES && strcmp(key, "unit") == 0;
    if (is_real || !sp_json_integer_of(span, &entry.integer)) {
        entry.kind = SP_VALUE_REAL;
        if ((!is_real && is_whole(span)) || !sp_json_real_of(span, &entry.real))
            return false;
    }
    return add_attribute(p, record, entry);
}

/* ---- Lists -----------------------------------------------------------------------------------*/

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

static sp_record_type type_of(const parse *p, const char *name)
{
    static const char *const integers[] = {"cpus", "call_counts", "line_numbers", "hits", NULL};
    static const char *const reals[] = {"times", "events", "metrics", NULL};
    if (p->kind == SP_RECORD_PERF_EVENTS && strcmp(name, "values") == 0)
        return SP_RECORD_UINT64;
    if (is_one_of(name, integers))
        return SP_RECORD_INT64;
    return is_one_of(name, reals) || !p->all_integers ? SP_RECORD_REAL : SP_RECORD_INT64;
}

/* An unsigned number keeps its bits in the integer. */
static bool add_to_list(parse *p, sp_json_token token, sp_json_text span)
{
    number value = {.real = NAN};
    if (token == SP_JSON_NUMBER) {
        if (!sp_json_real_of(span, &value.real))
            return false;
        if (!sp_json_integer_of(span, &value.integer)) {
            errno = 0;
            value.integer = (int64_t)strtoull(span.bytes, NULL, 10);
            p->all_integers = false;
            p->all_numbers = p->all_numbers && is_whole(span) && errno == 0 && span.bytes[0] != '-';
        }
    } else if (token == SP_JSON_NULL)
        p->all_integers = p->all_numbers = false;
    else
        return false;
    if (!sp_vector_reserve(&p->numbers, 1))
        return fail(p);
    p->numbers.items[p->numbers.count++] = value;
    return true;
}

static bool has_negative(const parse *p)
{
    for (size_t i = 0; i < p->numbers.count; i++)
        if (p->numbers.items[i].real < 0)
            return true;
    return false;
}

/* The numbers taken so far as a dataset of one or two dimensions. */
static bool add_values(parse *p, sp_record *record, const char *name, bool is_matrix, uint64_t width)
{
    sp_record_type type = type_of(p, name);
    if (name[0] == '\0' || strchr(name, '/') != NULL ||
        (type == SP_RECORD_INT64 && !p->all_integers) ||
        (type == SP_RECORD_UINT64 && (!p->all_numbers || has_negative(p))))
        return false;
    size_t count = p->numbers.count;
    int64_t *values = sp_arena_array(&p->out->arena, count + 1, sizeof *values);
    if (values == NULL || !sp_vector_reserve(&record->values, 1))
        return fail(p);
    for (size_t i = 0; i < count; i++)
        memcpy(&values[i], type == SP_RECORD_REAL ? (void *)&p->numbers.items[i].real
                                                  : (void *)&p->numbers.items[i].integer,
               sizeof values[i]);
    record->values.items[record->values.count++] = (sp_record_values){
        .name = name, .type = type, .is_matrix = is_matrix, .count = count, .width = width,
        .values = values};
    return true;
}

static bool take_numbers(parse *p, sp_json_token token, sp_json_text span)
{
    while (token != SP_JSON_ARRAY_END) {
        if (!add_to_list(p, token, span))
            return false;
        token = sp_json_next(&p->json, &span);
    }
    return true;
}

static bool take_matrix(parse *p, uint64_t *out_width)
{
    sp_json_token token = SP_JSON_ARRAY;
    sp_json_text span;
    size_t rows = 0;
    for (; token == SP_JSON_ARRAY; token = sp_json_next(&p->json, &span), rows++) {
        size_t before = p->numbers.count;
        token = sp_json_next(&p->json, &span);
        if (!take_numbers(p, token, span))
            return false;
        if (rows == 0)
            *out_width = p->numbers.count;
        else if (p->numbers.count - before != *out_width)
            return false;
    }
    return token == SP_JSON_ARRAY_END;
}

static bool take_texts(parse *p, sp_json_token token, sp_json_text span)
{
    for (; token == SP_JSON_STRING; token = sp_json_next(&p->json, &span)) {
        const char *text = take_text(p, span);
        if (text == NULL)
            return false;
        if (!sp_vector_reserve(&p->texts, 1))
            return fail(p);
        p->texts.items[p->texts.count++] = text;
    }
    return token == SP_JSON_ARRAY_END;
}

static bool add_texts(parse *p, sp_record *record, const char *key)
{
    const char **list = sp_arena_array(&p->out->arena, p->texts.count, sizeof *list);
    if (list == NULL)
        return fail(p);
    if (p->texts.count > 0)
        memcpy(list, p->texts.items, p->texts.count * sizeof *list);
    return add_attribute(p, record, (sp_metadata_entry){.key = key, .kind = SP_VALUE_TEXT_LIST,
                                                        .list = list,
                                                        .list_length = p->texts.count});
}

static void begin_list(parse *p)
{
    p->texts.count = p->numbers.count = 0;
    p->all_integers = p->all_numbers = true;
}

static bool add_list(parse *p, sp_record *record, const char *key)
{
    static const char *const names[] = {"event_names", "counter_names", "metric_names", NULL};
    sp_json_text span;
    uint64_t width = 0;
    sp_json_token token = sp_json_next(&p->json, &span);
    begin_list(p);
    if (token == SP_JSON_STRING || (token == SP_JSON_ARRAY_END && is_one_of(key, names)))
        return take_texts(p, token, span) && add_texts(p, record, key);
    if (token == SP_JSON_ARRAY)
        return take_matrix(p, &width) && add_values(p, record, key, true, width);
    return take_numbers(p, token, span) && add_values(p, record, key, false, 0);
}

/* Totals by event: a list of names and one of numbers. */
static bool add_totals(parse *p, sp_record *record)
{
    sp_json_text span;
    begin_list(p);
    while (sp_json_next(&p->json, &span) == SP_JSON_KEY) {
        const char *event = take_text(p, span);
        sp_json_token token = sp_json_next(&p->json, &span);
        if (event == NULL || !add_to_list(p, token, span))
            return false;
        if (!sp_vector_reserve(&p->texts, 1))
            return fail(p);
        p->texts.items[p->texts.count++] = event;
    }
    return add_texts(p, record, "event_names") && add_values(p, record, "values", false, 0);
}

/* ---- Records ---------------------------------------------------------------------------------*/

static bool take_member(parse *p, sp_record *record, const char *key, sp_json_token token,
                        sp_json_text span)
{
    switch (token) {
    case SP_JSON_STRING:
        return add_text(p, record, key, span);
    case SP_JSON_NUMBER:
        return add_number(p, record, key, span);
    case SP_JSON_NULL:
        return true;
    case SP_JSON_ARRAY:
        return add_list(p, record, key);
    case SP_JSON_OBJECT:
        return p->kind == SP_RECORD_PERF_EVENTS && strcmp(key, "values") == 0 &&
               add_totals(p, record);
    default:
        return false;
    }
}

/* A matrix without rows has as many columns as the others: one a thread. */
static void complete_widths(sp_record *record)
{
    uint64_t threads = 0;
    for (size_t i = 0; i < record->values.count; i++)
        if (strcmp(record->values.items[i].name, "times") == 0)
            threads = record->values.items[i].count;
    for (size_t i = 0; i < record->values.count; i++) {
        sp_record_values *values = &record->values.items[i];
        if (values->count == 0 &&
            (strcmp(values->name, "events") == 0 || strcmp(values->name, "metrics") == 0)) {
            values->is_matrix = true;
            values->width = threads;
        }
    }
}

/* What other readers look for in a record; `source` and what nobody knows may be missing. */
static const char *const *names_of(sp_record_kind kind)
{
    static const char *const likwid[] = {"cpus",    "times",        "call_counts",
                                         "events",  "metrics",      "event_names",
                                         "group_id", "counter_names", "metric_names", NULL};
    static const char *const perf_events[] = {"calls", "event_names", "values", NULL};
    static const char *const lines[] = {"region", "filename",     "function", "first_lineno",
                                        "unit",   "line_numbers", "hits",     "times", NULL};
    static const char *const none[] = {NULL};
    return kind == SP_RECORD_LIKWID        ? likwid
           : kind == SP_RECORD_PERF_EVENTS ? perf_events
           : kind == SP_RECORD_LINES       ? lines
                                           : none;
}

static bool has_member(const sp_record *record, const char *name)
{
    for (size_t i = 0; i < record->attributes.count; i++)
        if (strcmp(record->attributes.items[i].key, name) == 0)
            return true;
    for (size_t i = 0; i < record->values.count; i++)
        if (strcmp(record->values.items[i].name, name) == 0)
            return true;
    return false;
}

static bool is_complete(const parse *p, const sp_record *record)
{
    const char *const *name = names_of(p->kind);
    while (*name != NULL && has_member(record, *name))
        name++;
    return *name == NULL;
}

/* The member as it is, into what becomes one attribute. */
static bool keep_member(parse *p, const char *key, sp_json_token token, sp_json_text span)
{
    sp_text_add(&p->more, p->more.length == 0 ? "{" : ", ");
    sp_json_string(&p->more, key, strlen(key));
    sp_text_add(&p->more, ": ");
    return sp_json_copy(&p->more, &p->json, token, span, 0, 0);
}

static bool add_member(parse *p, sp_record *record, const char *key)
{
    sp_json_text span;
    const sp_json_reader before = p->json;
    sp_json_token token = sp_json_next(&p->json, &span);
    if (take_member(p, record, key, token, span))
        return true;
    if (p->failed || is_one_of(key, names_of(p->kind)))
        return false;
    p->json = before;
    token = sp_json_next(&p->json, &span);
    return keep_member(p, key, token, span);
}

static bool add_more(parse *p, sp_record *record)
{
    if (p->more.length == 0)
        return true;
    sp_text_add(&p->more, "}");
    const char *text =
        p->more.failed ? NULL : sp_arena_text_n(&p->out->arena, p->more.bytes, p->more.length);
    return text == NULL ? fail(p)
                        : add_attribute(p, record, (sp_metadata_entry){.key = SP_RECORD_MORE,
                                                                       .kind = SP_VALUE_TEXT,
                                                                       .text = text});
}

static bool add_record(parse *p, uint32_t rank, const char *key, sp_json_token token)
{
    sp_json_text span;
    p->more.length = 0;
    if (token != SP_JSON_OBJECT)
        return false;
    if (!sp_vector_reserve(&p->out->list, 1))
        return fail(p);
    sp_record *record = &p->out->list.items[p->out->list.count++];
    *record = (sp_record){.rank = rank, .key = key};
    while ((token = sp_json_next(&p->json, &span)) == SP_JSON_KEY) {
        const char *name = take_text(p, span);
        if (name == NULL || !add_member(p, record, name))
            return false;
    }
    complete_widths(record);
    return token == SP_JSON_OBJECT_END && is_complete(p, record) && add_more(p, record);
}

/* The records of one rank. */
static bool take_rank(parse *p, uint32_t rank)
{
    sp_json_text span;
    sp_json_token token = sp_json_next(&p->json, &span);
    if (p->kind == SP_RECORD_LIKWID_ENVIRONMENT)
        return add_record(p, rank, NULL, token);
    if (p->kind == SP_RECORD_LINES) {
        bool fits = token == SP_JSON_ARRAY;
        while (fits && (token = sp_json_next(&p->json, &span)) != SP_JSON_ARRAY_END)
            fits = add_record(p, rank, NULL, token);
        return fits;
    }
    if (token != SP_JSON_OBJECT)
        return false;
    while ((token = sp_json_next(&p->json, &span)) == SP_JSON_KEY) {
        const char *key = take_text(p, span);
        if (key == NULL || key[0] == '\0' ||
            !add_record(p, rank, key, sp_json_next(&p->json, &span)))
            return false;
    }
    return token == SP_JSON_OBJECT_END;
}

static bool take_ranks(parse *p)
{
    enum { MAX_RANK = 999999999 };
    sp_json_text span;
    sp_json_token token = sp_json_next(&p->json, &span);
    if (token != SP_JSON_OBJECT)
        return false;
    while ((token = sp_json_next(&p->json, &span)) == SP_JSON_KEY) {
        int64_t rank;
        if (!sp_json_integer_of(span, &rank) || rank < 0 || rank > MAX_RANK ||
            !take_rank(p, (uint32_t)rank))
            return false;
    }
    return token == SP_JSON_OBJECT_END && sp_json_next(&p->json, NULL) == SP_JSON_END;
}

bool sp_record_kind_of(const char *name, sp_record_kind *out)
{
    static const char *const names[] = {
        [SP_RECORD_LIKWID] = "json_likwid",
        [SP_RECORD_LIKWID_ENVIRONMENT] = "json_likwid_environment",
        [SP_RECORD_PERF_EVENTS] = "json_perf_events",
        [SP_RECORD_LINES] = "json_line_profile",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (sp_record_kind)i;
            return true;
        }
    return false;
}

int sp_records_parse(sp_record_kind kind, const char *json, sp_records *out, sp_error *error)
{
    parse p = {.out = out, .kind = kind};
    *out = (sp_records){.list = {0}};
    sp_json_reader_init(&p.json, json, strlen(json));
    bool fits = take_ranks(&p);
    sp_text_release(&p.scratch);
    sp_text_release(&p.more);
    sp_vector_release(&p.texts);
    sp_vector_release(&p.numbers);
    if (p.failed)
        return sp_fail_memory(error, "writing counters");
    return fits ? SP_OK : SP_ERR_NOT_FOUND;
}

void sp_records_release(sp_records *records)
{
    for (size_t i = 0; i < records->list.count; i++) {
        sp_vector_release(&records->list.items[i].attributes);
        sp_vector_release(&records->list.items[i].values);
    }
    sp_vector_release(&records->list);
    sp_arena_release(&records->arena);
}
