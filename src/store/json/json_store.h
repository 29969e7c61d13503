/* json_store.h - JSON profiles, plain or compressed. docs/FORMATS.md has the keys.
 *
 * A profile is numbers almost throughout. They are read straight into columns by a reader that builds
 * nothing, so that opening needs the bytes of the document and 8 bytes a number; a tree of values
 * would take several times that. Values of the metadata that the model has no place for come as texts of
 * JSON, and together as the extra array "json_metadata"; counters and
 * line records as the extra arrays that docs/FORMATS.md names. */
#ifndef SP_STORE_JSON_STORE_H
#define SP_STORE_JSON_STORE_H

#include "scope_plugin.h"

/* Reader entries only. */
extern const sp_store_table sp_json_store;

#endif
