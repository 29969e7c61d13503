/* inspection.c - a run as `inspect` shows it: title, sizes, metadata by section, regions,
 * sources. */
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "export/counters.h"
#include "export/metadata_section.h"
#include "export/width.h"
#include "scope_results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RULE_WIDTH 78
#define CLIP_CHARACTERS 96
#define BYTES_PER_MEBIBYTE 1048576.0

typedef enum section {
    SECTION_RUN,
    SECTION_SYSTEM,
    SECTION_PARALLELISM,
    SECTION_SLURM,
    SECTION_ENVIRONMENT,
    SECTION_OTHER,
    SECTION_COUNT,
    SECTION_MODULES /* the module list has a layout of its own */
} section;

static const char *const section_titles[SECTION_COUNT] = {
    "Run", "System", "Parallelism", "Slurm", "Environment", "Other"};

/* Where a key belongs; the order inside a section is that of this table, then that of the file. */
static const struct {
    const char *key;
    section section;
} known_keys[] = {
    {"label", SECTION_RUN},
    {"timestamp", SECTION_RUN},
    {"start_time_ns", SECTION_RUN},
    {"finalize_time_ns", SECTION_RUN},
    {"scope_profiler_version", SECTION_RUN},
    {"source", SECTION_RUN},
    {"source_language", SECTION_RUN},
    {"python_version", SECTION_RUN},
    {"working_directory", SECTION_RUN},
    {"user", SECTION_RUN},
    {"memory_profile_path", SECTION_RUN},
    {"hostname", SECTION_SYSTEM},
    {"platform", SECTION_SYSTEM},
    {"uname", SECTION_SYSTEM},
    {"chip_information", SECTION_SYSTEM},
    {"mpi_rank", SECTION_PARALLELISM},
    {"mpi_size", SECTION_PARALLELISM},
    {"num_nodes", SECTION_PARALLELISM},
    {"omp_num_threads", SECTION_PARALLELISM},
    {"total_cores", SECTION_PARALLELISM},
    {"modules", SECTION_MODULES},
};
#define NUM_KNOWN_KEYS (sizeof known_keys / sizeof *known_keys)

static bool is_environment_name(const char *key)
{
    return key[0] != '\0' && strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(key);
}

static section section_of(const char *key)
{
    for (size_t i = 0; i < NUM_KNOWN_KEYS; i++)
        if (strcmp(known_keys[i].key, key) == 0)
            return known_keys[i].section;
    if (strncmp(key, "SLURM_", 6) == 0 || strncmp(key, "SLURMD_", 7) == 0)
        return SECTION_SLURM;
    return is_environment_name(key) ? SECTION_ENVIRONMENT : SECTION_OTHER;
}

const char *sp_metadata_section(const char *key)
{
    section which = section_of(key);
    return section_titles[which < SECTION_COUNT ? which : SECTION_RUN];
}

/* Bytes of the first `characters` characters of `text`. */
static size_t prefix_bytes(const char *text, size_t length, size_t characters)
{
    size_t bytes = 0;
    while (bytes < length && characters-- > 0) {
        size_t sequence = sp_utf8_sequence((const unsigned char *)text + bytes, length - bytes);
        bytes += sequence ? sequence : 1;
    }
    return bytes;
}

static void add_clipped(sp_text *out, const char *value, bool full)
{
    size_t length = strlen(value);
    size_t shown = full ? length : prefix_bytes(value, length, CLIP_CHARACTERS);
    sp_text_add_visible_n(out, value, shown);
    if (shown < length)
        sp_text_add(out, " […]");
}

static void add_value(sp_text *out, const sp_metadata_entry *entry, bool full)
{
    sp_text value = {0};
    switch (entry->kind) {
    case SP_VALUE_INTEGER:
        sp_json_integer(&value, entry->integer);
        break;
    case SP_VALUE_REAL:
        if (isfinite(entry->real))
            sp_json_real(&value, entry->real);
        else
            sp_text_add(&value, isnan(entry->real) ? "nan" : entry->real < 0 ? "-inf" : "inf");
        break;
    case SP_VALUE_TEXT:
        sp_text_add(&value, entry->text);
        break;
    case SP_VALUE_TEXT_LIST:
        for (size_t i = 0; i < entry->list_length; i++)
            sp_text_format(&value, "%s%s", i ? ", " : "", entry->list[i]);
        break;
    }
    if (value.bytes)
        add_clipped(out, value.bytes, full);
    out->failed = out->failed || value.failed;
    sp_text_release(&value);
}

static void add_heading(sp_text *out, const char *title, bool color)
{
    sp_text_format(out, color ? "\n\033[1;36m%s\033[0m\n" : "\n%s\n", title);
}

static size_t count_characters(const char *text)
{
    size_t characters = 0;
    for (; *text; text++)
        characters += ((unsigned char)*text & 0xc0) != 0x80;
    return characters;
}

static void add_entry(sp_text *out, const sp_metadata_entry *entry, size_t width, bool full)
{
    sp_text_add(out, "  ");
    sp_text_add_visible(out, entry->key);
    sp_text_repeat(out, " ", width - count_characters(entry->key) + 2);
    add_value(out, entry, full);
    sp_text_add(out, "\n");
}

static bool is_known_key(const char *key)
{
    for (size_t i = 0; i < NUM_KNOWN_KEYS; i++)
        if (strcmp(known_keys[i].key, key) == 0)
            return true;
    return false;
}

static void add_section(sp_text *out, sp_results *results, section which, bool full, bool color)
{
    size_t width = 0, entries = sp_results_num_metadata(results);
    for (size_t i = 0; i < entries; i++) {
        const char *key = sp_results_metadata(results, i)->key;
        if (section_of(key) == which && count_characters(key) > width)
            width = count_characters(key);
    }
    if (width == 0)
        return;
    add_heading(out, section_titles[which], color);
    for (size_t i = 0; i < NUM_KNOWN_KEYS; i++) {
        const sp_metadata_entry *entry = sp_results_find_metadata(results, known_keys[i].key);
        if (entry && known_keys[i].section == which)
            add_entry(out, entry, width, full);
    }
    for (size_t i = 0; i < entries; i++) {
        const sp_metadata_entry *entry = sp_results_metadata(results, i);
        if (!is_known_key(entry->key) && section_of(entry->key) == which)
            add_entry(out, entry, width, full);
    }
}

static void add_modules(sp_text *out, sp_results *results, bool full, bool color)
{
    const sp_metadata_entry *modules = sp_results_find_metadata(results, "modules");
    char title[48];
    if (!modules || modules->kind != SP_VALUE_TEXT_LIST || modules->list_length == 0)
        return;
    snprintf(title, sizeof title, "Modules (%zu)", modules->list_length);
    add_heading(out, title, color);
    for (size_t i = 0; i < modules->list_length; i++) {
        sp_text_add(out, "  ");
        add_clipped(out, modules->list[i], full);
        sp_text_add(out, "\n");
    }
}

static int add_header(sp_text *out, sp_results *results, sp_error *error)
{
    const sp_metadata_entry *label = sp_results_find_metadata(results, "label");
    const char *file = sp_results_path(results);
    const char *path = file[0] ? file : "(in memory)";
    sp_run_times times;
    int status = sp_results_times(results, &times, error);
    if (status != SP_OK)
        return status;
    sp_text_repeat(out, "=", RULE_WIDTH);
    sp_text_add(out, "\n");
    if (label && label->kind == SP_VALUE_TEXT && label->text[0]) {
        sp_text_add_visible(out, label->text);
        sp_text_add(out, " - ");
    }
    sp_text_add_visible(out, path);
    sp_text_format(out, "\n%u rank(s), %zu region(s), %.2f MiB", sp_results_num_ranks(results),
                   sp_results_num_regions(results),
                   (double)sp_results_file_bytes(results) / BYTES_PER_MEBIBYTE);
    if (times.first_entry >= 0 && times.last_exit >= 0)
        sp_text_format(out, ", %.6f s wall clock",
                       (double)(times.last_exit - times.first_entry) / 1e9);
    if (times.start >= 0 && times.finalize >= 0)
        sp_text_format(out, ", %.6f s total (setup to finalize)",
                       (double)(times.finalize - times.start) / 1e9);
    sp_text_add(out, "\n");
    return SP_OK;
}

static int add_regions(sp_text *out, sp_results *results, const sp_summary_options *options,
                       sp_error *error)
{
    sp_summary *summary;
    const char *text;
    int status = sp_summary_create(results, options, &summary, error);
    if (status != SP_OK)
        return status;
    text = sp_summary_text(summary);
    if (!text)
        status = sp_fail_memory(error, "formatting the region table");
    else
        sp_text_format(out, "\n%s", text);
    sp_summary_free(summary);
    return status;
}

/* The row that knows most about the region's source, NULL when the region has no row. */
static const sp_row *find_source_row(sp_results *results, size_t region)
{
    const sp_row *best = NULL;
    for (size_t i = 0; i < sp_results_num_rows(results); i++) {
        const sp_row *row = sp_results_row(results, i);
        if (sp_results_row_region(results, i) != region)
            continue;
        if (row->source_text[0])
            return row;
        if (!best || (!best->source_file[0] && row->source_file[0]))
            best = row;
    }
    return best;
}

static void add_missing_region(sp_text *out, sp_results *results, const char *name)
{
    sp_text_add(out, "  ");
    sp_text_add_visible(out, name);
    sp_text_add(out, "  no such region; the regions are: ");
    for (size_t i = 0; i < sp_results_num_regions(results); i++) {
        const char *other = sp_results_region_name(results, i);
        sp_text_add(out, i ? ", " : "");
        sp_text_add_visible(out, other);
    }
    sp_text_add(out, "\n");
}

static void add_source_lines(sp_text *out, const char *source)
{
    while (*source) {
        size_t length = strcspn(source, "\n");
        sp_text_add(out, "    ");
        for (size_t i = 0, end; i < length; i = end) {
            end = i + strcspn(source + i, "\t");
            if (end > length)
                end = length;
            sp_text_add_visible_n(out, source + i, end - i);
            if (end < length) {
                sp_text_add(out, "    "); /* a tab of the source */
                end++;
            }
        }
        sp_text_add(out, "\n");
        source += length + (source[length] == '\n');
    }
}

static void add_source(sp_text *out, sp_results *results, const char *name)
{
    int64_t region = sp_results_find_region(results, name);
    const sp_row *row;
    if (region < 0) {
        add_missing_region(out, results, name);
        return;
    }
    row = find_source_row(results, (size_t)region);
    sp_text_add(out, "  ");
    sp_text_add_visible(out, name);
    if (row && row->source_file[0]) {
        sp_text_add(out, "  (");
        sp_text_add_visible(out, row->source_file);
        if (row->source_line >= 0)
            sp_text_format(out, ":%lld", (long long)row->source_line);
        sp_text_add(out, ")");
    }
    sp_text_add(out, "\n");
    if (row && row->source_text[0])
        add_source_lines(out, row->source_text);
    else
        sp_text_add(out, "    source not captured\n");
}

static void add_sources(sp_text *out, sp_results *results, const sp_inspection_options *options,
                        bool color)
{
    char title[48];
    if (options->num_sources == 0)
        return;
    snprintf(title, sizeof title, "Source (%zu)", options->num_sources);
    add_heading(out, title, color);
    for (size_t i = 0; i < options->num_sources; i++)
        add_source(out, results, options->sources[i]);
}

static int add_mpi(sp_text *out, sp_results *results, bool color, sp_error *error)
{
    sp_mpi_report *report = NULL;
    char *text = NULL;
    int status = sp_mpi_report_create(results, &report, error);
    if (status == SP_OK)
        status = sp_mpi_report_format(report, &text, error);
    if (status == SP_OK) {
        add_heading(out, "MPI", color);
        sp_text_add(out, text);
    }
    free(text);
    sp_mpi_report_free(report);
    return status;
}

int sp_results_inspect(sp_results *results, const sp_inspection_options *options, char **out_text,
                       sp_error *error)
{
    const sp_summary_options no_options = {.size = sizeof no_options};
    const sp_summary_options *summary = options->summary ? options->summary : &no_options;
    sp_text out = {0};
    int status = add_header(&out, results, error);
    if (status == SP_OK && !options->hide_metadata) {
        for (int which = 0; which < SECTION_COUNT; which++)
            add_section(&out, results, (section)which, options->full, summary->color);
        add_modules(&out, results, options->full, summary->color);
    }
    if (status == SP_OK && !options->hide_regions)
        status = add_regions(&out, results, summary, error);
    if (status == SP_OK && !options->hide_regions)
        status = sp_add_counter_tables(&out, results, summary, error);
    if (status == SP_OK && options->show_mpi)
        status = add_mpi(&out, results, summary->color, error);
    if (status == SP_OK)
        add_sources(&out, results, options, summary->color);
    if (status == SP_OK) {
        char *text = sp_text_take(&out);
        if (text)
            *out_text = text;
        else
            status = sp_fail_memory(error, "formatting the inspection");
    }
    sp_text_release(&out);
    return status;
}
