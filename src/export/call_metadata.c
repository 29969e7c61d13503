#include "export/call_metadata.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static bool is_empty(sp_json_text object)
{
    for (size_t i = 0; i < object.length; i++)
        if (strchr("{} \t\r\n", object.bytes[i]) == NULL)
            return false;
    return true;
}

/* Spans of the list's objects; false when the text is no list of `count` objects. */
static bool split(const char *json, sp_json_text *items, size_t count, bool *out_any)
{
    sp_json_reader reader;
    size_t found = 0;
    *out_any = false;
    sp_json_reader_init(&reader, json, strlen(json));
    if (sp_json_next(&reader, NULL) != SP_JSON_ARRAY)
        return false;
    for (;;) {
        sp_json_token token = sp_json_next(&reader, NULL);
        if (token == SP_JSON_ARRAY_END)
            return found == count && sp_json_next(&reader, NULL) == SP_JSON_END;
        const char *from = reader.at - 1;
        if (found == count || token != SP_JSON_OBJECT || !sp_json_skip(&reader, token))
            return false;
        items[found] = (sp_json_text){from, (size_t)(reader.at - from)};
        *out_any = *out_any || !is_empty(items[found]);
        found++;
    }
}

int sp_call_metadata_split(const sp_row *row, sp_call_metadata *out, sp_error *error)
{
    const char *json = row->event_metadata_json;
    bool any = false;
    *out = (sp_call_metadata){NULL, (size_t)row->count};
    if (json == NULL || strcmp(json, "[]") == 0 || row->count == 0)
        return SP_OK;
    if (row->count > strlen(json))
        return SP_OK; /* "{}" a call at least */
    sp_json_text *items = malloc(out->count * sizeof *items);
    if (items == NULL)
        return sp_fail_memory(error, "reading the metadata of calls");
    if (split(json, items, out->count, &any) && any)
        out->items = items;
    else
        free(items);
    return SP_OK;
}

void sp_call_metadata_release(sp_call_metadata *metadata)
{
    free(metadata->items);
    *metadata = (sp_call_metadata){NULL, 0};
}

sp_json_text sp_call_metadata_of(const sp_call_metadata *metadata, uint64_t call)
{
    if (metadata->items == NULL || call >= metadata->count || is_empty(metadata->items[call]))
        return (sp_json_text){NULL, 0};
    return metadata->items[call];
}
