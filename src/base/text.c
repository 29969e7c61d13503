#include "base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(sp_text *text, size_t extra)
{
    if (text->failed)
        return false;
    if (extra >= SIZE_MAX / 4 - text->length) {
        text->failed = true;
        return false;
    }
    size_t wanted = text->length + extra + 1;
    if (wanted <= text->room)
        return true;
    size_t room = text->room * 2 > wanted ? text->room * 2 : wanted + 64;
    char *bytes = realloc(text->bytes, room);
    if (bytes == NULL) {
        text->failed = true;
        return false;
    }
    text->bytes = bytes;
    text->room = room;
    return true;
}

void sp_text_add_n(sp_text *text, const char *bytes, size_t length)
{
    if (!make_room(text, length))
        return;
    if (length > 0)
        memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void sp_text_add(sp_text *text, const char *bytes)
{
    sp_text_add_n(text, bytes, strlen(bytes));
}

void sp_text_repeat(sp_text *text, const char *bytes, size_t times)
{
    size_t length = strlen(bytes);
    for (size_t i = 0; i < times; i++)
        sp_text_add_n(text, bytes, length);
}

void sp_text_format(sp_text *text, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        text->failed = true;
    else if (make_room(text, (size_t)length)) {
        vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

char *sp_text_take(sp_text *text)
{
    if (!text->failed && text->bytes == NULL)
        sp_text_add_n(text, "", 0);
    char *bytes = text->failed ? NULL : text->bytes;
    if (text->failed)
        free(text->bytes);
    *text = (sp_text){0};
    return bytes;
}

void sp_text_release(sp_text *text)
{
    free(text->bytes);
    *text = (sp_text){0};
}
