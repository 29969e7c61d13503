/* follow_files.c - journal files that grow: what is whole is taken once, in the order of the file.
 *
 * Threads write at the same time, each its own piece, so a piece may be missing while later ones are
 * there. It is remembered as a hole and looked at again. The blocks of one ring are never on both
 * sides of it: a ring is emptied only when its block has been written. */
#include "store/journal/follow.h"

#include "base/os/journal_file.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 1 << 20, MOST_ROOM = 1 << 26, MOST_LOOKS = 20 };

static bool grow(sp_follow *follow, size_t wanted)
{
    if (wanted <= follow->room)
        return true;
    uint8_t *grown = wanted > MOST_ROOM ? NULL : realloc(follow->buffer, wanted);
    if (grown == NULL)
        return false;
    follow->buffer = grown;
    follow->room = wanted;
    return true;
}

/* Bytes that a frame there would have by its own words; 0: none begins there. */
static size_t claimed(const uint8_t *bytes, size_t size)
{
    uint32_t payload;
    if (size < SP_FRAME_HEADER_BYTES || memcmp(bytes, SP_FRAME_MAGIC, 4) != 0)
        return 0;
    memcpy(&payload, bytes + SP_FRAME_AT_BYTES, sizeof payload);
    return sp_frame_bytes(payload);
}

/* Takes whole frames from the beginning of the buffer; their bytes. */
static size_t take_frames(sp_follow *follow, size_t size)
{
    sp_frame_view frame;
    size_t at = 0;
    while (sp_frame_read(follow->buffer + at, size - at, &frame)) {
        sp_follow_frame(follow, &frame);
        at += frame.bytes;
    }
    return at;
}

/* Where the next whole frame behind the first bytes begins, else as far as there is none. */
static size_t next_frame(const sp_follow *follow, size_t size)
{
    sp_frame_view frame;
    size_t at = SP_FRAME_ALIGNMENT;
    for (; at + SP_FRAME_HEADER_BYTES <= size; at += SP_FRAME_ALIGNMENT)
        if (memcmp(follow->buffer + at, SP_FRAME_MAGIC, 4) == 0 &&
            sp_frame_read(follow->buffer + at, size - at, &frame))
            return at;
    return at;
}

static void add_hole(sp_follow_file *file, uint64_t from, uint64_t to)
{
    sp_follow_hole *last = file->num_holes > 0 ? &file->holes[file->num_holes - 1] : NULL;
    if (last != NULL && last->to == from) {
        last->to = to;
        return;
    }
    if (file->num_holes == SP_FOLLOW_HOLES) {
        memmove(file->holes, file->holes + 1, (SP_FOLLOW_HOLES - 1) * sizeof *file->holes);
        file->num_holes--;
    }
    file->holes[file->num_holes++] = (sp_follow_hole){.from = from, .to = to};
}

/* One step at a place: the bytes that are done with, 0: nothing that is whole follows. */
static uint64_t step(sp_follow *follow, sp_follow_file *file, uint64_t at, uint64_t end)
{
    uint64_t left = end - at;
    size_t count = left < follow->room ? (size_t)left : follow->room;
    if (count < SP_FRAME_HEADER_BYTES || !sp_os_journal_read(file->descriptor, at, follow->buffer, count))
        return 0;
    size_t taken = take_frames(follow, count);
    if (taken > 0)
        return taken;
    size_t wanted = claimed(follow->buffer, count);
    if (wanted > count && wanted <= left && grow(follow, wanted))
        return step(follow, file, at, end);
    size_t next = next_frame(follow, count);
    bool is_found = next + SP_FRAME_HEADER_BYTES <= count;
    if (!is_found && count == left)
        return 0; /* the end of the file is being written */
    add_hole(file, at, at + next);
    return next;
}

static void look_into_holes(sp_follow *follow, sp_follow_file *file)
{
    size_t kept = 0;
    for (size_t i = 0; i < file->num_holes; i++) {
        sp_follow_hole hole = file->holes[i];
        uint64_t left = hole.to - hole.from;
        if (left <= MOST_ROOM && grow(follow, (size_t)left) &&
            sp_os_journal_read(file->descriptor, hole.from, follow->buffer, (size_t)left))
            hole.from += take_frames(follow, (size_t)left);
        hole.looks++;
        if (hole.from < hole.to && hole.looks < MOST_LOOKS)
            file->holes[kept++] = hole;
    }
    file->num_holes = kept;
}

static void follow_file(sp_follow *follow, sp_follow_file *file)
{
    uint64_t size, taken;
    if (!sp_os_journal_look(file->descriptor, &size, &file->is_named))
        return;
    look_into_holes(follow, file);
    while (size > file->at && (taken = step(follow, file, file->at, size)) > 0)
        file->at += taken;
}

bool sp_follow_files(sp_follow *follow)
{
    bool is_whole = true;
    size_t kept = 0;
    if (!grow(follow, FIRST_ROOM)) {
        follow->is_short = true;
        return true;
    }
    for (size_t i = 0; i < follow->files.count; i++) {
        sp_follow_file *file = &follow->files.items[i];
        follow_file(follow, file);
        is_whole = is_whole && file->num_holes == 0;
        if (!file->is_named && file->num_holes == 0) {
            sp_os_journal_close(file->descriptor);
            free(file->path);
            continue;
        }
        follow->files.items[kept++] = *file;
    }
    follow->files.count = kept;
    return is_whole;
}

void sp_follow_release_files(sp_follow *follow)
{
    for (size_t i = 0; i < follow->files.count; i++) {
        sp_os_journal_close(follow->files.items[i].descriptor);
        free(follow->files.items[i].path);
    }
    sp_vector_release(&follow->files);
    free(follow->buffer);
}
