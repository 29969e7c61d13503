/* run_metadata.h - what a file says of its run: entries with copies of their texts. Zeroed memory is
 * empty. What finds no memory is left out: no reason to lose the calls. */
#ifndef SP_SESSION_RUN_METADATA_H
#define SP_SESSION_RUN_METADATA_H

#include "base/arena.h"
#include "base/vector.h"
#include "scope_plugin.h"

typedef struct sp_run_metadata {
    SP_VECTOR(sp_metadata_entry) entries;
    sp_arena texts;
} sp_run_metadata;

void sp_run_metadata_add(sp_run_metadata *metadata, const sp_metadata_entry *entry);
void sp_run_metadata_add_text(sp_run_metadata *metadata, const char *key, const char *text);
void sp_run_metadata_add_integer(sp_run_metadata *metadata, const char *key, int64_t integer);
/* User, host, system, command line, folder and the environment of a batch job: what metadata_detail
 * 'full' adds. */
void sp_run_metadata_add_details(sp_run_metadata *metadata);
void sp_run_metadata_release(sp_run_metadata *metadata);

#endif
