/* positioned.h - reading and writing an open file at given places. */
#ifndef SP_BASE_OS_POSITIONED_H
#define SP_BASE_OS_POSITIONED_H

#include "scope_plugin.h"

/* Opens a file for reading; `*out_size` is its size in bytes. SP_ERR_NOT_FOUND, SP_ERR_IO. */
int sp_os_open_to_read(const char *path, int *out_descriptor, uint64_t *out_size, sp_error *error);
/* A negative descriptor is fine. */
void sp_os_close(int descriptor);

/* Exactly `count` bytes from `offset` on. `path` is for the error text. SP_ERR_DAMAGED where the
 * file ends before them, SP_ERR_IO. */
int sp_os_read_at(int descriptor, const char *path, uint64_t offset, void *out, size_t count,
                  sp_error *error);

/* Exactly `count` bytes at `offset`; a file that ends before it grows. SP_ERR_IO. */
int sp_os_write_at(int descriptor, const char *path, uint64_t offset, const void *bytes,
                   size_t count, sp_error *error);

#endif
