/* metadata_json.c - the metadata of runs as JSON text. */
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "scope_results.h"

#include <string.h>

static void add_value(sp_text *out, const sp_metadata_entry *entry)
{
    switch (entry->kind) {
    case SP_VALUE_INTEGER:
        sp_json_integer(out, entry->integer);
        break;
    case SP_VALUE_REAL:
        sp_json_real(out, entry->real);
        break;
    case SP_VALUE_TEXT:
        sp_json_string(out, entry->text, strlen(entry->text));
        break;
    case SP_VALUE_TEXT_LIST:
        sp_text_add(out, "[");
        for (size_t i = 0; i < entry->list_length; i++) {
            sp_text_add(out, i ? ",\n          " : "\n          ");
            sp_json_string(out, entry->list[i], strlen(entry->list[i]));
        }
        sp_text_add(out, entry->list_length ? "\n        ]" : "]");
        break;
    }
}

static void add_run(sp_text *out, const sp_results *results)
{
    const char *path = sp_results_path(results);
    size_t entries = sp_results_num_metadata(results);
    sp_text_add(out, "    {\n      \"file_path\": ");
    sp_json_string(out, path, strlen(path));
    sp_text_format(out, ",\n      \"num_ranks\": %u,\n      \"metadata\": {",
                   sp_results_num_ranks(results));
    for (size_t i = 0; i < entries; i++) {
        const sp_metadata_entry *entry = sp_results_metadata(results, i);
        sp_text_add(out, i ? ",\n        " : "\n        ");
        sp_json_string(out, entry->key, strlen(entry->key));
        sp_text_add(out, ": ");
        add_value(out, entry);
    }
    sp_text_add(out, entries ? "\n      }\n    }" : "}\n    }");
}

int sp_results_metadata_json(sp_results *const *runs, size_t num_runs, char **out_text,
                             sp_error *error)
{
    sp_text out = {0};
    char *text;
    sp_text_add(&out, "{\n  \"files\": [");
    for (size_t i = 0; i < num_runs; i++) {
        sp_text_add(&out, i ? ",\n" : "\n");
        add_run(&out, runs[i]);
    }
    sp_text_add(&out, num_runs ? "\n  ]\n}\n" : "]\n}\n");
    text = sp_text_take(&out);
    if (!text)
        return sp_fail_memory(error, "formatting metadata");
    *out_text = text;
    return SP_OK;
}
