#include "store/assemble_int.h"

#include "base/os/pages.h"
#include "log/block.h"

#include <stdlib.h>

/* Calls of a row lie in chunks that are taken from one stretch of memory as they are needed. */
enum { CHUNK = 512, SPARE_CHUNKS = 4096, PIECE = 4096 };

#define NO_CHUNK UINT32_MAX

/* Calls that the blocks say they hold; SIZE_MAX when that cannot be known. */
static size_t announced_calls(const sp_assembly *in)
{
    size_t total = in->with_open_calls ? in->num_open_calls : 0;
    for (size_t i = 0; i < in->num_blocks; i++) {
        sp_block_header header;
        if (sp_block_read_header(in->blocks[i].bytes, in->blocks[i].size, &header, NULL) != SP_OK)
            return SIZE_MAX;
        total += header.calls;
    }
    return total;
}

void sp_keep_begin(sp_assembler *a)
{
    sp_kept_calls *kept = &a->kept;
    size_t total = announced_calls(a->in);
    if (total > sp_assemble_room(a->in))
        return;
    kept->num_chunks = total / CHUNK + 1 + SPARE_CHUNKS;
    kept->calls = sp_os_pages_alloc(kept->num_chunks * CHUNK * sizeof *kept->calls);
    kept->next = malloc(kept->num_chunks * sizeof *kept->next);
    kept->is_on = kept->calls != NULL && kept->next != NULL;
}

bool sp_keep_chunk(sp_kept_calls *kept, sp_assemble_row *row)
{
    if (kept->used_chunks == kept->num_chunks) {
        kept->is_on = false;
        return false;
    }
    uint32_t chunk = (uint32_t)kept->used_chunks++;
    kept->next[chunk] = NO_CHUNK;
    if (row->count == 0)
        row->first_chunk = chunk;
    else
        kept->next[row->last_chunk] = chunk;
    row->last_chunk = chunk;
    row->keep_at = kept->calls + (size_t)chunk * CHUNK;
    row->keep_end = row->keep_at + CHUNK;
    return true;
}

bool sp_keep_settle(sp_assembler *a)
{
    size_t unsorted = 0, total = a->kept.used_chunks * CHUNK;
    for (size_t i = 0; i < a->rows.count; i++) {
        const sp_assemble_row *row = &a->rows.items[i];
        if (!row->is_sorted && row->count > unsorted)
            unsorted = (size_t)row->count;
    }
    if (a->kept.is_on && total + unsorted + unsorted / 2 <= sp_assemble_room(a->in)) {
        a->room = unsorted > PIECE ? unsorted : PIECE;
        return true;
    }
    sp_keep_release(&a->kept);
    return false;
}

static sp_ordered_call ordered(sp_assembler *a, const sp_kept_call *call)
{
    uint64_t parent = call->up > 0 ? call->number - call->up : SP_RECORD_NO_PARENT;
    return (sp_ordered_call){
        .start = call->start,
        .duration = call->duration,
        .id = sp_assembler_id(a, call->lane, call->number),
        .parent = sp_assembler_parent_id(a, call->lane, parent),
    };
}

int sp_keep_gather(sp_assembler *a, size_t index, sp_row_sink sink, void *context)
{
    const sp_assemble_row *row = &a->rows.items[index];
    size_t most = row->is_sorted ? PIECE : (size_t)row->count, count = 0;
    uint32_t chunk = row->first_chunk;
    for (uint64_t left = row->count; left > 0; chunk = a->kept.next[chunk]) {
        const sp_kept_call *from = a->kept.calls + (size_t)chunk * CHUNK;
        size_t n = left < CHUNK ? (size_t)left : CHUNK;
        for (size_t i = 0; i < n; i++)
            a->calls[count + i] = ordered(a, &from[i]);
        count += n;
        left -= n;
        if (count < most && left > 0)
            continue;
        if (!row->is_sorted)
            sp_sort_calls(a->calls, count, a->spare);
        int status = sink(context, index, a->calls, count);
        if (status != SP_OK)
            return status;
        count = 0;
    }
    return SP_OK;
}

void sp_keep_release(sp_kept_calls *kept)
{
    sp_os_pages_free(kept->calls, kept->num_chunks * CHUNK * sizeof *kept->calls);
    free(kept->next);
    *kept = (sp_kept_calls){0};
}
