#include "recorder/spill.h"

#include "base/os/journal_file.h"
#include "base/os/temporary.h"

/* Pieces are mapped one by one, so they begin with a page. */
static uint64_t round_up(uint64_t bytes)
{
    uint64_t page = sp_os_page_bytes();
    return (bytes + page - 1) / page * page;
}

/* Under the lock. */
static void fail(sp_memory_sink *sink, const char *what)
{
    sink->has_failed = true;
    if (sink->settings.say != NULL)
        sink->settings.say(what, sink->settings.folders[0]);
}

static void open_file(sp_memory_sink *sink)
{
    for (size_t i = 0; i < SP_SPILL_FOLDERS && sink->descriptor < 0; i++)
        if (sink->settings.folders[i] != NULL)
            sink->descriptor = sp_os_temporary_file(sink->settings.folders[i]);
    if (sink->descriptor < 0)
        fail(sink, "no temporary file can be made");
}

bool sp_spill_write(sp_memory_sink *sink, const void *bytes, size_t size, uint64_t *out_offset)
{
    sp_mutex_lock(&sink->lock);
    if (sink->descriptor < 0 && !sink->has_failed)
        open_file(sink);
    bool is_open = sink->descriptor >= 0 && !sink->has_failed;
    int descriptor = sink->descriptor;
    uint64_t offset = sink->end;
    if (is_open) {
        sink->end += round_up(size);
        sink->pieces++;
    }
    sp_mutex_unlock(&sink->lock);
    if (!is_open)
        return false;
    if (!sp_os_journal_write(descriptor, offset, bytes, size)) {
        sp_mutex_lock(&sink->lock);
        sink->pieces--;
        if (!sink->has_failed)
            fail(sink, "the temporary file cannot be written");
        sp_mutex_unlock(&sink->lock);
        return false;
    }
    *out_offset = offset;
    return true;
}

void *sp_spill_map(sp_memory_sink *sink, uint64_t offset, size_t size)
{
    return sp_os_journal_map(sink->descriptor, offset, size, false);
}

/* Once nothing of the file is wanted it is closed, which gives the space back, and the next piece
 * opens another. */
void sp_spill_drop(sp_memory_sink *sink, void *mapped, size_t size)
{
    if (mapped != NULL)
        sp_os_journal_unmap(mapped, size);
    sp_mutex_lock(&sink->lock);
    if (--sink->pieces == 0) {
        sp_os_journal_close(sink->descriptor);
        sink->descriptor = -1;
        sink->end = 0;
        sink->has_failed = false;
    }
    sp_mutex_unlock(&sink->lock);
}
