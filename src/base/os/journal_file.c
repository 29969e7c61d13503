#include "base/os/journal_file.h"

#include "base/os/file_signal.h"
#include "base/os/low_descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/magic.h>
#include <sys/vfs.h>
#endif

enum { READ_WRITE_OWNER = 0600 };

int sp_os_journal_create(const char *path)
{
    sp_os_low_descriptors held;
    sp_os_low_descriptors_hold(&held);
    int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                          READ_WRITE_OWNER);
    sp_os_low_descriptors_release(&held);
    return descriptor;
}

int sp_os_journal_open(const char *path, uint64_t *out_size)
{
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
        return -1;
    bool is_file = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    if (!is_file || status.st_uid != geteuid()) {
        close(descriptor);
        errno = is_file ? EPERM : EINVAL;
        return -1;
    }
    *out_size = (uint64_t)status.st_size;
    return descriptor;
}

bool sp_os_journal_look(int descriptor, uint64_t *out_size, bool *out_is_named)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        return false;
    *out_size = (uint64_t)status.st_size;
    *out_is_named = status.st_nlink > 0;
    return true;
}

static bool write_all(int descriptor, uint64_t offset, const char *bytes, size_t count)
{
    size_t done = 0;
    while (done < count) {
        ssize_t put = pwrite(descriptor, bytes + done, count - done, (off_t)(offset + done));
        if (put < 0 && errno != EINTR)
            return false;
        done += put > 0 ? (size_t)put : 0;
    }
    return true;
}

bool sp_os_journal_write(int descriptor, uint64_t offset, const void *bytes, size_t count)
{
    sp_os_file_signal state;
    sp_os_file_signal_hold(&state);
    bool is_written = write_all(descriptor, offset, bytes, count);
    sp_os_file_signal_restore(&state);
    return is_written;
}

bool sp_os_journal_read(int descriptor, uint64_t offset, void *out, size_t count)
{
    size_t done = 0;
    while (done < count) {
        ssize_t got = pread(descriptor, (char *)out + done, count - done, (off_t)(offset + done));
        if (got == 0)
            errno = 0;
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

int sp_os_journal_copy(int descriptor)
{
    return fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

void sp_os_journal_close(int descriptor)
{
    close(descriptor);
}

void sp_os_journal_sync(int descriptor)
{
    (void)fdatasync(descriptor);
}

bool sp_os_journal_reserve(int descriptor, uint64_t offset, uint64_t bytes)
{
#ifdef __linux__
    sp_os_file_signal state;
    int result;
    sp_os_file_signal_hold(&state);
    do
        result = fallocate(descriptor, 0, (off_t)offset, (off_t)bytes);
    while (result != 0 && errno == EINTR);
    sp_os_file_signal_restore(&state);
    return result == 0;
#else
    (void)descriptor;
    (void)offset;
    (void)bytes;
    errno = ENOTSUP;
    return false;
#endif
}

void *sp_os_journal_map(int descriptor, uint64_t offset, size_t bytes, bool is_writable)
{
    int rights = is_writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void *memory = mmap(NULL, bytes, rights, MAP_SHARED, descriptor, (off_t)offset);
    return memory == MAP_FAILED ? NULL : memory;
}

void sp_os_journal_unmap(void *memory, size_t bytes)
{
    if (memory != NULL)
        (void)munmap(memory, bytes);
}

/* Of the leak sanitizer; a process without it has neither. */
void __lsan_register_root_region(const void *memory, size_t bytes) __attribute__((weak));
void __lsan_unregister_root_region(const void *memory, size_t bytes) __attribute__((weak));

void sp_os_journal_holds_pointers(const void *memory, size_t bytes, bool holds)
{
    if (holds && __lsan_register_root_region != NULL)
        __lsan_register_root_region(memory, bytes);
    if (!holds && __lsan_unregister_root_region != NULL)
        __lsan_unregister_root_region(memory, bytes);
}

void sp_os_journal_remove(const char *path)
{
    int kept = errno;
    (void)unlink(path);
    errno = kept;
}

bool sp_os_folder_is_public(const char *path)
{
    struct stat status;
    return stat(path, &status) != 0 || (status.st_mode & (S_IWOTH | S_IWGRP)) != 0;
}

bool sp_os_folder_is_local(const char *path)
{
#ifdef __linux__
    struct statfs status;
    if (statfs(path, &status) != 0)
        return false;
    enum { XFS_MAGIC = 0x58465342, ZFS_MAGIC = 0x2fc12fc1 };
    switch ((unsigned long)status.f_type) {
    case TMPFS_MAGIC:
    case EXT4_SUPER_MAGIC: /* ext2 and ext3 have the same */
    case BTRFS_SUPER_MAGIC:
    case OVERLAYFS_SUPER_MAGIC:
    case XFS_MAGIC:
    case ZFS_MAGIC:
        return true;
    default:
        return false;
    }
#else
    (void)path;
    return false;
#endif
}

bool sp_os_folder_is_same(const char *path, const char *other)
{
    struct stat one, two;
    return stat(path, &one) == 0 && stat(other, &two) == 0 && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}

bool sp_os_folder_visit(const char *path, void (*visit)(void *context, const char *name),
                        void *context)
{
    DIR *folder = opendir(path);
    if (folder == NULL)
        return false;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        visit(context, entry->d_name);
    closedir(folder);
    return true;
}

uint64_t sp_os_random(void)
{
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) == (ssize_t)sizeof random)
        return random;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)getpid() << 40 ^ (uint64_t)now.tv_nsec << 8 ^ (uint64_t)(uintptr_t)&random;
}

size_t sp_os_page_bytes(void)
{
    long bytes = sysconf(_SC_PAGESIZE);
    return bytes > 0 ? (size_t)bytes : 4096;
}

uint64_t sp_os_user(void)
{
    return geteuid();
}
