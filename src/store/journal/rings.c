#include "store/journal/rings.h"

#include "base/crc32c.h"
#include "base/os/journal_file.h"
#include "base/os/process.h"
#include "base/text.h"
#include "store/journal/sweep.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The header has a page of its own; notes take what is left. */
enum { FIRST_BYTES = 64 * 1024, NOTES_AT = 4096, NAME_ATTEMPTS = 8 };

_Static_assert(sizeof(sp_segment_header) <= SP_SEGMENT_BODY_AT, "the body follows the header");
_Static_assert(sizeof(sp_rings_header) <= NOTES_AT, "notes follow the header");

const char *sp_rings_folder(size_t i)
{
    static const char *const fixed[] = {"/dev/shm", "/var/tmp", "/tmp"};
    const char *runtime = sp_os_environment("XDG_RUNTIME_DIR");
    if (runtime != NULL && runtime[0] == '/' && i > 0 && --i == 0)
        return runtime;
    return i < sizeof fixed / sizeof *fixed ? fixed[i] : NULL;
}

uint32_t sp_rings_output_number(const char *output)
{
    return sp_crc32c(0, output, strlen(output));
}

bool sp_rings_name_read(const char *name, int64_t *out_pid, uint32_t *out_output)
{
    unsigned long long user, random;
    long long pid;
    unsigned output;
    int end = 0;
    if (sscanf(name, "scope-profiler-%llu-%lld-%8x-%16llx.rings%n", &user, &pid, &output, &random,
               &end) != 4 || name[end] != '\0' || end == 0 || user != sp_os_user())
        return false;
    *out_pid = pid;
    *out_output = output;
    return true;
}

static bool create(sp_rings *rings, const char *folder, const char *output)
{
    for (int attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
        sp_text path = {0};
        sp_text_format(&path, "%s/scope-profiler-%llu-%lld-%08x-%016llx.rings", folder,
                       (unsigned long long)sp_os_user(), (long long)sp_os_process_id(),
                       sp_rings_output_number(output), (unsigned long long)sp_os_random());
        rings->path = sp_text_take(&path);
        rings->descriptor = rings->path == NULL ? -1 : sp_os_journal_create(rings->path);
        if (rings->descriptor >= 0)
            return true;
        free(rings->path);
        rings->path = NULL;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

static bool fill(sp_rings *rings, const uint8_t id[SP_JOURNAL_ID_BYTES])
{
    if (!sp_os_journal_reserve(rings->descriptor, 0, FIRST_BYTES))
        return false;
    sp_rings_header *header = sp_os_journal_map(rings->descriptor, 0, FIRST_BYTES, true);
    if (header == NULL)
        return false;
    header->version = SP_JOURNAL_VERSION;
    header->order = SP_RINGS_ORDER;
    memcpy(header->id, id, SP_JOURNAL_ID_BYTES);
    header->notes_at = NOTES_AT;
    header->notes_room = FIRST_BYTES - NOTES_AT;
    header->segments_at = FIRST_BYTES;
    atomic_signal_fence(memory_order_seq_cst);
    memcpy(header->magic, SP_RINGS_MAGIC, sizeof header->magic);
    rings->header = header;
    rings->end = FIRST_BYTES;
    return true;
}

bool sp_rings_open(sp_rings *rings, const uint8_t id[SP_JOURNAL_ID_BYTES], const char *output)
{
    const char *folder;
    int reason = ENOENT;
    for (size_t i = 0; (folder = sp_rings_folder(i)) != NULL; i++) {
        if (!sp_os_folder_is_local(folder))
            continue;
        sp_rings_sweep(folder);
        if (create(rings, folder, output)) {
            if (fill(rings, id))
                return true;
            reason = errno;
            sp_rings_remove(rings);
            sp_rings_close(rings);
        } else {
            reason = errno;
        }
    }
    errno = reason;
    return false;
}

static uint64_t place_of(uint64_t in_body)
{
    return in_body == UINT64_MAX ? 0 : in_body + SP_SEGMENT_BODY_AT;
}

static size_t segment_bytes(size_t body_bytes)
{
    size_t page = sp_os_page_bytes();
    return (SP_SEGMENT_BODY_AT + body_bytes + page - 1) / page * page;
}

void *sp_rings_add(sp_rings *rings, size_t body_bytes, const sp_segment_header *layout)
{
    size_t bytes = segment_bytes(body_bytes);
    if (!sp_os_journal_reserve(rings->descriptor, rings->end, bytes))
        return NULL;
    sp_segment_header *header = sp_os_journal_map(rings->descriptor, rings->end, bytes, true);
    if (header == NULL)
        return NULL;
    rings->end += bytes;
    header->bytes = bytes;
    header->address = (uint64_t)(uintptr_t)header;
    header->state_at = place_of(layout->state_at);
    header->head_at = place_of(layout->head_at);
    header->top_at = place_of(layout->top_at);
    header->ring_at = place_of(layout->ring_at);
    header->ring_words = layout->ring_words;
    header->stack_at = place_of(layout->stack_at);
    header->stack_frames = layout->stack_frames;
    header->outermost_at = place_of(layout->outermost_at);
    header->lane_at = place_of(layout->lane_at);
    header->waiting_at = place_of(layout->waiting_at);
    header->waiting_step = layout->waiting_step;
    header->num_waiting = layout->num_waiting;
    atomic_signal_fence(memory_order_seq_cst);
    memcpy(header->magic, SP_SEGMENT_MAGIC, sizeof header->magic);
    sp_os_journal_holds_pointers(header, bytes, true);
    return (char *)header + SP_SEGMENT_BODY_AT;
}

void sp_rings_free_body(void *body, size_t body_bytes)
{
    sp_segment_header *header = (sp_segment_header *)((char *)body - SP_SEGMENT_BODY_AT);
    /* The address may be given to another one. */
    *(volatile uint64_t *)&header->address = 0;
    sp_os_journal_holds_pointers(header, segment_bytes(body_bytes), false);
    sp_os_journal_unmap(header, segment_bytes(body_bytes));
}

/* Another process sees the count change only after the bytes it counts. */
static void set_notes(sp_rings *rings, uint64_t bytes)
{
    atomic_thread_fence(memory_order_release);
    *(volatile uint64_t *)&rings->header->notes_bytes = bytes;
}

bool sp_rings_note(sp_rings *rings, const void *frame, size_t bytes)
{
    sp_rings_header *header = rings->header;
    if (header == NULL || bytes > header->notes_room - header->notes_bytes)
        return false;
    memcpy((char *)header + header->notes_at + header->notes_bytes, frame, bytes);
    set_notes(rings, header->notes_bytes + bytes);
    return true;
}

void sp_rings_clear_notes(sp_rings *rings)
{
    if (rings->header != NULL)
        set_notes(rings, 0);
}

void sp_rings_count_files(sp_rings *rings, int change)
{
    if (rings->header != NULL)
        rings->header->files += (uint64_t)(int64_t)change;
}

void sp_rings_remove(sp_rings *rings)
{
    if (rings->path != NULL)
        sp_os_journal_remove(rings->path);
    free(rings->path);
    rings->path = NULL;
}

void sp_rings_close(sp_rings *rings)
{
    sp_os_journal_unmap(rings->header, FIRST_BYTES);
    if (rings->descriptor > 0)
        sp_os_journal_close(rings->descriptor);
    free(rings->path);
    *rings = (sp_rings){.header = NULL};
}
