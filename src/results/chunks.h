/* chunks.h - the calls of a rank that is too large to be held in memory at once, one stretch of time
 * after the other. */
#ifndef SP_RESULTS_CHUNKS_H
#define SP_RESULTS_CHUNKS_H

#include "results/tree.h"
#include "results/walk.h"

/* Sizes in calls: of the smallest rank that is read in chunks, and of a chunk. Tests make them small. */
extern size_t sp_call_chunks_least, sp_call_chunks_size;

typedef struct sp_call_chunks sp_call_chunks;

/* `*out` is NULL when the rank is small, or has a row that is not sorted by start: then all of it must be
 * collected at once. `columns`: which of them are read beside those that sources have. */
int sp_call_chunks_open(sp_results *results, uint32_t rank, bool with_ids, unsigned columns,
                        sp_call_chunks **out, sp_error *error);
/* The calls that start before the next cut, those of each row in one source; they live until the next
 * call. `*out` is NULL at the end. */
int sp_call_chunks_next(sp_call_chunks *chunks, const sp_call_sources **out, sp_error *error);
/* The columns of the chunk by row of the run. */
const sp_row_part *sp_call_chunks_parts(const sp_call_chunks *chunks);
void sp_call_chunks_close(sp_call_chunks *chunks);

#endif
