#include "export/region_filter.h"

#include "base/error.h"
#include "export/pattern.h"

#include <stdlib.h>
#include <string.h>

/* Marks the regions that `expression` fits with `value`. */
static int mark(const sp_results *results, const char *expression, bool value, bool *selected,
                sp_error *error)
{
    sp_pattern *pattern;
    int status = sp_pattern_compile(expression, &pattern, error);
    if (status != SP_OK)
        return status;
    for (size_t i = 0; i < sp_results_num_regions(results); i++)
        if (sp_pattern_matches(pattern, sp_results_region_name(results, i)))
            selected[i] = value;
    sp_pattern_free(pattern);
    return SP_OK;
}

static int keep_names(const sp_results *results, const sp_summary_options *options, bool *selected,
                      sp_error *error)
{
    size_t count = sp_results_num_regions(results);
    bool *named = calloc(count + 1, sizeof *named);
    if (named == NULL)
        return sp_fail_memory(error, "selecting regions");
    for (size_t i = 0; i < options->num_include_names; i++) {
        int64_t region = sp_results_find_region(results, options->include_names[i]);
        if (region >= 0)
            named[region] = true;
    }
    for (size_t i = 0; i < count; i++)
        selected[i] = selected[i] && named[i];
    free(named);
    return SP_OK;
}

int sp_region_filter(const sp_results *results, const sp_summary_options *options,
                     bool **out_selected, sp_error *error)
{
    size_t count = sp_results_num_regions(results);
    bool *selected = calloc(count + 1, sizeof *selected);
    int status = SP_OK;
    if (selected == NULL)
        return sp_fail_memory(error, "selecting regions");
    for (size_t i = 0; i < count; i++)
        selected[i] = options->num_include == 0;
    for (size_t i = 0; status == SP_OK && i < options->num_include; i++)
        status = mark(results, options->include[i], true, selected, error);
    for (size_t i = 0; status == SP_OK && i < options->num_exclude; i++)
        status = mark(results, options->exclude[i], false, selected, error);
    if (status == SP_OK && options->include_names != NULL)
        status = keep_names(results, options, selected, error);
    if (status != SP_OK) {
        free(selected);
        return status;
    }
    *out_selected = selected;
    return SP_OK;
}
