#include "store/journal/sweep.h"

#include "base/os/journal_file.h"
#include "store/journal/find.h"
#include "store/journal/rings.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 8 };

typedef struct sweep {
    const char *folder;
    int left; /* files to look into: those that do hold something would be read by every start */
} sweep;

typedef struct segment {
    const uint8_t *at;
    sp_segment_header header;
} segment;

static uint64_t word(const segment *s, uint64_t at)
{
    uint64_t value = 0;
    if (at <= s->header.bytes - sizeof value)
        memcpy(&value, s->at + at, sizeof value);
    return value;
}

/* Nothing in the ring that was not published, nothing on the stack. */
static bool lane_is_empty(const segment *s)
{
    const sp_segment_header *header = &s->header;
    sp_segment_state state;
    if (header->state_at == 0 || header->address == 0)
        return true;
    if (header->state_at > header->bytes - sizeof state)
        return false;
    memcpy(&state, s->at + header->state_at, sizeof state);
    uint64_t head = word(s, header->head_at), top = word(s, header->top_at);
    uint64_t words = head == 0 ? 0 : (head - header->address - header->ring_at) / sizeof(uint64_t);
    return (state.epoch % 2 != 0 || words <= state.settled) &&
           (top == 0 || top == header->address + header->stack_at);
}

static bool is_empty(const uint8_t *bytes, uint64_t size)
{
    sp_rings_header header;
    memcpy(&header, bytes, sizeof header);
    if (header.files != 0)
        return false;
    segment s;
    for (uint64_t at = header.segments_at; at <= size && size - at >= SP_SEGMENT_BODY_AT;
         at += s.header.bytes) {
        s.at = bytes + at;
        memcpy(&s.header, s.at, sizeof s.header);
        if (memcmp(s.header.magic, SP_SEGMENT_MAGIC, 4) != 0)
            break;
        if (s.header.bytes < SP_SEGMENT_BODY_AT || s.header.bytes > size - at || !lane_is_empty(&s))
            return false;
    }
    return true;
}

static bool file_is_empty(const char *path)
{
    uint64_t size;
    int descriptor = sp_os_journal_open(path, &size);
    if (descriptor < 0)
        return false;
    uint8_t *bytes = size < sizeof(sp_rings_header) ? NULL : malloc((size_t)size);
    bool result = bytes != NULL && sp_os_journal_read(descriptor, 0, bytes, (size_t)size) &&
                  is_empty(bytes, size);
    free(bytes);
    sp_os_journal_close(descriptor);
    return result;
}

static void look_at(void *context, const char *name)
{
    sweep *s = context;
    int64_t pid;
    uint32_t output;
    char path[PATH_MAX];
    bool is_rings;
    sp_owner_frame frame = {0};
    if (s->left == 0 || !sp_rings_name_read(name, &pid, &output) || sp_os_process_exists(pid) ||
        snprintf(path, sizeof path, "%s/%s", s->folder, name) >= (int)sizeof path)
        return;
    s->left--;
    if (sp_journal_identify(path, &frame, &is_rings) && is_rings &&
        sp_os_owner_look(&frame.owner) == SP_OS_OWNER_DEAD && file_is_empty(path))
        sp_os_journal_remove(path);
    sp_owner_frame_release(&frame);
}

void sp_rings_sweep(const char *folder)
{
    sweep s = {.folder = folder, .left = MOST_FILES};
    sp_os_folder_visit(folder, look_at, &s);
}
