#include "recorder/notes.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

bool sp_notes_set(sp_notes *notes, uint64_t number, const char *key, const char *value)
{
    size_t key_size = strlen(key) + 1, value_size = strlen(value) + 1;
    char *memory = malloc(key_size + value_size);
    if (memory == NULL || !sp_vector_reserve(notes, 1)) {
        free(memory);
        return false;
    }
    memcpy(memory, key, key_size);
    memcpy(memory + key_size, value, value_size);
    size_t at = 0;
    while (at < notes->count &&
           (notes->items[at].number != number || strcmp(notes->items[at].key, key) != 0))
        at++;
    if (at < notes->count)
        free(notes->items[at].key);
    else
        notes->count++;
    notes->items[at] = (sp_note){.number = number, .key = memory, .value = memory + key_size};
    return true;
}

/* What lies between the braces of an object. */
static void add_members(sp_text *out, const char *object, size_t bytes)
{
    const char *first = object == NULL ? NULL : memchr(object, '{', bytes);
    if (first == NULL)
        return;
    size_t length = bytes - (size_t)(first + 1 - object);
    while (length > 0 && first[length] != '}')
        length--;
    if (length <= 1)
        return;
    sp_text_add(out, out->length > 1 ? ", " : "");
    sp_text_add_n(out, first + 1, length - 1);
}

char *sp_notes_take(sp_notes *notes, uint64_t number, const char *more, size_t more_bytes,
                    size_t *out_bytes)
{
    sp_text object = {0};
    size_t kept = 0;
    sp_text_add(&object, "{");
    for (size_t i = 0; i < notes->count; i++) {
        sp_note note = notes->items[i];
        if (note.number != number) {
            notes->items[kept++] = note;
            continue;
        }
        sp_text_format(&object, "%s%s%s%s", object.length > 1 ? ", " : "", note.key,
                       note.key[0] != '\0' ? ": " : "", note.value);
        free(note.key);
    }
    notes->count = kept;
    add_members(&object, more, more_bytes);
    sp_text_add(&object, "}");
    *out_bytes = object.length;
    return sp_text_take(&object);
}

void sp_notes_clear(sp_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++)
        free(notes->items[i].key);
    notes->count = 0;
}

void sp_notes_release(sp_notes *notes)
{
    sp_notes_clear(notes);
    sp_vector_release(notes);
}
