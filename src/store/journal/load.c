#include "store/journal/load.h"

#include "base/error.h"
#include "base/os/journal_file.h"
#include "log/unpack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* After a gap numbers go on from far away, so that none is taken for one from before it. */
#define GAP_NUMBERS (UINT64_C(1) << 40)

/* ---- Files -----------------------------------------------------------------------------------*/

static int open_file(sp_loaded *loaded, const char *path, sp_error *error)
{
    uint64_t size;
    int descriptor = sp_os_journal_open(path, &size);
    if (descriptor < 0)
        return sp_fail_errno(error, errno == ENOENT ? SP_ERR_NOT_FOUND : SP_ERR_IO, errno,
                             "cannot open the journal '%s'", path);
    /* Whole, so that nothing changes under the checks. */
    sp_loaded_file file = {.size = (size_t)size, .bytes = malloc((size_t)size + 1)};
    bool is_read = file.bytes != NULL &&
                   sp_os_journal_read(descriptor, 0, (void *)(uintptr_t)file.bytes, file.size);
    int reason = errno;
    sp_os_journal_close(descriptor);
    if (!is_read || !sp_vector_reserve(&loaded->files, 1)) {
        free((void *)(uintptr_t)file.bytes);
        return is_read || file.bytes == NULL
                   ? sp_fail_memory(error, "reading a journal")
                   : sp_fail_errno(error, SP_ERR_IO, reason, "cannot read the journal '%s'", path);
    }
    loaded->files.items[loaded->files.count++] = file;
    return SP_OK;
}

static bool is_rings(const sp_loaded_file *file)
{
    return file->size >= sizeof(sp_rings_header) && memcmp(file->bytes, SP_RINGS_MAGIC, 4) == 0;
}

/* Notes of a file of rings; false when it is none that can be read here. */
static bool notes_of(const sp_loaded_file *file, const uint8_t **out, size_t *out_size)
{
    sp_rings_header header;
    memcpy(&header, file->bytes, sizeof header);
    if (header.version != SP_JOURNAL_VERSION || header.order != SP_RINGS_ORDER ||
        header.notes_at > file->size || header.notes_bytes > file->size - header.notes_at)
        return false;
    *out = file->bytes + header.notes_at;
    *out_size = (size_t)header.notes_bytes;
    return true;
}

static int read_files(sp_loaded *loaded, sp_error *error)
{
    bool fits = true;
    for (size_t i = 0; i < loaded->files.count && fits; i++) {
        const sp_loaded_file *file = &loaded->files.items[i];
        const uint8_t *notes;
        size_t size;
        if (!is_rings(file))
            fits = sp_load_frames(loaded, file->bytes, file->size, true);
        else if (notes_of(file, &notes, &size))
            fits = sp_load_frames(loaded, notes, size, false);
        else
            loaded->damaged_rings++;
    }
    return fits ? SP_OK : sp_fail_memory(error, "reading a journal");
}

/* ---- Tables ----------------------------------------------------------------------------------*/

static bool load_task(sp_loaded *loaded, uint32_t number)
{
    size_t missing = number < loaded->tasks.count ? 0 : number + 1 - loaded->tasks.count;
    if (missing > 0 && !sp_vector_reserve(&loaded->tasks, missing))
        return false;
    for (; missing > 0; missing--) {
        int64_t index = (int64_t)loaded->tasks.count;
        loaded->tasks.items[loaded->tasks.count++] = (sp_loaded_task){
            .row = {.index = index, .thread_index = -1, .created_ns = -1, .done_ns = -1,
                    .kind = "task", .name = "", .coroutine_name = ""}};
    }
    return true;
}

bool sp_load_lane(sp_loaded *loaded, uint32_t lane)
{
    if (lane >= SP_RECORD_TASK_LANES)
        return load_task(loaded, lane - SP_RECORD_TASK_LANES);
    size_t missing = lane < loaded->threads.count ? 0 : lane + 1 - loaded->threads.count;
    if (missing == 0)
        return true;
    if (!sp_vector_reserve(&loaded->threads, missing) ||
        !sp_vector_reserve(&loaded->states, missing))
        return false;
    for (; missing > 0; missing--) {
        int64_t index = (int64_t)loaded->threads.count;
        loaded->threads.items[loaded->threads.count++] =
            (sp_thread_row){.index = index, .ident = -1, .native_id = -1, .start_ns = -1,
                            .end_ns = -1, .cpu_ns = -1, .name = ""};
        loaded->states.items[loaded->states.count++] = (sp_resolver){.ended = 0};
    }
    return true;
}

bool sp_load_block(sp_loaded *loaded, const sp_loaded_block *block)
{
    if (!sp_vector_reserve(&loaded->blocks, 1))
        return false;
    sp_loaded_block *added = &loaded->blocks.items[loaded->blocks.count];
    *added = *block;
    added->order = loaded->blocks.count++;
    if (block->header.calls > 0)
        sp_load_tick(loaded, block->header.last_tick);
    return true;
}

static bool event_is_sound(const sp_event *event, bool has_call)
{
    switch (event->kind) {
    case SP_RECORD_CALL_MARKED:
        return event->region < SP_LOADED_REGIONS && event->depth <= SP_LOADED_DEPTH &&
               event->below <= SP_LOADED_DEPTH;
    case SP_RECORD_CALL:
        return event->region < SP_LOADED_REGIONS && event->depth <= SP_LOADED_DEPTH;
    case SP_RECORD_SIDE:
        return has_call;
    default:
        return true;
    }
}

bool sp_load_check(sp_loaded *loaded, const uint8_t *block, size_t size)
{
    sp_unpack unpack;
    sp_event event;
    bool has_call = false;
    if (sp_unpack_begin(&unpack, block, size, false, NULL) != SP_OK)
        return false;
    while (sp_unpack_next(&unpack, &event)) {
        if (!event_is_sound(&event, has_call) || !sp_load_is_lane_number(event.lane) ||
            !sp_load_lane(loaded, event.lane))
            return false;
        has_call |= event.kind == SP_RECORD_CALL || event.kind == SP_RECORD_CALL_MARKED;
    }
    return !unpack.damaged;
}

/* ---- Order -----------------------------------------------------------------------------------*/

static int by_tick(const void *a, const void *b)
{
    const sp_anchor *x = a, *y = b;
    return x->tick < y->tick ? -1 : x->tick > y->tick;
}

static bool make_timeline(sp_loaded *loaded)
{
    if (loaded->anchors.count > 0)
        qsort(loaded->anchors.items, loaded->anchors.count, sizeof(sp_anchor), by_tick);
    for (size_t i = 0; i < loaded->anchors.count; i++)
        if (!sp_timeline_add(&loaded->timeline, &loaded->anchors.items[i]))
            return false;
    return true;
}

#define COMPARE(x, y, member)                                                                      \
    if ((x)->member != (y)->member)                                                                \
    return (x)->member < (y)->member ? -1 : 1

static int by_place(const void *a, const void *b)
{
    const sp_loaded_block *x = a, *y = b;
    COMPARE(x, y, ring);
    COMPARE(x, y, header.first_call);
    COMPARE(x, y, epoch);
    COMPARE(x, y, from);
    COMPARE(x, y, order);
    return 0;
}

static const sp_loaded_mark *mark_of(const sp_loaded *loaded, uint32_t ring)
{
    for (size_t i = 0; i < loaded->marks.count; i++)
        if (loaded->marks.items[i].ring == ring)
            return &loaded->marks.items[i];
    return NULL;
}

/* Whether the last publication has what is in a block. */
static bool is_published(const sp_loaded_mark *mark, const sp_loaded_block *block)
{
    if (mark == NULL)
        return false;
    return block->epoch < mark->epoch ||
           (block->epoch == mark->epoch && block->to <= mark->words &&
            block->header.first_call + block->header.calls <= mark->calls);
}

/* Leaves each call of a ring once, and finds out which are missing. */
static void put_in_order(sp_loaded *loaded)
{
    size_t kept = 0;
    uint64_t expected = 0;
    if (loaded->blocks.count > 0)
        qsort(loaded->blocks.items, loaded->blocks.count, sizeof(sp_loaded_block), by_place);
    for (size_t i = 0; i < loaded->blocks.count; i++) {
        sp_loaded_block block = loaded->blocks.items[i];
        const sp_loaded_mark *mark = mark_of(loaded, block.ring);
        if (i == 0 || loaded->blocks.items[i - 1].ring != block.ring || kept == 0 ||
            loaded->blocks.items[kept - 1].ring != block.ring)
            expected = mark == NULL ? 0 : mark->calls;
        if (is_published(mark, &block))
            continue;
        if (block.header.first_call < expected) {
            loaded->damaged_blocks++;
            loaded->damaged_block_bytes += sp_block_bytes(&block.header);
            continue;
        }
        block.missing = block.header.first_call - expected;
        loaded->missing_calls += block.missing;
        expected = block.header.first_call + block.header.calls;
        loaded->num_calls += block.header.calls;
        loaded->blocks.items[kept++] = block;
    }
    loaded->blocks.count = kept;
}

/* What a thread was writing when it died is no damage when the rings have all of it. */
static void settle_damage(sp_loaded *loaded)
{
    if (!loaded->has_rings || loaded->missing_calls > 0)
        return;
    loaded->torn_bytes += loaded->damaged_bytes + loaded->damaged_block_bytes;
    loaded->damaged_bytes = 0;
    loaded->damaged_blocks = 0;
}

/* There is room. */
static void fill_task_tables(sp_loaded *loaded)
{
    sp_timeline_rate rate = sp_timeline_current_rate(&loaded->timeline);
    for (size_t i = 0; i < loaded->tasks.count; i++) {
        sp_loaded_task *task = &loaded->tasks.items[i];
        sp_task_row row = task->row;
        row.rank = (uint32_t)loaded->owner.rank;
        row.created_ns -= row.created_ns < 0 ? 0 : loaded->owner.started_ns;
        row.done_ns -= row.done_ns < 0 ? 0 : loaded->owner.started_ns;
        row.running_ns = sp_timeline_scale(&rate, (uint64_t)task->running_ticks);
        row.suspended_ns = sp_timeline_scale(&rate, (uint64_t)task->suspended_ticks);
        loaded->task_rows.items[loaded->task_rows.count++] = row;
        loaded->lanes.items[loaded->lanes.count++] = (sp_assemble_lane){
            .thread = row.thread_index, .task = (int64_t)i, .state = &task->state};
    }
}

static bool fill_assembly_tables(sp_loaded *loaded)
{
    size_t lanes = loaded->threads.count;
    if (!sp_vector_reserve(&loaded->assembled, loaded->blocks.count) ||
        !sp_vector_reserve(&loaded->lanes, lanes + loaded->tasks.count) ||
        !sp_vector_reserve(&loaded->task_rows, loaded->tasks.count))
        return false;
    for (size_t i = 0; i < loaded->blocks.count; i++) {
        const sp_loaded_block *block = &loaded->blocks.items[i];
        loaded->assembled.items[loaded->assembled.count++] = (sp_assemble_block){
            .bytes = block->bytes, .size = sp_block_bytes(&block->header),
            .missing = block->missing == 0 ? 0 : block->missing + GAP_NUMBERS};
    }
    for (size_t i = 0; i < lanes; i++) {
        sp_thread_row *thread = &loaded->threads.items[i];
        thread->rank = (uint32_t)loaded->owner.rank;
        thread->start_ns -= thread->start_ns < 0 ? 0 : loaded->owner.started_ns;
        thread->end_ns -= thread->end_ns < 0 ? 0 : loaded->owner.started_ns;
        loaded->lanes.items[loaded->lanes.count++] = (sp_assemble_lane){
            .thread = (int64_t)i, .task = -1, .state = &loaded->states.items[i]};
    }
    fill_task_tables(loaded);
    for (size_t i = 0; i < loaded->open_calls.count; i++) {
        sp_assemble_open_call *call = &loaded->open_calls.items[i];
        if (call->lane >= SP_RECORD_TASK_LANES)
            call->lane = (uint32_t)lanes + (call->lane - SP_RECORD_TASK_LANES);
    }
    return true;
}

static int load(sp_loaded *loaded, const char *const *paths, size_t count, sp_error *error)
{
    int status = SP_OK;
    for (size_t i = 0; i < count && status == SP_OK; i++)
        status = open_file(loaded, paths[i], error);
    if (status == SP_OK)
        status = read_files(loaded, error);
    if (status != SP_OK)
        return status;
    if (loaded->owner.version > SP_JOURNAL_VERSION)
        return sp_fail(error, SP_ERR_SCHEMA,
                       "'%s' is a journal of version %u; this release reads version %d", paths[0],
                       loaded->owner.version, SP_JOURNAL_VERSION);
    if (loaded->owner.version == 0)
        return sp_fail(error, SP_ERR_DAMAGED,
                       "'%s' does not say which process wrote it: it is no journal, or its beginning "
                       "is lost", paths[0]);
    if (loaded->anchors.count == 0)
        return sp_fail(error, SP_ERR_DAMAGED,
                       "'%s' holds no anchor of the clock, so that its times mean nothing", paths[0]);
    bool fits = make_timeline(loaded);
    for (size_t i = 0; i < loaded->files.count && fits; i++)
        if (is_rings(&loaded->files.items[i]))
            fits = sp_load_rings(loaded, &loaded->files.items[i]);
    if (fits)
        put_in_order(loaded);
    settle_damage(loaded);
    fits = fits && sp_load_open_calls(loaded) && fill_assembly_tables(loaded);
    return fits ? SP_OK : sp_fail_memory(error, "reading a journal");
}

int sp_load(const char *const *paths, size_t count, sp_loaded *out, sp_error *error)
{
    *out = (sp_loaded){.has_rings = false};
    int status = load(out, paths, count, error);
    if (status != SP_OK)
        sp_loaded_release(out);
    return status;
}

void sp_loaded_release(sp_loaded *loaded)
{
    for (size_t i = 0; i < loaded->files.count; i++)
        free((void *)(uintptr_t)loaded->files.items[i].bytes);
    for (size_t i = 0; i < loaded->states.count; i++)
        sp_resolver_release(&loaded->states.items[i]);
    for (size_t i = 0; i < loaded->tasks.count; i++)
        sp_resolver_release(&loaded->tasks.items[i].state);
    sp_vector_release(&loaded->tasks);
    sp_vector_release(&loaded->task_rows);
    sp_vector_release(&loaded->files);
    sp_vector_release(&loaded->anchors);
    sp_vector_release(&loaded->regions);
    sp_vector_release(&loaded->threads);
    sp_vector_release(&loaded->states);
    sp_vector_release(&loaded->lanes);
    sp_vector_release(&loaded->metadata);
    sp_vector_release(&loaded->losses);
    sp_vector_release(&loaded->instruments);
    sp_vector_release(&loaded->blocks);
    sp_vector_release(&loaded->assembled);
    sp_vector_release(&loaded->open_calls);
    sp_vector_release(&loaded->marks);
    sp_vector_release(&loaded->segments);
    sp_number_map_release(&loaded->region_index);
    sp_timeline_release(&loaded->timeline);
    sp_owner_frame_release(&loaded->owner);
    sp_arena_release(&loaded->arena);
    *loaded = (sp_loaded){.has_rings = false};
}
