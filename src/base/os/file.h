/* file.h - questions about files. */
#ifndef SP_BASE_OS_FILE_H
#define SP_BASE_OS_FILE_H

#include "scope_plugin.h"

typedef enum sp_os_file_kind {
    SP_OS_FILE_NONE, /* nothing there, or a part of the path is missing */
    SP_OS_FILE_REGULAR,
    SP_OS_FILE_FOLDER,
    SP_OS_FILE_OTHER,
    SP_OS_FILE_UNKNOWN /* the system would not say: see errno */
} sp_os_file_kind;

/* Kind of what `path` leads to, links followed; its size in bytes when it is a regular file.
 * `out_size` may be NULL. */
sp_os_file_kind sp_os_file_look(const char *path, uint64_t *out_size);

/* Up to `room` bytes from `offset` on; `*out_read` is smaller where the file ends. SP_ERR_IO. */
int sp_os_file_piece(const char *path, uint64_t offset, void *out, size_t room, size_t *out_read,
                     sp_error *error);

/* The current folder, absolute; false when it is gone or does not fit. */
bool sp_os_current_folder(char *out, size_t room);

/* First path that fits a shell pattern; false when none does or it does not fit into `room`. */
bool sp_os_file_match(const char *pattern, char *out, size_t room);

/* Makes a folder and the folders above it that are missing, with the rights of the umask. */
int sp_os_make_folders(const char *path, sp_error *error);

/* A program that this process starts will not inherit the descriptor. */
void sp_os_close_on_exec(int descriptor);

#endif
