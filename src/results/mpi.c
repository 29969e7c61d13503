/* mpi.c - what the recorded calls of MPI say about a job. Regions of MPI are known by their tags, and what a
 * call was about by its metadata. */
#include "base/arena.h"
#include "base/error.h"
#include "base/json_reader.h"
#include "base/number_map.h"
#include "base/vector.h"
#include "results/model.h"

#include <stdlib.h>
#include <string.h>

static const char DOING[] = "looking at the calls of MPI";

/* One call of a collective operation that blocks. */
typedef struct arrival {
    uint64_t key; /* communicator and number of the operation in it */
    size_t operation, rank;
    int64_t start, duration;
} arrival;

typedef SP_VECTOR(int64_t) numbers;

/* Metadata of one call. Missing: empty, or -1. */
typedef struct call_note {
    numbers bytes, to, from;
    int64_t comm, seq;
} call_note;

struct sp_mpi_report {
    sp_mpi_summary summary;
    SP_VECTOR(sp_mpi_rank) ranks;
    SP_VECTOR(sp_mpi_link) links;
    SP_VECTOR(sp_mpi_operation) operations;
    SP_VECTOR(arrival) arrivals;
    sp_number_map rank_places, link_places, operation_places;
    sp_arena texts;
};

/* ---- Tags ------------------------------------------------------------------------------------*/

/* The kind of a region of MPI, NULL for other regions. */
static const char *kind_of(sp_mpi_report *report, const sp_row *row, bool *out_failed)
{
    static const char prefix[] = "mpi.kind:";
    sp_json_reader reader;
    sp_json_text tag;
    const char *kind = NULL;
    bool is_mpi = false;
    sp_json_reader_init(&reader, row->tags_json, strlen(row->tags_json));
    if (sp_json_next(&reader, NULL) != SP_JSON_ARRAY)
        return NULL;
    while (sp_json_next(&reader, &tag) == SP_JSON_STRING) {
        is_mpi = is_mpi || sp_json_equals(tag, "mpi");
        if (kind == NULL && tag.length > sizeof prefix && memcmp(tag.bytes, prefix, sizeof prefix - 1) == 0) {
            kind = sp_arena_text_n(&report->texts, tag.bytes + sizeof prefix - 1,
                                   tag.length - (sizeof prefix - 1));
            *out_failed = *out_failed || kind == NULL;
        }
    }
    return is_mpi ? kind : NULL;
}

/* ---- Places ----------------------------------------------------------------------------------*/

/* Position of that key among `count` entries; a new one is the last. SP_NUMBER_NONE: no memory. */
static uint32_t place(sp_number_map *map, uint64_t key, size_t count, bool *out_is_new)
{
    uint32_t found = sp_number_map_get(map, key);
    *out_is_new = found == SP_NUMBER_NONE;
    if (*out_is_new && count < SP_NUMBER_NONE && sp_number_map_set(map, key, (uint32_t)count))
        found = (uint32_t)count;
    return found;
}

static sp_mpi_rank *rank_at(sp_mpi_report *report, uint32_t rank)
{
    bool is_new;
    if (!sp_vector_reserve(&report->ranks, 1))
        return NULL;
    uint32_t at = place(&report->rank_places, rank, report->ranks.count, &is_new);
    if (at == SP_NUMBER_NONE)
        return NULL;
    if (is_new)
        report->ranks.items[report->ranks.count++] = (sp_mpi_rank){.rank = rank};
    return &report->ranks.items[at];
}

static sp_mpi_operation *operation_at(sp_mpi_report *report, size_t region, const char *name,
                                      const char *kind)
{
    bool is_new;
    if (!sp_vector_reserve(&report->operations, 1))
        return NULL;
    uint32_t at = place(&report->operation_places, region, report->operations.count, &is_new);
    if (at == SP_NUMBER_NONE)
        return NULL;
    if (is_new)
        report->operations.items[report->operations.count++] = (sp_mpi_operation){.name = name, .kind = kind};
    return &report->operations.items[at];
}

static bool add_message(sp_mpi_report *report, int64_t from, int64_t to, int64_t bytes)
{
    bool is_new;
    if (from < 0 || to < 0 || from > INT32_MAX || to > INT32_MAX)
        return true; /* no rank: a damaged file may hold any number */
    if (!sp_vector_reserve(&report->links, 1))
        return false;
    uint64_t key = (uint64_t)from << 32 | (uint64_t)to;
    uint32_t at = place(&report->link_places, key, report->links.count, &is_new);
    if (at == SP_NUMBER_NONE)
        return false;
    if (is_new)
        report->links.items[report->links.count++] = (sp_mpi_link){.from = (uint32_t)from, .to = (uint32_t)to};
    report->links.items[at].messages++;
    report->links.items[at].bytes += bytes > 0 ? (uint64_t)bytes : 0;
    return true;
}

/* ---- Metadata of calls -----------------------------------------------------------------------*/

static bool add_number(numbers *out, sp_json_text text)
{
    int64_t value;
    if (out == NULL || !sp_json_integer_of(text, &value))
        return true;
    if (!sp_vector_reserve(out, 1))
        return false;
    out->items[out->count++] = value;
    return true;
}

/* Reads a number or a list of them; passes over anything else. False: no memory, or a wrong form. */
static bool read_numbers(sp_json_reader *reader, numbers *out)
{
    sp_json_text text;
    sp_json_token token = sp_json_next(reader, &text);
    if (token == SP_JSON_NUMBER)
        return add_number(out, text);
    if (token != SP_JSON_ARRAY)
        return sp_json_skip(reader, token);
    while ((token = sp_json_next(reader, &text)) != SP_JSON_ARRAY_END) {
        bool is_fine = token == SP_JSON_NUMBER ? add_number(out, text) : sp_json_skip(reader, token);
        if (token == SP_JSON_BAD || token == SP_JSON_END || !is_fine)
            return false;
    }
    return true;
}

static bool read_one(sp_json_reader *reader, int64_t *out)
{
    sp_json_text text;
    sp_json_token token = sp_json_next(reader, &text);
    if (token == SP_JSON_NUMBER)
        return sp_json_integer_of(text, out) || true;
    return sp_json_skip(reader, token);
}

/* One object of the list; its beginning was read. */
static bool read_note(sp_json_reader *reader, call_note *note)
{
    sp_json_text key;
    sp_json_token token;
    note->bytes.count = note->to.count = note->from.count = 0;
    note->comm = note->seq = -1;
    while ((token = sp_json_next(reader, &key)) == SP_JSON_KEY) {
        bool is_fine = sp_json_equals(key, "bytes")  ? read_numbers(reader, &note->bytes)
                       : sp_json_equals(key, "to")   ? read_numbers(reader, &note->to)
                       : sp_json_equals(key, "from") ? read_numbers(reader, &note->from)
                       : sp_json_equals(key, "comm") ? read_one(reader, &note->comm)
                       : sp_json_equals(key, "seq")  ? read_one(reader, &note->seq)
                                                     : read_numbers(reader, NULL);
        if (!is_fine)
            return false;
    }
    return token == SP_JSON_OBJECT_END;
}

/* ---- Rows ------------------------------------------------------------------------------------*/

static int64_t size_at(const call_note *note, size_t i)
{
    return note->bytes.count == 0 ? 0 : note->bytes.items[i < note->bytes.count ? i : 0];
}

static bool take_messages(sp_mpi_report *report, uint32_t rank, const call_note *note)
{
    bool is_fine = true;
    for (size_t i = 0; i < note->to.count; i++)
        is_fine = is_fine && add_message(report, rank, note->to.items[i], size_at(note, i));
    for (size_t i = 0; i < note->from.count; i++)
        is_fine = is_fine && add_message(report, note->from.items[i], rank, size_at(note, i));
    return is_fine;
}

static bool take_arrival(sp_mpi_report *report, const call_note *note, arrival seen)
{
    if (note->comm < 0 || note->seq < 0 || note->comm > UINT32_MAX || note->seq > UINT32_MAX)
        return true;
    if (!sp_vector_reserve(&report->arrivals, 1))
        return false;
    seen.key = (uint64_t)note->comm << 32 | (uint64_t)note->seq;
    report->arrivals.items[report->arrivals.count++] = seen;
    return true;
}

/* A collective operation that returns when it is done. */
static bool blocks(const char *name, const char *kind)
{
    return strcmp(kind, "collective") == 0 && strncmp(name, "MPI_", 4) == 0 && name[4] != 'I';
}

/* The metadata of the calls of a row; a list of a wrong form counts as far as it goes. */
static int take_calls(sp_mpi_report *report, sp_results *results, size_t index, bool is_blocking,
                      size_t operation, size_t rank_place, sp_error *error)
{
    const sp_row *row = sp_results_row(results, index);
    const int64_t *starts = NULL, *durations = NULL;
    size_t count = 0;
    int status = SP_OK;
    if (row->event_metadata_json == NULL || row->count == 0)
        return SP_OK;
    if (is_blocking) {
        status = sp_results_column(results, index, SP_COLUMN_START, &starts, &count, error);
        if (status == SP_OK)
            status = sp_results_column(results, index, SP_COLUMN_DURATION, &durations, &count, error);
    }
    call_note note = {0};
    sp_json_reader reader;
    bool has_memory = true;
    sp_json_reader_init(&reader, row->event_metadata_json, strlen(row->event_metadata_json));
    bool goes_on = status == SP_OK && sp_json_next(&reader, NULL) == SP_JSON_ARRAY;
    for (uint64_t i = 0; goes_on && i < row->count && has_memory; i++) {
        goes_on = sp_json_next(&reader, NULL) == SP_JSON_OBJECT && read_note(&reader, &note);
        if (!goes_on)
            break;
        has_memory = take_messages(report, row->rank, &note);
        for (size_t k = 0; k < note.bytes.count; k++)
            report->operations.items[operation].bytes += note.bytes.items[k] > 0 ? (uint64_t)note.bytes.items[k] : 0;
        if (is_blocking && i < count)
            has_memory = has_memory && take_arrival(report, &note,
                                                    (arrival){.operation = operation,
                                                              .rank = rank_place,
                                                              .start = starts[i],
                                                              .duration = durations[i]});
    }
    sp_vector_release(&note.bytes);
    sp_vector_release(&note.to);
    sp_vector_release(&note.from);
    return status != SP_OK ? status : has_memory ? SP_OK : sp_fail_memory(error, DOING);
}

static int take_row(sp_mpi_report *report, sp_results *results, size_t index, sp_error *error)
{
    const sp_row *row = sp_results_row(results, index);
    size_t region = sp_results_row_region(results, index);
    const char *name = sp_results_region_name(results, region);
    bool has_failed = false;
    const char *kind = kind_of(report, row, &has_failed);
    if (kind == NULL)
        return has_failed ? sp_fail_memory(error, DOING) : SP_OK;
    sp_statistics statistics;
    int status = sp_results_row_statistics(results, index, &statistics, error);
    if (status != SP_OK)
        return status;
    sp_mpi_operation *operation = operation_at(report, region, name, kind);
    sp_mpi_rank *rank = rank_at(report, row->rank);
    if (operation == NULL || rank == NULL)
        return sp_fail_memory(error, DOING);
    operation->calls += statistics.calls;
    operation->time_ns += statistics.total;
    rank->calls += statistics.calls;
    rank->time_ns += statistics.total;
    return take_calls(report, results, index, blocks(name, kind),
                      (size_t)(operation - report->operations.items),
                      (size_t)(rank - report->ranks.items), error);
}

/* ---- Arrivals --------------------------------------------------------------------------------*/

static int compare_arrivals(const void *a, const void *b)
{
    const arrival *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* Until the last rank has come nobody can be done: that part of a call is a wait for it. */
static void split_operation(sp_mpi_report *report, const arrival *seen, size_t count)
{
    int64_t last = seen[0].start;
    for (size_t i = 1; i < count; i++)
        last = seen[i].start > last ? seen[i].start : last;
    for (size_t i = 0; i < count; i++) {
        uint64_t gap = (uint64_t)last - (uint64_t)seen[i].start;
        int64_t duration = seen[i].duration > 0 ? seen[i].duration : 0;
        int64_t wait = gap < (uint64_t)duration ? (int64_t)gap : duration;
        sp_mpi_rank *rank = &report->ranks.items[seen[i].rank];
        sp_mpi_operation *operation = &report->operations.items[seen[i].operation];
        rank->imbalance_ns += wait;
        rank->transfer_ns += duration - wait;
        operation->imbalance_ns += wait;
        operation->transfer_ns += duration - wait;
    }
}

static void split_arrivals(sp_mpi_report *report)
{
    size_t count = report->arrivals.count;
    const arrival *all = report->arrivals.items;
    if (count > 0)
        qsort(report->arrivals.items, count, sizeof *all, compare_arrivals);
    for (size_t i = 0, to; i < count; i = to) {
        for (to = i + 1; to < count && all[to].key == all[i].key;)
            to++;
        split_operation(report, all + i, to - i);
    }
}

/* ---- Public ----------------------------------------------------------------------------------*/

static int compare_ranks(const void *a, const void *b)
{
    const sp_mpi_rank *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int compare_links(const void *a, const void *b)
{
    const sp_mpi_link *x = a, *y = b;
    return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
                              : (x->to > y->to) - (x->to < y->to);
}

static int compare_operations(const void *a, const void *b)
{
    const sp_mpi_operation *x = a, *y = b;
    return x->time_ns != y->time_ns ? (x->time_ns < y->time_ns) - (x->time_ns > y->time_ns)
                                    : strcmp(x->name, y->name);
}

static void sort_and_show(sp_mpi_report *report)
{
    if (report->ranks.count > 0)
        qsort(report->ranks.items, report->ranks.count, sizeof *report->ranks.items, compare_ranks);
    if (report->links.count > 0)
        qsort(report->links.items, report->links.count, sizeof *report->links.items, compare_links);
    if (report->operations.count > 0)
        qsort(report->operations.items, report->operations.count, sizeof *report->operations.items,
              compare_operations);
    report->summary = (sp_mpi_summary){
        .ranks = report->ranks.items,
        .num_ranks = report->ranks.count,
        .links = report->links.items,
        .num_links = report->links.count,
        .operations = report->operations.items,
        .num_operations = report->operations.count,
    };
}

int sp_mpi_report_create(sp_results *results, sp_mpi_report **out, sp_error *error)
{
    sp_mpi_report *report = calloc(1, sizeof *report);
    if (report == NULL)
        return sp_fail_memory(error, DOING);
    int status = SP_OK;
    for (size_t i = 0; i < sp_results_num_rows(results) && status == SP_OK; i++)
        status = take_row(report, results, i, error);
    if (status != SP_OK) {
        sp_mpi_report_free(report);
        return status;
    }
    split_arrivals(report);
    sort_and_show(report);
    *out = report;
    return SP_OK;
}

const sp_mpi_summary *sp_mpi_report_get(const sp_mpi_report *report)
{
    return &report->summary;
}

void sp_mpi_report_free(sp_mpi_report *report)
{
    if (report == NULL)
        return;
    sp_vector_release(&report->ranks);
    sp_vector_release(&report->links);
    sp_vector_release(&report->operations);
    sp_vector_release(&report->arrivals);
    sp_number_map_release(&report->rank_places);
    sp_number_map_release(&report->link_places);
    sp_number_map_release(&report->operation_places);
    sp_arena_release(&report->texts);
    free(report);
}
