/* counters.c - tables of counters, from the JSON that a run brings along. A record of a wrong form shows
 * what fits of it. */
#include "export/counters.h"

#include "base/error.h"
#include "export/frame.h"
#include "export/json_walk.h"
#include "export/width.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tables are for people: what is beyond is left out, and said. */
enum { MAX_ROWS = 512, MAX_COLUMNS = 128 };

/* ---- Cells -----------------------------------------------------------------------------------*/

/* Whole numbers below 1e15 as they are, others with six digits. */
static void add_number(sp_table *table, double value)
{
    char digits[32];
    bool is_whole = value == floor(value) && fabs(value) < 1e15;
    snprintf(digits, sizeof digits, is_whole ? "%.0f" : "%g", value);
    for (char *at = digits; *at; at++)
        if (strchr("0123456789+-einfa", *at) == NULL)
            *at = '.'; /* whatever the locale writes there */
    sp_text_add(&table->cells, isnan(value) ? "nan" : digits);
    sp_table_end_cell(table);
}

static void add_decoded(sp_text *out, sp_json_text text)
{
    sp_text plain = {0};
    sp_json_decode(&plain, text);
    sp_text_add_visible(out, plain.bytes == NULL ? "" : plain.bytes);
    out->failed = out->failed || plain.failed;
    sp_text_release(&plain);
}

/* ---- LIKWID ----------------------------------------------------------------------------------*/

/* One thread of one region: a column. */
typedef struct counter_column {
    sp_json_text tag, record, group;
    size_t thread;
    double runtime;
    size_t position;
} counter_column;

typedef struct counter_columns {
    SP_VECTOR(counter_column) list;
    bool is_cut;
} counter_columns;

static int compare_columns(const void *a, const void *b)
{
    const counter_column *x = a, *y = b;
    if (x->runtime != y->runtime)
        return x->runtime > y->runtime ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

/* The threads of a region stay together: the slowest of them tells where. */
static bool add_region(counter_columns *columns, sp_json_text tag, sp_json_text record)
{
    sp_json_text times = sp_json_find(record, "times");
    sp_json_text cpus = sp_json_find(record, "cpus"), item;
    double runtime = 0;
    size_t threads = 0;
    for (; threads <= MAX_COLUMNS && sp_json_item_at(cpus, threads, &item); threads++)
        runtime = sp_json_number_at(times, threads) > runtime ? sp_json_number_at(times, threads) : runtime;
    for (size_t t = 0; t < threads; t++) {
        columns->is_cut = columns->is_cut || columns->list.count == MAX_COLUMNS;
        if (columns->is_cut)
            return true;
        if (!sp_vector_reserve(&columns->list, 1))
            return false;
        columns->list.items[columns->list.count] = (counter_column){
            tag, record, sp_json_find(record, "group_name"), t, runtime, columns->list.count};
        columns->list.count++;
    }
    return true;
}

static bool is_same(sp_json_text a, sp_json_text b)
{
    return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

/* "tag", or "tag@cpu3" when the region has several threads; free() it. */
static char *name_column(const counter_column *column)
{
    sp_text name = {0};
    sp_json_text cpu, second;
    sp_json_text cpus = sp_json_find(column->record, "cpus");
    add_decoded(&name, column->tag);
    if (sp_json_item_at(cpus, 1, &second) && sp_json_item_at(cpus, column->thread, &cpu))
        sp_text_format(&name, "@cpu%.*s", (int)cpu.length, cpu.bytes);
    char *text = sp_text_take(&name);
    sp_text_release(&name);
    return text;
}

/* A row of the table: its name, then a number for each column of the group. */
static void add_info(sp_table *table, const counter_column *columns, size_t count, const char *name,
                     const char *member)
{
    sp_text_add(&table->cells, name);
    sp_table_end_cell(table);
    for (size_t c = 0; c < count; c++)
        add_number(table, sp_json_number_at(sp_json_find(columns[c].record, member), columns[c].thread));
}

static void add_matrix(sp_table *table, const counter_column *columns, size_t count,
                       const char *names, const char *values)
{
    sp_json_text name, row;
    for (size_t i = 0; i < MAX_ROWS && sp_json_item_at(sp_json_find(columns[0].record, names), i, &name); i++) {
        add_decoded(&table->cells, name);
        sp_table_end_cell(table);
        for (size_t c = 0; c < count; c++)
            add_number(table, sp_json_item_at(sp_json_find(columns[c].record, values), i, &row)
                                  ? sp_json_number_at(row, columns[c].thread) : (double)NAN);
    }
}

static void write_table(sp_text *out, const char *heading, sp_table *table)
{
    if (table->num_cells > 0)
        sp_text_format(out, "%s", heading);
    if (table->num_cells > 0)
        sp_table_write_outline(table, out);
    sp_table_release(table);
}

static int add_group(sp_text *out, uint32_t rank, const counter_column *columns, size_t count,
                     sp_error *error)
{
    const char **headers = calloc(count + 1, sizeof *headers);
    bool failed = headers == NULL;
    for (size_t c = 0; !failed && c < count; c++)
        failed = (headers[c + 1] = name_column(&columns[c])) == NULL;
    if (!failed) {
        headers[0] = "counter";
        sp_table info = {.num_columns = count + 1, .headers = headers, .is_indented = true};
        sp_table events = info, metrics = info;
        sp_text_format(out, "\nLIKWID counters (rank %" PRIu32 ", group ", rank);
        add_decoded(out, columns[0].group);
        sp_text_add(out, ")\n");
        add_info(&info, columns, count, "call count", "call_counts");
        add_info(&info, columns, count, "runtime [s]", "times");
        add_matrix(&events, columns, count, "event_names", "events");
        add_matrix(&metrics, columns, count, "metric_names", "metrics");
        write_table(out, "", &info);
        write_table(out, "  Events\n", &events);
        write_table(out, "  Metrics\n", &metrics);
    }
    for (size_t c = 0; headers != NULL && c < count; c++)
        free((char *)(uintptr_t)headers[c + 1]);
    free(headers);
    return failed ? sp_fail_memory(error, "showing counters") : SP_OK;
}

/* One table for each event group, in order of their first regions. */
static int add_likwid(sp_text *out, sp_results *results, uint32_t rank, sp_json_text by_tag,
                      sp_error *error)
{
    (void)results;
    counter_columns columns = {.is_cut = false};
    sp_json_reader reader;
    sp_json_text tag, record;
    int status = SP_OK;
    bool more = sp_json_enter(&reader, by_tag, SP_JSON_OBJECT);
    while (more && !columns.is_cut && (more = sp_json_member(&reader, &tag, &record)))
        if (!add_region(&columns, tag, record))
            status = sp_fail_memory(error, "showing counters");
    counter_column *items = columns.list.items;
    size_t left = columns.list.count;
    if (status == SP_OK && left > 0)
        qsort(items, left, sizeof *items, compare_columns);
    while (status == SP_OK && left > 0) { /* gathers one group at the front */
        size_t count = 0;
        for (size_t i = 0; i < left; i++)
            if (is_same(items[i].group, items[0].group)) {
                counter_column moved = items[i];
                memmove(&items[count + 1], &items[count], (i - count) * sizeof *items);
                items[count++] = moved;
            }
        status = add_group(out, rank, items, count, error);
        items += count;
        left -= count;
    }
    if (columns.is_cut)
        sp_text_format(out, "  (the first %d columns of rank %" PRIu32 "; a JSON export has all)\n",
                       MAX_COLUMNS, rank);
    sp_vector_release(&columns.list);
    return status;
}

/* ---- Perf events -----------------------------------------------------------------------------*/

enum { MAX_EVENTS = 64 };

/* Totals as {"event": total}, or as a list beside a list of names. */
static sp_json_text event_name(sp_json_text record, size_t i)
{
    sp_json_text key, value, name = {"", 0};
    if (sp_json_member_at(sp_json_find(record, "values"), i, &key, &value))
        return key;
    return sp_json_item_at(sp_json_find(record, "event_names"), i, &name) ? name : (sp_json_text){"", 0};
}

/* Total of the event of that name; NaN: it was not counted. */
static double event_total(sp_json_text record, sp_json_text name)
{
    sp_json_text values = sp_json_find(record, "values"), key, value;
    double number;
    for (size_t i = 0; (key = event_name(record, i)).length > 0; i++) {
        if (!is_same(key, name))
            continue;
        if (!sp_json_member_at(values, i, &key, &value))
            return sp_json_number_at(values, i);
        return sp_json_real_of(value, &number) ? number : (double)NAN;
    }
    return (double)NAN;
}

/* What two events say together. */
static const struct {
    const char *title, *above, *below;
    double factor;
} derived[] = {
    {"IPC", "instructions", "cycles", 1},
    {"cache miss %", "cache-misses", "cache-references", 100},
    {"branch miss %", "branch-misses", "branches", 100},
    {"L1d miss %", "L1-dcache-load-misses", "L1-dcache-loads", 100},
    {"LLC miss %", "LLC-load-misses", "LLC-loads", 100},
};
enum { NUM_DERIVED = sizeof derived / sizeof *derived };

typedef struct event_columns {
    sp_json_text names[MAX_EVENTS];
    size_t count;
    bool shows[NUM_DERIVED];
    bool is_scaled; /* some totals are estimates */
} event_columns;

static bool has_event(const event_columns *columns, sp_json_text name)
{
    for (size_t i = 0; i < columns->count; i++)
        if (is_same(columns->names[i], name))
            return true;
    return false;
}

static sp_json_text as_json(const char *text)
{
    return (sp_json_text){text, strlen(text)};
}

/* The events of all regions, in the order in which they come up. */
static void find_events(event_columns *columns, sp_json_text by_region)
{
    sp_json_reader reader;
    sp_json_text name, record, event;
    bool more = sp_json_enter(&reader, by_region, SP_JSON_OBJECT);
    while (more && (more = sp_json_member(&reader, &name, &record))) {
        columns->is_scaled |= is_same(sp_json_find(record, "is_scaled"), as_json("true"));
        for (size_t i = 0; (event = event_name(record, i)).length > 0; i++)
            if (columns->count < MAX_EVENTS && !has_event(columns, event))
                columns->names[columns->count++] = event;
    }
    for (size_t i = 0; i < NUM_DERIVED; i++)
        columns->shows[i] = has_event(columns, as_json(derived[i].above)) &&
                            has_event(columns, as_json(derived[i].below));
}

static void add_event_row(sp_table *table, const event_columns *columns, sp_json_text record)
{
    double count = NAN;
    (void)sp_json_real_of(sp_json_find(record, "calls"), &count);
    add_number(table, count);
    for (size_t i = 0; i < columns->count; i++)
        add_number(table, event_total(record, columns->names[i]));
}

static void add_derived_row(sp_table *table, const event_columns *columns, sp_json_text record)
{
    for (size_t i = 0; i < NUM_DERIVED; i++) {
        double below = event_total(record, as_json(derived[i].below));
        double above = event_total(record, as_json(derived[i].above));
        if (columns->shows[i])
            add_number(table, below > 0 ? above / below * derived[i].factor : (double)NAN);
    }
}

/* Headers of the events, decoded. How many there are; 0: memory is short. */
static size_t add_event_headers(const event_columns *columns, sp_text *texts, const char **headers)
{
    size_t count = 2;
    headers[0] = "region";
    headers[1] = "calls";
    for (size_t i = 0; i < columns->count; i++) {
        add_decoded(&texts[i], columns->names[i]);
        if (texts[i].failed || texts[i].bytes == NULL)
            return 0;
        headers[count++] = texts[i].bytes;
    }
    return count;
}

typedef void add_row(sp_table *table, const event_columns *columns, sp_json_text record);

static void add_rows(sp_table *table, const event_columns *columns, sp_json_text by_region,
                     add_row *add)
{
    sp_json_reader reader;
    sp_json_text name, record;
    bool more = sp_json_enter(&reader, by_region, SP_JSON_OBJECT);
    while (more && (more = sp_json_member(&reader, &name, &record))) {
        add_decoded(&table->cells, name);
        sp_table_end_cell(table);
        add(table, columns, record);
    }
}

static void add_derived(sp_text *out, const event_columns *columns, sp_json_text by_region)
{
    const char *headers[NUM_DERIVED + 1] = {"region"};
    sp_table table = {.headers = headers, .num_columns = 1, .is_indented = true};
    for (size_t i = 0; i < NUM_DERIVED; i++)
        if (columns->shows[i])
            headers[table.num_columns++] = derived[i].title;
    if (table.num_columns > 1)
        add_rows(&table, columns, by_region, add_derived_row);
    write_table(out, "  Derived\n", &table);
}

static int add_perf_events(sp_text *out, sp_results *results, uint32_t rank,
                           sp_json_text by_region, sp_error *error)
{
    event_columns columns = {.count = 0};
    sp_text texts[MAX_EVENTS] = {{0}};
    const char *headers[MAX_EVENTS + 2];
    sp_table table = {.headers = headers, .is_indented = true};
    sp_json_text name, record;
    (void)results;
    if (!sp_json_member_at(by_region, 0, &name, &record))
        return SP_OK;
    find_events(&columns, by_region);
    table.num_columns = add_event_headers(&columns, texts, headers);
    if (table.num_columns > 0)
        add_rows(&table, &columns, by_region, add_event_row);
    if (table.num_columns > 0)
        sp_text_format(out, "\nPerf events (rank %" PRIu32 ")\n", rank);
    write_table(out, "", &table);
    add_derived(out, &columns, by_region);
    if (columns.is_scaled)
        sp_text_add(out, "  estimates: there were more events than counters, which took turns\n");
    for (size_t i = 0; i < columns.count; i++)
        sp_text_release(&texts[i]);
    return table.num_columns == 0 ? sp_fail_memory(error, "showing counters") : SP_OK;
}

/* ---- CPU time --------------------------------------------------------------------------------*/

/* Time of all calls of a region in ns, NaN when that is not known. */
static double time_of(sp_results *results, uint32_t rank, sp_json_text name)
{
    sp_text plain = {0};
    sp_statistics statistics;
    sp_json_decode(&plain, name);
    int64_t region = plain.bytes == NULL ? -1 : sp_results_find_region(results, plain.bytes);
    int64_t row = region < 0 ? -1 : sp_results_find_row(results, (size_t)region, rank);
    sp_text_release(&plain);
    if (row < 0 || sp_results_row_statistics(results, (size_t)row, &statistics, NULL) != SP_OK)
        return (double)NAN;
    return (double)statistics.total;
}

static void add_seconds(sp_table *table, double ns)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.6f", ns / 1e9);
    digits[strcspn(digits, ",.")] = '.';
    sp_text_add(&table->cells, isnan(ns) ? "nan" : digits);
    sp_table_end_cell(table);
}

/* Working and waiting: the time of a call that its thread spent on no processor is the difference. */
static int add_cpu(sp_text *out, sp_results *results, uint32_t rank, sp_json_text by_region,
                   sp_error *error)
{
    static const char *const headers[] = {"region",  "calls",       "time [s]",    "CPU [s]",
                                          "waiting [s]", "waits",   "preemptions", "page faults"};
    enum { NUM_COLUMNS = sizeof headers / sizeof *headers };
    sp_table table = {.num_columns = NUM_COLUMNS, .headers = headers, .is_indented = true};
    sp_json_text name, record;
    sp_json_reader reader;
    (void)error;
    bool more = sp_json_enter(&reader, by_region, SP_JSON_OBJECT);
    while (more && (more = sp_json_member(&reader, &name, &record))) {
        double calls = NAN, time = time_of(results, rank, name);
        double cpu = event_total(record, as_json("cpu_ns"));
        (void)sp_json_real_of(sp_json_find(record, "calls"), &calls);
        add_decoded(&table.cells, name);
        sp_table_end_cell(&table);
        add_number(&table, calls);
        add_seconds(&table, time);
        add_seconds(&table, cpu);
        add_seconds(&table, cpu > time ? 0 : time - cpu);
        add_number(&table, event_total(record, as_json("waits")));
        add_number(&table, event_total(record, as_json("preemptions")));
        add_number(&table, event_total(record, as_json("minor_faults")) +
                               event_total(record, as_json("major_faults")));
    }
    if (table.num_cells > 0)
        sp_text_format(out, "\nCPU time (rank %" PRIu32 ")\n", rank);
    write_table(out, "", &table);
    return SP_OK;
}

/* ---- Memory ----------------------------------------------------------------------------------*/

/* The record of a region in the texts of another name; empty when there is none. */
static sp_json_text find_in(const sp_results *results, const char *extra_name, uint32_t rank,
                            const char *region)
{
    char number[16];
    snprintf(number, sizeof number, "%" PRIu32, rank);
    for (size_t e = 0; e < results->extras.count; e++) {
        const sp_extra *extra = results->extras.items[e];
        bool fits = extra->texts != NULL && strcmp(extra->name, extra_name) == 0;
        for (size_t t = 0; fits && t < extra->length; t++) {
            sp_json_text whole = {extra->texts[t], strlen(extra->texts[t])};
            sp_json_text found = sp_json_find(sp_json_find(whole, number), region);
            if (found.length > 0)
                return found;
        }
    }
    return (sp_json_text){"", 0};
}

static int add_memory(sp_text *out, sp_results *results, uint32_t rank, sp_json_text by_region,
                      sp_error *error)
{
    static const char *const headers[] = {"region", "calls", "allocated [B]", "allocations",
                                          "freed [B]", "frees", "peak growth [B]"};
    static const char *const names[] = {"allocated_bytes", "allocations", "freed_bytes", "frees"};
    sp_table table = {.num_columns = 7, .headers = headers, .is_indented = true};
    sp_json_reader reader;
    sp_json_text name, record;
    bool failed = false, more = sp_json_enter(&reader, by_region, SP_JSON_OBJECT);
    while (!failed && more && (more = sp_json_member(&reader, &name, &record))) {
        sp_text plain = {0};
        double number = NAN;
        add_decoded(&table.cells, name);
        sp_table_end_cell(&table);
        (void)sp_json_real_of(sp_json_find(record, "calls"), &number);
        add_number(&table, number);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            number = NAN;
            (void)sp_json_real_of(sp_json_find(sp_json_find(record, "values"), names[i]), &number);
            add_number(&table, number);
        }
        sp_json_decode(&plain, name);
        failed = plain.failed;
        number = NAN;
        if (!failed && plain.bytes != NULL)
            (void)sp_json_real_of(find_in(results, "json_memory_peak", rank, plain.bytes), &number);
        add_number(&table, number);
        sp_text_release(&plain);
    }
    if (!failed && table.num_cells > 0)
        sp_text_format(out, "\nPython allocations (rank %" PRIu32 ")\n", rank);
    write_table(out, "", &table);
    return failed ? sp_fail_memory(error, "showing allocations") : SP_OK;
}

/* ---- All -------------------------------------------------------------------------------------*/

typedef int (*rank_writer)(sp_text *out, sp_results *results, uint32_t rank, sp_json_text records,
                           sp_error *error);

static int add_ranks(sp_text *out, sp_results *results, const sp_rank_filter *ranks,
                     const char *name, rank_writer write, sp_error *error)
{
    int status = SP_OK;
    for (size_t e = 0; e < results->extras.count; e++) {
        const sp_extra *extra = results->extras.items[e];
        if (extra->texts == NULL || strcmp(extra->name, name) != 0)
            continue;
        for (size_t t = 0; t < extra->length; t++) {
            sp_json_text whole = {extra->texts[t], strlen(extra->texts[t])}, key, value;
            sp_json_reader reader;
            bool more = sp_json_enter(&reader, whole, SP_JSON_OBJECT);
            while (status == SP_OK && more && (more = sp_json_member(&reader, &key, &value))) {
                int64_t rank;
                if (sp_json_integer_of(key, &rank) && rank >= 0 && rank <= UINT32_MAX &&
                    sp_rank_filter_takes(ranks, (uint32_t)rank))
                    status = write(out, results, (uint32_t)rank, value, error);
            }
        }
    }
    return status;
}

int sp_add_counter_tables(sp_text *out, sp_results *results, const sp_summary_options *options,
                          sp_error *error)
{
    sp_rank_filter ranks;
    int status = sp_rank_filter_init(&ranks, options->ranks, options->num_ranks, error);
    if (status != SP_OK)
        return status;
    status = add_ranks(out, results, &ranks, "json_likwid", add_likwid, error);
    if (status == SP_OK)
        status = add_ranks(out, results, &ranks, "json_perf_events", add_perf_events, error);
    if (status == SP_OK)
        status = add_ranks(out, results, &ranks, "json_cpu", add_cpu, error);
    if (status == SP_OK)
        status = add_ranks(out, results, &ranks, "json_memory", add_memory, error);
    sp_rank_filter_release(&ranks);
    return status;
}
