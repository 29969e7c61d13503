/* pack.h - ring words (record.h) to one block.
 *
 *     sp_pack_begin(&pack, buffer, size, ring, lane, first_call);
 *     sp_pack_words(&pack, words, n);         again for each further span, e.g. after the wrap
 *     bytes = sp_pack_end(&pack);
 *
 * A span is contiguous and holds whole records. `size` is at least sp_pack_bound(all words). The
 * object is about 5 KiB and may lie on the stack or be reused. No allocation, no system call. */
#ifndef SP_LOG_PACK_H
#define SP_LOG_PACK_H

#include "log/block.h"
#include "log/prediction.h"
#include "log/record.h"

#include <stdbool.h>

typedef struct sp_pack {
    uint8_t *block, *at, *limit;
    sp_block_header header;
    uint32_t lane; /* of the last record packed: what the next block of the ring begins with */
    sp_prediction prediction;
} sp_pack;

/* Bytes of buffer with which a block of so many ring words, in one or several spans, surely fits. */
size_t sp_pack_bound(size_t words);

/* `ring`, `lane`, `first_call`: see sp_block_header. `size` at least sp_pack_bound(0). */
void sp_pack_begin(sp_pack *pack, void *buffer, size_t size, uint32_t ring, uint32_t lane,
                   uint64_t first_call);

/* False when the span does not fit any more or does not hold whole records of known kinds; what was
 * packed before that record stays and sp_pack_end gives a valid block of it. */
bool sp_pack_words(sp_pack *pack, const uint64_t *words, size_t count);

/* Fills in the header with the checksum; returns the bytes of the block. */
size_t sp_pack_end(sp_pack *pack);
/* The same with 0 for a checksum, for a block that never leaves the process. */
size_t sp_pack_end_unsummed(sp_pack *pack);

#endif
