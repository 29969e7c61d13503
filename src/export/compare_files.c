/* compare_files.c - a comparison for machines: JSON, and JUnit's XML. */
#include "base/json.h"
#include "export/compare.h"
#include "export/output.h"
#include "export/xml.h"

#include <math.h>
#include <string.h>

/* ---- JSON ------------------------------------------------------------------------------------*/

static void add_number(sp_text *out, const char *key, double value)
{
    sp_text_format(out, ", \"%s\": ", key);
    sp_text_add_real(out, value);
}

static void add_flag(sp_text *out, const char *key, bool value)
{
    sp_text_format(out, ", \"%s\": %s", key, value ? "true" : "false");
}

static void add_row(sp_text *out, const sp_comparison *comparison, const sp_compare_row *row)
{
    sp_text_add(out, "{\"name\": ");
    sp_json_string(out, row->name, strlen(row->name));
    add_flag(out, "in_a", row->is_in_a);
    add_flag(out, "in_b", row->is_in_b);
    add_number(out, "a", row->a);
    add_number(out, "b", row->b);
    add_number(out, "delta", row->delta);
    add_number(out, "pct", row->percent);
    if (comparison->has_whole) {
        add_number(out, "spread_a", row->spread_a);
        add_number(out, "spread_b", row->spread_b);
        add_number(out, "low", row->low);
        add_number(out, "high", row->high);
        add_number(out, "confidence", row->confidence);
        add_number(out, "p_value", row->p_value);
        if (row != &comparison->whole)
            add_number(out, "false_discovery_rate", row->rate);
    }
    if (comparison->options.is_check)
        add_flag(out, "violation", row->is_violation);
    sp_text_add(out, "}");
}

void sp_compare_write_json(const sp_comparison *comparison, sp_text *out)
{
    const sp_compare_options *options = &comparison->options;
    sp_text_format(out, "{\n  \"format\": \"scope-profiler-comparison\",\n  \"format_version\": 1,\n"
                        "  \"metric\": \"%s\",\n  \"unit\": \"%s\",\n  \"runs_a\": %zu,\n"
                        "  \"runs_b\": %zu,\n  \"a\": ", sp_compare_metric_name(options->metric),
                   sp_compare_unit(options->metric), comparison->num_a, comparison->num_b);
    sp_json_string(out, options->label_a, strlen(options->label_a));
    sp_text_add(out, ",\n  \"b\": ");
    sp_json_string(out, options->label_b, strlen(options->label_b));
    if (options->is_check) {
        sp_text_add(out, ",\n  \"max_regression_pct\": ");
        sp_text_add_real(out, options->max_regression);
        sp_text_format(out, ",\n  \"passed\": %s", comparison->has_failed ? "false" : "true");
    }
    if (comparison->has_whole) {
        sp_text_add(out, ",\n  \"run_total\": ");
        add_row(out, comparison, &comparison->whole);
    }
    sp_text_add(out, ",\n  \"regions\": [");
    for (size_t i = 0; i < comparison->rows.count; i++) {
        sp_text_add(out, i ? ",\n    " : "\n    ");
        add_row(out, comparison, &comparison->rows.items[i]);
    }
    sp_text_add(out, comparison->rows.count > 0 ? "\n  ]\n}\n" : "]\n}\n");
}

/* ---- JUnit -----------------------------------------------------------------------------------*/

static bool decides(const sp_comparison *comparison, const sp_compare_row *row)
{
    return !comparison->has_whole || row == &comparison->whole || !row->is_in_a;
}

static void add_case(sp_text *out, const sp_comparison *comparison, const sp_compare_row *row)
{
    sp_text message = {0};
    sp_text_add(out, "  <testcase classname=\"scope-profiler\" name=\"");
    sp_xml_add_text(out, row->name);
    if (!row->is_violation || !decides(comparison, row)) {
        sp_text_add(out, "\"/>\n");
        return;
    }
    sp_compare_add_violation(&message, comparison, row);
    sp_text_add(out, "\">\n    <failure type=\"regression\" message=\"");
    sp_xml_add_text(out, message.failed ? "" : message.bytes);
    sp_text_format(out, ", budget +%g%%\"/>\n  </testcase>\n", comparison->options.max_regression);
    out->failed = out->failed || message.failed;
    sp_text_release(&message);
}

void sp_compare_write_junit(const sp_comparison *comparison, sp_text *out)
{
    size_t failures = comparison->has_whole && comparison->whole.is_violation;
    for (size_t i = 0; i < comparison->rows.count; i++)
        failures += comparison->rows.items[i].is_violation &&
                    decides(comparison, &comparison->rows.items[i]);
    sp_text_format(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"scope-profiler "
                        "%s\" tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n",
                   sp_compare_metric_name(comparison->options.metric),
                   comparison->rows.count + comparison->has_whole, failures);
    if (comparison->has_whole)
        add_case(out, comparison, &comparison->whole);
    for (size_t i = 0; i < comparison->rows.count; i++)
        add_case(out, comparison, &comparison->rows.items[i]);
    sp_text_add(out, "</testsuite>\n");
}
