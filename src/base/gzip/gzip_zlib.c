#include "base/error.h"
#include "base/gzip/gzip.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { PIECE_BYTES = 1 << 16, LEVEL = 6, GZIP_WINDOW = MAX_WBITS + 16, ANY_SYSTEM = 255 };

struct sp_gzip_writer {
    sp_gzip_sink sink;
    void *context;
    z_stream stream;
    gz_header header;
    unsigned char piece[PIECE_BYTES];
};

int sp_gzip_writer_open(sp_gzip_sink sink, void *context, sp_gzip_writer **out, sp_error *error)
{
    sp_gzip_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL)
        return sp_fail_memory(error, "compressing a file");
    writer->sink = sink;
    writer->context = context;
    writer->header.os = ANY_SYSTEM;
    if (deflateInit2(&writer->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) !=
            Z_OK ||
        deflateSetHeader(&writer->stream, &writer->header) != Z_OK) {
        sp_gzip_writer_free(writer);
        return sp_fail_memory(error, "compressing a file");
    }
    *out = writer;
    return SP_OK;
}

/* Lets the stream work on its input until it wants more, or to the end. */
static int pump(sp_gzip_writer *writer, int flush, sp_error *error)
{
    z_stream *stream = &writer->stream;
    int answer;
    do {
        stream->next_out = writer->piece;
        stream->avail_out = PIECE_BYTES;
        answer = deflate(stream, flush);
        int status = writer->sink(writer->context, writer->piece, PIECE_BYTES - stream->avail_out,
                                  error);
        if (status != SP_OK)
            return status;
    } while (stream->avail_out == 0 || (flush == Z_FINISH && answer != Z_STREAM_END));
    return SP_OK;
}

int sp_gzip_writer_add(sp_gzip_writer *writer, const void *bytes, size_t count, sp_error *error)
{
    const unsigned char *at = bytes;
    int status = SP_OK;
    while (status == SP_OK && count > 0) {
        size_t size = count < INT_MAX ? count : INT_MAX;
        writer->stream.next_in = (z_const Bytef *)(uintptr_t)at;
        writer->stream.avail_in = (uInt)size;
        status = pump(writer, Z_NO_FLUSH, error);
        at += size;
        count -= size;
    }
    return status;
}

int sp_gzip_writer_finish(sp_gzip_writer *writer, sp_error *error)
{
    writer->stream.avail_in = 0;
    int status = pump(writer, Z_FINISH, error);
    sp_gzip_writer_free(writer);
    return status;
}

void sp_gzip_writer_free(sp_gzip_writer *writer)
{
    if (writer != NULL)
        deflateEnd(&writer->stream);
    free(writer);
}

/* ---- Expanding -------------------------------------------------------------------------------*/

typedef struct expansion {
    z_stream stream;
    char *bytes;
    size_t count, room;
} expansion;

static bool make_room(expansion *e)
{
    size_t room = e->room < PIECE_BYTES ? PIECE_BYTES : e->room + e->room / 2;
    char *bytes = room < e->room ? NULL : realloc(e->bytes, room);
    if (bytes == NULL)
        return false;
    e->bytes = bytes;
    e->room = room;
    return true;
}

/* Expands one member; a file may hold several, one behind the other. Returns zlib's answer. */
static int expand_member(expansion *e)
{
    int answer = Z_OK;
    while (answer == Z_OK || answer == Z_BUF_ERROR) {
        if (e->count == e->room && !make_room(e))
            return Z_MEM_ERROR;
        size_t room = e->room - e->count < INT_MAX ? e->room - e->count : INT_MAX;
        e->stream.next_out = (Bytef *)e->bytes + e->count;
        e->stream.avail_out = (uInt)room;
        answer = inflate(&e->stream, Z_NO_FLUSH);
        e->count += room - e->stream.avail_out;
        if (e->stream.avail_out > 0 && answer == Z_BUF_ERROR)
            return Z_BUF_ERROR; /* the file ends before its content does */
        if (answer == Z_OK && e->stream.avail_in == 0 && e->stream.avail_out > 0)
            return Z_BUF_ERROR;
    }
    return answer;
}

int sp_gzip_expand(const void *bytes, size_t count, const char *what, char **out, size_t *out_count,
                   sp_error *error)
{
    expansion e = {.stream = {.next_in = (z_const Bytef *)(uintptr_t)bytes, .avail_in = (uInt)count}};
    if (count > UINT_MAX)
        return sp_fail(error, SP_ERR_UNSUPPORTED, "'%s' is larger than 4 GiB, compressed", what);
    int answer = inflateInit2(&e.stream, GZIP_WINDOW);
    if (answer == Z_OK)
        answer = expand_member(&e);
    while (answer == Z_STREAM_END && e.stream.avail_in > 0 && *e.stream.next_in == 0x1f) {
        inflateReset(&e.stream);
        answer = expand_member(&e);
    }
    inflateEnd(&e.stream);
    if (answer == Z_STREAM_END) {
        *out = e.bytes;
        *out_count = e.count;
        return SP_OK;
    }
    free(e.bytes);
    if (answer == Z_MEM_ERROR)
        return sp_fail_memory(error, "expanding a file");
    return sp_fail(error, SP_ERR_DAMAGED, "'%s' is truncated or damaged: %s", what,
                   answer == Z_BUF_ERROR ? "its compressed content ends early"
                                         : "its content cannot be expanded");
}
