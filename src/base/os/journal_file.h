/* journal_file.h - files that outlive the process that writes them: made anew, appended to at given
 * places, reserved and mapped. No call here raises a signal: a file that outgrows a limit, a full
 * disk and a folder that is gone are failures with an errno. */
#ifndef SP_BASE_OS_JOURNAL_FILE_H
#define SP_BASE_OS_JOURNAL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes a new file that only the user may read, open for reading and writing and closed on exec; its
 * number is never one of the standard streams. A name that is taken, or a link, is EEXIST. -1 with
 * errno. */
int sp_os_journal_create(const char *path);
/* Opens one to read it, no link followed. One of another user is EPERM: where everybody may make files
 * it could be made to lead whoever recovers it astray. -1 with errno. */
int sp_os_journal_open(const char *path, uint64_t *out_size);

/* How long a file is by now, and whether it still has a name. False with errno. */
bool sp_os_journal_look(int descriptor, uint64_t *out_size, bool *out_is_named);

/* All of `count` bytes at `offset`. False with errno. */
bool sp_os_journal_write(int descriptor, uint64_t offset, const void *bytes, size_t count);
/* Exactly `count` bytes from `offset`. False with errno, 0 where the file ends before. */
bool sp_os_journal_read(int descriptor, uint64_t offset, void *out, size_t count);
/* A second descriptor of the same file, closed on exec; -1 with errno. */
int sp_os_journal_copy(int descriptor);
void sp_os_journal_close(int descriptor);
/* Hands what was written to the device. */
void sp_os_journal_sync(int descriptor);

/* Takes the space, so that a write to memory mapped there cannot fail. False with errno. */
bool sp_os_journal_reserve(int descriptor, uint64_t offset, uint64_t bytes);
/* Maps a piece, shared with whoever else has the file; for reading it may end behind the file. NULL
 * with errno. */
void *sp_os_journal_map(int descriptor, uint64_t offset, size_t bytes, bool is_writable);
void sp_os_journal_unmap(void *memory, size_t bytes);

/* Tells a leak checker, when the process has one, that mapped memory holds pointers, or no longer. */
void sp_os_journal_holds_pointers(const void *memory, size_t bytes, bool holds);

/* Leaves errno alone. */
void sp_os_journal_remove(const char *path);

/* Whether users other than the owner may make files there. */
bool sp_os_folder_is_public(const char *path);
/* Whether a folder is there and its files lie in memory or on a disk of this machine. */
bool sp_os_folder_is_local(const char *path);
/* Whether two paths lead to the same folder. */
bool sp_os_folder_is_same(const char *path, const char *other);
/* Calls `visit` with the name of each entry, in no order. False when the folder cannot be read. */
bool sp_os_folder_visit(const char *path, void (*visit)(void *context, const char *name),
                        void *context);

uint64_t sp_os_random(void);
size_t sp_os_page_bytes(void);
uint64_t sp_os_user(void);

#endif
