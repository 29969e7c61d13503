#include "store/journal/find.h"

#include "base/os/journal_file.h"
#include "store/journal/names.h"
#include "store/journal/rings.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The owner's frame is the first thing that a file gets, after its notes so far. */
enum { HEAD_BYTES = 64 * 1024 };

typedef struct search {
    const char *folder, *base; /* base NULL: of any output */
    bool is_for_rings, is_thorough;
    const char *output, *output_folder; /* what is wanted; both NULL: everything */
    sp_journal_visit *visit;
    void *context;
} search;

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static void folder_of(const char *path, char *out, size_t room)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        snprintf(out, room, ".");
    else if (slash == path)
        snprintf(out, room, "/");
    else
        snprintf(out, room, "%.*s", (int)(slash - path), path);
}

/* Goes over frames; the last owner wins. */
static bool read_owner(const uint8_t *bytes, size_t size, sp_owner_frame *out)
{
    bool is_found = false;
    sp_frame_view frame;
    for (size_t at = 0; at < size && sp_frame_read(bytes + at, size - at, &frame); at += frame.bytes)
        if (frame.kind == SP_FRAME_OWNER)
            is_found = sp_owner_frame_read(&frame, out) || is_found;
    return is_found;
}

static bool read_head(const uint8_t *bytes, size_t size, sp_owner_frame *out, bool *out_is_rings)
{
    const sp_rings_header *rings = (const sp_rings_header *)(const void *)bytes;
    *out_is_rings = size >= sizeof *rings && memcmp(bytes, SP_RINGS_MAGIC, 4) == 0;
    if (!*out_is_rings)
        return read_owner(bytes, size, out);
    if (rings->version != SP_JOURNAL_VERSION || rings->order != SP_RINGS_ORDER ||
        rings->notes_at > size || rings->notes_bytes > size - rings->notes_at)
        return false;
    return read_owner(bytes + rings->notes_at, (size_t)rings->notes_bytes, out);
}

bool sp_journal_identify(const char *path, sp_owner_frame *out, bool *out_is_rings)
{
    uint64_t size;
    int descriptor = sp_os_journal_open(path, &size);
    if (descriptor < 0)
        return false;
    size_t count = size < HEAD_BYTES ? (size_t)size : HEAD_BYTES;
    uint8_t *bytes = malloc(count + 1);
    bool is_known = bytes != NULL && sp_os_journal_read(descriptor, 0, bytes, count) &&
                    read_head(bytes, count, out, out_is_rings);
    free(bytes);
    sp_os_journal_close(descriptor);
    return is_known;
}

/* Outputs are absolute, but may be spelled in several ways. */
static bool is_wanted(const search *s, const char *output)
{
    char folder[PATH_MAX], wanted[PATH_MAX];
    if (output[0] == '\0') /* of no file: in no folder */
        return s->output_folder == NULL && s->output == NULL;
    folder_of(output, folder, sizeof folder);
    if (s->output_folder != NULL)
        return sp_os_folder_is_same(folder, s->output_folder);
    if (s->output == NULL || strcmp(output, s->output) == 0)
        return true;
    folder_of(s->output, wanted, sizeof wanted);
    return strcmp(base_of(output), base_of(s->output)) == 0 && sp_os_folder_is_same(folder, wanted);
}

static void look_at(const search *s, const char *path)
{
    sp_owner_frame frame = {0};
    sp_journal_found found = {.path = path, .frame = &frame};
    if (sp_journal_identify(path, &frame, &found.is_rings) && is_wanted(s, frame.output.bytes)) {
        found.owner = frame.owner;
        found.state = sp_os_owner_look(&frame.owner);
        s->visit(s->context, &found);
    }
    sp_owner_frame_release(&frame);
}

static void look_at_name(void *context, const char *name)
{
    const search *s = context;
    char path[PATH_MAX];
    int64_t pid;
    uint32_t number;
    bool fits = s->is_for_rings ? sp_rings_name_read(name, &pid, &number)
                                : sp_journal_name_fits(name, s->base);
    if (fits && s->is_for_rings && !s->is_thorough)
        fits = number == sp_rings_output_number(s->output);
    if (fits && snprintf(path, sizeof path, "%s/%s", s->folder, name) < (int)sizeof path)
        look_at(s, path);
}

static void search_rings(search *s, bool is_thorough, size_t num_folders)
{
    s->is_for_rings = true;
    s->is_thorough = is_thorough;
    for (size_t i = 0; i < num_folders && (s->folder = sp_rings_folder(i)) != NULL; i++)
        sp_os_folder_visit(s->folder, look_at_name, s);
}

void sp_journal_find(const char *output, const char *folder, bool is_thorough,
                     sp_journal_visit *visit, void *context)
{
    char own[PATH_MAX], path[PATH_MAX];
    search s = {.output = output, .base = base_of(output), .visit = visit, .context = context};
    folder_of(output, own, sizeof own);
    s.folder = folder == NULL ? own : folder;
    if (is_thorough || sp_os_folder_is_public(s.folder))
        sp_os_folder_visit(s.folder, look_at_name, &s);
    else if (snprintf(path, sizeof path, "%s/%s.journal", s.folder, s.base) < (int)sizeof path)
        look_at(&s, path);
    /* On a start only where rings go first: in shared memory. */
    search_rings(&s, is_thorough, is_thorough ? SIZE_MAX : 1);
}

void sp_journal_find_output(const char *output, const char *folder, sp_journal_visit *visit,
                            void *context)
{
    char own[PATH_MAX];
    search s = {.output = output, .base = base_of(output), .visit = visit, .context = context};
    folder_of(output, own, sizeof own);
    s.folder = folder == NULL || folder[0] == '\0' ? own : folder;
    sp_os_folder_visit(s.folder, look_at_name, &s);
    search_rings(&s, false, SIZE_MAX);
}

void sp_journal_find_in(const char *folder, sp_journal_visit *visit, void *context)
{
    search s = {.folder = folder, .visit = visit, .context = context};
    sp_os_folder_visit(folder, look_at_name, &s);
    s.output_folder = folder;
    search_rings(&s, true, SIZE_MAX);
}

void sp_journal_find_rings(sp_journal_visit *visit, void *context)
{
    search s = {.visit = visit, .context = context};
    search_rings(&s, true, SIZE_MAX);
}
