/* compare.h - the parts of a comparison: values are gathered from runs, then turned into rows, then
 * written in some form. */
#ifndef SP_EXPORT_COMPARE_H
#define SP_EXPORT_COMPARE_H

#include "base/arena.h"
#include "base/text.h"
#include "base/vector.h"
#include "scope_results.h"

struct sp_comparison {
    sp_arena arena; /* names and texts */
    sp_compare_options options; /* texts copied, filters gone */
    size_t num_a, num_b;        /* runs a side */
    SP_VECTOR(sp_compare_row) rows;
    SP_VECTOR(const char *) only_a, only_b; /* regions that one side has */
    bool has_whole, has_failed;
    sp_compare_row whole;
};

/* Value of a metric for a region of a run, NaN where it is not known. */
int sp_compare_value(sp_results *results, size_t region, const sp_compare_options *options,
                     double *out, sp_error *error);

const char *sp_compare_metric_name(sp_metric metric);
/* "s", "%" or "". */
const char *sp_compare_unit(sp_metric metric);

void sp_compare_write_text(const sp_comparison *comparison, sp_text *out);
void sp_compare_write_markdown(const sp_comparison *comparison, sp_text *out);
void sp_compare_write_junit(const sp_comparison *comparison, sp_text *out);
void sp_compare_write_json(const sp_comparison *comparison, sp_text *out);

/* "+12.34%", "-" when it is not known. */
void sp_compare_add_percent(sp_text *out, double percent, int decimals);
void sp_compare_add_value(sp_text *out, sp_metric metric, double value);
/* What is wrong with a row, for people. */
void sp_compare_add_violation(sp_text *out, const sp_comparison *comparison,
                              const sp_compare_row *row);

#endif
