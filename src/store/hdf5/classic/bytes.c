#include "store/hdf5/classic/bytes.h"

#include "base/os/positioned.h"

#include <string.h>

static bool read_file(const sp_classic_bytes *bytes, uint64_t address, size_t size, void *out)
{
    return sp_os_read_at(bytes->descriptor, "", bytes->base + address, out, size, NULL) == SP_OK;
}

static const sp_classic_window *window_at(sp_classic_bytes *bytes, uint64_t index)
{
    sp_classic_window *window = &bytes->windows[index % SP_CLASSIC_WINDOWS];
    if (window->number == index + 1)
        return window;
    uint64_t start = index * SP_CLASSIC_WINDOW;
    uint64_t left = bytes->size - start;
    size_t size = left < SP_CLASSIC_WINDOW ? (size_t)left : SP_CLASSIC_WINDOW;
    window->number = 0;
    if (!read_file(bytes, start, size, window->bytes))
        return NULL;
    window->number = index + 1;
    window->size = size;
    return window;
}

bool sp_classic_read(sp_classic_bytes *bytes, uint64_t address, size_t size, void *out)
{
    if (address > bytes->size || size > bytes->size - address)
        return false;
    if (size > SP_CLASSIC_WINDOW)
        return read_file(bytes, address, size, out);
    char *next = out;
    while (size > 0) {
        const sp_classic_window *window = window_at(bytes, address / SP_CLASSIC_WINDOW);
        size_t inside = (size_t)(address % SP_CLASSIC_WINDOW);
        if (window == NULL || inside >= window->size)
            return false;
        size_t piece = window->size - inside < size ? window->size - inside : size;
        memcpy(next, window->bytes + inside, piece);
        next += piece;
        address += piece;
        size -= piece;
    }
    return true;
}
