/* line_tables.c - line timings that a run brings along, one table a function, beside its source. */
#include "base/error.h"
#include "base/vector.h"
#include "export/frame.h"
#include "export/json_walk.h"
#include "export/width.h"
#include "results/model.h"
#include "scope_results.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct timed_line {
    int64_t number, hits;
    double seconds;
} timed_line;

typedef struct timed_lines {
    SP_VECTOR(timed_line) list;
    double total; /* seconds */
} timed_lines;

static int compare_lines(const void *a, const void *b)
{
    const timed_line *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Three lists walked side by side; what is behind the shortest of them is no line. */
static bool read_lines(sp_json_text record, timed_lines *out)
{
    sp_json_reader numbers, hits, times;
    sp_json_text number, hit, time;
    double unit = 0;
    bool more = sp_json_enter(&numbers, sp_json_find(record, "line_numbers"), SP_JSON_ARRAY) &&
                sp_json_enter(&hits, sp_json_find(record, "hits"), SP_JSON_ARRAY) &&
                sp_json_enter(&times, sp_json_find(record, "times"), SP_JSON_ARRAY) &&
                sp_json_real_of(sp_json_find(record, "unit"), &unit);
    while (more && sp_json_take(&numbers, &number) && sp_json_take(&hits, &hit) &&
           sp_json_take(&times, &time)) {
        timed_line line = {0};
        double ticks = 0;
        more = sp_json_integer_of(number, &line.number) && sp_json_integer_of(hit, &line.hits) &&
               sp_json_real_of(time, &ticks);
        line.seconds = ticks * unit;
        if (more && !sp_vector_reserve(&out->list, 1))
            return false;
        if (more)
            out->list.items[out->list.count++] = line;
        out->total += more ? line.seconds : 0;
    }
    if (out->list.count > 0)
        qsort(out->list.items, out->list.count, sizeof *out->list.items, compare_lines);
    return true;
}

/* ---- A table ---------------------------------------------------------------------------------*/

/* A number with a point, whatever the locale writes there. */
static void add_real(sp_table *table, const char *format, double value)
{
    char digits[48];
    snprintf(digits, sizeof digits, format, value);
    for (char *at = digits; *at; at++)
        if (strchr("0123456789+-einfa", *at) == NULL)
            *at = '.';
    sp_text_add(&table->cells, digits);
    sp_table_end_cell(table);
}

static void add_integer(sp_table *table, int64_t value)
{
    sp_text_format(&table->cells, "%" PRId64, value);
    sp_table_end_cell(table);
}

/* Tabs as four blanks, so that indentation stays to be seen. */
static void add_source(sp_table *table, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        size_t plain = 0;
        while (i + plain < length && text[i + plain] != '\t')
            plain++;
        sp_text_add_visible_n(&table->cells, text + i, plain);
        i += plain;
        if (i < length)
            sp_text_add(&table->cells, "    ");
    }
    sp_table_end_cell(table);
}

/* `line` NULL: a line that never ran. */
static void add_row(sp_table *table, int64_t number, const timed_line *line, double total,
                    const char *source, size_t length)
{
    add_integer(table, number);
    if (line != NULL) {
        add_integer(table, line->hits);
        add_real(table, "%.6f", line->seconds);
        add_real(table, "%.3e", line->hits > 0 ? line->seconds / (double)line->hits : 0);
        add_real(table, "%.1f", total > 0 ? line->seconds / total * 100 : 0);
    }
    for (int i = 0; line == NULL && i < 4; i++)
        sp_table_end_cell(table);
    add_source(table, source, length);
}

static void add_timed_row(sp_table *table, const timed_line *line, double total)
{
    add_row(table, line->number, line, total, "", 0);
}

/* The lines of the source in order, between them lines that it does not cover. */
static void fill_table(sp_table *table, const timed_lines *lines, const char *source, int64_t first)
{
    size_t next = 0;
    const timed_line *items = lines->list.items;
    for (int64_t number = first; source != NULL && *source != '\0'; number++) {
        size_t length = strcspn(source, "\n");
        while (next < lines->list.count && items[next].number < number)
            add_timed_row(table, &items[next++], lines->total);
        bool ran = next < lines->list.count && items[next].number == number;
        add_row(table, number, ran ? &items[next] : NULL, lines->total, source, length);
        next += ran;
        source += length + (source[length] == '\n');
    }
    while (next < lines->list.count)
        add_timed_row(table, &items[next++], lines->total);
}

static char *decoded(sp_json_text text)
{
    sp_text plain = {0};
    sp_json_decode(&plain, text);
    sp_text_add(&plain, "");
    char *taken = sp_text_take(&plain);
    sp_text_release(&plain);
    return taken;
}

static void add_name(sp_text *out, sp_json_text name)
{
    char *text = decoded(name);
    out->failed = out->failed || text == NULL;
    if (text != NULL)
        sp_text_add_visible(out, text);
    free(text);
}

static int add_record(sp_text *out, uint32_t rank, sp_json_text record, sp_error *error)
{
    static const char *const headers[] = {"line", "hits", "time [s]", "per hit [s]", "% time",
                                          "source"};
    sp_table table = {.num_columns = 6, .headers = headers};
    timed_lines lines = {.total = 0};
    sp_json_text first_line = sp_json_find(record, "first_lineno");
    sp_json_text source_line = sp_json_find(record, "source_first_lineno");
    sp_json_text source = sp_json_find(record, "source");
    int64_t first = 0;
    bool failed = !read_lines(record, &lines);
    if (!sp_json_integer_of(source_line, &first))
        (void)sp_json_integer_of(first_line, &first);
    sp_text_format(out, "\nRank %" PRIu32 " | ", rank);
    add_name(out, sp_json_find(record, "region"));
    sp_text_add(out, " | ");
    add_name(out, sp_json_find(record, "function"));
    sp_text_add(out, " (");
    add_name(out, sp_json_find(record, "filename"));
    sp_text_format(out, ":%.*s)\n", (int)first_line.length, first_line.bytes);
    char *text = source.length > 0 ? decoded(source) : NULL;
    failed = failed || (source.length > 0 && text == NULL);
    if (!failed)
        fill_table(&table, &lines, text, first);
    if (table.num_cells > 0)
        sp_table_write(&table, out);
    free(text);
    sp_table_release(&table);
    sp_vector_release(&lines.list);
    return failed || out->failed ? sp_fail_memory(error, "showing line timings") : SP_OK;
}

/* ---- All of them -----------------------------------------------------------------------------*/

/* What the caller asks for; NULL: all. */
typedef struct line_choice {
    const char *function, *region;
} line_choice;

static bool is_chosen(sp_json_text record, const line_choice *choice)
{
    return (choice->function == NULL ||
            sp_json_equals(sp_json_find(record, "function"), choice->function)) &&
           (choice->region == NULL ||
            sp_json_equals(sp_json_find(record, "region"), choice->region));
}

static int add_records(sp_text *out, uint32_t rank, sp_json_text list,
                       const line_choice *choice, size_t *shown, sp_error *error)
{
    sp_json_reader reader;
    sp_json_text record;
    int status = SP_OK;
    bool more = sp_json_enter(&reader, list, SP_JSON_ARRAY);
    while (status == SP_OK && more && (more = sp_json_take(&reader, &record))) {
        if (!is_chosen(record, choice))
            continue;
        status = add_record(out, rank, record, error);
        (*shown)++;
    }
    return status;
}

static int add_text(sp_text *out, const char *text, const sp_rank_filter *ranks,
                    const line_choice *choice, size_t *shown, sp_error *error)
{
    sp_json_reader reader;
    sp_json_text key, value;
    int status = SP_OK;
    bool more = sp_json_enter(&reader, (sp_json_text){text, strlen(text)}, SP_JSON_OBJECT);
    while (status == SP_OK && more && (more = sp_json_member(&reader, &key, &value))) {
        int64_t rank;
        if (sp_json_integer_of(key, &rank) && rank >= 0 && rank <= UINT32_MAX &&
            sp_rank_filter_takes(ranks, (uint32_t)rank))
            status = add_records(out, (uint32_t)rank, value, choice, shown, error);
    }
    return status;
}

int sp_results_line_tables(sp_results *results, const sp_summary_options *options,
                           const char *function, const char *region, char **out_text,
                           sp_error *error)
{
    const line_choice choice = {function, region};
    sp_text out = {0};
    sp_rank_filter ranks;
    size_t shown = 0;
    int status = options == NULL
                     ? sp_rank_filter_init(&ranks, NULL, 0, error)
                     : sp_rank_filter_init(&ranks, options->ranks, options->num_ranks, error);
    if (status != SP_OK)
        return status;
    for (size_t e = 0; status == SP_OK && e < results->extras.count; e++) {
        const sp_extra *extra = results->extras.items[e];
        if (extra->texts == NULL || strcmp(extra->name, "json_line_profile") != 0)
            continue;
        for (size_t t = 0; status == SP_OK && t < extra->length; t++)
            status = add_text(&out, extra->texts[t], &ranks, &choice, &shown, error);
    }
    if (shown == 0)
        sp_text_add(&out, "No line-profile records matched.\n");
    char *text = status == SP_OK ? sp_text_take(&out) : NULL;
    if (status == SP_OK && text == NULL)
        status = sp_fail_memory(error, "showing line timings");
    if (status == SP_OK)
        *out_text = text;
    sp_text_release(&out);
    sp_rank_filter_release(&ranks);
    return status;
}
