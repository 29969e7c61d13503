#include "base/error.h"
#include "base/gzip/gzip.h"

static int fail(sp_error *error)
{
    return sp_fail(error, SP_ERR_UNSUPPORTED,
                   "this build cannot handle gzip; build it with zlib (Debian: zlib1g-dev)");
}

int sp_gzip_writer_open(sp_gzip_sink sink, void *context, sp_gzip_writer **out, sp_error *error)
{
    (void)sink;
    (void)context;
    (void)out;
    return fail(error);
}

int sp_gzip_writer_add(sp_gzip_writer *writer, const void *bytes, size_t count, sp_error *error)
{
    (void)writer;
    (void)bytes;
    (void)count;
    return fail(error);
}

int sp_gzip_writer_finish(sp_gzip_writer *writer, sp_error *error)
{
    (void)writer;
    return fail(error);
}

void sp_gzip_writer_free(sp_gzip_writer *writer)
{
    (void)writer;
}

int sp_gzip_expand(const void *bytes, size_t count, const char *what, char **out, size_t *out_count,
                   sp_error *error)
{
    (void)bytes;
    (void)count;
    (void)what;
    (void)out;
    (void)out_count;
    return fail(error);
}
