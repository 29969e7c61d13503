#include "export/output.h"

#include "base/error.h"
#include "base/json.h"
#include "base/os/positioned.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Where bytes go --------------------------------------------------------------------------*/

static int write_file(void *context, const void *bytes, size_t count, sp_error *error)
{
    sp_output *out = context;
    int status = sp_os_write_at(out->file.descriptor, out->file.target, out->offset, bytes, count,
                                error);
    out->offset += count;
    return status;
}

void sp_output_flush(sp_output *out)
{
    size_t count = out->used;
    out->used = 0;
    if (out->status != SP_OK || count == 0)
        return;
    if (out->file.target == NULL)
        sp_text_add_n(&out->memory, out->bytes, count);
    else if (out->gzip != NULL)
        out->status = sp_gzip_writer_add(out->gzip, out->bytes, count, &out->error);
    else
        out->status = write_file(out, out->bytes, count, &out->error);
}

int sp_output_open_memory(sp_output *out, sp_error *error)
{
    *out = (sp_output){.bytes = malloc(SP_OUTPUT_BYTES), .file = {.descriptor = -1}};
    return out->bytes == NULL ? sp_fail_memory(error, "writing an export") : SP_OK;
}

int sp_output_open_file(sp_output *out, const char *path, bool is_compressed, sp_error *error)
{
    sp_os_replacement file;
    int status = sp_output_open_memory(out, error);
    if (status != SP_OK)
        return status;
    status = sp_os_replacement_open(&file, path, error);
    if (status == SP_OK) {
        out->file = file;
        if (is_compressed)
            status = sp_gzip_writer_open(write_file, out, &out->gzip, error);
    }
    return status == SP_OK ? SP_OK : sp_output_finish(out, status, NULL);
}

static void release(sp_output *out)
{
    sp_gzip_writer_free(out->gzip);
    sp_os_replacement_abort(&out->file);
    sp_text_release(&out->memory);
    sp_text_release(&out->scratch);
    free(out->bytes);
    *out = (sp_output){.file = {.descriptor = -1}};
}

/* Status of the whole. Work that stopped because of the output tells the output's error. */
static int settle(sp_output *out, int status, sp_error *error)
{
    if (status == SP_OK)
        sp_output_flush(out);
    if (status == SP_OK && out->gzip != NULL && out->status == SP_OK) {
        out->status = sp_gzip_writer_finish(out->gzip, &out->error);
        out->gzip = NULL;
    }
    if (out->status == SP_OK && (out->memory.failed || out->scratch.failed))
        out->status = sp_fail_memory(&out->error, "writing an export");
    if (out->status != SP_OK && error != NULL)
        *error = out->error;
    return out->status != SP_OK ? out->status : status;
}

int sp_output_finish(sp_output *out, int status, sp_error *error)
{
    status = settle(out, status, error);
    if (status == SP_OK) {
        status = sp_os_replacement_commit(&out->file, error);
        out->file = (sp_os_replacement){.descriptor = -1};
    }
    release(out);
    return status;
}

int sp_output_take(sp_output *out, int status, char **out_bytes, size_t *out_count,
                   sp_error *error)
{
    status = settle(out, status, error);
    size_t count = out->memory.length;
    char *bytes = status == SP_OK ? sp_text_take(&out->memory) : NULL;
    if (status == SP_OK && bytes == NULL)
        status = sp_fail_memory(error, "writing an export");
    release(out);
    if (status == SP_OK) {
        *out_bytes = bytes;
        *out_count = count;
    }
    return status;
}

/* ---- Texts -----------------------------------------------------------------------------------*/

void sp_output_add_n(sp_output *out, const char *bytes, size_t count)
{
    while (count > 0) {
        if (out->used == SP_OUTPUT_BYTES)
            sp_output_flush(out);
        size_t size = SP_OUTPUT_BYTES - out->used < count ? SP_OUTPUT_BYTES - out->used : count;
        memcpy(out->bytes + out->used, bytes, size);
        out->used += size;
        bytes += size;
        count -= size;
    }
}

void sp_output_add_scratch(sp_output *out)
{
    if (!out->scratch.failed)
        sp_output_add_n(out, out->scratch.bytes, out->scratch.length);
    out->scratch.length = 0;
}

void sp_output_print(sp_output *out, const char *format, ...)
{
    char piece[512];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(piece, sizeof piece, format, list);
    va_end(list);
    if (length >= 0 && (size_t)length < sizeof piece) {
        sp_output_add_n(out, piece, (size_t)length);
        return;
    }
    char *longer = malloc((size_t)length + 1);
    if (length < 0 || longer == NULL) {
        out->scratch.failed = true;
        free(longer);
        return;
    }
    va_start(list, format);
    vsnprintf(longer, (size_t)length + 1, format, list);
    va_end(list);
    sp_output_add_n(out, longer, (size_t)length);
    free(longer);
}

void sp_output_string(sp_output *out, const char *text)
{
    sp_json_string(&out->scratch, text, strlen(text));
    sp_output_add_scratch(out);
}

/* ---- Numbers ---------------------------------------------------------------------------------*/

static const char two_digits[] = "0001020304050607080910111213141516171819202122232425262728293031323"
                                 "3343536373839404142434445464748495051525354555657585960616263646566"
                                 "6768697071727374757677787980818283848586878889909192939495969798"
                                 "99";

/* Writes the digits so that they end before `end`; returns where they begin. */
static char *write_digits(char *end, uint64_t value)
{
    while (value >= 100) {
        unsigned rest = (unsigned)(value % 100);
        value /= 100;
        end -= 2;
        memcpy(end, two_digits + (size_t)2 * rest, 2);
    }
    if (value >= 10) {
        end -= 2;
        memcpy(end, two_digits + 2 * value, 2);
        return end;
    }
    *--end = (char)('0' + value);
    return end;
}

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

void sp_output_integer(sp_output *out, int64_t value)
{
    char digits[SP_OUTPUT_NUMBER_BYTES];
    char *end = digits + sizeof digits, *from = write_digits(end, magnitude(value));
    if (value < 0)
        *--from = '-';
    memcpy(sp_output_room(out, SP_OUTPUT_NUMBER_BYTES), from, (size_t)(end - from));
    out->used += (size_t)(end - from);
}

void sp_output_decimal(sp_output *out, int64_t value, int decimals)
{
    static const uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
                                      1000000000};
    char digits[SP_OUTPUT_NUMBER_BYTES];
    char *end = digits + sizeof digits;
    uint64_t units = magnitude(value), unit = powers[decimals];
    char *from = write_digits(end, units % unit);
    while (end - from < decimals)
        *--from = '0';
    *--from = '.';
    from = write_digits(from, units / unit);
    if (value < 0)
        *--from = '-';
    memcpy(sp_output_room(out, SP_OUTPUT_NUMBER_BYTES), from, (size_t)(end - from));
    out->used += (size_t)(end - from);
}

/* The fewest significant digits that read back as the same number, without point or sign; returns
 * the power of ten of the first. Fifteen digits are exact for every number but the tiniest ones. */
static int shortest_digits(double value, char digits[24])
{
    char form[40];
    for (int precision = value < DBL_MIN ? 0 : 14; precision <= 16; precision++) {
        snprintf(form, sizeof form, "%.*e", precision, value);
        if (strtod(form, NULL) == value)
            break;
    }
    size_t count = 0;
    const char *at = form;
    for (; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9')
            digits[count++] = *at;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    digits[count] = '\0';
    return atoi(at + 1);
}

void sp_text_add_real(sp_text *out, double value)
{
    char digits[24];
    if (!isfinite(value)) {
        sp_text_add(out, "null");
        return;
    }
    int power = shortest_digits(fabs(value), digits), count = (int)strlen(digits);
    sp_text_add(out, signbit(value) ? "-" : "");
    if (power < -4 || power >= 16) {
        sp_text_add_n(out, digits, 1);
        sp_text_format(out, "%s%se%+03d", count > 1 ? "." : "", digits + 1, power);
    } else if (power < 0) {
        sp_text_add(out, "0.");
        sp_text_repeat(out, "0", (size_t)(-power - 1));
        sp_text_add(out, digits);
    } else {
        int whole = count < power + 1 ? count : power + 1;
        sp_text_add_n(out, digits, (size_t)whole);
        sp_text_repeat(out, "0", (size_t)(power + 1 - whole));
        sp_text_format(out, ".%s", whole < count ? digits + whole : "0");
    }
}

void sp_output_real(sp_output *out, double value)
{
    sp_text_add_real(&out->scratch, value);
    sp_output_add_scratch(out);
}

void sp_output_field(sp_output *out, const char *text)
{
    bool is_plain = text[0] != '\0' && strpbrk(text, ",\"\r\n") == NULL && text[0] != ' ';
    if (is_plain) {
        sp_output_add(out, text);
        return;
    }
    sp_output_add(out, "\"");
    for (const char *quote; (quote = strchr(text, '"')) != NULL; text = quote + 1) {
        sp_output_add_n(out, text, (size_t)(quote - text) + 1);
        sp_output_add(out, "\"");
    }
    sp_output_add(out, text);
    sp_output_add(out, "\"");
}
