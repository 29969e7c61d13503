/* spill.h - the temporary file of a memory sink. */
#ifndef SP_RECORDER_SPILL_H
#define SP_RECORDER_SPILL_H

#include "recorder/memory_sink.h"

/* Writes a piece; false when that fails, which is for good. */
bool sp_spill_write(sp_memory_sink *sink, const void *bytes, size_t size, uint64_t *out_offset);
/* Looks at a piece, mapped; NULL when it cannot be. */
void *sp_spill_map(sp_memory_sink *sink, uint64_t offset, size_t size);
/* One piece is no longer wanted. `mapped` may be NULL. */
void sp_spill_drop(sp_memory_sink *sink, void *mapped, size_t size);

#endif
