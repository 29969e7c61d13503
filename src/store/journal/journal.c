#include "store/journal/journal.h"

#include "base/json.h"
#include "base/os/file.h"
#include "base/os/journal_file.h"
#include "base/os/owner.h"
#include "base/os/process.h"
#include "base/os/thread.h"
#include "base/vector.h"
#include "log/bytes.h"
#include "store/journal/frame.h"
#include "store/journal/names.h"
#include "store/journal/rings.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* Files are mapped in pieces of this size for reading blocks back: address space, not memory. */
#define WINDOW_BYTES ((uint64_t)64 << 20)

/* A block that lies across two windows, or in a file that cannot be mapped. */
typedef struct odd_block {
    uint64_t offset;
    size_t bytes;
    void *memory, *mapped; /* mapped NULL: memory is allocated */
    size_t mapped_bytes;
} odd_block;

typedef struct journal_file {
    struct journal_file *older;
    uint32_t generation;
    int descriptor;
    char *path;
    uint64_t end;
    size_t noted; /* of the bytes in `notes` that it has */
    bool is_sealed;
    atomic_size_t blocks; /* that are whole */
    SP_VECTOR(void *) windows;
    SP_VECTOR(odd_block) odd;
} journal_file;

struct sp_journal {
    sp_mutex lock;
    void (*say)(const char *text);
    char *output, *folder, *details;
    uint8_t id[SP_JOURNAL_ID_BYTES];
    sp_rings rings;
    journal_file *newest; /* those that are open */
    uint32_t generation;
    sp_text notes;      /* every frame but blocks, for each file anew */
    sp_text scratch;
    atomic_bool has_failed, is_hushed;
    bool has_owner;     /* its frame is in `notes` */
    size_t owner_at, owner_bytes; /* the newest */
    bool has_no_rings;  /* no place for them was found */
    bool is_removed;
};

/* ---- Texts -----------------------------------------------------------------------------------*/

static char *copy_of(const char *text)
{
    return text == NULL ? NULL : strdup(text);
}

static void take_settings(sp_journal *j, const sp_journal_settings *settings)
{
    free(j->output);
    free(j->folder);
    free(j->details);
    j->output = copy_of(settings->output);
    j->folder = copy_of(settings->folder);
    j->details = copy_of(settings->details);
    j->say = settings->say;
}

static void say_unsafe(sp_journal *j, const char *path, int reason)
{
    if (atomic_load(&j->is_hushed))
        return;
    sp_text line = {0};
    sp_text_format(&line,
                   "the journal %s cannot be written: %s; recording goes on in memory, and what is "
                   "recorded from now on is lost if the program is killed",
                   path, strerror(reason));
    if (!line.failed)
        j->say(line.bytes);
    sp_text_release(&line);
}

/* ---- Notes -----------------------------------------------------------------------------------*/

/* Appends a frame to the notes; its bytes, 0: memory is short. */
static size_t add_note(sp_journal *j, sp_frame_kind kind, const void *head, size_t head_bytes,
                       const char *json, size_t json_bytes)
{
    static const char zeros[SP_FRAME_HEADER_BYTES + SP_FRAME_ALIGNMENT];
    size_t before = j->notes.length, payload = head_bytes + json_bytes;
    size_t bytes = sp_frame_bytes(payload);
    sp_text_add_n(&j->notes, zeros, SP_FRAME_HEADER_BYTES);
    sp_text_add_n(&j->notes, head, head_bytes);
    sp_text_add_n(&j->notes, json, json_bytes);
    sp_text_add_n(&j->notes, zeros, bytes - SP_FRAME_HEADER_BYTES - payload);
    if (j->notes.failed) {
        j->notes.failed = false;
        j->notes.length = before;
        return 0;
    }
    sp_frame_finish(j->notes.bytes + before, kind, payload);
    return bytes;
}

static void add_owner(sp_journal *j)
{
    uint8_t head[SP_OWNER_BYTES];
    sp_os_owner self;
    sp_text json = {0};
    sp_os_owner_self(&self);
    sp_store_u32(head, SP_JOURNAL_VERSION);
    sp_store_u32(head + 4, j->generation);
    memcpy(head + 8, j->id, SP_JOURNAL_ID_BYTES);
    sp_text_add(&json, "{\"host\": ");
    sp_json_string(&json, self.host, strlen(self.host));
    sp_text_add(&json, ", \"boot_id\": ");
    sp_json_string(&json, self.boot, strlen(self.boot));
    sp_text_format(&json, ", \"pid\": %lld, \"process_start\": %llu, \"program\": ",
                   (long long)self.pid, (unsigned long long)self.start);
    sp_json_string(&json, self.program, strlen(self.program));
    sp_text_add(&json, ", \"output\": ");
    sp_json_string(&json, j->output == NULL ? "" : j->output,
                   j->output == NULL ? 0 : strlen(j->output));
    sp_text_add(&json, ", \"rings\": ");
    sp_json_string(&json, j->rings.path == NULL ? "" : j->rings.path,
                   j->rings.path == NULL ? 0 : strlen(j->rings.path));
    if (j->folder != NULL) {
        sp_text_add(&json, ", \"folder\": ");
        sp_json_string(&json, j->folder, strlen(j->folder));
    }
    if (j->details != NULL && j->details[0] != '\0')
        sp_text_format(&json, ", %s", j->details);
    sp_text_add(&json, "}");
    size_t before = j->notes.length, bytes = 0;
    if (!json.failed)
        bytes = add_note(j, SP_FRAME_OWNER, head, sizeof head, json.bytes, json.length);
    if (bytes > 0) {
        j->has_owner = true;
        j->owner_at = before;
        j->owner_bytes = bytes;
    }
    sp_text_release(&json);
}

/* Puts all notes into the file of rings, when they fit. */
static bool note_again(sp_journal *j)
{
    sp_rings_clear_notes(&j->rings);
    return sp_rings_note(&j->rings, j->notes.bytes, j->notes.length);
}

/* ---- Files -----------------------------------------------------------------------------------*/

static journal_file *file_of(sp_journal *j, uint32_t generation)
{
    journal_file *file = j->newest;
    while (file != NULL && file->generation != generation)
        file = file->older;
    return file;
}

static void fail(sp_journal *j, const char *path, int reason)
{
    if (!atomic_exchange(&j->has_failed, true))
        say_unsafe(j, path, reason);
}

static journal_file *open_file(sp_journal *j, uint32_t generation)
{
    journal_file *file = calloc(1, sizeof *file);
    char *tried = NULL;
    if (file == NULL || j->output == NULL) {
        free(file);
        fail(j, "", ENOMEM);
        return NULL;
    }
    file->generation = generation;
    file->descriptor = sp_journal_create_file(j->output, j->folder, &file->path, &tried);
    if (file->descriptor < 0) {
        fail(j, tried == NULL ? j->output : tried, errno);
        free(tried);
        free(file);
        return NULL;
    }
    free(tried);
    journal_file **link = &j->newest;
    while (*link != NULL && (*link)->generation > generation)
        link = &(*link)->older;
    file->older = *link;
    *link = file;
    sp_rings_count_files(&j->rings, 1);
    return file;
}

/* Brings the notes of a file up to date. */
static bool write_notes(sp_journal *j, journal_file *file)
{
    size_t missing = j->notes.length - file->noted;
    if (missing == 0)
        return true;
    if (!sp_os_journal_write(file->descriptor, file->end, j->notes.bytes + file->noted, missing)) {
        fail(j, file->path, errno);
        return false;
    }
    file->end += missing;
    file->noted = j->notes.length;
    return true;
}

static journal_file *ready_file(sp_journal *j, uint32_t generation)
{
    if (atomic_load(&j->has_failed))
        return NULL;
    journal_file *file = file_of(j, generation);
    if (file == NULL)
        file = open_file(j, generation);
    return file != NULL && write_notes(j, file) ? file : NULL;
}

/* Puts the notes from `before` on where they outlive the process: beside the rings, or when they no
 * longer fit there into the file, all of them. Whose rings they are stays told there. */
static void tell_rings(sp_journal *j, size_t before)
{
    if (j->rings.header == NULL ||
        sp_rings_note(&j->rings, j->notes.bytes + before, j->notes.length - before) ||
        ready_file(j, j->generation) == NULL)
        return;
    sp_rings_clear_notes(&j->rings);
    sp_rings_note(&j->rings, j->notes.bytes + j->owner_at, j->owner_bytes);
}

static void release_blocks(journal_file *file)
{
    for (size_t i = 0; i < file->windows.count; i++)
        sp_os_journal_unmap(file->windows.items[i], WINDOW_BYTES);
    for (size_t i = 0; i < file->odd.count; i++) {
        if (file->odd.items[i].mapped != NULL)
            sp_os_journal_unmap(file->odd.items[i].mapped, file->odd.items[i].mapped_bytes);
        else
            free(file->odd.items[i].memory);
    }
    sp_vector_release(&file->windows);
    sp_vector_release(&file->odd);
}

static void close_file(journal_file *file)
{
    release_blocks(file);
    sp_os_journal_close(file->descriptor);
    free(file->path);
    free(file);
}

/* ---- Life ------------------------------------------------------------------------------------*/

sp_journal *sp_journal_create(const sp_journal_settings *settings)
{
    sp_journal *j = calloc(1, sizeof *j);
    if (j == NULL)
        return NULL;
    sp_mutex_reset(&j->lock);
    take_settings(j, settings);
    j->generation = 1;
    for (size_t i = 0; i < SP_JOURNAL_ID_BYTES; i += 8)
        sp_store_u64(j->id + i, sp_os_random());
    return j;
}

void sp_journal_change(sp_journal *j, const sp_journal_settings *settings)
{
    sp_mutex_lock(&j->lock);
    take_settings(j, settings);
    if (j->has_owner) {
        size_t before = j->notes.length;
        add_owner(j);
        tell_rings(j, before);
    }
    sp_mutex_unlock(&j->lock);
}

bool sp_journal_holds_calls(sp_journal *j)
{
    sp_mutex_lock(&j->lock);
    bool holds = j->rings.header != NULL;
    for (journal_file *file = j->newest; file != NULL && !holds; file = file->older)
        holds = atomic_load_explicit(&file->blocks, memory_order_relaxed) > 0;
    sp_mutex_unlock(&j->lock);
    return holds;
}

void sp_journal_remove(sp_journal *j)
{
    sp_mutex_lock(&j->lock);
    for (journal_file *file = j->newest; file != NULL; file = file->older)
        sp_os_journal_remove(file->path);
    sp_rings_remove(&j->rings);
    j->is_removed = true;
    sp_mutex_unlock(&j->lock);
}

void sp_journal_destroy(sp_journal *j)
{
    if (j == NULL)
        return;
    while (j->newest != NULL) {
        journal_file *file = j->newest;
        j->newest = file->older;
        close_file(file);
    }
    sp_rings_close(&j->rings);
    sp_text_release(&j->notes);
    sp_text_release(&j->scratch);
    free(j->output);
    free(j->folder);
    free(j->details);
    free(j);
}

void sp_journal_forget(sp_journal *j)
{
    for (journal_file *file = j->newest; file != NULL; file = file->older)
        sp_os_journal_close(file->descriptor);
    if (j->rings.header != NULL)
        sp_os_journal_close(j->rings.descriptor);
}

/* ---- Writing ---------------------------------------------------------------------------------*/

/* The file of rings, made when a thread first asks; then it has all notes so far. */
static bool ready_rings(sp_journal *j)
{
    if (j->rings.header != NULL)
        return true;
    if (j->has_no_rings || j->is_removed)
        return false;
    if (j->output != NULL && sp_rings_open(&j->rings, j->id, j->output)) {
        add_owner(j);
        if (!note_again(j))
            ready_file(j, j->generation);
        return true;
    }
    j->has_no_rings = true;
    sp_text line = {0};
    sp_text_format(&line,
                   "no room for the recorder's rings in shared memory or on a local disk: %s; the "
                   "calls since the last flush are lost if the program is killed", strerror(errno));
    if (!line.failed)
        j->say(line.bytes);
    sp_text_release(&line);
    return false;
}

void *sp_journal_room(sp_journal *j, size_t bytes, const sp_segment_header *layout)
{
    sp_mutex_lock(&j->lock);
    void *body = ready_rings(j) ? sp_rings_add(&j->rings, bytes, layout) : NULL;
    if (body == NULL && j->rings.header != NULL && !j->has_no_rings) {
        j->has_no_rings = true;
        sp_text line = {0};
        sp_text_format(&line,
                       "no room for the ring of a further thread in %s: %s; its calls since the "
                       "last flush are lost if the program is killed",
                       j->rings.path == NULL ? "shared memory" : j->rings.path, strerror(errno));
        if (!line.failed)
            j->say(line.bytes);
        sp_text_release(&line);
    }
    sp_mutex_unlock(&j->lock);
    return body;
}

void sp_journal_note(sp_journal *j, sp_frame_kind kind, const void *head, size_t head_bytes,
                     const char *json, size_t json_bytes)
{
    sp_mutex_lock(&j->lock);
    size_t before = j->notes.length;
    if (add_note(j, kind, head, head_bytes, json, json_bytes) > 0)
        tell_rings(j, before);
    sp_mutex_unlock(&j->lock);
}

uint32_t sp_journal_generation(sp_journal *j)
{
    sp_mutex_lock(&j->lock);
    uint32_t generation = j->generation;
    sp_mutex_unlock(&j->lock);
    return generation;
}

uint32_t sp_journal_next_generation(sp_journal *j)
{
    sp_mutex_lock(&j->lock);
    uint32_t generation = ++j->generation;
    sp_mutex_unlock(&j->lock);
    return generation;
}

bool sp_journal_append(sp_journal *j, uint32_t generation, void *frame, const uint32_t place[4],
                       size_t block_bytes, sp_journal_place *out)
{
    uint8_t *payload = (uint8_t *)frame + SP_FRAME_HEADER_BYTES;
    for (int i = 0; i < 4; i++)
        sp_store_u32(payload + 4 * i, place[i]);
    size_t bytes = sp_frame_finish(frame, SP_FRAME_BLOCK, SP_PLACE_BYTES + block_bytes);
    sp_mutex_lock(&j->lock);
    if (!j->has_owner)
        add_owner(j);
    journal_file *file = ready_file(j, generation);
    uint64_t offset = file == NULL ? 0 : file->end;
    if (file != NULL)
        file->end += bytes;
    int descriptor = file == NULL ? -1 : file->descriptor;
    sp_mutex_unlock(&j->lock);
    if (file == NULL)
        return false;
    /* Outside of the lock: threads write at the same time, each at its own place. */
    if (!sp_os_journal_write(descriptor, offset, frame, bytes)) {
        int reason = errno;
        sp_mutex_lock(&j->lock);
        fail(j, file->path, reason);
        sp_mutex_unlock(&j->lock);
        return false;
    }
    atomic_fetch_add_explicit(&file->blocks, 1, memory_order_relaxed);
    *out = (sp_journal_place){.generation = generation, .bytes = block_bytes,
                              .offset = offset + SP_FRAME_HEADER_BYTES + SP_PLACE_BYTES};
    return true;
}

void sp_journal_seal_before(sp_journal *j, uint32_t generation)
{
    uint8_t frame[SP_FRAME_HEADER_BYTES];
    size_t bytes = sp_frame_finish(frame, SP_FRAME_SEAL, 0);
    sp_mutex_lock(&j->lock);
    for (journal_file *file = j->newest; file != NULL; file = file->older) {
        if (file->generation >= generation || file->is_sealed)
            continue;
        file->is_sealed = true;
        if (sp_os_journal_write(file->descriptor, file->end, frame, bytes))
            file->end += bytes;
    }
    sp_mutex_unlock(&j->lock);
}

void sp_journal_release_before(sp_journal *j, uint32_t generation)
{
    sp_mutex_lock(&j->lock);
    if (file_of(j, j->generation) == NULL && j->rings.header != NULL && !note_again(j))
        ready_file(j, j->generation);
    journal_file **link = &j->newest;
    while (*link != NULL) {
        journal_file *file = *link;
        if (file->generation >= generation) {
            link = &file->older;
            continue;
        }
        *link = file->older;
        sp_os_journal_remove(file->path);
        sp_rings_count_files(&j->rings, -1);
        close_file(file);
    }
    sp_mutex_unlock(&j->lock);
}

void sp_journal_hush(sp_journal *j, bool is_hushed)
{
    atomic_store(&j->is_hushed, is_hushed);
}

bool sp_journal_has_failed(sp_journal *j)
{
    return atomic_load(&j->has_failed);
}

int sp_journal_descriptor(sp_journal *j)
{
    sp_mutex_lock(&j->lock);
    int descriptor = j->newest == NULL ? -1 : sp_os_journal_copy(j->newest->descriptor);
    sp_mutex_unlock(&j->lock);
    return descriptor;
}

/* ---- Reading back ----------------------------------------------------------------------------*/

static const void *read_odd(journal_file *file, const sp_journal_place *place)
{
    for (size_t i = 0; i < file->odd.count; i++)
        if (file->odd.items[i].offset == place->offset)
            return file->odd.items[i].memory;
    if (!sp_vector_reserve(&file->odd, 1))
        return NULL;
    odd_block odd = {.offset = place->offset, .bytes = place->bytes};
    uint64_t from = place->offset / sp_os_page_bytes() * sp_os_page_bytes();
    odd.mapped_bytes = (size_t)(place->offset - from) + place->bytes;
    odd.mapped = sp_os_journal_map(file->descriptor, from, odd.mapped_bytes, false);
    odd.memory = odd.mapped == NULL ? malloc(place->bytes)
                                    : (char *)odd.mapped + (place->offset - from);
    if (odd.memory == NULL)
        return NULL;
    if (odd.mapped == NULL &&
        !sp_os_journal_read(file->descriptor, place->offset, odd.memory, place->bytes)) {
        free(odd.memory);
        return NULL;
    }
    file->odd.items[file->odd.count++] = odd;
    return odd.memory;
}

static const void *read_block(journal_file *file, const sp_journal_place *place)
{
    size_t window = (size_t)(place->offset / WINDOW_BYTES);
    uint64_t inside = place->offset % WINDOW_BYTES;
    if (inside + place->bytes > WINDOW_BYTES)
        return read_odd(file, place);
    while (file->windows.count <= window) {
        if (!sp_vector_reserve(&file->windows, 1))
            return NULL;
        file->windows.items[file->windows.count++] = NULL;
    }
    void **memory = &file->windows.items[window];
    if (*memory == NULL)
        *memory = sp_os_journal_map(file->descriptor, window * WINDOW_BYTES, WINDOW_BYTES, false);
    return *memory == NULL ? read_odd(file, place) : (const char *)*memory + inside;
}

const void *sp_journal_block(sp_journal *j, const sp_journal_place *place)
{
    sp_mutex_lock(&j->lock);
    journal_file *file = file_of(j, place->generation);
    const void *block = file == NULL ? NULL : read_block(file, place);
    sp_mutex_unlock(&j->lock);
    return block;
}
