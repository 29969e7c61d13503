/* filter_hint.c - what a filter that fits nothing may have meant. */
#include "base/error.h"
#include "base/text.h"
#include "export/pattern.h"
#include "export/width.h"
#include "results/model.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { NEAREST = 3, COMPARED_BYTES = 48, MOST_REGIONS = 4096 };

typedef struct candidate {
    const char *name;
    size_t distance;
} candidate;

static size_t least(size_t a, size_t b, size_t c)
{
    size_t smaller = a < b ? a : b;
    return smaller < c ? smaller : c;
}

/* Changes of single bytes that make one text the other, upper and lower case alike. Of long ones only
 * the beginning counts. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[COMPARED_BYTES + 1];
    size_t width = strnlen(b, COMPARED_BYTES), height = strnlen(a, COMPARED_BYTES);
    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 1; i <= height; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            size_t above = row[j];
            bool differs = tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]);
            row[j] = least(above + 1, row[j - 1] + 1, diagonal + differs);
            diagonal = above;
        }
    }
    return row[width];
}

static void add_nearest(sp_text *out, const sp_results *results, const char *expression)
{
    candidate found[NEAREST + 1];
    size_t count = 0;
    size_t regions = results->regions.count < MOST_REGIONS ? results->regions.count : MOST_REGIONS;
    for (size_t i = 0; i < regions; i++) {
        candidate next = {results->regions.items[i].name, 0};
        next.distance = edit_distance(expression, next.name);
        size_t at = count;
        for (; at > 0 && next.distance < found[at - 1].distance; at--)
            found[at] = found[at - 1];
        found[at] = next;
        count = count < NEAREST ? count + 1 : NEAREST;
    }
    for (size_t i = 0; i < count; i++) {
        sp_text_add(out, i == 0 ? "; the nearest names are " : ", ");
        sp_text_add(out, "'");
        sp_text_add_visible(out, found[i].name);
        sp_text_add(out, "'");
    }
}

static int add_unmatched(sp_text *out, const sp_results *results, const char *expression,
                         sp_error *error)
{
    sp_pattern *pattern;
    bool fits = false;
    int status = sp_pattern_compile(expression, &pattern, error);
    if (status != SP_OK)
        return status;
    for (size_t i = 0; !fits && i < results->regions.count; i++)
        fits = sp_pattern_matches(pattern, results->regions.items[i].name);
    sp_pattern_free(pattern);
    if (fits)
        return SP_OK;
    sp_text_add(out, "no region matches '");
    sp_text_add_visible(out, expression);
    sp_text_add(out, "'");
    add_nearest(out, results, expression);
    sp_text_add(out, "\n");
    return SP_OK;
}

static void add_missing_rank(sp_text *out, const sp_results *results, uint32_t rank)
{
    bool is_there = rank < results->num_ranks ||
                    sp_run_first_row_of_rank(results, rank) != SP_NO_ROW;
    if (is_there)
        return;
    if (results->num_ranks == 0)
        sp_text_format(out, "there is no rank %u; the run has none\n", rank);
    else
        sp_text_format(out, "there is no rank %u; the run has the ranks 0 to %u\n", rank,
                       results->num_ranks - 1);
}

int sp_results_filter_hints(sp_results *results, const sp_summary_options *options, char **out_text,
                            sp_error *error)
{
    sp_text out = {0};
    int status = SP_OK;
    for (size_t i = 0; status == SP_OK && i < options->num_include; i++)
        status = add_unmatched(&out, results, options->include[i], error);
    for (size_t i = 0; status == SP_OK && i < options->num_exclude; i++)
        status = add_unmatched(&out, results, options->exclude[i], error);
    for (size_t i = 0; options->ranks != NULL && i < options->num_ranks; i++)
        add_missing_rank(&out, results, options->ranks[i]);
    char *text = status == SP_OK ? sp_text_take(&out) : NULL;
    if (status == SP_OK && text == NULL)
        status = sp_fail_memory(error, "looking at filters");
    sp_text_release(&out);
    if (status == SP_OK)
        *out_text = text;
    return status;
}

int sp_results_name_hint(sp_results *results, const char *name, char **out_text, sp_error *error)
{
    sp_text out = {0};
    if (sp_results_find_region(results, name) < 0) {
        sp_text_add(&out, "no region is called '");
        sp_text_add_visible(&out, name);
        sp_text_add(&out, "'");
        add_nearest(&out, results, name);
    }
    char *text = sp_text_take(&out);
    sp_text_release(&out);
    if (text == NULL)
        return sp_fail_memory(error, "looking for a region");
    *out_text = text;
    return SP_OK;
}
