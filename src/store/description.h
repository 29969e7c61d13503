/* description.h - what the readers of this layer have in common. */
#ifndef SP_STORE_DESCRIPTION_H
#define SP_STORE_DESCRIPTION_H

#include "base/arena.h"
#include "scope_plugin.h"

/* Number of ranks of a columnar run: the larger of the metadata entry `mpi_size` and the highest
 * rank of any row plus one. */
uint32_t sp_store_num_ranks(const sp_metadata_entry *metadata, size_t num_metadata,
                            const sp_row *rows, size_t num_rows);

/* Value of an optional column for a call of which it is not known. */
int64_t sp_store_missing_value(sp_column column);

/* The text itself when it is UTF-8, else a copy in which each wrong byte is U+FFFD. NULL: out of
 * memory. */
const char *sp_store_utf8(sp_arena *arena, const char *text);

#endif
