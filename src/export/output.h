/* output.h - what an exporter writes to: a file that appears complete or not at all, or memory. Bytes
 * go through one buffer; the first trouble is kept, what comes after it is dropped, and the end tells
 * it. Numbers look the same in every locale. */
#ifndef SP_EXPORT_OUTPUT_H
#define SP_EXPORT_OUTPUT_H

#include "base/gzip/gzip.h"
#include "base/os/replace.h"
#include "base/text.h"

#include <string.h>

enum { SP_OUTPUT_BYTES = 1 << 18, SP_OUTPUT_NUMBER_BYTES = 32 };

typedef struct sp_output {
    char *bytes; /* SP_OUTPUT_BYTES */
    size_t used;
    int status;
    sp_error error;
    sp_os_replacement file; /* target NULL: memory */
    uint64_t offset;        /* bytes of the file written */
    sp_gzip_writer *gzip;   /* NULL: as they are */
    sp_text memory;
    sp_text scratch;
} sp_output;

int sp_output_open_file(sp_output *out, const char *path, bool is_compressed, sp_error *error);
int sp_output_open_memory(sp_output *out, sp_error *error);
/* Gives the file its name, unless `status` (of the work so far) or the writing says otherwise: then
 * nothing is left. Ends the output either way. */
int sp_output_finish(sp_output *out, int status, sp_error *error);
/* The same for memory; free() the bytes. */
int sp_output_take(sp_output *out, int status, char **out_bytes, size_t *out_count,
                   sp_error *error);

/* Hands on what the buffer holds. */
void sp_output_flush(sp_output *out);

/* Room for a number or another short piece; add what was written to `used`. */
static inline char *sp_output_room(sp_output *out, size_t count)
{
    if (SP_OUTPUT_BYTES - out->used < count)
        sp_output_flush(out);
    return out->bytes + out->used;
}

void sp_output_add_n(sp_output *out, const char *bytes, size_t count);

static inline void sp_output_add(sp_output *out, const char *text)
{
    sp_output_add_n(out, text, strlen(text));
}

void sp_output_print(sp_output *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void sp_output_integer(sp_output *out, int64_t value);
/* `value` units of 10^-decimals, as 12.345; `decimals` is at most 9. */
void sp_output_decimal(sp_output *out, int64_t value, int decimals);
/* Shortest form that reads back as the same number, always recognisable as one with a fraction
 * (1.0, 1e+16); null when it is not finite. */
void sp_output_real(sp_output *out, double value);
void sp_text_add_real(sp_text *out, double value);
/* Appends what was collected in `scratch` and empties that. */
void sp_output_add_scratch(sp_output *out);
/* A field of a CSV line as RFC 4180 has it: quoted where that is needed, quotes doubled. */
void sp_output_field(sp_output *out, const char *text);
/* A quoted JSON string. */
void sp_output_string(sp_output *out, const char *text);

#endif
