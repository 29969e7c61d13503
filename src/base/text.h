/* text.h - a string that grows. An append that finds no memory marks the text as failed and the
 * caller checks once at the end. */
#ifndef SP_BASE_TEXT_H
#define SP_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed memory is an empty text. One thread at a time. */
typedef struct sp_text {
    char *bytes; /* terminated once anything was appended */
    size_t length, room;
    bool failed;
} sp_text;

void sp_text_add(sp_text *text, const char *bytes);
void sp_text_add_n(sp_text *text, const char *bytes, size_t length);
void sp_text_repeat(sp_text *text, const char *bytes, size_t times);
void sp_text_format(sp_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Hands the bytes over (free() them) and empties the text; NULL when it had failed. An empty text
 * gives "". */
char *sp_text_take(sp_text *text);
void sp_text_release(sp_text *text);

#endif
