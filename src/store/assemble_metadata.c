#include "store/assemble_int.h"
#include "store/assemble_scopes.h"

#include <stdlib.h>
#include <string.h>

/* Text of the row being written. A row of which no call has metadata writes nothing at all. */
typedef struct metadata_writer {
    sp_assembler *assembler;
    sp_scopes scopes;
    sp_scope_list found, found_before;
    SP_VECTOR(sp_json_span) objects;
    size_t row;
    uint64_t seen;    /* calls of the row */
    bool has_any;     /* the text was begun */
    sp_text merged;   /* the object merged last */
    bool can_repeat;  /* it came from the scopes of `found_before` alone */
    size_t next_side; /* most likely place of the next call's side records */
} metadata_writer;

static int compare_sides(const void *left, const void *right)
{
    const sp_side_metadata *a = left, *b = right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->payload > b->payload) - (a->payload < b->payload);
}

static void order_sides(sp_assembler *a)
{
    for (size_t i = 0; i < a->sides.count; i++) {
        sp_side_metadata *side = &a->sides.items[i];
        side->id = sp_assembler_id(a, side->lane, side->number);
    }
    if (a->sides.count > 1)
        qsort(a->sides.items, a->sides.count, sizeof *a->sides.items, compare_sides);
}

/* Index of the first side record of that call, or of a later call. */
static size_t first_side(const metadata_writer *m, int64_t id)
{
    const sp_assembler *a = m->assembler;
    size_t low = 0, high = a->sides.count, hint = m->next_side;
    if (hint < high && a->sides.items[hint].id == id &&
        (hint == 0 || a->sides.items[hint - 1].id < id))
        return hint;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (a->sides.items[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool push_object(metadata_writer *m, const char *bytes, size_t length)
{
    if (!sp_vector_reserve(&m->objects, 1))
        return false;
    m->objects.items[m->objects.count++] = (sp_json_span){bytes, length};
    return true;
}

static bool collect_scopes(metadata_writer *m, const sp_ordered_call *call)
{
    int64_t end = (int64_t)((uint64_t)call->start + (uint64_t)call->duration);
    m->found.count = 0;
    if (m->scopes.count == 0)
        return true;
    const sp_lane_ids *lane = sp_assembler_lane_of(m->assembler, call->id);
    int64_t where = lane->task >= 0 ? SP_SCOPE_FIRST_TASK - lane->task : lane->thread;
    if (!sp_scopes_find(&m->scopes, call->start, end, where, &m->found))
        return false;
    for (size_t i = 0; i < m->found.count; i++) {
        const char *json = m->scopes.order[m->found.items[i]]->json;
        if (!push_object(m, json, strlen(json)))
            return false;
    }
    return true;
}

static bool collect_sides(metadata_writer *m, const sp_ordered_call *call, size_t *out_count)
{
    sp_assembler *a = m->assembler;
    *out_count = 0;
    if (!a->rows.items[m->row].has_sides)
        return true;
    for (size_t at = first_side(m, call->id); at < a->sides.count; at++) {
        const sp_side_metadata *side = &a->sides.items[at];
        if (side->id != call->id)
            break;
        m->next_side = at + 1;
        if (!sp_json_is_object(side->payload, side->bytes)) {
            a->bad_metadata++;
            continue;
        }
        if (!push_object(m, side->payload, side->bytes))
            return false;
        ++*out_count;
    }
    return true;
}

static bool same_scopes(const metadata_writer *m)
{
    return m->found.count == m->found_before.count &&
           memcmp(m->found.items, m->found_before.items,
                  m->found.count * sizeof *m->found.items) == 0;
}

/* Merges what was collected, weakest first, unless that was done for the call before. */
static void merge(metadata_writer *m, size_t num_sides)
{
    if (num_sides == 0 && m->can_repeat && same_scopes(m))
        return;
    m->merged.length = 0;
    sp_json_merge(&m->merged, m->objects.items, m->objects.count);
    m->can_repeat = num_sides == 0;
    sp_scope_list kept = m->found_before;
    m->found_before = m->found;
    m->found = kept;
}

static void put_object(metadata_writer *m, sp_text *text, size_t num_sides)
{
    if (m->objects.count == 0) {
        if (m->has_any)
            sp_text_add(text, ", {}");
        return;
    }
    if (!m->has_any) {
        sp_text_add(text, "[");
        sp_text_repeat(text, "{}, ", (size_t)m->seen);
        m->has_any = true;
    } else {
        sp_text_add(text, ", ");
    }
    if (m->objects.count == 1) {
        sp_text_add_n(text, m->objects.items[0].bytes, m->objects.items[0].length);
    } else {
        merge(m, num_sides);
        sp_text_add_n(text, m->merged.bytes, m->merged.length);
    }
}

static bool may_have_metadata(const metadata_writer *m, const sp_assemble_row *row)
{
    return row->has_sides || (m->scopes.count > 0 && row->end_maximum >= m->scopes.first_start &&
                              row->first.start <= m->scopes.last_end);
}

static int write_calls(void *context, size_t row, const sp_ordered_call *calls, size_t count)
{
    metadata_writer *m = context;
    sp_assembler *a = m->assembler;
    sp_assemble_row *into = &a->rows.items[row];
    if (!may_have_metadata(m, into))
        return SP_OK;
    if (row != m->row) {
        m->row = row;
        m->seen = 0;
        m->has_any = false;
    }
    for (size_t i = 0; i < count; i++, m->seen++) {
        size_t num_sides;
        m->objects.count = 0;
        if (!collect_scopes(m, &calls[i]) || !collect_sides(m, &calls[i], &num_sides))
            return sp_fail_memory(a->error, "the metadata of calls");
        put_object(m, &into->metadata, num_sides);
    }
    if (m->seen == into->count && m->has_any)
        sp_text_add(&into->metadata, "]");
    if (into->metadata.failed || m->merged.failed)
        return sp_fail_memory(a->error, "the metadata of calls");
    return SP_OK;
}

static int write_groups(metadata_writer *m)
{
    sp_assembler *a = m->assembler;
    int status = SP_OK;
    for (size_t i = 0; i < a->groups.count && status == SP_OK; i++) {
        const sp_row_group *group = &a->groups.items[i];
        bool is_needed = false;
        for (size_t row = group->first; row < group->last; row++)
            is_needed = is_needed || may_have_metadata(m, &a->rows.items[row]);
        if (is_needed)
            status = sp_assemble_gather(a, i, write_calls, m);
    }
    return status;
}

int sp_assemble_metadata(sp_assembler *a)
{
    metadata_writer m = {.assembler = a, .row = SIZE_MAX};
    order_sides(a);
    int status = SP_OK;
    if (!sp_scopes_build(&m.scopes, a->in->scopes, a->in->num_scopes, &a->bad_metadata))
        status = sp_fail_memory(a->error, "the metadata scopes");
    if (status == SP_OK)
        status = write_groups(&m);
    sp_scopes_release(&m.scopes);
    sp_vector_release(&m.found);
    sp_vector_release(&m.found_before);
    sp_vector_release(&m.objects);
    sp_text_release(&m.merged);
    return status;
}
