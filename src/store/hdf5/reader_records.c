/* reader_records.c - what other tools recorded beside the calls: hardware counters (LIKWID), counter
 * totals (perf events), times of lines. The model of a run has no place for it, so each rank's part is
 * kept as JSON in an extra array, in the form of the JSON profile: {"<rank>": ...}. */
#include "base/error.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "store/hdf5/records.h"
#include "store/hdf5/values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MEMBERS = 1 << 16, MAX_VALUES = 1 << 22 };

typedef struct name_list {
    sp_arena *arena;
    SP_VECTOR(const char *) names;
    bool failed;
} name_list;

static bool note_name(void *context, const char *name)
{
    name_list *list = context;
    const char *copy = sp_arena_text(list->arena, name);
    list->failed = copy == NULL || list->names.count == MAX_MEMBERS ||
                   !sp_vector_reserve(&list->names, 1);
    if (!list->failed)
        list->names.items[list->names.count++] = copy;
    return !list->failed;
}

typedef int (*name_walk)(sp_tree *tree, sp_tree_handle group, sp_tree_visit visit, void *context,
                         sp_error *error);

/* Names of members or attributes; release the list. */
static int list_names(sp_store_reader *reader, sp_tree_handle group, name_walk walk, name_list *out,
                      sp_error *error)
{
    *out = (name_list){.arena = &reader->context.arena};
    int status = walk(reader->tree, group, note_name, out, error);
    if (status == SP_OK && out->failed)
        status = sp_fail_memory(error, "opening a profile");
    return status;
}

static void add_key(sp_text *out, const char *key)
{
    if (out->length > 0 && out->bytes[out->length - 1] != '{')
        sp_text_add(out, ", ");
    sp_json_string(out, key, strlen(key));
    sp_text_add(out, ": ");
}

/* ---- Values ----------------------------------------------------------------------------------*/

static void add_entry(sp_text *out, const sp_metadata_entry *entry)
{
    switch (entry->kind) {
    case SP_VALUE_INTEGER:
        sp_json_integer(out, entry->integer);
        return;
    case SP_VALUE_REAL:
        sp_json_real(out, entry->real);
        return;
    case SP_VALUE_TEXT:
        sp_json_string(out, entry->text, strlen(entry->text));
        return;
    case SP_VALUE_TEXT_LIST:
        break;
    }
    sp_text_add(out, "[");
    for (size_t i = 0; i < entry->list_length; i++) {
        sp_text_add(out, i == 0 ? "" : ", ");
        sp_json_string(out, entry->list[i], strlen(entry->list[i]));
    }
    sp_text_add(out, "]");
}

/* Values in order; in rows of `width` when that is not 0 and divides their number. */
static void add_values(sp_text *out, const void *values, sp_tree_type type, uint64_t count,
                       uint64_t width)
{
    bool has_rows = width > 0 && count % width == 0;
    sp_text_add(out, "[");
    for (uint64_t i = 0; i < count; i++) {
        sp_text_add(out, i == 0 ? "" : ", ");
        sp_text_add(out, has_rows && i % width == 0 ? "[" : "");
        if (type == SP_TREE_REALS)
            sp_json_real(out, ((const double *)values)[i]);
        else
            sp_text_format(out, "%" PRIu64, ((const uint64_t *)values)[i]);
        sp_text_add(out, has_rows && i % width == width - 1 ? "]" : "");
    }
    sp_text_add(out, "]");
}

static void add_signed(sp_text *out, const int64_t *values, uint64_t count)
{
    sp_text_add(out, "[");
    for (uint64_t i = 0; i < count; i++) {
        sp_text_add(out, i == 0 ? "" : ", ");
        sp_json_integer(out, values[i]);
    }
    sp_text_add(out, "]");
}

/* A dataset of numbers. Totals of counters are unsigned. */
static int add_dataset(sp_store_reader *reader, sp_tree_handle group, const char *name,
                       bool is_unsigned, uint64_t width, sp_text *out, sp_error *error)
{
    sp_tree_column column;
    const sp_tree_ops *ops = reader->tree->ops;
    int status = sp_hdf5_open_matrix(reader, group, name, &column, error);
    if (status != SP_OK)
        return status;
    void *values = column.length <= MAX_VALUES && sp_hdf5_is_modest(reader, &column)
                       ? malloc((size_t)(column.length + 1) * sizeof(int64_t)) : NULL;
    if (values == NULL)
        status = sp_tree_overclaimed(&reader->context, error, name, column.length);
    else if (column.type == SP_TREE_REALS)
        status = ops->read_reals(reader->tree, &column, 0, column.length, values, error);
    else
        status = ops->read_integers(reader->tree, &column, 0, column.length, is_unsigned, values,
                                    error);
    if (status == SP_OK && (column.type == SP_TREE_REALS || is_unsigned))
        add_values(out, values, column.type, column.length, width);
    else if (status == SP_OK)
        add_signed(out, values, column.length);
    free(values);
    sp_hdf5_close_column(reader, &column);
    return status;
}

/* ---- Records ---------------------------------------------------------------------------------*/

/* How many threads a LIKWID region has; its matrices have a column for each. */
static uint64_t count_threads(sp_store_reader *reader, sp_tree_handle group)
{
    sp_tree_column column = {0};
    if (sp_hdf5_open_column(reader, group, "times", SP_HDF5_OPTIONAL, &column, NULL) != SP_OK)
        return 0;
    uint64_t count = column.handle == 0 ? 0 : column.length;
    sp_hdf5_close_column(reader, &column);
    return count;
}

/* The members of an object that is one attribute; false when it is none. */
static bool add_members(sp_text *out, const sp_metadata_entry *entry)
{
    sp_json_reader reader;
    sp_json_text span;
    sp_text whole = {0};
    if (entry->kind != SP_VALUE_TEXT)
        return false;
    sp_json_reader_init(&reader, entry->text, strlen(entry->text));
    bool is_object = sp_json_next(&reader, &span) == SP_JSON_OBJECT &&
                     sp_json_copy(&whole, &reader, SP_JSON_OBJECT, span, 0, 0) &&
                     sp_json_next(&reader, NULL) == SP_JSON_END && !whole.failed;
    if (is_object && whole.length > 2) {
        if (out->length > 0 && out->bytes[out->length - 1] != '{')
            sp_text_add(out, ", ");
        sp_text_add_n(out, whole.bytes + 1, whole.length - 2);
    }
    sp_text_release(&whole);
    return is_object;
}

/* `left_out`: a name that is no part of the record, or NULL. */
static int add_attributes(sp_store_reader *reader, sp_tree_handle group, const char *left_out,
                          sp_text *out, sp_error *error)
{
    name_list list;
    int status = list_names(reader, group, reader->tree->ops->each_attribute, &list, error);
    for (size_t i = 0; status == SP_OK && i < list.names.count; i++) {
        sp_metadata_entry entry;
        if (left_out != NULL && strcmp(list.names.items[i], left_out) == 0)
            continue;
        status = sp_hdf5_read_attribute(reader, group, list.names.items[i], &entry, error);
        if (status == SP_OK && strcmp(list.names.items[i], SP_RECORD_MORE) == 0 &&
            add_members(out, &entry))
            continue;
        if (status == SP_OK) {
            add_key(out, list.names.items[i]);
            add_entry(out, &entry);
        }
        status = status == SP_ERR_NOT_FOUND ? SP_OK : status;
    }
    sp_vector_release(&list.names);
    return status;
}

/* Attributes and datasets of a group as the members of one object. Totals of perf events, which are
 * unsigned, have a `tag` only where their group could not have the name of the region. */
static int add_record(sp_store_reader *reader, sp_tree_handle parent, const char *name,
                      bool is_unsigned, sp_text *out, sp_error *error)
{
    sp_tree_handle group = 0;
    name_list list = {.arena = NULL};
    int status = sp_hdf5_open_group(reader, parent, name, SP_HDF5_REQUIRED, &group, error);
    if (status != SP_OK)
        return status;
    uint64_t threads = count_threads(reader, group);
    sp_text_add(out, "{");
    status = add_attributes(reader, group, is_unsigned ? "tag" : NULL, out, error);
    if (status == SP_OK)
        status = list_names(reader, group, reader->tree->ops->each_member, &list, error);
    for (size_t i = 0; status == SP_OK && i < list.names.count; i++) {
        const char *member = list.names.items[i];
        bool is_matrix = strcmp(member, "events") == 0 || strcmp(member, "metrics") == 0;
        add_key(out, member);
        status = add_dataset(reader, group, member, is_unsigned, is_matrix ? threads : 0, out, error);
    }
    sp_text_add(out, "}");
    sp_vector_release(&list.names);
    sp_hdf5_close_group(reader, group);
    return status;
}

/* What a record is called: its attribute `tag`, in which a slash is a slash, else its group. */
static const char *key_of(sp_store_reader *reader, sp_tree_handle parent, const char *name)
{
    sp_tree_handle group = 0;
    sp_metadata_entry tag = {.text = NULL};
    const char *key = name;
    if (sp_hdf5_open_group(reader, parent, name, SP_HDF5_REQUIRED, &group, NULL) != SP_OK)
        return name;
    if (sp_hdf5_read_attribute(reader, group, "tag", &tag, NULL) == SP_OK &&
        tag.kind == SP_VALUE_TEXT)
        key = tag.text;
    sp_hdf5_close_group(reader, group);
    return key;
}

/* Numbered groups by number, others as they come. */
static int compare_names(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    size_t width = strlen(x), other = strlen(y);
    bool are_numbers = strspn(x, "0123456789") == width && strspn(y, "0123456789") == other;
    if (are_numbers && width != other)
        return width < other ? -1 : 1;
    return strcmp(x, y);
}

/* All records of a group: a list, or an object by their names. */
static int add_records(sp_store_reader *reader, sp_tree_handle group, bool is_list, bool is_unsigned,
                       sp_text *out, sp_error *error)
{
    name_list list;
    int status = list_names(reader, group, reader->tree->ops->each_member, &list, error);
    if (status == SP_OK && list.names.count > 0)
        qsort(list.names.items, list.names.count, sizeof *list.names.items, compare_names);
    sp_text_add(out, is_list ? "[" : "{");
    for (size_t i = 0; status == SP_OK && i < list.names.count; i++) {
        if (is_list)
            sp_text_add(out, i == 0 ? "" : ", ");
        else
            add_key(out, key_of(reader, group, list.names.items[i]));
        status = add_record(reader, group, list.names.items[i], is_unsigned, out, error);
    }
    sp_text_add(out, is_list ? "]" : "}");
    sp_vector_release(&list.names);
    return status;
}

/* ---- Ranks -----------------------------------------------------------------------------------*/

static int keep(sp_store_reader *reader, const char *name, uint32_t rank, sp_text *json,
                sp_error *error)
{
    const char **text = sp_arena_alloc(&reader->context.arena, sizeof *text);
    if (text != NULL)
        *text = json->failed ? NULL
                             : sp_arena_text_n(&reader->context.arena, json->bytes, json->length);
    if (text == NULL || *text == NULL || !sp_vector_reserve(&reader->extras, 1))
        return sp_fail_memory(error, "opening a profile");
    reader->extras.items[reader->extras.count++] =
        (sp_extra){.name = name, .rank = rank, .length = 1, .texts = text};
    return SP_OK;
}

/* One part of a rank's group, if it is there. NULL `inner`: the records lie in the group itself. */
static int read_part(sp_store_reader *reader, sp_tree_handle of_rank, uint32_t rank,
                     const char *name, const char *inner, const char *extra, sp_error *error)
{
    sp_tree_handle outer = 0, records = 0;
    sp_text json = {0};
    int status = sp_hdf5_open_group(reader, of_rank, name, SP_HDF5_OPTIONAL, &outer, error);
    if (status == SP_OK && outer != 0 && inner != NULL)
        status = sp_hdf5_open_group(reader, outer, inner, SP_HDF5_OPTIONAL, &records, error);
    sp_tree_handle from = inner == NULL ? outer : records;
    if (status == SP_OK && from != 0) {
        sp_text_format(&json, "{\"%" PRIu32 "\": ", rank);
        status = add_records(reader, from, strcmp(name, "line_profile") == 0,
                             strcmp(name, "perf_events") == 0, &json, error);
        sp_text_add(&json, "}");
    }
    if (status == SP_OK && from != 0)
        status = keep(reader, extra, rank, &json, error);
    json.length = 0;
    if (status == SP_OK && outer != 0 && inner != NULL) { /* what the run was measured with */
        sp_text_format(&json, "{\"%" PRIu32 "\": {", rank);
        status = add_attributes(reader, outer, NULL, &json, error);
        sp_text_add(&json, "}}");
        if (status == SP_OK)
            status = keep(reader, "json_likwid_environment", rank, &json, error);
    }
    sp_text_release(&json);
    sp_hdf5_close_group(reader, records);
    sp_hdf5_close_group(reader, outer);
    return status;
}

/* "rank12": 12; -1 for any other name. */
static int64_t rank_of(const char *name)
{
    const char *digits = name + 4;
    if (strncmp(name, "rank", 4) != 0 || digits[0] == '\0' || strlen(digits) > 9 ||
        strspn(digits, "0123456789") != strlen(digits))
        return -1;
    return strtoll(digits, NULL, 10);
}

static int read_rank(sp_store_reader *reader, const char *name, uint32_t rank, sp_error *error)
{
    sp_tree_handle group = 0;
    int status = sp_hdf5_open_group(reader, ROOT(reader), name, SP_HDF5_REQUIRED, &group, error);
    if (status == SP_OK)
        status = read_part(reader, group, rank, "likwid", "regions", "json_likwid", error);
    if (status == SP_OK)
        status = read_part(reader, group, rank, "perf_events", NULL, "json_perf_events", error);
    if (status == SP_OK)
        status = read_part(reader, group, rank, "line_profile", NULL, "json_line_profile", error);
    sp_hdf5_close_group(reader, group);
    return status;
}

int sp_hdf5_read_records(sp_store_reader *reader, sp_error *error)
{
    name_list list;
    int status = list_names(reader, ROOT(reader), reader->tree->ops->each_member, &list, error);
    for (size_t i = 0; status == SP_OK && i < list.names.count; i++) {
        int64_t rank = rank_of(list.names.items[i]);
        if (rank >= 0)
            status = read_rank(reader, list.names.items[i], (uint32_t)rank, error);
    }
    sp_vector_release(&list.names);
    reader->description.extras = reader->extras.items;
    reader->description.num_extras = reader->extras.count;
    return status;
}
