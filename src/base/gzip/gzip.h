/* gzip.h - compressed files, through zlib where the build has it. The bytes depend on the content
 * alone: no name, time 0. */
#ifndef SP_BASE_GZIP_H
#define SP_BASE_GZIP_H

#include "scope_plugin.h"

typedef struct sp_gzip_writer sp_gzip_writer;

/* Takes compressed bytes. */
typedef int (*sp_gzip_sink)(void *context, const void *bytes, size_t count, sp_error *error);

/* SP_ERR_UNSUPPORTED in a build without zlib. */
int sp_gzip_writer_open(sp_gzip_sink sink, void *context, sp_gzip_writer **out, sp_error *error);
int sp_gzip_writer_add(sp_gzip_writer *writer, const void *bytes, size_t count, sp_error *error);
/* Writes the end. Frees the writer either way. */
int sp_gzip_writer_finish(sp_gzip_writer *writer, sp_error *error);
void sp_gzip_writer_free(sp_gzip_writer *writer);

/* The content of a compressed file that lies in memory; free() it. `what` names the file in errors.
 * SP_ERR_DAMAGED, SP_ERR_NO_MEMORY, SP_ERR_UNSUPPORTED. */
int sp_gzip_expand(const void *bytes, size_t count, const char *what, char **out, size_t *out_count,
                   sp_error *error);

#endif
