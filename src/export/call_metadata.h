/* call_metadata.h - the metadata of single calls, which a row keeps as one JSON list. */
#ifndef SP_EXPORT_CALL_METADATA_H
#define SP_EXPORT_CALL_METADATA_H

#include "base/json_reader.h"
#include "scope_results.h"

/* One object a call; `items` is NULL when no call has any. Texts are those of the row. */
typedef struct sp_call_metadata {
    sp_json_text *items;
    size_t count;
} sp_call_metadata;

/* A list of a wrong form counts as none: times are worth more than what was noted beside them.
 * SP_ERR_NO_MEMORY. */
int sp_call_metadata_split(const sp_row *row, sp_call_metadata *out, sp_error *error);
void sp_call_metadata_release(sp_call_metadata *metadata);

/* The object of a call, {NULL, 0} when it has none or an empty one. */
sp_json_text sp_call_metadata_of(const sp_call_metadata *metadata, uint64_t call);

#endif
