#include "store/description.h"

#include "base/json.h"

#include <string.h>

uint32_t sp_store_num_ranks(const sp_metadata_entry *metadata, size_t num_metadata,
                            const sp_row *rows, size_t num_rows)
{
    uint32_t ranks = 0;
    for (size_t i = 0; i < num_rows; i++)
        if (rows[i].rank >= ranks)
            ranks = rows[i].rank == UINT32_MAX ? UINT32_MAX : rows[i].rank + 1;
    for (size_t i = 0; i < num_metadata; i++)
        if (metadata[i].kind == SP_VALUE_INTEGER && strcmp(metadata[i].key, "mpi_size") == 0 &&
            metadata[i].integer > ranks && metadata[i].integer <= UINT32_MAX)
            ranks = (uint32_t)metadata[i].integer;
    return ranks;
}

int64_t sp_store_missing_value(sp_column column)
{
    return column == SP_COLUMN_AWAIT ? 0 : -1;
}

/* Length of the leading part of `text` that is UTF-8. */
static size_t valid_prefix(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length) {
        size_t step = sp_utf8_sequence((const unsigned char *)text + at, length - at);
        if (step == 0)
            break;
        at += step;
    }
    return at;
}

const char *sp_store_utf8(sp_arena *arena, const char *text)
{
    size_t length = strlen(text);
    size_t valid = valid_prefix(text, length);
    if (valid == length)
        return text;
    static const char REPLACEMENT[] = "\xEF\xBF\xBD";
    char *clean = sp_arena_alloc(arena, length * 3 + 1);
    if (clean == NULL)
        return NULL;
    size_t at = 0, used = 0;
    while (at < length) {
        valid = valid_prefix(text + at, length - at);
        memcpy(clean + used, text + at, valid);
        used += valid;
        at += valid;
        if (at < length) {
            memcpy(clean + used, REPLACEMENT, 3);
            used += 3;
            at++;
        }
    }
    clean[used] = '\0';
    return clean;
}
